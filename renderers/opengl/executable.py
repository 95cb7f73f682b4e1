"""A plan made concrete on OpenGL: buffers, programs, and the walk that issues one frame. Made by device.compile."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from compute.kernel import ComputePass, Scalar
from renderers.blocks import FrameBlocks
from renderers.device import MAX_FRAMES_IN_FLIGHT, AllocationError, Array, Build, BuildError, Counters, Image
from renderers.opengl import native
from renderers.opengl.barriers import Barrier, barriers
from renderers.opengl.buffers import OpenGlArray, allocate_arrays, by_chunk, release_arrays
from renderers.opengl.compute import ComputePrograms, PassLaunches
from renderers.opengl.context import GlContext
from renderers.opengl.draws import SceneDraws, ScenePrograms
from renderers.opengl.timer import OpenGlTimer
from renderers.plan import Pass, Plan, Submission
from renderers.timers import TimedFrame, timed_units


@dataclass(slots=True, kw_only=True)
class OpenFrame(TimedFrame):
    """What begin_frame opened and end_frame closes. ``region``: this frame's part of the scalar buffer."""

    framebuffer: Any
    region: int


class Host(Protocol):
    """What an executable asks of its device."""

    @property
    def is_offscreen(self) -> bool: ...
    def open_frame(self, executable: "OpenGlExecutable") -> OpenFrame: ...
    def still_framebuffer(self, executable: "OpenGlExecutable") -> tuple[Any, bool]: ...


class OpenGlExecutable:
    def __init__(
        self,
        host: Host,
        context: GlContext,
        plan: Plan,
        submission: Submission,
        compute_programs: ComputePrograms,
        scene_programs: ScenePrograms,
        timer: OpenGlTimer | None,
        lent: Mapping[str, OpenGlArray],
    ) -> None:
        begin_ns, programs = time.perf_counter_ns(), compute_programs.built + scene_programs.built
        context.make_current()
        self._host, self._context, self.plan, self._timer = host, context, plan, timer
        self._blocks = FrameBlocks(plan)
        self._units = timed_units(plan)
        self._own = allocate_arrays(context, tuple(each for each in plan.arrays if each[0] not in lent))
        self._arrays = {**self._own, **lent}
        buffers = by_chunk(plan.arrays, self._arrays)
        # One region per frame in flight, so that no write waits for a frame that still reads.
        self._scalars = context.gl.buffer(reserve=max(16, self._blocks.size * MAX_FRAMES_IN_FLIGHT), dynamic=True)
        self._values: Mapping[str, Scalar] = {}
        bits = list(barriers(plan, frozenset(lent)))

        def concrete(each: Pass) -> PassLaunches | SceneDraws:
            common = (buffers, self._scalars, self._blocks)
            if isinstance(each, ComputePass):
                mine: list[Barrier] = [bits.pop(0) for _ in each.dispatches]
                return PassLaunches(each, context.gl, compute_programs, *common, mine)
            return SceneDraws(each, submission, context.gl, scene_programs, *common, bits.pop(0))

        self._passes: list[PassLaunches | SceneDraws] = []
        try:
            self._passes.extend(concrete(each) for each in plan.passes)
        except (AllocationError, BuildError):
            self.release()
            raise
        self.counters = self._count()
        self.build = Build(
            compile_ms=(time.perf_counter_ns() - begin_ns) / 1e6,
            pipelines=compute_programs.built + scene_programs.built - programs,
            recording_ms=next((each.recording_ms for each in self._scenes()), None),
        )

    def execute(self, values: Mapping[str, Scalar]) -> None:
        self._context.make_current()
        self._values = values
        frame = self._host.open_frame(self)
        if self._timer is not None and frame.clock is not None:
            frame.units = self._units
            frame.timer_slot = self._timer.ring.begin(frame.clock.index, self._units)
        self._issue(frame)

    def run_now(self, values: Mapping[str, Scalar]) -> None:
        self._context.make_current()
        self._values = values
        self._issue(OpenFrame(framebuffer=None, region=0))
        if not all(each.submit_alone for each in self.plan.compute_passes):
            native.flush()

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

    def image(self) -> Image:
        self._context.make_current()
        framebuffer, drawn = self._host.still_framebuffer(self)
        if not drawn:
            self._context.gl.finish()  # the region it borrows may still be read by a frame in flight
            self._context.draw_images(offscreen=True)
            self._issue(OpenFrame(framebuffer=framebuffer, region=0))
            self._context.draw_images(self._host.is_offscreen)
        content = framebuffer.read(components=4, alignment=1)
        width, height = framebuffer.size
        rows = np.frombuffer(content, np.uint8).reshape(height, width, 4)
        return rows if self._context.has_clip_control else rows[::-1]

    def release(self) -> None:
        """OpenGL keeps a deleted object until the commands that use it are done."""
        self._context.make_current()
        for each in self._scenes():
            each.release()
        release_arrays(self._own.values())
        self._scalars.release()
        self._passes, self._own, self._arrays = [], {}, {}

    def _issue(self, frame: OpenFrame) -> None:
        offset = frame.region * self._blocks.size
        with frame.span("update", "scalars"):
            if self._blocks.size:
                self._scalars.write(self._blocks.pack(self._values), offset=offset)
        for index, each in enumerate(self._passes):
            with frame.span("encode", each.label):
                if self._timer is not None and frame.timer_slot is not None:
                    self._timer.begin(frame.timer_slot, frame.units, index)
                if isinstance(each, SceneDraws):
                    each.issue(frame.framebuffer, offset)
                else:
                    each.issue(offset)
                if self._timer is not None and frame.timer_slot is not None:
                    self._timer.end(frame.timer_slot, frame.units, index)

    def _scenes(self) -> list[SceneDraws]:
        return [each for each in self._passes if isinstance(each, SceneDraws)]

    def _count(self) -> Counters:
        """Frame: one write for all scalars, and the closing flush."""
        return Counters(
            api_calls=sum(each.api_calls for each in self._passes) + bool(self._blocks.size) + 1,
            draws=sum(each.draws for each in self._scenes()),
            dispatches=sum(len(each.dispatches) for each in self.plan.compute_passes),
            submissions=None,
            barriers=sum(each.barriers for each in self._passes),
            bytes_uploaded=self._blocks.size + sum(each.uniform_bytes for each in self._scenes()),
            memory_bytes=sum(each.memory_bytes for each in self.plan.compute_passes),
        )
