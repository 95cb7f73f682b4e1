"""A native child window inside pyglet's view, for wgpu to present into. One class per platform; used by window.

Sharing pyglet's own native window between OpenGL and a swapchain works by luck only. The child is mapped while wgpu
draws and unmapped while OpenGL does; it takes no input, so events still reach pyglet.
"""

import ctypes
import sys
from collections.abc import Mapping
from typing import Any, Protocol


class NativeView(Protocol):
    def surface_args(self) -> Mapping[str, object]: ...
    def show(self, shown: bool) -> None: ...
    def resize(self, size_px: tuple[int, int]) -> None: ...
    def destroy(self) -> None: ...


def create_native_view(window: Any, size_px: tuple[int, int]) -> NativeView:
    """The child of ``window`` (a pyglet window) that fits this platform."""
    if sys.platform == "win32":
        return _Win32View(window, size_px)
    if sys.platform == "darwin":
        return _CocoaView(window)
    return _X11View(window, size_px)


class _X11View:
    def __init__(self, window: Any, size_px: tuple[int, int]) -> None:
        from pyglet.libs.x11 import xlib

        self._xlib, self._display = xlib, window._x_display
        attributes = xlib.XSetWindowAttributes()
        attributes.bit_gravity = xlib.StaticGravity  # keep the picture while the window grows
        self._id = xlib.XCreateWindow(
            self._display,
            window._view,
            0,
            0,
            *size_px,
            0,
            0,
            xlib.InputOutput,
            None,
            xlib.CWBitGravity,
            ctypes.byref(attributes),
        )
        for parent in (window._window, window._view):  # no black flash between the two pictures
            xlib.XSetWindowBackgroundPixmap(self._display, parent, 0)

    def surface_args(self) -> Mapping[str, object]:
        display = ctypes.cast(self._display, ctypes.c_void_p).value
        return {"platform": "x11", "window": int(self._id), "display": display}

    def show(self, shown: bool) -> None:
        (self._xlib.XMapWindow if shown else self._xlib.XUnmapWindow)(self._display, self._id)
        self._xlib.XSync(self._display, 0)

    def resize(self, size_px: tuple[int, int]) -> None:
        width, height = (max(1, extent) for extent in size_px)
        self._xlib.XResizeWindow(self._display, self._id, width, height)
        self._xlib.XSync(self._display, 0)

    def destroy(self) -> None:
        self._xlib.XDestroyWindow(self._display, self._id)
        self._xlib.XSync(self._display, 0)


class _Win32View:
    _CHILD, _DISABLED, _HIDE, _SHOW_NO_ACTIVATE = 0x40000000, 0x08000000, 0, 8
    _NO_ZORDER_NO_ACTIVATE = 0x0014

    def __init__(self, window: Any, size_px: tuple[int, int]) -> None:
        self._user32: Any = ctypes.WinDLL("user32")  # type: ignore[attr-defined]
        self._user32.CreateWindowExW.restype = ctypes.c_void_p
        style = self._CHILD | self._DISABLED
        parent = ctypes.c_void_p(window._view_hwnd)
        self._handle = ctypes.c_void_p(
            self._user32.CreateWindowExW(0, "Static", "", style, 0, 0, *size_px, parent, None, None, None)
        )

    def surface_args(self) -> Mapping[str, object]:
        return {"platform": "windows", "window": int(self._handle.value or 0)}

    def show(self, shown: bool) -> None:
        self._user32.ShowWindow(self._handle, self._SHOW_NO_ACTIVATE if shown else self._HIDE)

    def resize(self, size_px: tuple[int, int]) -> None:
        self._user32.SetWindowPos(self._handle, None, 0, 0, *size_px, self._NO_ZORDER_NO_ACTIVATE)

    def destroy(self) -> None:
        self._user32.DestroyWindow(self._handle)


class _CocoaView:
    """wgpu-py adds a CAMetalLayer subview by itself; OpenGL 4.3 does not exist here, so nothing is ever hidden."""

    def __init__(self, window: Any) -> None:
        self._view = window._nsview

    def surface_args(self) -> Mapping[str, object]:
        return {"platform": "cocoa", "window": int(self._view.ptr.value)}

    def show(self, shown: bool) -> None: ...

    def resize(self, size_px: tuple[int, int]) -> None: ...

    def destroy(self) -> None: ...
