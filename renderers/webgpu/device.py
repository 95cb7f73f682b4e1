"""wgpu as a Device: frame slots by submission index, one submit a frame, timestamps through a ring."""

from collections import deque
from collections.abc import Iterator, Mapping
from types import MappingProxyType

from compute.kernel import ArraySpec
from renderers.arrays import lent_arrays
from renderers.checks import check_allocation, check_compile
from renderers.device import DeviceArray, DeviceOptions, FrameClock, GpuTimes, Offscreen, Target
from renderers.plan import Plan, Submission
from renderers.webgpu import native
from renderers.webgpu.adapter import describe, open_adapter
from renderers.webgpu.buffers import WebGpuArray
from renderers.webgpu.compute import ComputePipelines
from renderers.webgpu.executable import OpenFrame, WebGpuExecutable
from renderers.webgpu.overlay import WebGpuOverlay
from renderers.webgpu.pipelines import ScenePipelines
from renderers.webgpu.target import FrameTarget, OffscreenTarget, SurfaceTarget
from renderers.webgpu.timer import WebGpuTimer


class WebGpuDevice:
    def __init__(self, target: Target, options: DeviceOptions) -> None:
        self._device = open_adapter(options.adapter, options.validation)
        self._queue = self._device.queue
        self.info = describe(self._device)
        self._target: FrameTarget
        if isinstance(target, Offscreen):
            self._target = OffscreenTarget(self._device, target.size_px)
        else:
            self._target = SurfaceTarget(self._device, target, options.vsync)
        self._compute_pipelines = ComputePipelines(self._device)
        self._scene_pipelines = ScenePipelines(self._device)
        timed = options.timers and self.info.timestamps is None
        self._timer = WebGpuTimer(self._device, self.info.ns_per_tick) if timed else None
        self._frames_in_flight = options.frames_in_flight
        self._in_flight: deque[int] = deque()
        self._overlay: WebGpuOverlay | None = None
        self._window, self._vsync = target, options.vsync
        self._frame: OpenFrame | None = None
        self._drawn_by: WebGpuExecutable | None = None
        self._still: OffscreenTarget | None = None

    @property
    def size_px(self) -> tuple[int, int]:
        return self._target.size_px

    @native.names_loss
    def allocate(self, name: str, spec: ArraySpec) -> WebGpuArray:
        check_allocation(self.info, ((name, spec),))
        return WebGpuArray(self._device, name, spec)

    @native.names_loss
    def compile(
        self,
        plan: Plan,
        submission: Submission = Submission.NONE,
        lent: Mapping[str, DeviceArray] = MappingProxyType({}),
    ) -> WebGpuExecutable:
        mine = lent_arrays(plan, lent, WebGpuArray)
        check_compile(self.info, plan, submission, frozenset(mine))
        pipelines = (self._compute_pipelines, self._scene_pipelines)
        return WebGpuExecutable(self, self._device, plan, submission, *pipelines, self._timer, mine)

    @native.names_loss
    def begin_frame(self, clock: FrameClock) -> bool:
        self._abandon_open_frame()
        with clock.span("wait", "frame slot"):
            while len(self._in_flight) >= self._frames_in_flight:
                native.wait_for(self._device, self._in_flight.popleft())
        with clock.span("wait", "acquire"):
            colour = self._target.acquire()
        if colour is None:
            return False
        with clock.span("encode", "begin"):
            encoder = self._device.create_command_encoder()
            self._frame = OpenFrame(encoder=encoder, colour=colour, depth=self._target.depth, clock=clock)
        return True

    @native.names_loss
    def end_frame(self, overlay: object | None = None) -> None:
        frame, self._frame = self._frame, None
        if frame is None or frame.clock is None:
            raise RuntimeError("end_frame without begin_frame; call begin_frame first")
        if overlay is not None:
            with frame.clock.span("overlay", "draw"):
                if self._overlay is None:
                    self._overlay = WebGpuOverlay(self._device)
                self._overlay.encode(overlay, frame.encoder, frame.colour)
        with frame.clock.span("encode", "finish"):
            if self._timer is not None and frame.timer_slot is not None:
                self._timer.resolve(frame.encoder, frame.timer_slot, frame.units)
            commands = frame.encoder.finish()
        with frame.clock.span("submit", "frame"):
            self._in_flight.append(native.submit(self._queue, [commands]))
        with frame.clock.span("wait", "present"):
            self._target.present()
        with frame.clock.span("wait", "read-back"):
            if self._timer is not None and frame.timer_slot is not None:
                self._timer.start_read(frame.timer_slot)

    @native.names_loss
    def finish(self) -> str:
        native.wait_idle(self._device)
        self._in_flight.clear()
        return "wgpuDevicePoll(wait)"

    def completed_frames(self) -> Iterator[GpuTimes]:
        return iter(self._completed())

    @native.names_loss
    def _completed(self) -> list[GpuTimes]:
        return [] if self._timer is None else list(self._timer.ring.completed())

    @native.names_loss
    def resize(self, size_px: tuple[int, int]) -> None:
        self._target.resize(size_px)
        self._drawn_by = None

    @native.names_loss
    def set_vsync(self, on: bool) -> str:
        self._abandon_open_frame()
        self._vsync = on
        self._target.set_vsync(on)
        return self._target.present_mode

    def set_frames_in_flight(self, count: int) -> None:
        self.finish()
        self._frames_in_flight = count

    @native.names_loss
    def suspend(self) -> None:
        """A surface whose native window is replaced under it aborts."""
        self._abandon_open_frame()
        self.finish()
        self._target.release()

    @native.names_loss
    def resume(self) -> None:
        if not isinstance(self._window, Offscreen):
            self._target = SurfaceTarget(self._device, self._window, self._vsync)

    @property
    def present_mode(self) -> str:
        return self._target.present_mode

    def release(self) -> None:
        native.wait_idle(self._device)
        self._target.release()

    def _abandon_open_frame(self) -> None:
        """A frame that an error left open: nothing of it was submitted, and its stamps will never arrive.

        Submitting it after its surface was configured anew would abort.
        """
        frame, self._frame = self._frame, None
        if frame is not None and frame.timer_slot is not None and self._timer is not None:
            self._timer.ring.abandon(frame.timer_slot)

    def open_frame(self, executable: WebGpuExecutable) -> OpenFrame:
        """The frame that ``executable`` encodes into."""
        if self._frame is None:
            raise RuntimeError("execute outside a frame; call begin_frame first")
        self._drawn_by = executable
        return self._frame

    def still_target(self, executable: WebGpuExecutable) -> tuple[OffscreenTarget, bool]:
        """An image to read, and whether the last frame of ``executable`` already stands in it."""
        if isinstance(self._target, OffscreenTarget):
            return self._target, self._drawn_by is executable
        if self._still is None or self._still.size_px != self.size_px:
            self._still = OffscreenTarget(self._device, self.size_px)
        return self._still, False
