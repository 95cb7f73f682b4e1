"""The scene pass: what is bound and drawn, and one function per submission. Used by executable."""

import time
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np
import wgpu

from renderers.blocks import BLOCK_ALIGNMENT_BYTES, RECORD_BYTES, BlockRange, FrameBlocks
from renderers.commands import COMMAND_BYTES, object_commands
from renderers.device import Array
from renderers.plan import Material, ScenePass, StateRun, Submission
from renderers.webgpu import native
from renderers.webgpu.buffers import allocate
from renderers.webgpu.pipelines import ScenePipelines
from renderers.webgpu.target import COLOUR_FORMAT, DEPTH_FORMAT


class SceneDraws:
    """One scene pass with nothing left to decide.

    ``recording_ms``: thread time of recording the bundle or storing the draw commands, None where there is neither.
    """

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
        self.label, self.objects = scene.label, scene.objects
        frame = blocks.range_of(scene)
        assert frame is not None
        self._bound = submission is Submission.IMMEDIATE_BIND
        self._runs = () if submission is Submission.NONE else scene.state_runs
        used = scene.materials if self._runs else ()
        self._pipelines = [pipelines.get(scene.shader, each, frame.size, self._bound) for each in used]
        self._groups = _frame_groups(device, used, pipelines, scalars, frame)
        names = (scene.vertices, scene.heights) if self._bound else (scene.vertices, scene.heights, scene.objects)
        self._vertex_buffers = [buffers[f"{name}[0]"] for name in names] if self._runs else []
        self._indices = buffers[f"{scene.indices}[0]"]
        self._records: Any = None
        if self._bound:
            usage = wgpu.BufferUsage.UNIFORM | wgpu.BufferUsage.COPY_DST
            size = max(1, scene.object_count) * BLOCK_ALIGNMENT_BYTES
            self._records = allocate(device, "object records", size, usage)
            self._record_group = _group(device, pipelines.record_layout(), [_resource(self._records, 0, RECORD_BYTES)])
        self._commands: Any = None
        self._bundles: list[Any] = []
        self.recording_ms: float | None = None
        if self._runs and submission in (Submission.INDIRECT, Submission.RECORDED):
            begin = time.thread_time_ns()
            if submission is Submission.INDIRECT:
                self._store_commands()
            else:
                self._record_bundle()
            self.recording_ms = (time.thread_time_ns() - begin) / 1e6

    def set_records(self, objects: Array) -> None:
        """Each object's record in its own range: a dynamic offset selects it, and no write can overtake a draw."""
        if self._records is not None and len(objects):
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
        self.draw_into(encoding)
        encoding.end()

    def draw_into(self, encoding: Any) -> None:
        """Every object, into an open pass: nothing that was set there before is relied on."""
        if self._bundles:
            encoding.execute_bundles(self._bundles)
        elif self._runs:
            self._describe(encoding)

    def _describe(self, encoding: Any) -> None:
        """The whole draw list, to a pass or to a bundle: both are encoded with the same calls."""
        for slot, buffer in enumerate(self._vertex_buffers):
            encoding.set_vertex_buffer(slot, buffer)
        encoding.set_index_buffer(self._indices, "uint32")
        submit, pipeline = _SUBMIT[self._submission], None
        for run in self._runs:
            if self._pipelines[run.material] is not pipeline:
                pipeline = self._pipelines[run.material]
                encoding.set_pipeline(pipeline)
            encoding.set_bind_group(0, self._groups[run.material])
            submit(self, encoding, run)

    def _immediate_bind(self, encoding: Any, run: StateRun) -> None:
        bind, draw, record = encoding.set_bind_group, encoding.draw_indexed, self._record_group
        for each in run.draws:
            for i in range(each.first_object, each.first_object + each.object_count):
                bind(1, record, [i * BLOCK_ALIGNMENT_BYTES])
                draw(each.index_count, 1, each.first_index, each.base_vertex, i)

    def _immediate(self, encoding: Any, run: StateRun) -> None:
        draw = encoding.draw_indexed
        for each in run.draws:
            for i in range(each.first_object, each.first_object + each.object_count):
                draw(each.index_count, 1, each.first_index, each.base_vertex, i)

    def _instanced(self, encoding: Any, run: StateRun) -> None:
        """One draw a range, whose instances are its objects."""
        for each in run.draws:
            encoding.draw_indexed(
                each.index_count, each.object_count, each.first_index, each.base_vertex, each.first_object
            )

    def _indirect(self, encoding: Any, run: StateRun) -> None:
        """One call for all objects that need no change of state between them."""
        native.multi_draw(encoding, self._commands, run.first_object * COMMAND_BYTES, run.object_count)

    def _store_commands(self) -> None:
        commands = object_commands(self._scene)
        usage = wgpu.BufferUsage.INDIRECT | wgpu.BufferUsage.COPY_DST
        self._commands = allocate(self._device, "draw commands", commands.nbytes, usage)
        self._device.queue.write_buffer(self._commands, 0, commands)

    def _record_bundle(self) -> None:
        """Heights, records and the frame's values live in buffers, so the bundle stays good while they change."""
        encoding = self._device.create_render_bundle_encoder(
            color_formats=[COLOUR_FORMAT], depth_stencil_format=DEPTH_FORMAT
        )
        self._describe(encoding)
        self._bundles = [encoding.finish()]

    @property
    def draws(self) -> int:
        return self._scene.draws_by(self._submission)

    @property
    def api_calls(self) -> int:
        """begin, end; a bundle; else a call per vertex and index buffer, the state of each run, and calls per draw."""
        if not self._runs:
            return 2
        if self._bundles:
            return 3
        pipelines = [None, *(self._pipelines[run.material] for run in self._runs)]
        changes = sum(one is not other for one, other in pairwise(pipelines))
        calls = {
            Submission.IMMEDIATE_BIND: 2 * self._scene.object_count,
            Submission.IMMEDIATE: self._scene.object_count,
            Submission.INSTANCED: len(self._scene.draws),
            Submission.INDIRECT: len(self._runs),
        }[self._submission]
        return 2 + len(self._vertex_buffers) + 1 + changes + len(self._runs) + calls


# A bundle holds the draws that `immediate` encodes anew each frame.
_SUBMIT = {
    Submission.IMMEDIATE_BIND: SceneDraws._immediate_bind,
    Submission.IMMEDIATE: SceneDraws._immediate,
    Submission.INSTANCED: SceneDraws._instanced,
    Submission.INDIRECT: SceneDraws._indirect,
    Submission.RECORDED: SceneDraws._immediate,
}


def _frame_groups(
    device: "wgpu.GPUDevice",
    materials: tuple[Material, ...],
    pipelines: ScenePipelines,
    scalars: Any,
    frame: BlockRange,
) -> list[Any]:
    """Bind group 0 of each material."""
    groups = []
    for each in materials:
        resources: list[Any] = [_resource(scalars, frame.offset, frame.size)]
        if each.palette is not None:
            resources.append(pipelines.palette(each.palette))
        layout = pipelines.frame_layout(frame.size, each.palette is not None)
        groups.append(_group(device, layout, resources))
    return groups


def _resource(buffer: Any, offset: int, size: int) -> dict[str, Any]:
    return {"buffer": buffer, "offset": offset, "size": size}


def _group(device: "wgpu.GPUDevice", layout: Any, resources: list[Any]) -> Any:
    entries = [{"binding": i, "resource": resource} for i, resource in enumerate(resources)]
    return device.create_bind_group(layout=layout, entries=entries)
