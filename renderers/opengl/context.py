"""Open a GL 4.3 context without a display or in a window, and describe it. Feeds device."""

import sys
from typing import Any

import moderngl

from compute.kernel import Limits
from renderers.blocks import RECORD_BYTES
from renderers.device import DeviceInfo, Offscreen, Target, UnavailableError, WindowTarget
from renderers.opengl import native
from renderers.opengl.window_config import no_error_asked
from renderers.plan import Submission

REQUIRED_VERSION = 430
_SOFTWARE = ("llvmpipe", "softpipe", "swrast", "swiftshader", "gdi generic")
_NEXT_STEP = {
    "linux": "install a GL driver (Debian, Ubuntu: apt install libgl1 libegl1 libgl1-mesa-dri; else your GPU vendor's)",
    "darwin": "use --interface webgpu: macOS stops at OpenGL 4.1, which has no compute shaders",
}


_NOT_RECORDED = (
    "not available in the core profile (display lists are compatibility, command lists an NVIDIA extension); "
    "multi-draw indirect is OpenGL's answer: use indirect"
)

# Without a driver thread: its work would not be seen, and under the null driver Mesa 22.3 overflows a pool of its own.
_MESA_NULL_DRIVER = {"GALLIUM_NOOP": "1", "GALLIUM_THREAD": "0"}


class GlContext:
    """One context that makes itself current: another library may have taken it away at any time, silently."""

    def __init__(self, target: Target, adapter: str | None, validation: bool) -> None:
        self._window: WindowTarget | None = None if isinstance(target, Offscreen) else target
        if self._window is not None:
            self._window.make_current()
        with no_error_asked(not validation):
            self.gl = _create(standalone=self._window is None)
        if self._window is None and sys.platform == "win32":
            native.link_without_window()
        renderer = self.gl.info["GL_RENDERER"]
        if adapter is not None and adapter.lower() not in renderer.lower():
            raise UnavailableError("opengl", f"no adapter is called {adapter!r}", f"OpenGL offers only: {renderer}")
        self.has_clip_control = self.gl.version_code >= 450 or "GL_ARB_clip_control" in self.gl.extensions
        self.draw_images(self._window is None)

    def make_current(self) -> None:
        """At every entry that touches GL."""
        if self._window is not None:
            self._window.make_current()
        else:
            self.gl.__enter__()

    def draw_images(self, offscreen: bool) -> None:
        """Offscreen images have the top row first; without clip control they are flipped when read."""
        if self.has_clip_control:
            native.clip_control(top_row_first=offscreen)

    def release(self) -> None:
        self.make_current()
        self.gl.release()


def _create(standalone: bool) -> Any:
    """moderngl's types reject ``backend``, hence Any."""
    try:
        if not standalone:
            return moderngl.create_context(require=REQUIRED_VERSION)
        options: dict[str, Any] = {"backend": "egl"} if sys.platform == "linux" else {}
        return moderngl.create_standalone_context(require=REQUIRED_VERSION, **options)
    except Exception as error:  # moderngl raises Exception, ValueError and OSError by platform
        next_step = _NEXT_STEP.get(sys.platform, "install your GPU vendor's driver")
        raise UnavailableError("opengl", f"no OpenGL 4.3 context: {error}", next_step) from error


def describe(context: GlContext) -> DeviceInfo:
    """Adapter, driver, limits; GL_TIMESTAMP counts nanoseconds by definition."""
    info = context.gl.info
    stamped = native.timestamp_bits() > 0
    return DeviceInfo(
        interface="opengl",
        title=f"OpenGL {context.gl.version_code // 100}.{context.gl.version_code // 10 % 10}",
        adapter=info["GL_RENDERER"],
        driver=f"{info['GL_VENDOR']} {info['GL_VERSION']}",
        is_software=any(name in info["GL_RENDERER"].lower() for name in _SOFTWARE),
        limits=_limits(),
        submissions={**dict.fromkeys(Submission), Submission.RECORDED: _NOT_RECORDED},
        timestamps=None if stamped else "this driver's timestamp counter has 0 bits",
        ns_per_tick=1.0,
        period_source="GL_TIMESTAMP is in ns by definition" if stamped else "n/a (no timestamps)",
        object_bytes=RECORD_BYTES,
        validation="no checks: a no-error context"
        if native.is_no_error()
        else "errors are checked and kept by the driver",
        null_driver=_MESA_NULL_DRIVER if "Mesa" in info["GL_VERSION"] else None,
    )


def _limits() -> Limits:
    """OpenGL has no buffer limit of its own; what one binding can show is the useful one."""
    return Limits(
        storage_binding_bytes=native.integer(native.MAX_STORAGE_BLOCK_BYTES),
        buffer_bytes=native.integer(native.MAX_STORAGE_BLOCK_BYTES),
        storage_buffers_per_stage=native.integer(native.MAX_STORAGE_BLOCKS),
        invocations_per_workgroup=native.integer(native.MAX_INVOCATIONS),
        workgroup_size=(
            native.indexed_integer(native.MAX_WORKGROUP_SIZE, 0),
            native.indexed_integer(native.MAX_WORKGROUP_SIZE, 1),
            native.indexed_integer(native.MAX_WORKGROUP_SIZE, 2),
        ),
        workgroup_bytes=native.integer(native.MAX_SHARED_BYTES),
        workgroups_per_axis=min(native.indexed_integer(native.MAX_WORKGROUP_COUNT, axis) for axis in range(3)),
    )
