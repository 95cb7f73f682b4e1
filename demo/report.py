"""Samples -> table, JSON and pictures. The only module beside cli that prints."""

import contextlib
import json
import math
import os
import platform
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from pyglet.extlibs import png

from compute.kernel import ComputePass, How
from demo.bench import Bench, Configuration, Result
from demo.budget import BUDGET_MS, FIGURES, P99_FROM, Sample, Stats, missed_rule, missed_unsynced, percentile_ms, stats
from demo.content import Content
from demo.settings import InputError, Settings
from renderers.device import Device, DeviceInfo, Executable, Image, PassKind, UnavailableError
from renderers.plan import Submission
from renderers.trust import Trust

SCHEMA = "interface-tax/1"
MISSED_RULE = missed_rule(None)
_NO_CLOCKS = "no portable way to read GPU clocks"
_PACKAGES = ("interface-tax", "moderngl", "wgpu", "pyglet", "numpy", "imgui-bundle")


def as_json(
    settings: Settings, benches: Sequence[Bench], missing: Sequence[UnavailableError], result: Result | None
) -> dict[str, Any]:
    """Everything measured, as README's "JSON" describes it. ``None`` stands for not measured, never 0."""
    devices: dict[str, Any] = {
        bench.device.info.interface: _device_json(bench.device.info, bench.trust) for bench in benches
    }
    devices |= {each.subject: {"unavailable": each.what} for each in missing}
    measured = [] if result is None else [each for each in result.configurations if each.samples]
    equivalence = None if result is None or result.equivalence is None else _finite(asdict(result.equivalence))
    return {
        "schema": SCHEMA,
        "machine": _machine_json(),
        "versions": _versions_json(),
        "devices": devices,
        "unavailable": [{"interface": each.subject, "what": each.what, "reason": each.next_step} for each in missing],
        "equivalence": equivalence,
        "partial": result is None or result.partial,
        "failures": [] if result is None else result.failures,
        "runs": [_run_json(settings, each) for each in measured],
    }


def write_json(content: Mapping[str, Any], target: str) -> None:
    """To a file, whole or not at all; ``-`` is standard output."""
    text = json.dumps(content, indent=1, allow_nan=False)
    if target == "-":
        print(text)
        return
    path = Path(target).resolve()
    unfinished = path.with_name("." + path.name[:200] + ".part")
    try:
        if path.exists() and not path.is_file():
            path.write_text(text + "\n")  # a device or a pipe is written to, not replaced
            return
        unfinished.write_text(text + "\n")
        os.replace(unfinished, path)
    except OSError as error:
        with contextlib.suppress(OSError):
            unfinished.unlink(missing_ok=True)
        raise InputError(f"--json {path}: cannot be written ({error.strerror}); name another file") from error


def save_picture(image: Image, path: Path) -> None:
    """RGB as displayed, top row first."""
    height, width = image.shape[:2]
    rows = image[:, :, :3].reshape(height, 3 * width)
    try:
        png.from_array(rows, "RGB", {"width": width, "height": height}).save(str(path))
    except OSError as error:
        raise InputError(f"--screenshot {path}: cannot be written ({error.strerror}); name another file") from error


def print_table(settings: Settings, benches: Sequence[Bench], result: Result) -> None:
    """One row a configuration, then what the rows mean and what they do not."""
    info = [bench.device.info for bench in benches]
    print(f"scene {settings.scene}, {settings.objects:,} objects, {Submission.IMMEDIATE_BIND.value}; "
          f"workload {settings.workload}, {settings.elements_for(settings.objects):,} elements; {settings.size_px[0]}x{settings.size_px[1]}; "
          f"{settings.frames_in_flight} in flight")  # fmt: skip
    for each in info:
        software = " (a software adapter: says nothing about hardware)" if each.is_software else ""
        print(f"  {each.interface}: {each.title}, {each.adapter}, {each.driver}{software}")
    print()
    print(_row(_HEADER))
    print(_row(_UNITS))
    measured = [each for each in result.configurations if each.samples]
    for configuration in measured:
        print(_row(_cells(configuration)))
    print()
    for line in _footer(benches, measured, result):
        print(line)


_HEADER = ("interface", "schedule", "n", "frame p50", "p95", "p99", "max", "CPU work", "wait", "GPU", "missed",
           "api calls", "kernels", "submits")  # fmt: skip
_UNITS = ("", "", "frames", "ms", "ms", "ms", "ms", "p50 ms", "p50 ms", "p50 ms", "frames", "a frame", "a frame",
          "a frame")  # fmt: skip
_WIDTHS = (9, 8, 6, 9, 7, 7, 7, 8, 7, 7, 6, 9, 7, 7)


def _row(cells: Sequence[str]) -> str:
    aligned = [
        cell.ljust(w) if i < 2 else cell.rjust(w) for i, (cell, w) in enumerate(zip(cells, _WIDTHS, strict=True))
    ]
    return "  ".join(aligned).rstrip()


def _cells(configuration: Configuration) -> tuple[str, ...]:
    figures = {name: _figure_stats(configuration.samples, name) for name in FIGURES}
    frame, counters = figures["frame_ms"], configuration.work.counters
    assert frame is not None
    kernels = sum(each.kernels for each in configuration.work.plan.compute_passes)
    return (
        configuration.bench.device.info.interface,
        configuration.how,
        str(frame.n),
        f"{frame.p50:.2f}",
        f"{frame.p95:.2f}",
        _ms(frame.p99),
        f"{frame.max:.2f}",
        _p50(figures["cpu_work_ms"]),
        _p50(figures["wait_ms"]),
        _p50(figures["gpu_ms"]),
        str(missed_unsynced([each.frame_ms for each in configuration.samples])),
        str(counters.api_calls),
        str(kernels),
        "n/a" if counters.submissions is None else str(counters.submissions),
    )


def _footer(benches: Sequence[Bench], measured: Sequence[Configuration], result: Result) -> list[str]:
    lines = [f"budget {BUDGET_MS:.2f} ms; missed: {MISSED_RULE}; percentiles: nearest rank; p99 from {P99_FROM} frames"]
    lines.append("tax: median over blocks of the difference of block medians, and its range: around 0 it shows nothing")
    lines.append("CPU work: thread time in update, encode, submit; wait: all that was blocked, wherever it happened")
    for bench in benches:
        lines += _tax_lines(bench, [each for each in measured if each.bench is bench])
        for kind, trust in bench.trust.items():
            if not trust.trusted:
                lines.append(f"{bench.device.info.interface}: GPU time of {kind} passes n/a ({trust.reason})")
    if result.equivalence is not None:
        same = result.equivalence
        lines.append(
            f"equivalence: {same.image_pixels_differing} of {same.image_pixels:,} pixels differ, by at most "
            f"{same.image_max_abs} of 255; values by at most {same.values_max_scaled_error:.1e} of |x*a| + |b|"
        )
    if measured:
        pixels = sum(each.proof.pixels_checked for each in measured)
        worst = max(each.proof.values_max_scaled_error for each in measured)
        lines.append(
            f"proof: {pixels} drawn pixels and every block's values agree with float64 NumPy, within {worst:.1e}"
        )
    if result.interrupted:
        lines.append("interrupted: only what was measured so far")
    return lines


def _tax_lines(bench: Bench, measured: Sequence[Configuration]) -> list[str]:
    """One per timeline, never added up."""
    by_how = {each.how: each for each in measured}
    lines = []
    for tax, dear, cheap in (("launch tax", "eager", "batched"), ("memory tax", "batched", "fused")):
        if dear in by_how and cheap in by_how:
            deltas = [
                f"{label} {_difference(by_how[dear], by_how[cheap], figure)}"
                for label, figure in (("frame", "frame_ms"), ("CPU work", "cpu_work_ms"), ("GPU", "gpu_ms"))
            ]
            lines.append(f"{bench.device.info.interface}: {tax} ({dear} minus {cheap}): {', '.join(deltas)}")
    return lines


def _difference(dear: Configuration, cheap: Configuration, figure: str) -> str:
    """Median over blocks of the difference of the two block medians, with its range: a range around 0 shows nothing."""
    deltas = []
    for one, other in zip(dear.blocks, cheap.blocks, strict=False):  # an interrupt may leave one block more
        ours, theirs = _figure_stats(one, figure), _figure_stats(other, figure)
        if ours is not None and theirs is not None:
            deltas.append(ours.p50 - theirs.p50)
    if not deltas:
        return "n/a"
    return f"{percentile_ms(deltas, 50.0):+.2f} ms ({min(deltas):+.2f} to {max(deltas):+.2f})"


def _figure_stats(samples: Sequence[Sample], name: str) -> Stats | None:
    """Over the frames that have the figure; ``n`` says how many, ``reasons`` why others lack it."""
    times = [getattr(each, name) for each in samples]
    known = [time for time in times if time is not None]
    return stats(known)


def _p50(figure: Stats | None) -> str:
    return "n/a" if figure is None else f"{figure.p50:.2f}"


def _ms(value: float | None) -> str:
    return "n/a" if value is None else f"{value:.2f}"


def _run_json(settings: Settings, configuration: Configuration) -> dict[str, Any]:
    samples = configuration.samples
    content = {
        "interface": configuration.bench.device.info.interface,
        "scene": settings.scene,
        "objects": settings.objects,
        "submission": Submission.IMMEDIATE_BIND.value,
        "workload": settings.workload,
        "schedule": configuration.how,
        "elements": settings.elements_for(settings.objects),
        "size": list(settings.size_px),
        "conditions": _conditions_json(settings, configuration.bench),
        "missed_frames": missed_unsynced([each.frame_ms for each in samples]),
        "checks": _finite(asdict(configuration.proof)),
        "blocks": [len(block) for block in configuration.blocks],
    }
    return content | _measured_json(configuration.work, samples)


def _finite(figures: dict[str, Any]) -> dict[str, Any]:
    """JSON knows no infinity: an error without bound is null, and a failure says so."""
    return {name: None if value in (math.inf, -math.inf) else value for name, value in figures.items()}


def _measured_json(work: Executable, samples: Sequence[Sample]) -> dict[str, Any]:
    return {
        "frames": len(samples),
        "stats": _stats_json(samples),
        "counters": asdict(work.counters),
        "passes": [_pass_json(each.label, each, samples) for each in work.plan.passes],
        "samples": {name: [getattr(each, name) for each in samples] for name in FIGURES},
    }


@dataclass(frozen=True, slots=True)
class WindowRun:
    """The frames in sight of a window, and what they were drawn with."""

    device: Device
    trust: Mapping[PassKind, Trust]
    work: Executable
    content: Content
    how: How
    samples: Sequence[Sample]
    missed_frames: int
    missed_rule: str
    refresh_hz: float | None
    frames_in_flight: int


def window_json(run: WindowRun) -> dict[str, Any]:
    """The same schema as a bench, with the one run that is on show. Nothing was compared or proven meanwhile."""
    info = run.device.info
    reasons = {"clocks": _NO_CLOCKS, "driver_threads": "not counted in a window"}
    if run.refresh_hz is None:
        reasons["refresh_hz"] = "this display does not say"
    conditions = {
        "frames_in_flight": run.frames_in_flight,
        "present_mode": run.device.present_mode,
        "refresh_hz": run.refresh_hz,
        "missed_rule": run.missed_rule,
        "validation": info.validation,
        "debug_context": False,
        "driver_threads": None,
        "clocks": None,
        "reasons": reasons,
    }
    content = {
        "interface": info.interface,
        "scene": run.content.scene_name,
        "objects": run.content.objects,
        "submission": Submission.IMMEDIATE_BIND.value,
        "workload": "wave",
        "schedule": run.how,
        "elements": run.content.elements,
        "size": list(run.device.size_px),
        "conditions": conditions,
        "missed_frames": run.missed_frames,
        "checks": None,
        "blocks": [len(run.samples)],
    }
    return {
        "schema": SCHEMA,
        "machine": _machine_json(),
        "versions": _versions_json(),
        "devices": {info.interface: _device_json(info, run.trust)},
        "unavailable": [],
        "equivalence": None,
        "partial": False,
        "failures": [],
        "runs": [content | _measured_json(run.work, run.samples)],
    }


def _stats_json(samples: Sequence[Sample]) -> dict[str, Any]:
    content: dict[str, Any] = {}
    reasons: dict[str, str] = {}
    for name in FIGURES:
        figure = _figure_stats(samples, name)
        content[name] = None if figure is None else asdict(figure)
        why = sorted({each.reasons[name] for each in samples if name in each.reasons})
        if why:
            lacking = sum(name in each.reasons for each in samples)
            reasons[name] = f"{lacking} of {len(samples)} frames: {'; '.join(why)}"
        if figure is not None and figure.p99 is None and len(samples) >= P99_FROM:
            reasons[f"{name}.p99"] = f"needs {P99_FROM} frames, got {figure.n}"
    if len(samples) < P99_FROM:
        reasons["p99"] = f"needs {P99_FROM} frames, got {len(samples)}"
    return {**content, "reasons": reasons}


def _pass_json(label: str, each: object, samples: Sequence[Sample]) -> dict[str, Any]:
    times = [sample.passes_ms.get(label) for sample in samples]
    figure = stats([time for time in times if time is not None])
    compute = each if isinstance(each, ComputePass) else None
    return {
        "label": label,
        "gpu_ms": None if figure is None else asdict(figure),
        "kernels": 0 if compute is None else compute.kernels,
        "memory_bytes": None if compute is None else compute.memory_bytes,
    }


def _conditions_json(settings: Settings, bench: Bench) -> dict[str, Any]:
    reasons = {"refresh_hz": "offscreen: nothing is displayed", "clocks": _NO_CLOCKS}
    if bench.driver_threads is None:
        reasons["driver_threads"] = "this system does not list a process's threads"
    return {
        "frames_in_flight": settings.frames_in_flight,
        "present_mode": "offscreen",
        "refresh_hz": None,
        "missed_rule": MISSED_RULE,
        "validation": bench.device.info.validation,
        "debug_context": False,
        "driver_threads": bench.driver_threads,
        "clocks": None,
        "warmup_frames_per_block": settings.warmup,
        "reasons": reasons,
    }


def _device_json(info: DeviceInfo, trust: Mapping[PassKind, Trust]) -> dict[str, Any]:
    timer: dict[str, Any] = {kind: asdict(verdict) for kind, verdict in trust.items()}
    return {
        "adapter": info.adapter,
        "driver": info.driver,
        "title": info.title,
        "is_software": info.is_software,
        "timer": {**timer, "period_source": info.period_source, "ns_per_tick": info.ns_per_tick},
        "limits": asdict(info.limits),
    }


def _machine_json() -> dict[str, Any]:
    return {
        "system": platform.platform(),
        "processor": _processor(),
        "cores": os.cpu_count(),
        "python": sys.version.split()[0],
    }


def _processor() -> str:
    """The model's name: Linux knows it only in /proc."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def _versions_json() -> dict[str, str | None]:
    return {name: _version(name) for name in _PACKAGES}


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
