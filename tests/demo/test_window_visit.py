"""One whole visit by mouse and keyboard, on a display of its own: each thing a person does has its effect."""

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyglet.extlibs import png

from renderers.device import Device

_FAULTS = Path(__file__).with_name("window_faults.py")
_ROOT = Path(__file__).parents[2]
_OBJECTS = 400
_PATIENCE_S = 60.0

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="drives an X server")


@pytest.fixture(autouse=True)
def _devices_exist(opengl: Device, webgpu: Device) -> None:
    """The visitor sees both."""


class Visitor:
    """Hands and eyes: xdotool."""

    def __init__(self, environment: dict[str, str]) -> None:
        self._environment = environment
        self._window = self._xdotool("search", "--sync", "--name", "OpenGL").split()[-1]
        self._xdotool("windowfocus", "--sync", self._window)

    def title(self) -> str:
        return self._xdotool("getwindowname", self._window)

    def key(self, name: str) -> None:
        self._xdotool("key", name)

    def click(self, x: float, y: float) -> None:
        self._move(x, y)
        self._xdotool("mousedown", "1", "sleep", "0.2", "mouseup", "1")

    def drag(self, from_x: float, to_x: float, y: float) -> None:
        self._move(from_x, y)
        self._xdotool("mousedown", "1", "sleep", "0.2")
        for part in range(1, 6):
            self._move(from_x + (to_x - from_x) * part / 5.0, y)
        self._xdotool("mouseup", "1")

    def _move(self, x: float, y: float) -> None:
        where = (str(round(x)), str(round(y)))
        self._xdotool("mousemove", "--window", self._window, *where, "sleep", "0.2")

    def _xdotool(self, *arguments: str) -> str:
        done = subprocess.run(
            ["xdotool", *arguments], env=self._environment, capture_output=True, text=True, timeout=_PATIENCE_S
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()


def _until(holds: Callable[[], Any], what: str) -> Any:
    deadline = time.monotonic() + _PATIENCE_S
    while not (found := holds()):
        assert time.monotonic() < deadline, f"never came: {what}"
        time.sleep(0.1)
    return found


def _files(folder: Path, ending: str) -> list[Path]:
    return sorted(folder.glob(f"interface-tax-*{ending}"))


def test_a_visitor_switches_drags_types_saves_and_leaves(xdotool: Any, tmp_path: Path) -> None:
    known = subprocess.run(
        [sys.executable, str(_FAULTS), "places", "opengl"],
        env=xdotool.environment, capture_output=True, text=True, timeout=_PATIENCE_S,
    )  # fmt: skip
    assert known.returncode == 0, known.stderr
    places = json.loads(known.stdout)
    child = subprocess.Popen(
        [sys.executable, "-m", "demo", "--objects", str(_OBJECTS)],
        cwd=tmp_path, env={**xdotool.environment, "PYTHONPATH": str(_ROOT)},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        _visit(Visitor(xdotool.environment), places, tmp_path)
        output, errors = child.communicate(timeout=_PATIENCE_S)
    finally:
        child.kill()
    assert (child.returncode, output, errors) == (0, "", "")


def _visit(visitor: Visitor, places: dict[str, Any], folder: Path) -> None:
    visitor.click(*places["button"])
    _until(lambda: visitor.title().startswith("wgpu"), "wgpu after a click on its button")
    left, right, y = places["slider"]
    visitor.drag(left + 0.55 * (right - left), left + 0.25 * (right - left), y)
    content = _until(lambda: _rebuilt(visitor, folder), "another number of objects after a drag")
    assert content["schema"] == "interface-tax/1"
    (run,) = content["runs"]
    assert run["interface"] == "webgpu"
    assert 1 < run["objects"] < _OBJECTS
    assert run["counters"]["draws"] == run["objects"]
    assert run["elements"] == _OBJECTS
    assert list(content["devices"]) == ["webgpu"]
    for name, shown in (("v", "no vsync"), ("f", "eager"), ("space", "paused")):
        visitor.key(name)
        _until(lambda shown=shown: shown in visitor.title(), f"{shown} after key {name}")
    visitor.key("s")
    (picture,) = _until(lambda: _files(folder, ".png"), "a picture after key s")
    assert "webgpu" in picture.name
    width, height, _, _ = _until(lambda: _picture(picture), "a whole picture")
    assert (width, height) == (1280, 720)
    visitor.key("Escape")


def _rebuilt(visitor: Visitor, folder: Path) -> dict[str, Any] | None:
    """What key j saves, once the slider has come to rest and been obeyed."""
    for old in _files(folder, ".json"):
        old.unlink()
    visitor.key("j")
    (file,) = _until(lambda: _files(folder, ".json"), "a file after key j")
    content: dict[str, Any] = json.loads(file.read_text())
    run = content["runs"][0]
    return content if run["objects"] != _OBJECTS and run["frames"] else None


def _picture(file: Path) -> Any:
    """None while it is still being written."""
    try:
        return png.Reader(bytes=file.read_bytes()).asRGB8()
    except (png.Error, EOFError):
        return None
