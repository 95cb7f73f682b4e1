"""The bench command from end to end: what it writes, what it proves, what it refuses, and how it stops."""

import dataclasses
import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pyglet.extlibs import png

from compute.reference import MAX_SCALED_ERROR
from demo.bench import _blocks
from demo.cli import main
from renderers.device import Device
from renderers.plan import Submission

_ROOT = Path(__file__).parents[2]
_FAST = ["--objects", "60", "--size", "160x90", "--warmup", "1"]


def command(*arguments: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    """``python -m demo`` in a process of its own."""
    variables = {**os.environ, **environment}
    whole = [sys.executable, "-m", "demo", *arguments]
    return subprocess.run(whole, cwd=_ROOT, env=variables, capture_output=True, text=True, timeout=180)


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Any]:
    """Everything measured at the default thousand objects."""
    target = tmp_path_factory.mktemp("bench") / "out.json"
    done = command("bench", "--objects", "1000", "--frames", "60", "--json", str(target))
    assert done.returncode == 0, done.stderr
    content: dict[str, Any] = json.loads(target.read_text())
    return content


@pytest.fixture(autouse=True)
def _devices_exist(opengl: Device, webgpu: Device) -> None:
    """The children below need what the fixtures look for."""


def test_every_interface_and_schedule_is_measured(report: Mapping[str, Any]) -> None:
    measured = [(run["interface"], run["schedule"], run["frames"]) for run in report["runs"]]
    assert measured == [
        (interface, how, 60) for interface in ("opengl", "webgpu") for how in ("eager", "batched", "fused")
    ]
    assert report["schema"] == "interface-tax/1"
    assert report["partial"] is False
    assert report["unavailable"] == []


def test_all_configurations_draw_the_same_picture_and_compute_the_same_values(report: Mapping[str, Any]) -> None:
    same = report["equivalence"]
    assert (same["image_pixels_differing"], same["image_max_abs"]) == (0, 0)
    assert same["image_pixels"] == 640 * 360
    assert same["values_max_scaled_error"] <= MAX_SCALED_ERROR
    for run in report["runs"]:
        assert run["checks"]["pixels_checked"] == 5
        assert run["checks"]["pixel_max_error"] <= 2
        assert run["checks"]["values_max_scaled_error"] <= MAX_SCALED_ERROR


@pytest.mark.parametrize(
    ("how", "kernels", "bytes_an_element", "submissions"),
    [("eager", 3, 24, 4), ("batched", 3, 24, 1), ("fused", 1, 8, 1)],
)
def test_the_wave_passes_count_what_the_schedule_describes(
    report: Mapping[str, Any], how: str, kernels: int, bytes_an_element: int, submissions: int
) -> None:
    for run in (each for each in report["runs"] if each["schedule"] == how):
        wave = [each for each in run["passes"] if each["label"].startswith("wave")]
        assert sum(each["kernels"] for each in wave) == kernels
        assert sum(each["memory_bytes"] for each in wave) == bytes_an_element * 1000
        explicit = run["interface"] == "webgpu"
        assert run["counters"]["submissions"] == (submissions if explicit else None)
        assert (run["counters"]["barriers"] is None) == explicit
        assert run["counters"]["draws"] == 1000
        assert run["counters"]["objects_created"] == 0


def test_what_was_not_measured_is_null_with_a_reason(report: Mapping[str, Any]) -> None:
    for run in report["runs"]:
        stats = run["stats"]
        assert stats["frame_ms"]["n"] == len(run["samples"]["frame_ms"]) == 60
        assert stats["frame_ms"]["p99"] is None
        assert "100" in stats["reasons"]["p99"]
        assert stats["gpu_ms"] is not None or stats["reasons"]["gpu_ms"]
        assert run["conditions"]["clocks"] is None
        assert set(run["conditions"]["reasons"]) >= {"clocks", "refresh_hz"}


def test_the_report_says_what_it_ran_on(report: Mapping[str, Any]) -> None:
    for interface in ("opengl", "webgpu"):
        device = report["devices"][interface]
        assert device["adapter"]
        assert device["driver"]
        assert isinstance(device["is_software"], bool)
        assert device["timer"]["period_source"]
        assert set(device["timer"]["draw"]) == {"trusted", "reason"}
        assert device["limits"]["storage_binding_bytes"] > 0
    assert report["versions"]["wgpu"]
    assert report["machine"]["cores"] >= 1


def test_a_software_adapter_is_named_as_one_in_the_table() -> None:
    done = command("bench", *_FAST, "--frames", "5", "--schedule", "fused")
    for line in done.stdout.splitlines():
        if "llvmpipe" in line:
            assert "software adapter" in line
    assert "equivalence: " in done.stdout
    assert "missed: interval over 16.667 ms" in done.stdout


def test_standard_output_holds_only_json_when_asked_for() -> None:
    done = command("bench", *_FAST, "--frames", "5", "--schedule", "eager,fused", "--interface", "wgpu", "--json", "-")
    content = json.loads(done.stdout)
    assert [run["schedule"] for run in content["runs"]] == ["eager", "fused"]
    assert content["equivalence"]["image_pixels_differing"] == 0


def test_one_configuration_is_compared_with_nothing() -> None:
    done = command("bench", *_FAST, "--frames", "5", "--schedule", "eager", "--interface", "wgpu", "--json", "-")
    assert json.loads(done.stdout)["equivalence"] is None


def test_each_interface_leaves_its_picture(tmp_path: Path) -> None:
    done = command("bench", *_FAST, "--frames", "5", "--schedule", "fused", "--screenshot", str(tmp_path / "field.png"))
    assert done.returncode == 0, done.stderr
    pictures = []
    for interface in ("opengl", "webgpu"):
        width, height, rows, _ = png.Reader(bytes=(tmp_path / f"field-{interface}.png").read_bytes()).asRGB8()
        assert (width, height) == (160, 90)
        pictures.append(np.array([list(row) for row in rows]))
    np.testing.assert_array_equal(*pictures)
    assert len(np.unique(pictures[0])) > 20


def test_blocks_cover_every_frame_once() -> None:
    for frames in (1, 4, 5, 60, 61, 1000):
        covered = [index for first, count in _blocks(frames) for index in range(first, first + count)]
        assert covered == list(range(frames))


@pytest.mark.skipif(sys.platform == "win32", reason="a terminal of its own")
def test_an_interrupt_leaves_what_was_measured(tmp_path: Path) -> None:
    target = tmp_path / "partial.json"
    ours, terminal = os.openpty()
    child = subprocess.Popen(
        [sys.executable, "-m", "demo", "bench", *_FAST, "--frames", "100000", "--json", str(target)],
        cwd=_ROOT,
        stdout=subprocess.PIPE,
        stderr=terminal,
        text=True,
    )
    os.close(terminal)
    shown = _read_until(ours, b"[9/")
    child.send_signal(signal.SIGINT)
    output, _ = child.communicate(timeout=60)
    os.close(ours)
    assert b" s left" in shown
    assert b"Traceback" not in shown
    assert child.returncode == 130
    assert "interrupted" in output
    content = json.loads(target.read_text())
    assert content["partial"] is True
    assert content["runs"]
    assert all(run["frames"] > 0 and run["checks"]["pixels_checked"] > 0 for run in content["runs"])


def _read_until(terminal: int, wanted: bytes) -> bytes:
    shown = b""
    while wanted not in shown:
        shown += os.read(terminal, 4096)
    return shown


def test_a_frame_that_draws_nothing_fails_the_check(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A path that loses its draws looks very fast; the run must fail, not win."""
    from renderers.opengl import draws

    monkeypatch.setitem(draws._SUBMIT, Submission.IMMEDIATE_BIND, lambda self, run, array: None)
    code = main(["bench", *_FAST, "--frames", "5", "--interface", "gl", "--schedule", "fused"])
    assert code == 1
    errors = capsys.readouterr().err
    assert "opengl fused immediate-bind: pixel" in errors
    assert "did not draw" in errors


def test_values_that_are_wrong_fail_the_check(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from compute import ops

    row = ops.OPS["add"]
    wrong = dataclasses.replace(row, glsl="({0} - {1})", wgsl="({0} - {1})")
    monkeypatch.setitem(ops.OPS, "add", wrong)
    code = main(["bench", *_FAST, "--frames", "5", "--interface", "wgpu", "--schedule", "batched"])
    assert code == 1
    assert "webgpu batched immediate-bind: wave/out" in capsys.readouterr().err


def test_a_json_that_cannot_be_written_is_refused_before_anything_is_measured(tmp_path: Path) -> None:
    done = command("bench", "--frames", "100000", "--json", str(tmp_path / "nowhere" / "out.json"))
    assert done.returncode == 2
    assert "nowhere" in done.stderr
    assert done.stdout == ""
