"""The window on a real X server: both interfaces, keys, resizing, closing, and what is on the screen."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from pyglet.extlibs import png

_ROOT = Path(__file__).parents[2]
_SESSION = Path(__file__).with_name("window_session.py")

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="photographs an X server"),
    pytest.mark.usefixtures("xvfb", "display", "opengl", "webgpu"),  # the children open both
]


@pytest.fixture(scope="module")
def session() -> Mapping[str, Any]:
    child = subprocess.run([sys.executable, str(_SESSION)], capture_output=True, text=True, timeout=180)
    assert child.returncode == 0, child.stderr
    result: dict[str, Any] = json.loads(child.stdout.splitlines()[-1])
    return result


def test_the_screen_is_not_black(session: Mapping[str, Any]) -> None:
    assert session["shades"] > 100


def test_key_2_shows_webgpu_with_the_same_picture(session: Mapping[str, Any]) -> None:
    assert session["interface"] == "webgpu"
    assert 0 <= session["webgpu_screen_against_opengl_screen"] <= 10


def test_the_screen_shows_what_is_drawn_offscreen(session: Mapping[str, Any]) -> None:
    assert session["webgpu_screen_against_offscreen"] == 0
    assert 0 <= session["opengl_screen_against_offscreen"] <= 10  # a window's first row is the bottom one


@pytest.mark.parametrize("how", ["eager", "batched", "fused"])
def test_every_schedule_shows_the_same_picture(session: Mapping[str, Any], how: str) -> None:
    assert 0 <= session[f"{how}_screen"] <= 10


def test_a_resized_window_is_filled_by_both_interfaces(session: Mapping[str, Any]) -> None:
    assert session["resized"] == [500, 300]
    assert session["webgpu_resized_against_offscreen"] == 0
    assert 0 <= session["opengl_resized_against_webgpu"] <= 10


def test_switching_to_and_fro_keeps_camera_time_and_picture(session: Mapping[str, Any]) -> None:
    assert 0 <= session["after_twenty_switches"] <= 10


def test_the_title_names_interface_schedule_and_figures(session: Mapping[str, Any]) -> None:
    title = session["title"]
    assert title.startswith("OpenGL 4.")
    for part in ("fused", "frame p50", "CPU work", "GPU", "no vsync", "paused"):
        assert part in title


def test_escape_closes(session: Mapping[str, Any]) -> None:
    assert session["running"] is False


@pytest.mark.parametrize("interface", ["gl", "wgpu"])
def test_frames_and_screenshot_end_a_run_by_themselves(interface: str, tmp_path: Path) -> None:
    picture = tmp_path / "window.png"
    command = ["--interface", interface, "--frames", "20", "--size", "320x180", "--screenshot", str(picture)]
    done = subprocess.run(
        [sys.executable, "-m", "demo", *command], cwd=_ROOT, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    width, height, _, _ = png.Reader(bytes=picture.read_bytes()).asRGB8()
    assert (width, height) == (320, 180)


def test_an_interface_that_is_missing_leaves_the_other_one_running(tmp_path: Path) -> None:
    """Key 2 without a Vulkan driver: panel and title say why, and OpenGL draws on."""
    program = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from window_session import Session, key\n"
        "session = Session(); session.press(key._2)\n"
        "assert session.app.stage.interface == 'opengl'\n"
        "before = session.app.frames; session.steps(5)\n"
        "assert session.app.frames == before + 5\n"
        "assert 'no adapter found' in session.app.title()\n"
        "session.app.close()\n"
    )
    hidden = {"VK_DRIVER_FILES": "/nowhere.json", "VK_ICD_FILENAMES": "/nowhere.json"}
    done = subprocess.run(
        [sys.executable, "-c", program, str(_SESSION.parent)],
        cwd=_ROOT,
        env={**os.environ, **hidden},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
