"""The scene pass: one pipeline per shader, and one function per submission. Used by executable."""

from collections.abc import Mapping
from importlib.resources import files
from typing import Any

import numpy as np
import wgpu

from compute.packing import block
from renderers.blocks import BLOCK_ALIGNMENT_BYTES, FrameBlocks
from renderers.device import Array
from renderers.plan import ScenePass, Submission
from renderers.webgpu import native
from renderers.webgpu.target import COLOUR_FORMAT, DEPTH_FORMAT

RECORD_BYTES = 32  # two vec4: place, colour


class ScenePipelines:
    """One render pipeline per shader and device, with its two bind group layouts: frame, record."""

    def __init__(self, device: "wgpu.GPUDevice") -> None:
        self._device = device
        self._built: dict[tuple[str, int], tuple[Any, Any, Any]] = {}

    def get(self, scene: ScenePass) -> tuple[Any, Any, Any]:
        """(pipeline, frame layout, record layout)."""
        key = (scene.shader, block(scene.values).size)
        if key not in self._built:
            self._built[key] = self._build(*key)
        return self._built[key]

    def _build(self, shader: str, frame_bytes: int) -> tuple[Any, Any, Any]:
        both = wgpu.ShaderStage.VERTEX | wgpu.ShaderStage.FRAGMENT
        frame = self._uniform_layout(both, frame_bytes, dynamic=False)
        record = self._uniform_layout(wgpu.ShaderStage.VERTEX, RECORD_BYTES, dynamic=True)
        code = files("assets").joinpath(f"{shader}.wgsl").read_text()
        with native.building(shader):
            module = self._device.create_shader_module(label=shader, code=code)
            pipeline = self._device.create_render_pipeline(
                label=shader,
                layout=self._device.create_pipeline_layout(bind_group_layouts=[frame, record]),
                vertex={"module": module, "entry_point": "vertex_main", "buffers": _VERTEX_BUFFERS},
                primitive={"topology": "triangle-list", "front_face": "ccw", "cull_mode": "back"},
                depth_stencil={"format": DEPTH_FORMAT, "depth_write_enabled": True, "depth_compare": "less"},
                fragment={"module": module, "entry_point": "fragment_main", "targets": [{"format": COLOUR_FORMAT}]},
            )
        return pipeline, frame, record

    def _uniform_layout(self, visibility: int, size: int, dynamic: bool) -> Any:
        buffer = {"type": "uniform", "has_dynamic_offset": dynamic, "min_binding_size": size}
        return self._device.create_bind_group_layout(
            entries=[{"binding": 0, "visibility": visibility, "buffer": buffer}]
        )


_VERTEX_BUFFERS = [
    {
        "array_stride": 24,
        "attributes": [
            {"format": "float32x3", "offset": 0, "shader_location": 0},
            {"format": "float32x3", "offset": 12, "shader_location": 1},
        ],
    },
    {
        "array_stride": 4,
        "step_mode": "instance",  # instance_index includes first_instance, so draw i reads height i
        "attributes": [{"format": "float32", "offset": 0, "shader_location": 2}],
    },
]


class SceneDraws:
    """One scene pass with nothing left to decide."""

    def __init__(
        self,
        scene: ScenePass,
        submission: Submission,
        device: "wgpu.GPUDevice",
        pipelines: ScenePipelines,
        buffers: Mapping[str, Any],
        scalars: Any,
        blocks: FrameBlocks,
    ) -> None:
        self._scene, self._submission, self._device = scene, submission, device
        self.label = scene.label
        self._pipeline, frame_layout, record_layout = pipelines.get(scene)
        frame = blocks.range_of(scene)
        assert frame is not None
        self._frame_group = _uniform_group(device, frame_layout, scalars, frame.offset, frame.size)
        self._vertices, self._heights = buffers[f"{scene.vertices}[0]"], buffers[f"{scene.heights}[0]"]
        self._indices = buffers[f"{scene.indices}[0]"]
        objects = sum(draw.object_count for draw in scene.draws)
        usage = wgpu.BufferUsage.UNIFORM | wgpu.BufferUsage.COPY_DST
        self._records = device.create_buffer(size=objects * BLOCK_ALIGNMENT_BYTES, usage=usage)
        self._record_group = _uniform_group(device, record_layout, self._records, 0, RECORD_BYTES)

    def set_records(self, objects: Array) -> None:
        """Each object's record in its own range: a dynamic offset selects it, and no write can overtake a draw."""
        padded = np.zeros((len(objects), BLOCK_ALIGNMENT_BYTES // 4), np.float32)
        padded[:, : objects.shape[1]] = objects
        self._device.queue.write_buffer(self._records, 0, padded)

    def encode(
        self, encoder: "wgpu.GPUCommandEncoder", colour: Any, depth: Any, timestamp_writes: Mapping[str, Any]
    ) -> None:
        """Clear, then draw every object."""
        attachment = {"view": colour, "load_op": "clear", "store_op": "store", "clear_value": self._scene.clear}
        depth_attachment = {
            "view": depth,
            "depth_load_op": "clear",
            "depth_store_op": "discard",
            "depth_clear_value": 1.0,
        }
        encoding = encoder.begin_render_pass(
            label=self.label,
            color_attachments=[attachment],
            depth_stencil_attachment=depth_attachment,
            **timestamp_writes,
        )
        if self._submission is Submission.IMMEDIATE_BIND:
            self._immediate_bind(encoding)
        encoding.end()

    def _immediate_bind(self, encoding: Any) -> None:
        encoding.set_pipeline(self._pipeline)
        encoding.set_bind_group(0, self._frame_group)
        encoding.set_vertex_buffer(0, self._vertices)
        encoding.set_vertex_buffer(1, self._heights)
        encoding.set_index_buffer(self._indices, "uint32")
        bind, draw, record = encoding.set_bind_group, encoding.draw_indexed, self._record_group
        for each in self._scene.draws:
            for i in range(each.first_object, each.first_object + each.object_count):
                bind(1, record, [i * BLOCK_ALIGNMENT_BYTES])
                draw(each.index_count, 1, each.first_index, each.base_vertex, i)

    @property
    def draws(self) -> int:
        if self._submission is Submission.NONE:
            return 0
        return sum(each.object_count for each in self._scene.draws)

    @property
    def api_calls(self) -> int:
        """begin, end, five of state, and per draw a bind and a draw."""
        return 2 + (5 + 2 * self.draws if self.draws else 0)


def _uniform_group(device: "wgpu.GPUDevice", layout: Any, buffer: Any, offset: int, size: int) -> Any:
    resource = {"buffer": buffer, "offset": offset, "size": size}
    return device.create_bind_group(layout=layout, entries=[{"binding": 0, "resource": resource}])
