"""One session of the window, driven by its own key events, photographed from the screen. Run as a child process.

Prints one line of JSON: what each photograph showed, compared in place so that no picture crosses processes.
"""

import ctypes
import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

sys.path.insert(0, str(Path(__file__).parents[2]))

from pyglet.libs.x11 import xlib
from pyglet.window import key

from demo.app import App
from demo.settings import Settings
from demo.window import DemoWindow
from renderers.device import Interface

SIZE_PX = (640, 360)
Photo = npt.NDArray[np.uint8]


def settings(interface: Interface = "opengl", objects: int = 1000) -> Settings:
    return Settings(interfaces=(interface,), interfaces_named=False, objects=objects, size_px=SIZE_PX)


class Session:
    """Keys in, photographs out."""

    def __init__(self, chosen: Settings = settings()) -> None:
        self.window = DemoWindow(chosen.size_px, "session", chosen.validation)
        self.app = App(chosen, self.window, {})
        self.pyglet_window: Any = self.window._window
        self.app.open()
        self.press(key.O)  # without the panel, the screen is the picture
        self.steps(10)

    def press(self, symbol: int) -> None:
        self.pyglet_window.dispatch_event("on_key_press", symbol, 0)
        self.steps(4)

    def steps(self, count: int) -> None:
        for _ in range(count):
            if self.app.running:
                self.app.step()

    def photograph(self) -> Photo:
        """RGB of the window as the X server shows it, (height, width, 3), once what was presented has arrived there."""
        self.app.stage.device.finish()
        last = self._shown()
        while True:
            time.sleep(0.03)
            now = self._shown()
            if np.array_equal(last, now):
                return now
            last = now

    def _shown(self) -> Photo:
        display = self.pyglet_window._x_display
        xlib.XSync(display, 0)
        width, height = self.window.size_px
        root, child = xlib.XDefaultRootWindow(display), xlib.Window()
        x, y = ctypes.c_int(), ctypes.c_int()
        xlib.XTranslateCoordinates(display, self.pyglet_window._window, root, 0, 0, x, y, child)
        image = xlib.XGetImage(display, root, x.value, y.value, width, height, ctypes.c_ulong(-1).value, xlib.ZPixmap)
        content = ctypes.string_at(_address(image.contents, "data"), image.contents.bytes_per_line * height)
        rows = np.frombuffer(content, np.uint8).reshape(height, -1)[:, : 4 * width].reshape(height, width, 4)
        return rows[:, :, 2::-1].copy()

    def settled(self) -> Photo:
        """The photograph that two looks in a row agree on: a server may still show the frame before a new size."""
        before = self.photograph()
        for _ in range(20):
            self.steps(3)
            now = self.photograph()
            if now.shape == before.shape and np.array_equal(now, before):
                break
            before = now
        return now

    def offscreen(self) -> Photo:
        return self.app.stage.work.image()[:, :, :3]


def _address(structure: ctypes.Structure, field: str) -> int:
    """A char pointer as an address: ctypes would make a Python string of it, up to the first zero."""
    offset = getattr(type(structure), field).offset
    return ctypes.c_void_p.from_buffer(structure, offset).value or 0


def differing(one: Photo, other: Photo) -> int:
    return int(np.count_nonzero(np.any(one != other, axis=2))) if one.shape == other.shape else -1


def main() -> None:
    session = Session()
    session.press(key.SPACE)
    result: dict[str, Any] = {}
    first = session.photograph()
    result["shades"] = len(np.unique(first.reshape(-1, 3), axis=0))
    result["opengl_screen_against_offscreen"] = differing(first, session.offscreen())
    session.press(key._2)
    second = session.photograph()
    result["interface"] = session.app.stage.interface
    result["webgpu_screen_against_opengl_screen"] = differing(second, first)
    result["webgpu_screen_against_offscreen"] = differing(second, session.offscreen())
    for how in ("eager", "batched", "fused"):
        session.press(key.F)
        result[f"{how}_screen"] = differing(session.photograph(), first)
        assert session.app.stage.variant.how == how
    session.pyglet_window.set_size(500, 300)
    session.steps(8)
    resized = session.photograph()
    result["resized"] = [resized.shape[1], resized.shape[0]]
    result["webgpu_resized_against_offscreen"] = differing(resized, session.offscreen())
    session.press(key._1)
    result["opengl_resized_against_webgpu"] = differing(session.photograph(), resized)
    for round_ in range(20):
        session.press((key._2, key._1)[round_ % 2])
    result["after_twenty_switches"] = differing(session.photograph(), resized)
    session.press(key.V)
    result["title"] = session.app.title()
    session.press(key.ESCAPE)
    result["running"] = session.app.running
    session.app.close()
    sys.stdout.write(json.dumps(result) + "\n")


if __name__ == "__main__":
    main()
