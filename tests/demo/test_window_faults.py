"""What a window survives: each fault done to a real one, in a child process, because some used to abort natively."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from demo.wanted import Wanted
from renderers.device import Interface

_FAULTS = Path(__file__).with_name("window_faults.py")
_OTHER: dict[Interface, Interface] = {"opengl": "webgpu", "webgpu": "opengl"}
_EDGE_PX = 10  # pixels that may differ: two rasterisers round shared edges, and a window's first row is the bottom one

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="photographs an X server"),
    pytest.mark.usefixtures("xvfb", "display", "opengl", "webgpu"),  # the children open both
]


def _after(scenario: str, interface: Interface, cwd: Path) -> Mapping[str, Any]:
    """What ``scenario`` left, as window_faults.py tells it."""
    command = [sys.executable, str(_FAULTS), scenario, interface]
    child = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=170)
    assert child.returncode == 0, child.stderr
    assert "Traceback" not in child.stderr
    result: dict[str, Any] = json.loads(child.stdout.splitlines()[-1])
    return result


def _is_right(picture: Mapping[str, Any], interface: Interface) -> None:
    """The screen shows what is drawn offscreen, something is on it, and it is what it was where that is known."""
    assert picture["interface"] == interface
    assert picture["shades"] > 100
    assert 0 <= picture["screen_against_offscreen"] <= _EDGE_PX
    assert 0 <= picture.get("against_before", 0) <= _EDGE_PX


@pytest.fixture(scope="module")
def away(interface: Interface, tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Any]:
    return _after("size_zero", interface, tmp_path_factory.mktemp("away"))


@pytest.mark.parametrize("how", ["stub", "unmapped"])
def test_frames_without_pixels_are_skipped_and_not_counted_and_drawing_resumes(
    interface: Interface, how: str, away: Mapping[str, Any]
) -> None:
    result = away[how]
    assert result["size_px"] == [0, 0]
    assert (result["frames"], result["counted"], result["skipped"]) == (0, 0, 6)
    assert result["counted_after"] == result["frames_after"] - 1  # nothing ends where the gap began
    _is_right(result, interface)


def test_wishes_made_while_minimised_come_true_afterwards(interface: Interface, away: Mapping[str, Any]) -> None:
    """Each would need an image of no pixels, which both interfaces refuse."""
    assert away["files"] == []
    assert "a minimised window has no picture" in away["asked_while_away"]
    _is_right(away["after"], interface)
    _is_right(away["switched while away"], _OTHER[interface])
    assert away["switched while away"]["objects"] == 400


@pytest.mark.parametrize("when", ["resized", "fullscreen", "back", "other", "there_and_back"])
def test_the_screen_is_the_offscreen_image_after_a_hundred_sizes_and_fullscreen(
    interface: Interface, when: str, shapes: Mapping[str, Any]
) -> None:
    _is_right(shapes[when], _OTHER[interface] if when == "other" else interface)
    assert shapes[when]["size"] == ([1280, 800] if when == "fullscreen" else [500, 300])


@pytest.fixture(scope="module")
def shapes(interface: Interface, tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Any]:
    return _after("resized", interface, tmp_path_factory.mktemp("shapes"))


def test_two_hundred_switches_of_every_setting_give_their_memory_back(interface: Interface, tmp_path: Path) -> None:
    """One image of this window kept a switch would be 200 MB, one set of arrays a rebuild 10 MB; allocators take 5."""
    result = _after("switches", interface, tmp_path)
    assert result["pressed"] >= 200
    assert result["grown_bytes"] < 12_000_000
    assert result["wanted"] == str(Wanted(interface, "fused", 200, 200, 2, paused=True, overlay=False))
    _is_right(result, interface)


def test_a_frame_with_the_panel_keeps_less_than_a_kilobyte(interface: Interface, tmp_path: Path) -> None:
    result = _after("long_run", interface, tmp_path)
    assert result["frames"] >= 2_000
    assert result["bytes_a_frame"] < 1024


def test_a_device_lost_on_show_is_named_and_the_other_interface_goes_on_until_it_is_opened_anew(
    interface: Interface, tmp_path: Path
) -> None:
    result = _after("lost_on_show", interface, tmp_path)
    assert len(result) == 8
    for doing, each in result.items():
        assert each["title"].endswith(": lost"), doing
        assert doing == "objects" or each["message"] == f"{interface}: the device was lost; open it again", doing
        assert each["frames"] > 0, doing
        _is_right(each, _OTHER[interface])
        assert each["opened_anew"]["message"] == "", doing
        _is_right(each["opened_anew"], interface)


def test_a_device_lost_while_hidden_leaves_the_one_on_show_alone(interface: Interface, tmp_path: Path) -> None:
    for each in _after("lost_while_hidden", interface, tmp_path).values():
        _is_right(each, _OTHER[interface])
        _is_right(each["opened_anew"], interface)
        assert each["opened_anew"]["message"] == ""


def test_the_only_device_is_opened_anew_and_its_end_is_the_windows(interface: Interface, tmp_path: Path) -> None:
    result = _after("lost_for_good", interface, tmp_path)
    _is_right(result["alone"], interface)
    assert "the device was lost" in result["alone"]["message"]
    assert result["end"] == {"error": f"{interface}: the device was lost; open it again"}


def test_a_shader_that_does_not_compile_leaves_the_last_good_frame_and_the_compilers_words(
    interface: Interface, tmp_path: Path
) -> None:
    result = _after("broken_shaders", interface, tmp_path)
    words = {"syntax": "this", "entry point": "plain", "kernel": "no_such_function", "rebuild": "no_such_function"}
    for name, word in words.items():
        assert word in result[name]["message"], name
        _is_right(result[name], _OTHER[interface] if name in ("syntax", "entry point") else interface)
    assert result["kernel"]["how"] == "fused"
    assert result["rebuild"]["elements"] == [200, 200]
    assert result["frames"] == 5
    for name in ("scene mended", "kernel mended"):
        assert result[name]["message"] == "", name
        _is_right(result[name], interface)
    assert result["kernel mended"]["how"] != "fused"


def test_what_belongs_between_frames_does_no_harm_inside_one(interface: Interface, tmp_path: Path) -> None:
    """Submitting to a surface that was configured since the acquire ends the process without a traceback."""
    result = _after("settings_inside_a_frame", interface, tmp_path)
    assert len(result) == 12
    for name, each in result.items():
        assert each["ended"] in ("presented", "end_frame without begin_frame; call begin_frame first"), name
        _is_right(each, interface)


@pytest.fixture(scope="module")
def panel(interface: Interface, tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Any]:
    return _after("panel", interface, tmp_path_factory.mktemp("panel"))


@pytest.mark.parametrize("ratio", [1.0, 1.25, 2.0])
def test_at_every_pixel_ratio_the_mouse_hits_what_it_points_at_and_the_framebuffer_is_filled(
    interface: Interface, ratio: float, panel: Mapping[str, Any]
) -> None:
    each = panel[str(ratio)]
    assert each["size"] == [round(600 * ratio), round(380 * ratio)]
    _is_right(each, interface)
    left_top, right_bottom = (600 - 452 - 12, 12), (600 - 12, 380 - 12)
    edges = [extent * ratio for extent in (*left_top, *(last - 1 for last in right_bottom))]
    assert each["panel_px"] == pytest.approx(edges, abs=2 * ratio)
    assert each["clicked"] == _OTHER[interface]


def test_the_panel_changes_nothing_of_the_workload(interface: Interface, panel: Mapping[str, Any]) -> None:
    """Counters, passes, their stamps, spans, and every draw, dispatch, write, barrier and submit."""
    assert panel["workload with"] == panel["workload without"]
    assert panel["workload with"]["gpu"] == panel["workload with"]["passes"] == ["wave/fused", "scene"]
    assert sum(panel["workload with"]["calls"].values()) > 200


def test_an_interrupt_or_a_close_at_any_point_of_a_frame_ends_calmly(interface: Interface, tmp_path: Path) -> None:
    for name, code in _after("interrupted", interface, tmp_path).items():
        assert code == (130 if name.startswith("interrupt") else 0), name


@contextmanager
def _drawing(interface: Interface, environment: Mapping[str, str]) -> Iterator["subprocess.Popen[str]"]:
    """The program, once its window draws."""
    command = [sys.executable, str(_FAULTS), "whole_run", interface]
    child = subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )  # fmt: skip
    assert child.stdout is not None
    try:
        assert child.stdout.readline() == "drawing\n", child.communicate()[1]
        yield child
    finally:
        child.kill()
        child.communicate()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_closes_the_window_without_a_word(interface: Interface, number: signal.Signals) -> None:
    with _drawing(interface, os.environ) as child:
        child.send_signal(number)
        _, errors = child.communicate(timeout=60)
    assert (child.returncode, errors) == (130, "")


def test_a_display_that_goes_away_is_one_line_and_exit_code_3(interface: Interface, own_display: Any) -> None:
    with _drawing(interface, own_display.environment) as child:
        own_display.server.kill()
        _, errors = child.communicate(timeout=60)
    assert child.returncode == 3, errors
    assert len(errors.splitlines()) == 1
    assert "the display went away" in errors


def test_a_stall_is_one_long_frame_and_leaves_the_axis_alone(tmp_path: Path) -> None:
    """History and axis know no interface, so one will do."""
    result = _after("stalled", "opengl", tmp_path)
    assert result["frames_over_5_s"] == 1
    assert result["axis_top_ms"] == 20.0
    _is_right(result, "opengl")
