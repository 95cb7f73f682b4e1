"""Samples -> JSON and pictures. Prints only JSON."""

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
from demo.bench import Result
from demo.budget import BUDGET_MS, FIGURES, P99_FROM, Sample, missed_rule, missed_unsynced, stats
from demo.configuration import Bench, Configuration, Refusal
from demo.content import Content
from demo.costs import Spread, figure_stats, over_base_percent, pays_off_after, per_draw_us, rendered_ms
from demo.fit_bench import FitResult, Fitted
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
    measured = [] if result is None else [each for each in result.configurations if each.samples]
    equivalence = None if result is None or result.equivalence is None else _finite(asdict(result.equivalence))
    return {
        **_surroundings_json(benches, missing, [] if result is None else result.refused),
        "equivalence": equivalence,
        "partial": result is None or result.partial,
        "failures": [] if result is None else result.failures,
        "runs": [_run_json(settings, each, measured) for each in measured],
        "fits": [],
    }


def fit_json(
    settings: Settings, benches: Sequence[Bench], missing: Sequence[UnavailableError], result: FitResult
) -> dict[str, Any]:
    """The same schema, with how many objects fit and every block that was measured on the way."""
    return {
        **_surroundings_json(benches, missing, result.refused),
        "equivalence": None,
        "partial": result.interrupted or bool(result.failures),
        "failures": result.failures,
        "runs": [],
        "fits": [_fitted_json(settings, each) for each in result.fitted],
    }


def _fitted_json(settings: Settings, fitted: Fitted) -> dict[str, Any]:
    assert settings.fit is not None
    variant = fitted.variant
    return {
        "interface": fitted.bench.device.info.interface,
        "schedule": variant.how,
        "submission": variant.submission.value,
        "state": variant.picture.state,
        "order": variant.picture.order,
        "shader_cost": settings.shader_cost,
        "scene": settings.scene,
        "workload": settings.workload,
        "elements": settings.elements,
        "size": list(settings.size_px),
        "no_validation": not settings.validation,
        "validation": fitted.bench.device.info.validation,
        "frames_in_flight": settings.frames_in_flight,
        "on": settings.fit.on,
        "percentile": settings.fit.percent,
        "budget_ms": BUDGET_MS,
        **asdict(fitted.fit),
        "text": fitted.text,
    }


def _surroundings_json(
    benches: Sequence[Bench], missing: Sequence[UnavailableError], refused: Sequence[Refusal]
) -> dict[str, Any]:
    devices: dict[str, Any] = {
        bench.device.info.interface: _device_json(bench.device.info, bench.trust) for bench in benches
    }
    devices |= {each.subject: {"unavailable": each.what} for each in missing}
    absent = [{"interface": each.subject, "what": each.what, "reason": each.next_step} for each in missing]
    absent += [{"interface": each.interface, "what": each.what, "reason": each.reason} for each in refused]
    return {
        "schema": SCHEMA,
        "machine": _machine_json(),
        "versions": _versions_json(),
        "devices": devices,
        "unavailable": absent,
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


def _run_json(settings: Settings, configuration: Configuration, among: Sequence[Configuration]) -> dict[str, Any]:
    samples, variant, content = configuration.samples, configuration.variant, configuration.content
    described = {
        "interface": configuration.interface,
        **_content_json(content, variant.submission, variant.how, settings.shader_cost),
        "size": list(settings.size_px),
        "conditions": _conditions_json(settings, configuration),
        "missed_frames": missed_unsynced([each.frame_ms for each in samples]),
        "checks": None if configuration.null_driver else _finite(asdict(configuration.proof)),
        "blocks": [len(block) for block in configuration.blocks],
        "costs": {
            "per_draw_us": _spread_json(per_draw_us(configuration, among, settings.frames_in_flight)),
            "over_base_percent": _spread_json(over_base_percent(configuration, among)),
            "rendered_on_calling_thread_ms": _spread_json(rendered_ms(configuration, among)),
        },
        "build": None  # made in another process, by another driver
        if configuration.null_driver
        else {
            "compile_ms": configuration.work.build.compile_ms,
            "pipelines": configuration.work.build.pipelines,
            "first_recording_ms": configuration.work.build.recording_ms,
            "recording_ms": configuration.recording_ms,
            "first_frame": None if configuration.first is None else asdict(configuration.first),
            "pays_off_after_frames": pays_off_after(configuration, among),
        },
    }
    return described | _measured_json(configuration.work, samples)


def _content_json(content: Content, submission: Submission, how: How, shader_cost: int) -> dict[str, Any]:
    return {
        "scene": content.scene_name,
        "objects": content.objects,
        "submission": submission.value,
        "state": content.state,
        "order": content.order,
        "shader_cost": shader_cost,
        "workload": content.workload_name,
        "schedule": how,
        "elements": content.elements,
    }


def _spread_json(spread: Spread | None) -> dict[str, Any] | None:
    return None if spread is None else asdict(spread)


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
    submission: Submission
    shader_cost: int
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
        "null_driver": False,
        "validation": info.validation,
        "debug_context": False,
        "driver_threads": None,
        "clocks": None,
        "reasons": reasons,
    }
    content = {
        "interface": info.interface,
        **_content_json(run.content, run.submission, run.how, run.shader_cost),
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
        "fits": [],
    }


def _stats_json(samples: Sequence[Sample]) -> dict[str, Any]:
    content: dict[str, Any] = {}
    reasons: dict[str, str] = {}
    for name in FIGURES:
        figure = figure_stats(samples, name)
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
        "described_gb_per_s": None if compute is None or figure is None else compute.memory_bytes / figure.p50 / 1e6,
        "memory_bytes": None if compute is None else compute.memory_bytes,
    }


def _conditions_json(settings: Settings, configuration: Configuration) -> dict[str, Any]:
    bench = configuration.bench
    reasons = {"refresh_hz": "offscreen: nothing is displayed", "clocks": _NO_CLOCKS}
    if configuration.null_driver:
        reasons["driver_threads"] = "a null driver runs in a process of its own"
    elif bench.driver_threads is None:
        reasons["driver_threads"] = "this system does not list a process's threads"
    return {
        "frames_in_flight": settings.frames_in_flight,
        "present_mode": "offscreen",
        "refresh_hz": None,
        "missed_rule": MISSED_RULE,
        "null_driver": configuration.null_driver,
        "kernel_shape": asdict(configuration.content.shape),
        "no_validation": not settings.validation,
        "validation": bench.device.info.validation,
        "debug_context": False,
        "driver_threads": None if configuration.null_driver else bench.driver_threads,
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
