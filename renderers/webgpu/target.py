"""Where a frame is drawn: an offscreen image, or the surface of a native child window. Used by device."""

from typing import Any, Protocol

import numpy as np
import wgpu

from renderers.device import Image, UnavailableError, WindowTarget
from renderers.webgpu import native

# Stored as written, on both interfaces: what the shaders output is what the display shows.
COLOUR_FORMAT = "bgra8unorm"
DEPTH_FORMAT = "depth24plus"


class FrameTarget(Protocol):
    size_px: tuple[int, int]
    present_mode: str

    def acquire(self) -> Any | None: ...
    @property
    def depth(self) -> Any: ...
    def present(self) -> None: ...
    def resize(self, size_px: tuple[int, int]) -> None: ...
    def set_vsync(self, on: bool) -> None: ...
    def release(self) -> None: ...


class OffscreenTarget:
    """One colour image that stays readable."""

    present_mode = "offscreen"

    def __init__(self, device: "wgpu.GPUDevice", size_px: tuple[int, int]) -> None:
        self._device = device
        self.resize(size_px)

    def resize(self, size_px: tuple[int, int]) -> None:
        self.size_px = size_px
        usage = wgpu.TextureUsage.RENDER_ATTACHMENT | wgpu.TextureUsage.COPY_SRC
        self._colour = self._device.create_texture(size=(*size_px, 1), format=COLOUR_FORMAT, usage=usage)
        self._view = self._colour.create_view()
        self.depth = create_depth(self._device, size_px)

    def acquire(self) -> Any:
        return self._view

    def present(self) -> None: ...

    def set_vsync(self, on: bool) -> None: ...

    def release(self) -> None: ...

    def read(self) -> Image:
        """(height, width, 4) RGBA, top row first, as wgpu stores it."""
        width, height = self.size_px
        layout = {"bytes_per_row": 4 * width, "rows_per_image": height}
        content = self._device.queue.read_texture({"texture": self._colour}, layout, (width, height, 1))
        return np.frombuffer(content, np.uint8).reshape(height, width, 4)[:, :, [2, 1, 0, 3]]


class SurfaceTarget:
    """A swapchain on the window that ``target`` names. Reconfigured only between frames; see ``resize``."""

    def __init__(self, device: "wgpu.GPUDevice", target: WindowTarget, vsync: bool) -> None:
        self._device, self._target = device, target
        self._pulse = native.Pulse(device)
        self._context: Any = None
        self._size_changed = False
        self.size_px = target.size_px
        self._configure(vsync)

    def acquire(self) -> Any | None:
        """This frame's image, or None when the window has no pixels or the surface is outdated: skip the frame."""
        if 0 in self.size_px:
            return None
        self._pulse.check()
        if self._size_changed:
            self._context.set_physical_size(*self.size_px)
            self.depth = create_depth(self._device, self.size_px)
            self._size_changed = False
        try:
            return self._context.get_current_texture().create_view()
        except wgpu.DrawCancelled:
            return None

    def present(self) -> None:
        self._context.present()

    def resize(self, size_px: tuple[int, int]) -> None:
        self._size_changed = self._size_changed or size_px != self.size_px
        self.size_px = size_px

    def set_vsync(self, on: bool) -> None:
        """The present mode belongs to the surface's configuration, so the surface is made anew."""
        self._pulse.check()
        self.release()
        self._configure(on)

    def release(self) -> None:
        """Before the native window goes: a surface that outlives it aborts."""
        native.wait_idle(self._device)
        if self._context is not None:
            self._context.unconfigure()
            self._context = None

    def _configure(self, vsync: bool) -> None:
        self._pulse.check()
        self._context = wgpu.gpu.get_canvas_context({**self._target.surface_args(), "vsync": vsync})
        native.check_before_configure(self._context, self._target.check_display)
        formats = native.surface_formats(self._context, self._device.adapter)
        if COLOUR_FORMAT not in formats:
            offered = ", ".join(formats) or "nothing"
            next_step = "use a display of 24-bit colour on the machine that has the adapter"
            raise UnavailableError("webgpu", f"this window takes {offered}, not {COLOUR_FORMAT}", next_step)
        self._context.set_physical_size(*self.size_px)
        self._context.configure(device=self._device, format=COLOUR_FORMAT)
        self.present_mode = native.present_mode(self._context)
        self.depth = create_depth(self._device, self.size_px)


def create_depth(device: "wgpu.GPUDevice", size_px: tuple[int, int]) -> Any:
    """A depth view of the target's size."""
    width, height = (max(1, extent) for extent in size_px)
    usage = wgpu.TextureUsage.RENDER_ATTACHMENT
    return device.create_texture(size=(width, height, 1), format=DEPTH_FORMAT, usage=usage).create_view()
