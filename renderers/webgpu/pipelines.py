"""Render pipelines and their layouts: one per shader, finish and way to the record. Used by draws."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from typing import Any

import wgpu

from renderers.blocks import RECORD_BYTES
from renderers.materials import palette
from renderers.plan import Material
from renderers.webgpu import native
from renderers.webgpu.target import COLOUR_FORMAT, DEPTH_FORMAT


class ScenePipelines:
    """Kept for the device's life, with every palette as a texture.

    Bind group 0: the frame's values, and a palette where the finish reads one; 1: the record, where it is bound.
    """

    def __init__(self, device: "wgpu.GPUDevice") -> None:
        self._device = device
        self._modules: dict[str, Any] = {}
        self._built: dict[tuple[str, str, bool], Any] = {}
        self._palettes: dict[str, Any] = {}
        self._layouts: dict[tuple[str, int], Any] = {}

    @property
    def built(self) -> int:
        return len(self._built)

    def get(self, shader: str, material: Material, frame_bytes: int, bound_record: bool) -> Any:
        key = (shader, material.finish, bound_record)
        if key not in self._built:
            self._built[key] = self._build(shader, material, frame_bytes, bound_record)
        return self._built[key]

    def palette(self, name: str) -> Any:
        """A view of the palette's texture."""
        if name not in self._palettes:
            texels = palette(name)
            height, width, channels = texels.shape
            usage = wgpu.TextureUsage.TEXTURE_BINDING | wgpu.TextureUsage.COPY_DST
            texture = self._device.create_texture(size=(width, height, 1), format="rgba8unorm", usage=usage)
            layout = {"bytes_per_row": channels * width, "rows_per_image": height}
            self._device.queue.write_texture({"texture": texture}, texels, layout, (width, height, 1))
            self._palettes[name] = texture.create_view()
        return self._palettes[name]

    def frame_layout(self, frame_bytes: int, with_palette: bool) -> Any:
        both = wgpu.ShaderStage.VERTEX | wgpu.ShaderStage.FRAGMENT
        entries = [_uniform(both, frame_bytes, dynamic=False)]
        if with_palette:
            entries.append({"binding": 1, "visibility": wgpu.ShaderStage.FRAGMENT, "texture": {}})
        return self._layout(("palette" if with_palette else "frame", frame_bytes), entries)

    def record_layout(self) -> Any:
        entries = [_uniform(wgpu.ShaderStage.VERTEX, RECORD_BYTES, dynamic=True)]
        return self._layout(("record", RECORD_BYTES), entries)

    def _layout(self, key: tuple[str, int], entries: list[dict[str, Any]]) -> Any:
        if key not in self._layouts:
            self._layouts[key] = self._device.create_bind_group_layout(entries=entries)
        return self._layouts[key]

    def _build(self, shader: str, material: Material, frame_bytes: int, bound_record: bool) -> Any:
        layouts = [self.frame_layout(frame_bytes, material.palette is not None)]
        if bound_record:
            layouts.append(self.record_layout())
        vertex = {
            "entry_point": "bound_record" if bound_record else "instance_record",
            "buffers": _VERTEX_BUFFERS[: 2 if bound_record else 3],
        }
        label = f"{shader} {material.finish}"
        with native.building(label), self._mendable(shader) as module:
            return self._device.create_render_pipeline(
                label=label,
                layout=self._device.create_pipeline_layout(bind_group_layouts=layouts),
                vertex={"module": module, **vertex},
                primitive={"topology": "triangle-list", "front_face": "ccw", "cull_mode": "back"},
                depth_stencil={"format": DEPTH_FORMAT, "depth_write_enabled": True, "depth_compare": "less"},
                fragment={"module": module, "entry_point": material.finish, "targets": [{"format": COLOUR_FORMAT}]},
            )

    @contextmanager
    def _mendable(self, shader: str) -> Iterator[Any]:
        """Its module, which is read anew the next time where no pipeline can be made of it."""
        if shader not in self._modules:
            code = files("assets").joinpath(f"{shader}.wgsl").read_text()
            self._modules[shader] = self._device.create_shader_module(label=shader, code=code)
        try:
            yield self._modules[shader]
        except wgpu.GPUError:
            del self._modules[shader]
            raise


def _uniform(visibility: int, size: int, dynamic: bool) -> dict[str, Any]:
    buffer = {"type": "uniform", "has_dynamic_offset": dynamic, "min_binding_size": size}
    return {"binding": 0, "visibility": visibility, "buffer": buffer}


# instance_index includes first_instance, so draw i reads height i, and where it is not bound, record i.
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
        "step_mode": "instance",
        "attributes": [{"format": "float32", "offset": 0, "shader_location": 2}],
    },
    {
        "array_stride": RECORD_BYTES,
        "step_mode": "instance",
        "attributes": [
            {"format": "float32x4", "offset": 0, "shader_location": 3},
            {"format": "float32x4", "offset": 16, "shader_location": 4},
        ],
    },
]
