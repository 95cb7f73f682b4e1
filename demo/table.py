"""Samples -> the table that a bench prints: a row a configuration, and what was built once. Ends with findings."""

import math
from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass

from demo.bench import Result
from demo.budget import Stats, missed_unsynced, stats
from demo.configuration import Bench, Configuration, Picture
from demo.costs import (
    Spread,
    figure_stats,
    over_base_percent,
    pays_off_after,
    per_draw_us,
)
from demo.findings import finding_lines, interface_name, over_base_known, per_draw_known
from demo.fit_bench import FitResult
from demo.settings import Settings


def table_lines(settings: Settings, benches: Sequence[Bench], result: Result) -> list[str]:
    """Everything that is printed, line by line."""
    measured = [each for each in result.configurations if each.samples]
    lines = [*_heading(settings, benches), ""]
    columns = [each for each in _COLUMNS if each.shown(settings, measured)]
    rows = [[each.title for each in columns], [each.unit for each in columns]]
    rows += [[column.cell(_Row(settings, each, measured)) for column in columns] for each in measured]
    lines += _aligned(rows, [each.is_text for each in columns])
    lines += [f"{each.interface:9}  {each.what}: n/a ({each.reason})" for each in result.refused]
    lines += _build_lines(measured)
    return [*lines, "", *finding_lines(settings, benches, measured, result)]


def fit_lines(settings: Settings, benches: Sequence[Bench], result: FitResult) -> list[str]:
    """A line for each search: what fits, and between which two measurements that is sure."""
    assert settings.fit is not None
    what = "frame time" if settings.fit.on == "frame" else "CPU work (CPU side only)"
    rows: list[Sequence[str]] = [
        ("interface", "schedule", "submission", "state", "order", "sizes", f"p{settings.fit.percent:g} of {what}")
    ]
    for each in result.fitted:
        variant = each.variant
        names = (each.bench.device.info.interface, variant.how, variant.submission.value, *astuple(variant.picture))
        rows.append((*names, str(len(each.fit.measured)), each.text))
    lines = [*_heading(settings, benches), "", *_aligned(rows, (True,) * 5 + (False, True))]
    lines += [f"{each.interface:9}  {each.what}: n/a ({each.reason})" for each in result.refused]
    lines += ["", "the surely fitting number, and the smallest that surely does not: between them noise decides"]
    return [*lines, *(["interrupted: only what was found so far"] if result.interrupted else [])]


@dataclass(frozen=True, slots=True)
class _Row:
    settings: Settings
    configuration: Configuration
    among: Sequence[Configuration]

    def figure(self, name: str) -> Stats | None:
        return figure_stats(self.configuration.samples, name)

    @property
    def frame(self) -> Stats:
        frame = self.figure("frame_ms")
        assert frame is not None
        return frame


Shown = Callable[[Settings, Sequence[Configuration]], bool]


def _always(settings: Settings, measured: Sequence[Configuration]) -> bool:
    return True


def _draws_compared(settings: Settings, measured: Sequence[Configuration]) -> bool:
    """Also where one submission was asked for and another stands beside it."""
    drawn = {(each.variant.submission, each.variant.picture, each.null_driver) for each in measured}
    return len(drawn) > 1


def _draws_alone(settings: Settings, measured: Sequence[Configuration]) -> bool:
    return not _draws_compared(settings, measured)


def _states_compared(settings: Settings, measured: Sequence[Configuration]) -> bool:
    return any(each.variant.picture != Picture() for each in measured)


@dataclass(frozen=True, slots=True)
class _Column:
    title: str
    unit: str
    cell: Callable[[_Row], str]
    shown: Shown = _always
    is_text: bool = False


_COLUMNS = (
    _Column("interface", "", lambda row: interface_name(row.configuration), is_text=True),
    _Column("schedule", "", lambda row: row.configuration.variant.how, is_text=True),
    _Column("submission", "", lambda row: row.configuration.variant.submission.value, _draws_compared, is_text=True),
    _Column("state", "", lambda row: row.configuration.variant.picture.state, _states_compared, is_text=True),
    _Column("order", "", lambda row: row.configuration.variant.picture.order, _states_compared, is_text=True),
    _Column("n", "frames", lambda row: str(row.frame.n)),
    _Column("frame p50", "ms", lambda row: f"{row.frame.p50:.2f}"),
    _Column("p95", "ms", lambda row: f"{row.frame.p95:.2f}"),
    _Column("p99", "ms", lambda row: _ms(row.frame.p99), _draws_alone),
    _Column("max", "ms", lambda row: f"{row.frame.max:.2f}"),
    _Column("CPU work", "p50 ms", lambda row: _p50(row.figure("cpu_work_ms"))),
    _Column("a draw", "us", lambda row: _per_draw(row), per_draw_known),
    _Column("over base", "%", lambda row: _over_base(row), over_base_known),
    _Column("wait", "p50 ms", lambda row: _p50(row.figure("wait_ms"))),
    _Column("GPU", "p50 ms", lambda row: _p50(row.figure("gpu_ms"))),
    _Column("missed", "frames", lambda row: str(_missed(row.configuration))),
    _Column("api calls", "a frame", lambda row: str(row.configuration.work.counters.api_calls)),
    _Column("draws", "a frame", lambda row: str(row.configuration.work.counters.draws), _draws_compared),
    _Column("kernels", "a frame", lambda row: str(_kernels(row.configuration)), _draws_alone),
    _Column("described", "MB a frame", lambda row: _described(row.configuration), _draws_alone),
    _Column("moved", "GB/s", lambda row: _moved(row), lambda *asked: _moved_known(*asked)),
    _Column("submits", "a frame", lambda row: _count(row.configuration.work.counters.submissions), _draws_alone),
)


def _aligned(rows: Sequence[Sequence[str]], is_text: Sequence[bool]) -> list[str]:
    """Columns as wide as their widest cell; text to the left, figures to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = zip(row, widths, is_text, strict=True)
        lines.append("  ".join(cell.ljust(w) if text else cell.rjust(w) for cell, w, text in cells).rstrip())
    return lines


def _heading(settings: Settings, benches: Sequence[Bench]) -> list[str]:
    submissions = ", ".join(each.value for each in settings.submissions)
    cost = f", shader cost {settings.shader_cost}" if settings.shader_cost else ""
    objects = "more and more" if settings.fit else f"{settings.objects:,}"
    elements = (
        "as many" if settings.fit and settings.elements is None else f"{settings.elements_for(settings.objects):,}"
    )
    lines = [
        f"scene {settings.scene}, {objects} objects, {submissions}{cost}; workload {settings.workload}, "
        f"{elements} elements; {settings.size_px[0]}x{settings.size_px[1]}; {settings.frames_in_flight} in flight"
    ]
    for each in (bench.device.info for bench in benches):
        software = " (a software adapter: says nothing about hardware)" if each.is_software else ""
        lines.append(f"  {each.interface}: {each.title}, {each.adapter}, {each.driver}{software}")
        if not settings.validation:
            lines.append(f"  {each.interface}: no validation asked for: {each.validation}")
    return lines


_BUILD_HEADER = (
    ("built once", "", "compiled", "new", "recorded", "the first", "paid for", "first frame", "CPU work"),
    ("", "", "ms", "pipelines", "CPU ms", "time", "after frames", "ms", "ms"),
)


def _build_lines(measured: Sequence[Configuration]) -> list[str]:
    """What came before the frames that count, and when it has paid for itself: only where draws are compared."""
    if len({each.variant.submission for each in measured}) < 2:
        return []
    rows: list[Sequence[str]] = [*_BUILD_HEADER]
    for each in measured:
        if each.first is None:
            continue
        build, frames = each.work.build, pays_off_after(each, measured)
        rows.append(
            (
                each.interface,
                each.name.removeprefix(f"{each.interface} "),
                f"{build.compile_ms:.1f}",
                str(build.pipelines),
                "" if each.recording_ms is None else f"{each.recording_ms:.2f}",
                "" if build.recording_ms is None else f"{build.recording_ms:.2f}",
                "" if frames is None else str(math.ceil(frames)),
                f"{each.first.frame_ms:.1f}",
                f"{each.first.cpu_work_ms:.1f}",
            )
        )
    return ["", *_aligned(rows, (True, True, *[False] * (len(_BUILD_HEADER[0]) - 2)))]


def _per_draw(row: _Row) -> str:
    spread = per_draw_us(row.configuration, row.among, row.settings.frames_in_flight)
    return "" if spread is None else _unless_around_0(spread, f"{spread.median:.2f}")


def _over_base(row: _Row) -> str:
    spread = over_base_percent(row.configuration, row.among)
    return "" if spread is None else _unless_around_0(spread, f"{spread.median:+.0f}")


def _unless_around_0(spread: Spread, text: str) -> str:
    return "~0" if spread.low <= 0.0 <= spread.high else text


def _missed(configuration: Configuration) -> int:
    return missed_unsynced([each.frame_ms for each in configuration.samples])


def _described(configuration: Configuration) -> str:
    """Bytes of all kernels as if nothing were cached."""
    return f"{configuration.work.counters.memory_bytes / 1e6:.3g}"


def _moved(row: _Row) -> str:
    """Described bytes over GPU time of the compute passes, where each has one."""
    passes = row.configuration.work.plan.compute_passes
    times = [_pass_p50_ms(row.configuration, each.label) for each in passes]
    known = [time for time in times if time is not None]
    if not known or len(known) < len(times):
        return "n/a"
    return f"{sum(each.memory_bytes for each in passes) / sum(known) / 1e6:.3g}"


def _moved_known(settings: Settings, measured: Sequence[Configuration]) -> bool:
    rows = [_Row(settings, each, measured) for each in measured]
    return _draws_alone(settings, measured) and any(_moved(row) != "n/a" for row in rows)


def _pass_p50_ms(configuration: Configuration, label: str) -> float | None:
    times = [sample.passes_ms.get(label) for sample in configuration.samples]
    figure = stats([time for time in times if time is not None])
    return None if figure is None else figure.p50


def _kernels(configuration: Configuration) -> int:
    return sum(each.kernels for each in configuration.work.plan.compute_passes)


def _p50(figure: Stats | None) -> str:
    return "n/a" if figure is None else f"{figure.p50:.2f}"


def _ms(value: float | None) -> str:
    return "n/a" if value is None else f"{value:.2f}"


def _count(value: int | None) -> str:
    return "n/a" if value is None else str(value)
