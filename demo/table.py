"""Samples -> the table that a bench prints: a row a configuration, then what the rows mean and what they do not."""

import math
from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass

from compute.kernel import How
from demo.bench import Result
from demo.budget import BUDGET_MS, P99_FROM, Stats, missed_rule, missed_unsynced
from demo.configuration import Bench, Configuration, Picture
from demo.costs import (
    DESCRIBED_ANEW,
    DESCRIBED_ONCE,
    INSTANCED,
    Spread,
    cheapest,
    difference_ms,
    figure_stats,
    over_base_percent,
    pays_off_after,
    peer,
    per_draw_us,
    rendered_ms,
)
from demo.fit_bench import FitResult
from demo.settings import Settings
from renderers.plan import Submission


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
    return [*lines, "", *_footer(settings, benches, measured, result)]


def fit_lines(settings: Settings, benches: Sequence[Bench], result: FitResult) -> list[str]:
    """A line for each search: what fits, and between which two measurements that is sure."""
    assert settings.fit is not None
    what = "frame time" if settings.fit.on == "frame" else "CPU work (CPU side only)"
    rows: list[Sequence[str]] = [
        ("interface", "schedule", "submission", "state", "order", "blocks", f"p{settings.fit.percent:g} of {what}")
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


def _per_draw_known(settings: Settings, measured: Sequence[Configuration]) -> bool:
    return any(per_draw_us(each, measured, settings.frames_in_flight) is not None for each in measured)


def _over_base_known(settings: Settings, measured: Sequence[Configuration]) -> bool:
    return any(over_base_percent(each, measured) is not None for each in measured)


@dataclass(frozen=True, slots=True)
class _Column:
    title: str
    unit: str
    cell: Callable[[_Row], str]
    shown: Shown = _always
    is_text: bool = False


_COLUMNS = (
    _Column("interface", "", lambda row: _interface(row.configuration), is_text=True),
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
    _Column("a draw", "us", lambda row: _per_draw(row), _per_draw_known),
    _Column("over base", "%", lambda row: _over_base(row), _over_base_known),
    _Column("wait", "p50 ms", lambda row: _p50(row.figure("wait_ms"))),
    _Column("GPU", "p50 ms", lambda row: _p50(row.figure("gpu_ms"))),
    _Column("missed", "frames", lambda row: str(_missed(row.configuration))),
    _Column("api calls", "a frame", lambda row: str(row.configuration.work.counters.api_calls)),
    _Column("draws", "a frame", lambda row: str(row.configuration.work.counters.draws), _draws_compared),
    _Column("kernels", "a frame", lambda row: str(_kernels(row.configuration)), _draws_alone),
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


def _footer(
    settings: Settings, benches: Sequence[Bench], measured: Sequence[Configuration], result: Result
) -> list[str]:
    lines = [
        f"budget {BUDGET_MS:.2f} ms; missed: {missed_rule(None)}; percentiles: nearest rank; p99 from {P99_FROM} frames"
    ]
    lines.append("CPU work: thread time in update, encode, submit; wait: all that was blocked, wherever it happened")
    if _per_draw_known(settings, measured):
        lines.append(
            "a draw: CPU work over instanced (the same vertices, one call), one frame in flight on an idle queue"
        )
    if _over_base_known(settings, measured):
        lines.append("over base: CPU work over the same submission with state none, sorted where measured")
    if _per_draw_known(settings, measured) or _over_base_known(settings, measured):
        lines.append("~0: the range over the blocks holds 0, so it shows nothing")
    if any(each.variant.submission is Submission.RECORDED for each in measured):
        lines.append("recorded: a bundle; its draws are encoded natively again each frame, O(N), without Python")
    if any(each.null_driver for each in measured):
        lines.append("null: the same frames on a driver that renders nothing: describing alone; no picture, no proof")
    lines += _headlines(measured) + _rendered_lines(measured)
    taxes = [line for bench in benches for line in _tax_lines(bench, measured)]
    if taxes:
        lines.append("tax: median over blocks of the difference of block medians, its range: around 0 it shows nothing")
    lines += taxes
    for bench in benches:
        for kind, trust in bench.trust.items():
            if not trust.trusted:
                lines.append(f"{bench.device.info.interface}: GPU time of {kind} passes n/a ({trust.reason})")
    return lines + _proof_lines(measured, result)


_IDIOMS = {
    "one draw per object, described anew each frame": DESCRIBED_ANEW,
    "one draw per object, described once": DESCRIBED_ONCE,
    "one draw per mesh": INSTANCED,
}


def _headlines(measured: Sequence[Configuration]) -> list[str]:
    """Each interface's cheapest way to say the same thing, side by side, beside those of its null driver."""
    lines = []
    for picture in dict.fromkeys(each.variant.picture for each in measured):
        which = "" if picture == Picture() else f" ({picture.state}, {picture.order})"
        for title, idioms in _IDIOMS.items():
            best = []
            for interface in dict.fromkeys((each.interface, each.null_driver) for each in measured):
                mine = [each for each in measured if (each.interface, each.null_driver) == interface]
                least = cheapest([each for each in mine if each.variant.picture == picture], idioms)
                if least is not None:
                    cpu = _p50(figure_stats(least.samples, "cpu_work_ms"))
                    best.append(f"{_interface(least)} {least.variant.submission.value} {cpu} ms")
            if len(best) > 1:
                lines.append(f"CPU work, {title}{which}: {'; '.join(best)}")
    return lines


def _rendered_lines(measured: Sequence[Configuration]) -> list[str]:
    """What a null driver does not do. It is the software driver's rendering, and no cost of describing."""
    lines = []
    for each in measured:
        spread = None if each.null_driver else rendered_ms(each, measured)
        if spread is not None:
            lines.append(f"{each.name}: rendered on the calling thread {_spread(spread)}: the driver's, no tax")
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


_TAXES: tuple[tuple[str, How, How], ...] = (("launch tax", "eager", "batched"), ("memory tax", "batched", "fused"))


def _tax_lines(bench: Bench, measured: Sequence[Configuration]) -> list[str]:
    """One per timeline, never added up."""
    lines = []
    for tax, dear, cheap in _TAXES:
        for each in measured:
            if each.bench is not bench or each.variant.how != dear:
                continue
            other = peer(each, measured, how=cheap)
            if other is not None:
                deltas = [
                    f"{label} {_difference(each, other, figure)}"
                    for label, figure in (("frame", "frame_ms"), ("CPU work", "cpu_work_ms"), ("GPU", "gpu_ms"))
                ]
                lines.append(f"{_interface(each)}: {tax} ({dear} minus {cheap}): {', '.join(deltas)}")
    return lines


def _proof_lines(measured: Sequence[Configuration], result: Result) -> list[str]:
    lines = []
    if result.equivalence is not None:
        same = result.equivalence
        lines.append(
            f"equivalence: {same.image_pixels_differing} of {same.image_pixels:,} pixels differ, by at most "
            f"{same.image_max_abs} of 255; values by at most {same.values_max_scaled_error:.1e} of |x*a| + |b|"
        )
    proven = [each for each in measured if not each.null_driver]
    if proven:
        pixels = sum(each.proof.pixels_checked for each in proven)
        worst = max(each.proof.values_max_scaled_error for each in proven)
        lines.append(
            f"proof: {pixels} drawn pixels and every block's values agree with float64 NumPy, within {worst:.1e}"
        )
    if result.interrupted:
        lines.append("interrupted: only what was measured so far")
    return lines


def _interface(configuration: Configuration) -> str:
    return configuration.interface + (" null" if configuration.null_driver else "")


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


def _kernels(configuration: Configuration) -> int:
    return sum(each.kernels for each in configuration.work.plan.compute_passes)


def _difference(dear: Configuration, cheap: Configuration, figure: str) -> str:
    spread = difference_ms(dear, cheap, figure)
    return "n/a" if spread is None else _spread(spread)


def _spread(spread: Spread) -> str:
    return f"{spread.median:+.2f} ms ({spread.low:+.2f} to {spread.high:+.2f})"


def _p50(figure: Stats | None) -> str:
    return "n/a" if figure is None else f"{figure.p50:.2f}"


def _ms(value: float | None) -> str:
    return "n/a" if value is None else f"{value:.2f}"


def _count(value: int | None) -> str:
    return "n/a" if value is None else str(value)
