"""A plan made concrete on wgpu: buffers, bind groups, and the walk that encodes one frame. Made by device.compile."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import wgpu

from compute.kernel import ComputePass, Scalar
from renderers.blocks import FrameBlocks
from renderers.device import Array, Build, Counters, Image
from renderers.plan import Pass, Plan, Submission
from renderers.timers import TimedFrame, timed_units
from renderers.webgpu import native
from renderers.webgpu.buffers import WebGpuArray, allocate_arrays, by_chunk
from renderers.webgpu.compute import ComputePipelines, PassLaunches
from renderers.webgpu.draws import SceneDraws
from renderers.webgpu.pipelines import ScenePipelines
from renderers.webgpu.target import OffscreenTarget
from renderers.webgpu.timer import WebGpuTimer


@dataclass(slots=True, kw_only=True)
class OpenFrame(TimedFrame):
    """What begin_frame opened and end_frame closes."""

    encoder: Any
    colour: Any
    depth: Any


class Host(Protocol):
    """What an executable asks of its device."""

    def open_frame(self, executable: "WebGpuExecutable") -> OpenFrame: ...
    def still_target(self, executable: "WebGpuExecutable") -> tuple[OffscreenTarget, bool]: ...


class WebGpuExecutable:
    def __init__(
        self,
        host: Host,
        device: "wgpu.GPUDevice",
        plan: Plan,
        submission: Submission,
        compute_pipelines: ComputePipelines,
        scene_pipelines: ScenePipelines,
        timer: WebGpuTimer | None,
        lent: Mapping[str, WebGpuArray],
    ) -> None:
        begin_ns, pipelines = time.perf_counter_ns(), compute_pipelines.built + scene_pipelines.built
        self._host, self._device, self.plan, self._timer = host, device, plan, timer
        self._queue = device.queue
        self._blocks = FrameBlocks(plan)
        self._units = timed_units(plan)
        own = allocate_arrays(device, plan, tuple(each for each in plan.arrays if each[0] not in lent))
        self._arrays = {**own, **lent}
        buffers = by_chunk(plan.arrays, self._arrays)
        usage = wgpu.BufferUsage
        self._scalars = device.create_buffer(size=max(16, self._blocks.size), usage=usage.UNIFORM | usage.COPY_DST)
        self._values: Mapping[str, Scalar] = {}

        def concrete(each: Pass) -> PassLaunches | SceneDraws:
            common = (buffers, self._scalars, self._blocks)
            if isinstance(each, ComputePass):
                return PassLaunches(each, device, compute_pipelines, *common)
            return SceneDraws(each, submission, device, scene_pipelines, *common)

        self._passes = [concrete(each) for each in plan.passes]
        self.counters = self._count()
        self.build = Build(
            compile_ms=(time.perf_counter_ns() - begin_ns) / 1e6,
            pipelines=compute_pipelines.built + scene_pipelines.built - pipelines,
            recording_ms=next((each.recording_ms for each in self._scenes()), None),
        )

    @native.names_loss
    def execute(self, values: Mapping[str, Scalar]) -> None:
        self._values = values
        frame = self._host.open_frame(self)
        if self._timer is not None and frame.clock is not None:
            frame.units = self._units
            frame.timer_slot = self._timer.ring.begin(frame.clock.index, self._units)
        self._encode(frame)

    @native.names_loss
    def run_now(self, values: Mapping[str, Scalar]) -> None:
        self._values = values
        alone = all(each.submit_alone for each in self.plan.compute_passes)
        encoder = None if alone else self._device.create_command_encoder()
        self._encode(OpenFrame(encoder=encoder, colour=None, depth=None))
        if encoder is not None:
            self._queue.submit([encoder.finish()])

    @native.names_loss
    def upload(self, array: str, data: Array) -> None:
        self._arrays[array].upload(data)
        for each in self._scenes():
            if each.objects == array:
                each.set_records(data)

    def read_back(self, array: str, first: int = 0, count: int | None = None) -> Array:
        return self._arrays[array].read_back(first, count)

    def warm_up(self, values: Mapping[str, Scalar]) -> None:
        self._values = values
        self.image()

    @native.names_loss
    def image(self) -> Image:
        target, drawn = self._host.still_target(self)
        if not drawn:
            encoder = self._device.create_command_encoder()
            self._encode(OpenFrame(encoder=encoder, colour=target.acquire(), depth=target.depth))
            self._queue.submit([encoder.finish()])
        return target.read()

    def release(self) -> None:
        """Drops every reference; wgpu frees a resource when the submissions that use it are done."""
        self._passes, self._arrays = [], {}

    def _encode(self, frame: OpenFrame) -> None:
        with frame.span("update", "scalars"):
            if self._blocks.size:
                self._queue.write_buffer(self._scalars, 0, self._blocks.pack(self._values))
        for index, each in enumerate(self._passes):
            writes: Mapping[str, Any] = {}
            if self._timer is not None and frame.timer_slot is not None:
                writes = self._timer.writes(frame.timer_slot, frame.units, index)
            if isinstance(each, SceneDraws):
                with frame.span("encode", each.label):
                    each.encode(frame.encoder, frame.colour, frame.depth, writes)
            elif each.submit_alone:
                self._submit_alone(frame, each, writes)
            else:
                with frame.span("encode", each.label):
                    each.encode(frame.encoder, writes)

    def _submit_alone(self, frame: OpenFrame, launches: PassLaunches, writes: Mapping[str, Any]) -> None:
        with frame.span("encode", launches.label):
            encoder = self._device.create_command_encoder()
            launches.encode(encoder, writes)
            commands = encoder.finish()
        with frame.span("submit", launches.label):
            self._queue.submit([commands])

    def _scenes(self) -> list[SceneDraws]:
        return [each for each in self._passes if isinstance(each, SceneDraws)]

    def _count(self) -> Counters:
        """Frame: encoder, finish, submit, and one write for all scalars."""
        compute = self.plan.compute_passes
        return Counters(
            api_calls=sum(each.api_calls for each in self._passes) + 3 + bool(self._blocks.size),
            draws=sum(each.draws for each in self._scenes()),
            dispatches=sum(len(each.dispatches) for each in compute),
            submissions=1 + sum(each.submit_alone for each in compute),
            barriers=None,
            bytes_uploaded=self._blocks.size,
            memory_bytes=sum(each.memory_bytes for each in compute),
        )
