"""Samples -> JSON and pictures: nothing unknown becomes a number, and a file is written whole or not at all."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from pyglet.extlibs import png

from compute.kernel import FLOOR
from demo.bench import Result
from demo.budget import FIGURES, Sample
from demo.configuration import Bench, Configuration, Refusal, Variant
from demo.content import Content
from demo.fit import FitSearch
from demo.fit_bench import FitResult, Fitted
from demo.report import as_json, fit_json, save_picture, write_json
from demo.settings import FitSettings, InputError, Settings
from demo.table import fit_lines, table_lines
from renderers.device import Build, Counters, Device, DeviceInfo, Executable, UnavailableError
from renderers.plan import Plan, Submission
from renderers.trust import Trust

SETTINGS = Settings(interfaces=("opengl",), objects=10, size_px=(64, 36), frames=120)
CONTENT = Content("field", 10, 10, FLOOR)
MISSING = UnavailableError("webgpu", "no adapter", "install a Vulkan driver")
INFO = DeviceInfo(
    "opengl", "OpenGL 4.5", "stub adapter", "stub driver", True, FLOOR, {Submission.IMMEDIATE_BIND: None}, None, 1.0,
    "by definition", 32, "errors are kept", None,
)  # fmt: skip


@dataclass
class StubDevice:
    info: DeviceInfo = INFO


@dataclass
class StubWork:
    plan: Plan
    counters: Counters = Counters(10, 10, 1, None, 2, 512, 80)
    build: Build = Build(12.5, 2, None)


VARIANT = Variant("fused", Submission.IMMEDIATE_BIND)


def _bench() -> Bench:
    trust = {"compute": Trust(True, "grows"), "draw": Trust(False, "untrusted: reads an eighth")}
    return Bench(cast(Device, StubDevice()), cast(Any, trust), None)


def _sample(frame_ms: float, gpu_ms: float | None = None) -> Sample:
    passes = {"wave/fused": 0.5, "scene": gpu_ms}
    reasons = {} if gpu_ms is not None else {"gpu_ms": "draw: reads an eighth"}
    return Sample(frame_ms, 2.0, 1.5, 0.5, 1.0, 4.0, gpu_ms, passes, reasons)


def _result(samples: list[Sample], bench: Bench) -> Result:
    work = cast(Executable, StubWork(CONTENT.plan("fused")))
    return Result([Configuration(bench, VARIANT, CONTENT, work, blocks=[samples] if samples else [])])


def _run(samples: list[Sample]) -> dict[str, Any]:
    """The JSON of the only run, as a reader of the file gets it."""
    bench = _bench()
    text = json.dumps(as_json(SETTINGS, [bench], [], _result(samples, bench)), allow_nan=False)
    (run,) = json.loads(text)["runs"]
    return cast(dict[str, Any], run)


@pytest.mark.parametrize(("frames", "known"), [(1, False), (99, False), (100, True)])
def test_p99_is_null_with_a_reason_below_100_frames(frames: int, known: bool) -> None:
    stats = _run([_sample(10.0 + i) for i in range(frames)])["stats"]
    assert (stats["frame_ms"]["p99"] is not None) == known
    assert stats["reasons"].get("p99") == (None if known else f"needs 100 frames, got {frames}")


def test_a_figure_that_no_frame_has_is_null_with_a_reason_and_not_zero() -> None:
    run = _run([_sample(10.0)] * 3)
    assert run["stats"]["gpu_ms"] is None
    assert run["stats"]["reasons"]["gpu_ms"] == "3 of 3 frames: draw: reads an eighth"
    assert run["samples"]["gpu_ms"] == [None] * 3


def test_a_figure_that_some_frames_lack_counts_those_that_have_it() -> None:
    stats = _run([_sample(10.0, 3.0), _sample(10.0), _sample(10.0, 5.0)])["stats"]
    assert (stats["gpu_ms"]["n"], stats["gpu_ms"]["max"]) == (2, 5.0)
    assert stats["reasons"]["gpu_ms"].startswith("1 of 3 frames: ")


def test_a_percentile_of_a_figure_that_some_frames_lack_has_its_own_reason() -> None:
    stats = _run([_sample(10.0, 3.0 if i else None) for i in range(100)])["stats"]
    assert stats["gpu_ms"]["p99"] is None
    assert any("needs 100" in reason for reason in stats["reasons"].values())


def test_every_figure_is_there_for_every_frame() -> None:
    run = _run([_sample(10.0), _sample(40.0)])
    assert run["samples"].keys() == set(FIGURES)
    assert run["samples"]["frame_ms"] == [10.0, 40.0]
    assert run["frames"] == 2
    assert run["missed_frames"] == 1


def test_passes_carry_their_described_bytes_and_their_times_where_believed() -> None:
    wave, scene = _run([_sample(10.0)])["passes"]
    assert (wave["label"], wave["kernels"], wave["memory_bytes"]) == ("wave/fused", 1, 80)
    assert wave["gpu_ms"]["p50"] == 0.5
    assert (scene["label"], scene["gpu_ms"], scene["memory_bytes"]) == ("scene", None, None)


def test_a_configuration_without_samples_is_no_run() -> None:
    bench = _bench()
    assert as_json(SETTINGS, [bench], [], _result([], bench))["runs"] == []


def test_an_interface_that_is_missing_is_named_with_the_next_step() -> None:
    content = as_json(SETTINGS, [], [MISSING], None)
    assert content["devices"] == {"webgpu": {"unavailable": "no adapter"}}
    assert content["unavailable"] == [
        {"interface": "webgpu", "what": "no adapter", "reason": "install a Vulkan driver"}
    ]
    assert content["partial"]


def test_a_submission_that_is_refused_is_named_with_its_reason() -> None:
    bench = _bench()
    result = _result([_sample(10.0)], bench)
    result.refused.append(Refusal("opengl", "submission recorded", "not in the core profile"))
    content = as_json(SETTINGS, [bench], [], result)
    assert content["unavailable"] == [
        {"interface": "opengl", "what": "submission recorded", "reason": "not in the core profile"}
    ]
    lines = table_lines(SETTINGS, [bench], result)
    assert any(line.split(maxsplit=3)[:3] == ["opengl", "submission", "recorded:"] for line in lines)


def test_a_run_says_what_was_drawn_and_what_building_it_took() -> None:
    run = _run([_sample(10.0)])
    drawn = {name: run[name] for name in ("submission", "state", "order", "shader_cost", "objects")}
    assert drawn == {
        "submission": "immediate-bind", "state": "none", "order": "sorted", "shader_cost": 0, "objects": 10,
    }  # fmt: skip
    assert run["build"] == {
        "compile_ms": 12.5, "pipelines": 2, "recording_ms": None, "first_recording_ms": None, "first_frame": None,
        "pays_off_after_frames": None,
    }  # fmt: skip
    assert run["conditions"]["null_driver"] is False
    assert run["conditions"]["no_validation"] is False
    assert run["conditions"]["validation"] == "errors are kept"


def test_what_fits_stands_in_the_report_with_every_block_that_says_so() -> None:
    search = FitSearch(16.0, 95, 1_000)
    while search.asks is not None:
        search.report([0.1 * search.asks] * 20)
    settings = Settings(interfaces=("opengl",), fit=FitSettings("cpu", 95, 20))
    bench = _bench()
    result = FitResult([Fitted(bench, VARIANT, search.result)])
    (fit,) = json.loads(json.dumps(fit_json(settings, [bench], [], result)))["fits"]
    assert (fit["on"], fit["percentile"], fit["limit"]) == ("cpu", 95, 1_000)
    assert fit["fits"] <= 160 < fit["exceeds"]
    assert fit["measured"][0] == {"objects": 64, "n": 20, "time_ms": pytest.approx(6.4)}
    assert any("CPU side only" in line for line in fit_lines(settings, [bench], result))
    assert any(line.endswith(fit["text"]) for line in fit_lines(settings, [bench], result))


def test_the_table_says_n_a_where_nothing_is_known() -> None:
    bench = _bench()
    lines = table_lines(SETTINGS, [bench], _result([_sample(10.0)] * 3, bench))
    (row,) = (line.split() for line in lines if line.startswith("opengl "))
    assert row[:6] == ["opengl", "fused", "3", "10.00", "10.00", "n/a"]
    assert row[9] == "n/a"
    assert any("GPU time of draw passes n/a (untrusted: reads an eighth)" in line for line in lines)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_what_is_no_number_is_never_written_and_the_old_file_stays(value: float, tmp_path: Path) -> None:
    target = tmp_path / "out.json"
    target.write_text("old")
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_json({"value": value}, str(target))
    assert target.read_text() == "old"


def test_json_takes_the_place_of_the_old_file_and_leaves_nothing_else(tmp_path: Path) -> None:
    target = tmp_path / "out.json"
    target.write_text("old")
    write_json({"value": None}, str(target))
    assert json.loads(target.read_text()) == {"value": None}
    assert list(tmp_path.iterdir()) == [target]


def test_a_dash_is_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    write_json({"value": 1}, "-")
    assert json.loads(capsys.readouterr().out) == {"value": 1}


@contextmanager
def _full_disk(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Half of every text arrives, then the disk is full."""
    write = Path.write_text

    def half(path: Path, text: str) -> int:
        write(path, text[: len(text) // 2])
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(Path, "write_text", half)
        yield


def test_a_write_that_fails_half_way_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "out.json"
    target.write_text("old")
    with _full_disk(monkeypatch), pytest.raises((OSError, InputError)):
        write_json({"value": list(range(100))}, str(target))
    assert target.read_text() == "old"


def test_a_write_that_fails_is_an_input_error_and_leaves_no_half_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "out.json"
    with _full_disk(monkeypatch), pytest.raises(InputError, match="cannot be written"):
        write_json({"value": list(range(100))}, str(target))
    assert list(tmp_path.iterdir()) == []


def test_a_picture_reads_back_pixel_by_pixel_with_its_top_row_first(tmp_path: Path) -> None:
    image = np.random.default_rng(0).integers(0, 256, (3, 5, 4), dtype=np.uint8)
    save_picture(image, tmp_path / "out.png")
    with (tmp_path / "out.png").open("rb") as file:
        width, height, rows, info = png.Reader(file=file).read()
        pixels = np.array([list(row) for row in rows])
    assert (width, height, info["planes"], info["bitdepth"]) == (5, 3, 3, 8)
    np.testing.assert_array_equal(pixels.reshape(3, 5, 3), image[:, :, :3])


def test_a_picture_that_cannot_be_written_is_refused_with_the_file(tmp_path: Path) -> None:
    target = tmp_path / "missing" / "out.png"
    with pytest.raises(InputError, match="cannot be written") as refusal:
        save_picture(np.zeros((2, 2, 4), np.uint8), target)
    assert str(target) in str(refusal.value)
