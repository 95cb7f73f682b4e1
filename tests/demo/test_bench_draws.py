"""Draws compared by the bench, from end to end: each submission beside the others, null drivers, and what fits."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from demo.cli import main
from renderers.device import Device

_ROOT = Path(__file__).parents[2]
_SMALL = ["--size", "160x90", "--warmup", "1", "--frames", "5"]
_OBJECTS = 300
_OPENGL = ["immediate-bind", "immediate", "instanced", "indirect", "none"]
_WEBGPU = ["immediate-bind", "immediate", "instanced", "indirect", "recorded", "none"]

Report = Mapping[str, Any]


def bench(*arguments: str) -> "subprocess.CompletedProcess[str]":
    """``python -m demo bench`` in a process of its own."""
    whole = [sys.executable, "-m", "demo", "bench", *arguments]
    return subprocess.run(whole, cwd=_ROOT, env=dict(os.environ), capture_output=True, text=True, timeout=300)


def report_of(folder: Path, *arguments: str) -> Report:
    target = folder / "out.json"
    done = bench(*arguments, "--json", str(target))
    assert done.returncode == 0, done.stderr
    content: dict[str, Any] = json.loads(target.read_text())
    return {**content, "stdout": done.stdout}


@pytest.fixture(autouse=True, scope="module")
def _devices_exist(opened: object) -> None:
    """The children below need what the fixtures look for."""


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    """Every submission, with changes of state, also on the null driver."""
    arguments = [
        *_SMALL,
        "--objects",
        str(_OBJECTS),
        "--submission",
        "all",
        "--state",
        "none,pipeline",
        "--null-driver",
    ]
    return report_of(tmp_path_factory.mktemp("draws"), *arguments)


def runs(report: Report, interface: str, null_driver: bool = False, state: str = "none") -> dict[str, dict[str, Any]]:
    return {
        run["submission"]: run
        for run in report["runs"]
        if (run["interface"], run["conditions"]["null_driver"], run["state"]) == (interface, null_driver, state)
    }


def test_every_submission_of_both_interfaces_is_measured_also_on_the_null_driver(report: Report) -> None:
    for state in ("none", "pipeline"):
        assert list(runs(report, "opengl", state=state)) == _OPENGL
        assert list(runs(report, "opengl", null_driver=True, state=state)) == _OPENGL
        assert list(runs(report, "webgpu", state=state)) == _WEBGPU
        assert not runs(report, "webgpu", null_driver=True, state=state)
    assert {run["schedule"] for run in report["runs"]} == {"fused"}
    assert {run["conditions"]["frames_in_flight"] for run in report["runs"]} == {1}


def test_they_all_draw_the_same_picture(report: Report) -> None:
    assert report["equivalence"]["image_pixels_differing"] == 0
    assert report["failures"] == []


def test_what_an_interface_lacks_is_named_and_no_error(report: Report) -> None:
    unavailable = {(each["interface"], each["what"]): each["reason"] for each in report["unavailable"]}
    assert unavailable.keys() == {("opengl", "submission recorded"), ("webgpu", "null driver")}
    assert "multi-draw indirect is OpenGL's answer" in unavailable["opengl", "submission recorded"]
    assert "submission recorded: n/a (not available in the core profile" in report["stdout"]


def test_draws_and_calls_are_exact(report: Report) -> None:
    for interface in ("opengl", "webgpu"):
        found = runs(report, interface)
        assert {name: run["counters"]["draws"] for name, run in found.items()} == {
            name: {"none": 0, "instanced": 4}.get(name, _OBJECTS) for name in found
        }
        calls = {name: run["counters"]["api_calls"] for name, run in found.items()}
        assert calls["immediate-bind"] - calls["immediate"] in (_OBJECTS, _OBJECTS - 1)  # wgpu: a buffer less to bind
        assert all(count < 40 for name, count in calls.items() if not name.startswith("immediate"))
        assert all(run["counters"]["objects_created"] == 0 for run in found.values())


def test_a_null_driver_counts_the_same_and_proves_nothing(report: Report) -> None:
    real, null = runs(report, "opengl"), runs(report, "opengl", null_driver=True)
    for name, run in null.items():
        assert run["counters"] == real[name]["counters"]
        assert run["checks"] is None
        assert run["costs"]["rendered_on_calling_thread_ms"] is None
        assert run["stats"]["frame_ms"]["n"] == 5
        assert real[name]["checks"] is not None
        assert real[name]["costs"]["rendered_on_calling_thread_ms"]["blocks"] == 5


def test_costs_stand_where_they_have_a_base(report: Report) -> None:
    for interface in ("opengl", "webgpu"):
        plain, pipeline = runs(report, interface), runs(report, interface, state="pipeline")
        assert {name for name, run in plain.items() if run["costs"]["per_draw_us"] is None} == {"instanced", "none"}
        assert all(run["costs"]["over_base_percent"] is None for run in plain.values())
        assert all(run["costs"]["over_base_percent"]["blocks"] == 5 for run in pipeline.values())


def test_what_is_built_once_stands_beside_what_is_paid_every_frame(report: Report) -> None:
    recorded = runs(report, "webgpu")["recorded"]["build"]
    assert recorded["recording_ms"] is not None
    assert recorded["first_recording_ms"] is not None
    assert runs(report, "webgpu")["immediate"]["build"]["recording_ms"] is None
    for run in report["runs"]:
        if run["conditions"]["null_driver"]:  # made elsewhere, by another driver
            assert run["build"] is None
            assert run["conditions"]["driver_threads"] is None
            assert "process of its own" in run["conditions"]["reasons"]["driver_threads"]
        else:
            assert run["build"]["first_frame"] is not None
    new = sum(run["build"]["pipelines"] for run in runs(report, "webgpu").values())
    assert new == 3  # a kernel, and the scene with its record bound and from its buffer
    assert "built once" in report["stdout"]


def test_where_recorded_is_shown_the_other_interfaces_indirect_stands_beside_it(tmp_path: Path) -> None:
    report = report_of(tmp_path, *_SMALL, "--objects", "50", "--submission", "recorded,immediate")
    assert list(runs(report, "opengl")) == ["immediate", "indirect"]
    assert list(runs(report, "webgpu")) == ["immediate", "recorded"]
    (headline,) = (line for line in report["stdout"].splitlines() if "described once" in line)
    assert "opengl indirect" in headline
    assert "webgpu recorded" in headline


def test_a_submission_that_no_chosen_interface_has_is_bad_input(
    capsys: pytest.CaptureFixture[str], opengl: Device
) -> None:
    assert main(["bench", "--submission", "recorded", "--interface", "gl"]) == 2
    assert "no interface here supports recorded (opengl: not available" in capsys.readouterr().err


def test_too_many_objects_are_refused_with_the_most_of_each_interface(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "--objects", "10000000"]) == 2
    message = capsys.readouterr().err
    assert "--objects: 10,000,000 do not fit; largest here: opengl 1,000,000, webgpu 1,000,000" in message


@pytest.mark.parametrize("objects", ["0", "1"])
def test_no_object_and_one_object_are_scenes_too(objects: str, tmp_path: Path) -> None:
    report = report_of(tmp_path, *_SMALL, "--objects", objects, "--submission", "all")
    assert {run["objects"] for run in report["runs"]} == {int(objects)}
    assert len(report["runs"]) == len(_OPENGL) + len(_WEBGPU)


def test_without_any_null_driver_there_is_nothing_to_run_on(capsys: pytest.CaptureFixture[str], webgpu: Device) -> None:
    assert main(["bench", "--null-driver", "--interface", "wgpu", "--objects", "5"]) == 3
    assert "null driver: wgpu on Vulkan has no mode that renders nothing" in capsys.readouterr().err


def test_every_submission_is_fitted_within_its_time(tmp_path: Path) -> None:
    arguments = ["--size", "160x90", "--warmup", "1", "--submission", "all", "--fit", "--fit-seconds", "1"]
    report = report_of(tmp_path, *arguments, "--fit-on", "cpu")
    found = {(fit["interface"], fit["submission"]): fit for fit in report["fits"]}
    assert list(found) == [("opengl", name) for name in _OPENGL] + [("webgpu", name) for name in _WEBGPU]
    assert "CPU side only" in report["stdout"]
    for fit in found.values():
        assert (fit["on"], fit["percentile"], fit["budget_ms"]) == ("cpu", 95, pytest.approx(1000 / 60))
        assert fit["fits"] is None or fit["exceeds"] is None or fit["fits"] < fit["exceeds"]
        assert fit["text"] in report["stdout"]
