"""OpenGL as a Device: frame slots by fences, calls issued at once, stamps through a ring."""

from collections import deque
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from compute.kernel import ArraySpec
from renderers.arrays import lent_arrays
from renderers.checks import check_allocation, check_compile
from renderers.device import (
    MAX_FRAMES_IN_FLIGHT,
    DeviceArray,
    DeviceOptions,
    FrameClock,
    GpuTimes,
    Offscreen,
    Target,
    WindowTarget,
)
from renderers.opengl import native
from renderers.opengl.buffers import OpenGlArray
from renderers.opengl.compute import ComputePrograms
from renderers.opengl.context import GlContext, describe
from renderers.opengl.draws import ScenePrograms
from renderers.opengl.executable import OpenFrame, OpenGlExecutable
from renderers.opengl.overlay import OpenGlOverlay
from renderers.opengl.timer import OpenGlTimer
from renderers.plan import Plan, Submission


class OpenGlDevice:
    def __init__(self, target: Target, options: DeviceOptions) -> None:
        self._context = GlContext(target, options.adapter, options.validation)
        self.info = describe(self._context)
        self._window: WindowTarget | None = None if isinstance(target, Offscreen) else target
        self.size_px = target.size_px
        self._compute_programs = ComputePrograms(self._context.gl)
        self._scene_programs = ScenePrograms(self._context)
        timed = options.timers and self.info.timestamps is None
        self._timer = OpenGlTimer() if timed else None
        self._frames_in_flight = options.frames_in_flight
        self._overlay: OpenGlOverlay | None = None
        self._fences: deque[Any] = deque()
        self._frames_begun = 0
        self._frame: OpenFrame | None = None
        self._drawn_by: OpenGlExecutable | None = None
        self._still: Any | None = None
        self.present_mode = "offscreen" if self._window is None else self.set_vsync(options.vsync)

    @property
    def is_offscreen(self) -> bool:
        return self._window is None

    def allocate(self, name: str, spec: ArraySpec) -> OpenGlArray:
        check_allocation(self.info, ((name, spec),))
        return OpenGlArray(self._context, name, spec)

    def compile(
        self,
        plan: Plan,
        submission: Submission = Submission.NONE,
        lent: Mapping[str, DeviceArray] = MappingProxyType({}),
    ) -> OpenGlExecutable:
        mine = lent_arrays(plan, lent, OpenGlArray)
        check_compile(self.info, plan, submission, frozenset(mine))
        programs = (self._compute_programs, self._scene_programs)
        return OpenGlExecutable(self, self._context, plan, submission, *programs, self._timer, mine)

    def begin_frame(self, clock: FrameClock) -> bool:
        self._abandon_open_frame()
        if 0 in self.size_px:
            return False
        self._context.make_current()
        with clock.span("wait", "frame slot"):
            while len(self._fences) >= self._frames_in_flight:
                native.wait_fence(self._fences.popleft())
        region = self._frames_begun % MAX_FRAMES_IN_FLIGHT
        self._frame = OpenFrame(framebuffer=self._framebuffer(), region=region, clock=clock)
        self._frames_begun += 1
        return True

    def end_frame(self, overlay: object | None = None) -> None:
        frame, self._frame = self._frame, None
        if frame is None or frame.clock is None:
            raise RuntimeError("end_frame without begin_frame; call begin_frame first")
        if overlay is not None:
            with frame.clock.span("overlay", "draw"):
                if self._overlay is None:
                    self._overlay = OpenGlOverlay(self._context.gl)
                self._overlay.render(overlay, frame.framebuffer)
        with frame.clock.span("submit", "flush"):
            native.flush()
        with frame.clock.span("wait", "present"):
            if self._window is not None:
                self._window.swap()
        with frame.clock.span("wait", "fence"):
            self._fences.append(native.fence())

    def finish(self) -> str:
        self._context.make_current()
        self._context.gl.finish()
        while self._fences:
            native.wait_fence(self._fences.popleft())
        return "glFinish"

    def completed_frames(self) -> Iterator[GpuTimes]:
        self._context.make_current()
        if self._timer is not None:
            yield from self._timer.ring.completed()

    def resize(self, size_px: tuple[int, int]) -> None:
        self.size_px = size_px
        self._drawn_by = None

    def set_vsync(self, on: bool) -> str:
        """OpenGL has no way to ask what the swap interval became."""
        if self._window is None:
            return "offscreen"
        self._window.set_swap_interval(on)
        self.present_mode = f"swap interval {int(on)} (asked for)"
        return self.present_mode

    def set_frames_in_flight(self, count: int) -> None:
        self.finish()
        self._frames_in_flight = count

    def suspend(self) -> None:
        """The context outlives the window's native parts: only frames in flight must not."""
        self.finish()

    def resume(self) -> None:
        self._context.make_current()

    def release(self) -> None:
        self.finish()
        if self._overlay is not None:
            self._overlay.release()
        if self._timer is not None:
            self._timer.release()
        if self._window is None:
            self._context.release()

    def _abandon_open_frame(self) -> None:
        """A frame that an error left open: nothing of it was submitted, and its stamps will never arrive."""
        frame, self._frame = self._frame, None
        if frame is not None and frame.timer_slot is not None and self._timer is not None:
            self._timer.ring.abandon(frame.timer_slot)

    def open_frame(self, executable: OpenGlExecutable) -> OpenFrame:
        """The frame that ``executable`` issues into."""
        if self._frame is None:
            raise RuntimeError("execute outside a frame; call begin_frame first")
        self._drawn_by = executable
        return self._frame

    def still_framebuffer(self, executable: OpenGlExecutable) -> tuple[Any, bool]:
        """An image to read, and whether the last frame of ``executable`` already stands in it."""
        return self._offscreen(), self.is_offscreen and self._drawn_by is executable

    def _framebuffer(self) -> Any:
        if self._window is None:
            return self._offscreen()
        screen = self._context.gl.screen
        screen.viewport = (0, 0, *self.size_px)
        return screen

    def _offscreen(self) -> Any:
        """RGBA8 without sRGB conversion, 24-bit depth; made anew when the size changed."""
        if self._still is None or self._still.size != self.size_px:
            gl, old = self._context.gl, self._still
            self._still = gl.framebuffer([gl.texture(self.size_px, 4)], gl.depth_texture(self.size_px))
            self._still.use()  # releasing the bound one would fall back to a default that does not exist here
            if old is not None:
                _release_framebuffer(old)
        return self._still


def _release_framebuffer(framebuffer: Any) -> None:
    for attachment in (*framebuffer.color_attachments, framebuffer.depth_attachment):
        attachment.release()
    framebuffer.release()
