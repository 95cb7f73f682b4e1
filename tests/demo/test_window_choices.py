"""Whatever is chosen in a window is on its screen: each choice made in a real one, in a child process."""

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from renderers.device import Device, Interface
from renderers.plan import Submission

_CHOICES = Path(__file__).with_name("window_choices.py")
_OTHER: dict[Interface, Interface] = {"opengl": "webgpu", "webgpu": "opengl"}
_EDGE_PX = 10  # pixels that may differ: two rasterisers round shared edges, and a window's first row is the bottom one
_OBJECTS = 200

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="photographs an X server"),
    pytest.mark.usefixtures("xvfb", "display", "opengl", "webgpu"),  # the children open both
]


def _after(scenario: str, interface: Interface, cwd: Path) -> Mapping[str, Any]:
    """What ``scenario`` left, as window_choices.py tells it."""
    command = [sys.executable, str(_CHOICES), scenario, interface]
    child = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=170)
    assert child.returncode == 0, child.stderr
    assert "Traceback" not in child.stderr
    result: dict[str, Any] = json.loads(child.stdout.splitlines()[-1])
    return result


def _device(interface: Interface, opengl: Device, webgpu: Device) -> Device:
    return {"opengl": opengl, "webgpu": webgpu}[interface]


def test_every_submission_shows_the_same_picture_and_only_the_frame_of_the_switch_is_marked(
    interface: Interface, tmp_path: Path, opengl: Device, webgpu: Device
) -> None:
    result = _after("submissions", interface, tmp_path)
    reasons = _device(interface, opengl, webgpu).info.submissions
    assert result["interface"] == interface
    assert set(result["seen"]) == {each.value for each in Submission if reasons[each] is None}
    for name, each in result["seen"].items():
        assert (each["rebuilt"], each["counted"]) == (1, 3), name
        assert name in each["title"].split("   "), name
        if name == Submission.NONE.value:
            assert (each["shades"], each["draws"]) == (1, 0)
        else:
            assert 0 <= each["differing"] <= _EDGE_PX, name
            assert each["shades"] > 100, name


def test_the_last_picture_stays_until_the_new_work_is_warm_and_a_work_is_compiled_once(
    interface: Interface, tmp_path: Path
) -> None:
    result = _after("no_wrong_frame", interface, tmp_path)
    assert len(result["during"]) == 2 * result["rounds"][0]
    assert set(result["during"]) == {0}
    assert result["rounds"][1] == result["rounds"][0] > 6


def test_what_the_other_interface_refuses_is_replaced_by_its_best_idiom_which_the_message_says(
    interface: Interface, tmp_path: Path, opengl: Device, webgpu: Device
) -> None:
    """From what is on the other interface alone; where nothing is, nothing is replaced."""
    reason = _device(interface, opengl, webgpu).info.submissions[Submission.RECORDED]
    result = _after("refused", interface, tmp_path)
    for there, name in ((interface, "over"), (_OTHER[interface], "back")):
        each = result[name]
        assert each["interface"] == there
        assert each["consistent"], name
        assert 0 <= each["against_before"] <= _EDGE_PX, name
        assert 0 <= each["screen_against_offscreen"] <= _EDGE_PX, name
    if reason is None:
        assert result["over"]["submission"] == result["begun"]
        assert result["over"]["message"] == ""
    else:
        assert (result["begun"], result["over"]["submission"]) == ("recorded", "indirect")
        assert result["over"]["message"].endswith(f": recorded: {reason}; showing indirect")
        assert result["over"]["message"] in result["over"]["title"]
        assert result["back"]["message"] == ""


def test_an_entry_of_the_menu_does_what_it_says_and_a_greyed_one_nothing_but_to_say_why(
    interface: Interface, tmp_path: Path, opengl: Device, webgpu: Device
) -> None:
    reasons = _device(interface, opengl, webgpu).info.submissions
    result = _after("menu", interface, tmp_path)
    assert result["greyed"] == {each.value: reason for each, reason in reasons.items() if reason is not None}
    assert set(result["clicked"]) == {each.value for each in Submission}
    for name, (before, after) in result["clicked"].items():
        assert after == (before if name in result["greyed"] else name)


def test_every_workload_runs_by_every_schedule_and_its_kernels_are_listed(interface: Interface, tmp_path: Path) -> None:
    seen = _after("workloads", interface, tmp_path)
    counts = {name: each["kernels"] for name, each in seen.items()}
    assert counts == {
        "wave": {"eager": 3, "batched": 3, "fused": 1},
        "relu": {"eager": 3, "batched": 3, "fused": 1},
        "chain": {"eager": 12, "batched": 12, "fused": 1},
        "sum": {"eager": 4, "batched": 4, "fused": 1},
    }
    assert all(each["listed"] >= 1 for each in seen.values())


def test_states_and_orders_show_the_same_picture_on_both_interfaces(interface: Interface, tmp_path: Path) -> None:
    """An order changes no picture, a state does."""
    result = _after("states", interface, tmp_path)
    assert len(result) == 6
    for name, each in result.items():
        assert each["expected"], name
        assert 0 <= each["differing"] <= _EDGE_PX, name
        assert each["shades"] > 100, name
        assert (each["against_first"] <= _EDGE_PX) is name.startswith("none"), name


def test_shader_cost_is_a_value_of_the_frame_that_begins_the_statistics_anew(
    interface: Interface, tmp_path: Path
) -> None:
    result = _after("shader_cost", interface, tmp_path)
    assert (result["first"], result["now"]) == (3, 40)
    assert result["kept"]
    assert (result["counted"], result["rebuilt"]) == (3, 0)
    assert result["most_differing"] <= 1
    assert result["saved"] == {
        "submission": "immediate-bind", "state": "none", "order": "sorted", "shader_cost": 40, "objects": _OBJECTS,
    }  # fmt: skip


def test_a_window_without_objects_shows_its_background_by_every_submission(
    interface: Interface, tmp_path: Path
) -> None:
    result = _after("none_at_all", interface, tmp_path)
    assert len(result["empty"]) > len(Submission)
    assert all(each == {"shades": 1, "message": ""} for each in result["empty"].values())
    assert result["objects"] == [1, 0]


def test_a_fit_comes_to_an_end_of_its_own_and_whatever_a_person_does_cancels_it(
    interface: Interface, tmp_path: Path
) -> None:
    result = _after("fit", interface, tmp_path)
    assert result["progress"].startswith("Fitting: 64 objects ...")
    assert result["asked"][0] == [64, 1, False]
    assert all(rebuilt == 1 and not vsync for _, rebuilt, vsync in result["asked"])
    end = result["end"]
    assert end["interface"] == interface
    assert end["vsync"]
    assert end["measured"]
    assert end["fits"] is None or end["objects"] == end["fits"]
    assert end["message"].startswith("immediate-bind, fused: ")
    assert end["message"] in end["title"]
    assert 0 <= end["screen_against_offscreen"] <= _EDGE_PX
    for name, changed in (("key B", []), ("escape", []), ("schedule", ["how"]), ("interface", ["interface"])):
        each = result[name]
        assert each["begun"], name
        assert not each["fitting"], name
        assert each["running"] and each["vsync"] and each["objects"], name
        assert (each["changed"], each["message"]) == (changed, "Fit cancelled"), name
    assert not result["running after close"]


def test_a_window_says_how_far_the_checks_are_left_out_that_it_was_asked_to_leave_out(
    interface: Interface, tmp_path: Path, opengl: Device, webgpu: Device
) -> None:
    result = _after("validation", interface, tmp_path)
    info = _device(interface, opengl, webgpu).info
    assert result["validation"] != info.validation or (interface == "opengl" and "Mesa" not in info.driver)
    assert result["shades"] > 100
    assert 0 <= result["screen_against_offscreen"] <= _EDGE_PX


def test_a_submission_that_was_named_and_is_refused_ends_the_run_with_the_reason() -> None:
    command = [sys.executable, "-m", "demo", "--interface", "opengl", "--submission", "recorded", "--frames", "3"]
    child = subprocess.run(command, cwd=Path(__file__).parents[2], capture_output=True, text=True, timeout=120)
    assert child.returncode == 2
    (line,) = child.stderr.splitlines()
    assert line.startswith("interface-tax: opengl: recorded: not available")
    assert "use indirect" in line
