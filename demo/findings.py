"""What the rows of a bench's table show, in sentences: costs beside each other, taxes, doubts, proof. Feeds table."""

from collections.abc import Sequence

from compute.kernel import How
from demo.bench import Result
from demo.budget import BUDGET_MS, P99_FROM, missed_rule
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
    peer,
    per_draw_us,
    rendered_ms,
)
from demo.settings import Settings
from renderers.plan import Submission


def per_draw_known(settings: Settings, measured: Sequence[Configuration]) -> bool:
    return any(per_draw_us(each, measured, settings.frames_in_flight) is not None for each in measured)


def over_base_known(settings: Settings, measured: Sequence[Configuration]) -> bool:
    return any(over_base_percent(each, measured) is not None for each in measured)


def interface_name(configuration: Configuration) -> str:
    return configuration.interface + (" null" if configuration.null_driver else "")


def finding_lines(
    settings: Settings, benches: Sequence[Bench], measured: Sequence[Configuration], result: Result
) -> list[str]:
    return [
        *_definitions(settings, measured),
        *_headlines(measured),
        *_rendered_lines(measured),
        *_tax_lines(measured),
        *_doubts(benches),
        *_proof_lines(measured, result),
    ]


def _definitions(settings: Settings, measured: Sequence[Configuration]) -> list[str]:
    """What the columns mean that are shown."""
    per_draw, over_base = per_draw_known(settings, measured), over_base_known(settings, measured)
    recorded = any(each.variant.submission is Submission.RECORDED for each in measured)
    null = any(each.null_driver for each in measured)
    lines = {
        f"budget {BUDGET_MS:.2f} ms; missed: {missed_rule(None)}; percentiles: nearest rank; "
        f"p99 from {P99_FROM} frames": True,
        "CPU work: thread time in update, encode, submit; wait: all that was blocked, wherever it happened": True,
        "a draw: CPU work over instanced, sorted (the same vertices, a call a mesh and material), "
        "one frame in flight on an idle queue": per_draw,
        "over base: CPU work over the same submission with state none, sorted where measured": over_base,
        "~0: the range over the blocks holds 0, so it shows nothing": per_draw or over_base,
        "recorded: a bundle; its draws are encoded natively again each frame, O(N), without Python": recorded,
        "null: the same frames on a driver that renders nothing: describing alone; no picture, no proof": null,
    }
    return [line for line, needed in lines.items() if needed]


def _doubts(benches: Sequence[Bench]) -> list[str]:
    return [
        f"{bench.device.info.interface}: GPU time of {kind} passes n/a ({trust.reason})"
        for bench in benches
        for kind, trust in bench.trust.items()
        if not trust.trusted
    ]


_IDIOMS = {
    "one draw per object, described anew each frame": DESCRIBED_ANEW,
    "one draw per object, described once (indirect: a call a run of one material)": DESCRIBED_ONCE,
    "one draw per run of one mesh and material": INSTANCED,
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
                    cpu = figure_stats(least.samples, "cpu_work_ms")
                    figure = "n/a" if cpu is None else f"{cpu.p50:.2f} ms"
                    best.append(f"{interface_name(least)} {least.variant.submission.value} {figure}")
            if len(best) > 1:
                lines.append(f"CPU work, {title}{which}: {'; '.join(best)}")
    return lines


def _rendered_lines(measured: Sequence[Configuration]) -> list[str]:
    """What a null driver does not do. It is the software driver's rendering, and no cost of describing."""
    lines = []
    for each in measured:
        spread = None if each.null_driver else rendered_ms(each, measured)
        if spread is not None and each.bench.device.info.is_software:
            lines.append(f"{each.name}: rendered on the calling thread {_spread(spread)}: the driver's, no tax")
        elif spread is not None:
            lines.append(f"{each.name}: over its null driver {_spread(spread)}: what the driver itself does")
    return lines


_TAXES: tuple[tuple[str, How, How], ...] = (("launch tax", "eager", "batched"), ("memory tax", "batched", "fused"))


def _tax_lines(measured: Sequence[Configuration]) -> list[str]:
    """One per timeline, never added up."""
    lines = []
    for each in measured:
        for tax, dear, cheap in _TAXES:
            other = peer(each, measured, how=cheap)
            if each.variant.how == dear and other is not None:
                deltas = [
                    f"{label} {_difference(each, other, figure)}"
                    for label, figure in (("frame", "frame_ms"), ("CPU work", "cpu_work_ms"), ("GPU", "gpu_ms"))
                ]
                name = each.name.replace(f" {dear} ", " ")
                lines.append(f"{name}: {tax} ({dear} minus {cheap}): {', '.join(deltas)}")
    note = "tax: median over blocks of the difference of block medians, its range: around 0 it shows nothing"
    return [note, *lines] if lines else []


def _proof_lines(measured: Sequence[Configuration], result: Result) -> list[str]:
    lines = []
    if result.equivalence is not None:
        same = result.equivalence
        lines.append(
            f"equivalence: {same.image_pixels_differing} of {same.image_pixels:,} pixels differ, by at most "
            f"{same.image_max_abs} of 255; values by at most {same.values_max_scaled_error:.2g} of the error bound"
        )
    proven = [each for each in measured if not each.null_driver]
    if proven:
        pixels = sum(each.proof.pixels_checked for each in proven)
        worst = max(each.proof.values_max_scaled_error for each in proven)
        lines.append(
            f"proof: {pixels} drawn pixels and every block's values agree with float64 NumPy, "
            f"within {worst:.2g} of the error bound"
        )
    if result.interrupted:
        lines.append("interrupted: only what was measured so far")
    return lines


def _difference(dear: Configuration, cheap: Configuration, figure: str) -> str:
    spread = difference_ms(dear, cheap, figure)
    return "n/a" if spread is None else _spread(spread)


def _spread(spread: Spread) -> str:
    return f"{spread.median:+.2f} ms ({spread.low:+.2f} to {spread.high:+.2f})"
