"""The pyglet window: events become actions, and renderers get a WindowTarget. Knows no statistics."""

import ctypes
import os
import sys
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

import renderers.opengl  # noqa: F401  sets pyglet's options before pyglet.window reads them
from demo.native_view import NativeView, create_native_view
from demo.settings import EXIT_ENVIRONMENT
from demo.wanted import Action
from renderers.device import Interface, UnavailableError
from renderers.opengl.window_config import buffers_freed, no_error_asked, window_config

_NEXT_STEP = "set DISPLAY (or start Xvfb), or use the headless: interface-tax bench"
# Names of pyglet.window.key; the first one of an action is the one the help shows.
_KEYS: dict[str, Action] = {
    "_1": Action.OPENGL,
    "NUM_1": Action.OPENGL,
    "_2": Action.WEBGPU,
    "NUM_2": Action.WEBGPU,
    "W": Action.NEXT_WORKLOAD,
    "F": Action.NEXT_SCHEDULE,
    "D": Action.NEXT_SUBMISSION,
    "T": Action.NEXT_STATE,
    "M": Action.NEXT_ORDER,
    "LEFT": Action.FEWER_OBJECTS,
    "RIGHT": Action.MORE_OBJECTS,
    "DOWN": Action.FEWER_ELEMENTS,
    "UP": Action.MORE_ELEMENTS,
    "B": Action.FIT,
    "V": Action.VSYNC,
    "I": Action.IN_FLIGHT,
    "SPACE": Action.PAUSE,
    "N": Action.STEP,
    "R": Action.RESET,
    "S": Action.SCREENSHOT,
    "J": Action.SAVE_JSON,
    "O": Action.OVERLAY,
    "F11": Action.FULLSCREEN,
    "F1": Action.HELP,
    "QUESTION": Action.HELP,
    "SLASH": Action.HELP,
    "ESCAPE": Action.QUIT,
}
SHORTCUTS: dict[Action, str] = {}
for _name, _action in _KEYS.items():
    SHORTCUTS.setdefault(_action, _name.strip("_").capitalize())
SHORTCUTS[Action.HELP] = "F1 or ?"


class DemoWindow:
    """One window. OpenGL draws into pyglet's view, wgpu into a native child of it. Implements WindowTarget."""

    def __init__(self, size_px: tuple[int, int], caption: str, validation: bool = True) -> None:
        """``validation``: of the OpenGL context, which pyglet makes with the window."""
        self.actions: deque[Action] = deque()
        self.is_closed = False  # by its close button
        with no_error_asked(not validation):
            self._window = _open(size_px, caption)
        self._hidden = False
        self._view: NativeView | None = None
        self._shown: Interface = "opengl"
        self._keys = _keys()
        self._window.push_handlers(
            self.on_key_press, self.on_resize, self.on_close, self.on_hide, self.on_show, self.on_expose
        )

    @property
    def size_px(self) -> tuple[int, int]:
        """Pixels of the framebuffer; (0, 0) while minimised."""
        if self._hidden:
            return (0, 0)
        width, height = self._window.get_framebuffer_size()
        return (int(width), int(height))

    @property
    def size(self) -> tuple[float, float]:
        """Points, which mouse events count in."""
        width, height = self._window.get_size()
        return (float(width), float(height))

    @property
    def pixels_per_point(self) -> tuple[float, float]:
        width, height = self._window.get_size()
        across, down = self._window.get_framebuffer_size()
        return (across / width if width else 1.0, down / height if height else 1.0)

    @property
    def refresh_hz(self) -> float | None:
        """Of the screen the window is on; None where the system does not say (Xvfb)."""
        try:
            rate = self._window.screen.get_mode().rate
        except Exception:  # pyglet's answer depends on the platform and its extensions
            return None
        return float(rate) if rate and 20.0 <= rate <= 1000.0 else None

    def push_handlers(self, handlers: object) -> None:
        """Handlers that see events before the window's own."""
        self._window.push_handlers(handlers)

    def dispatch_events(self) -> None:
        self._window.dispatch_events()

    def draw_while_dragged(self, draw: Callable[[], None]) -> None:
        """Windows keeps the thread while a window is moved or sized, and pyglet then only runs its clock."""
        import pyglet

        pyglet.clock.schedule(lambda _: draw())  # our own loop never ticks that clock

    def show(self, interface: Interface) -> None:
        """Map or unmap the child that wgpu presents into."""
        self._shown = interface
        if self._view is not None:
            self._view.show(interface == "webgpu")

    def set_fullscreen(self, on: bool) -> None:
        """pyglet makes its native windows anew, so the child goes first; no surface may be left on it."""
        if self._view is not None:
            self._view.destroy()
            self._view = None
        with buffers_freed(self._window.context):
            self._window.set_fullscreen(on)
        self._window.dispatch_events()

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
            width, height = self._window.get_framebuffer_size()
            self._view = create_native_view(self._window, (max(1, width), max(1, height)))
            self._view.show(self._shown == "webgpu")
        return self._view.surface_args()

    def check_display(self) -> None:
        if sys.platform == "linux":
            from pyglet.libs.x11 import xlib

            xlib.XSync(self._window._x_display, 0)  # a broken connection ends the process, see below

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
        if self._view is not None:
            self._view.resize(self._window.get_framebuffer_size())
        return True

    def on_hide(self) -> None:
        self._hidden = True

    def on_show(self) -> None:
        self._hidden = False

    def on_expose(self) -> None:
        self._hidden = False

    def on_close(self) -> bool:
        self.is_closed = True
        return True


def _open(size_px: tuple[int, int], caption: str) -> Any:
    """With OpenGL 4.3 where the system has it; macOS has 4.1, which still gives a window for wgpu."""
    try:
        import pyglet

        options = {"caption": caption, "resizable": True, "vsync": False}
        try:
            window = pyglet.window.Window(*size_px, config=window_config(), **options)
        except Exception:  # pyglet has several for a configuration or a context that is not to be had
            window = pyglet.window.Window(*size_px, **options)
    except Exception as error:  # pyglet raises by platform: no display, no GL library, no configuration at all
        raise UnavailableError("window", _cause(error), _NEXT_STEP) from error
    if sys.platform == "linux":
        _end_calmly_without_display()
    return window


def _cause(error: Exception) -> str:
    name = type(error).__name__
    if sys.platform == "linux" and name == "NoSuchDisplayException":
        return "no display to open a window on"
    return f"cannot open one ({str(error) or name})"


def _end_calmly_without_display() -> None:
    """Xlib ends the process when its connection breaks, with a message of its own; ours says what to do."""

    def gone(display: object) -> int:
        os.write(2, f"interface-tax: window: the display went away; {_NEXT_STEP}\n".encode())
        os._exit(EXIT_ENVIRONMENT)

    handler = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(gone)
    _kept_alive.append(handler)
    ctypes.CDLL("libX11.so.6").XSetIOErrorHandler(handler)


_kept_alive: list[object] = []


def _keys() -> dict[int, Action]:
    from pyglet.window import key

    return {getattr(key, name): action for name, action in _KEYS.items()}
