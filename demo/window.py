"""The pyglet window: events become actions, and renderers get a WindowTarget. Knows no statistics."""

import sys
from collections import deque
from collections.abc import Mapping
from enum import Enum
from typing import Any

import renderers.opengl  # noqa: F401  sets pyglet's options before pyglet.window reads them
from demo.native_view import NativeView, create_native_view
from renderers.device import Interface, UnavailableError
from renderers.opengl.window_config import window_config

_NEXT_STEP = "set DISPLAY (or start Xvfb), or use the headless: interface-tax bench"


class Action(Enum):
    SHOW_OPENGL = "1"
    SHOW_WEBGPU = "2"
    NEXT_SCHEDULE = "F"
    PAUSE = "Space"
    VSYNC = "V"
    QUIT = "Esc"


class DemoWindow:
    """One window. OpenGL draws into pyglet's view, wgpu into a native child of it. Implements WindowTarget."""

    def __init__(self, size_px: tuple[int, int], caption: str) -> None:
        self.actions: deque[Action] = deque()
        self._window = _open(size_px, caption)
        self.size_px: tuple[int, int] = self._window.get_framebuffer_size()
        self._view: NativeView | None = None
        self._keys = _keys()
        self._window.push_handlers(self.on_key_press, self.on_resize, self.on_close)

    def dispatch_events(self) -> None:
        self._window.dispatch_events()

    def show(self, interface: Interface) -> None:
        """Map or unmap the child that wgpu presents into."""
        if self._view is not None:
            self._view.show(interface == "webgpu")

    def set_caption(self, text: str) -> None:
        self._window.set_caption(text)

    def close(self) -> None:
        """After every device on it has been released."""
        if self._view is not None:
            self._view.destroy()
        self._window.close()

    # WindowTarget

    def surface_args(self) -> Mapping[str, object]:
        if self._view is None:
            self._view = create_native_view(self._window, self.size_px)
        return self._view.surface_args()

    def make_current(self) -> None:
        self._window.switch_to()

    def swap(self) -> None:
        self._window.flip()

    def set_swap_interval(self, on: bool) -> None:
        self._window.set_vsync(on)

    # pyglet's events; True stops its own handlers

    def on_key_press(self, symbol: int, modifiers: int) -> bool:
        action = self._keys.get(symbol)
        if action is not None:
            self.actions.append(action)
        return True

    def on_resize(self, width: int, height: int) -> bool:
        self.size_px = self._window.get_framebuffer_size()
        if self._view is not None:
            self._view.resize(self.size_px)
        return True

    def on_close(self) -> bool:
        self.actions.append(Action.QUIT)
        return True


def _open(size_px: tuple[int, int], caption: str) -> Any:
    """With OpenGL 4.3 where the system has it; macOS has 4.1, which still gives a window for wgpu."""
    try:
        import pyglet

        options = {"caption": caption, "resizable": True, "vsync": False}
        try:
            return pyglet.window.Window(*size_px, config=window_config(), **options)
        except pyglet.window.NoSuchConfigException:
            return pyglet.window.Window(*size_px, **options)
    except Exception as error:  # pyglet raises by platform: no display, no GL library, no configuration at all
        raise UnavailableError("window", _cause(error), _NEXT_STEP) from error


def _cause(error: Exception) -> str:
    name = type(error).__name__
    if sys.platform == "linux" and name == "NoSuchDisplayException":
        return "no display to open a window on"
    return f"cannot open one ({str(error) or name})"


def _keys() -> dict[int, Action]:
    from pyglet.window import key

    return {
        key._1: Action.SHOW_OPENGL,
        key.NUM_1: Action.SHOW_OPENGL,
        key._2: Action.SHOW_WEBGPU,
        key.NUM_2: Action.SHOW_WEBGPU,
        key.F: Action.NEXT_SCHEDULE,
        key.SPACE: Action.PAUSE,
        key.V: Action.VSYNC,
        key.ESCAPE: Action.QUIT,
    }
