"""What one way to describe the work costs over another: differences of interleaved blocks, never sums. Pure.

Fed by configurations; read by table and report.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from compute.kernel import How
from demo.budget import Sample, Stats, percentile_ms, stats
from demo.configuration import Configuration, Picture, Variant
from renderers.plan import Submission

# Ways to say the same thing, to be compared with each other.
DESCRIBED_ANEW = (Submission.IMMEDIATE_BIND, Submission.IMMEDIATE)  # a draw an object, every frame
DESCRIBED_ONCE = (Submission.INDIRECT, Submission.RECORDED)  # a draw an object, handed over with one call
INSTANCED = (Submission.INSTANCED,)  # a draw for all objects of a mesh


@dataclass(frozen=True, slots=True)
class Spread:
    """Median over blocks, and the range: around 0 it shows nothing."""

    median: float
    low: float
    high: float
    blocks: int

    def scaled(self, factor: float) -> "Spread":
        return replace(self, median=self.median * factor, low=self.low * factor, high=self.high * factor)


def figure_stats(samples: Sequence[Sample], name: str) -> Stats | None:
    """Over the frames that have the figure; ``n`` says how many, ``reasons`` why others lack it."""
    times = [getattr(each, name) for each in samples]
    return stats([time for time in times if time is not None])


def difference_ms(dear: Configuration, cheap: Configuration, figure: str) -> Spread | None:
    """Of the two medians of each block, ms."""
    return _over_blocks(dear, cheap, figure, lambda ours, theirs: ours - theirs)


def per_draw_us(configuration: Configuration, among: Sequence[Configuration], in_flight: int) -> Spread | None:
    """CPU work over ``instanced`` of the sorted list (the same vertices, a call a mesh and material), µs a draw.

    Only with one frame in flight: a queue that is not idle lets a submit block for the frame before.
    """
    base = peer(
        configuration,
        among,
        submission=Submission.INSTANCED,
        picture=Picture(configuration.variant.picture.state, "sorted"),
    )
    if in_flight != 1 or base is None or configuration.variant.submission in (Submission.INSTANCED, Submission.NONE):
        return None
    spread = difference_ms(configuration, base, "cpu_work_ms")
    draws = configuration.work.counters.draws
    return None if spread is None or not draws else spread.scaled(1e3 / draws)


def over_base_percent(configuration: Configuration, among: Sequence[Configuration]) -> Spread | None:
    """CPU work over the same submission without changes of state, sorted where that was measured, in % of it."""
    base = peer(configuration, among, picture=Picture())
    base = base or peer(configuration, among, picture=Picture("none", configuration.variant.picture.order))
    if base is None or base is configuration:
        return None
    return _over_blocks(
        configuration, base, "cpu_work_ms", lambda ours, theirs: 100.0 * (ours / theirs - 1.0) if theirs else 0.0
    )


def rendered_ms(configuration: Configuration, among: Sequence[Configuration]) -> Spread | None:
    """CPU work that a null driver does not do: what the software driver renders on the calling thread. No tax."""
    null = peer(configuration, among, null_driver=True)
    return None if null is None or null is configuration else difference_ms(configuration, null, "cpu_work_ms")


def pays_off_after(configuration: Configuration, among: Sequence[Configuration]) -> float | None:
    """Frames after which recording has cost less than describing every draw anew; None where it never does."""
    anew = peer(configuration, among, submission=Submission.IMMEDIATE)
    anew = anew or peer(configuration, among, submission=Submission.IMMEDIATE_BIND)
    if anew is None or configuration.recording_ms is None or configuration.variant.submission not in DESCRIBED_ONCE:
        return None
    saved = difference_ms(anew, configuration, "cpu_work_ms")
    return None if saved is None or saved.median <= 0.0 else configuration.recording_ms / saved.median


def cheapest(configurations: Sequence[Configuration], idioms: Sequence[Submission]) -> Configuration | None:
    """The one of ``idioms`` with the least CPU work a frame."""
    drawn = [each for each in configurations if each.variant.submission in idioms and each.samples]
    return min(drawn, key=lambda each: _p50(each.samples, "cpu_work_ms"), default=None)


def peer(
    configuration: Configuration,
    among: Sequence[Configuration],
    how: How | None = None,
    submission: Submission | None = None,
    picture: Picture | None = None,
    null_driver: bool | None = None,
) -> Configuration | None:
    """The one that differs from ``configuration`` only in what is given."""
    variant = configuration.variant
    wanted = Variant(how or variant.how, submission or variant.submission, picture or variant.picture)
    on_null = configuration.null_driver if null_driver is None else null_driver
    for each in among:
        if each.bench is configuration.bench and each.variant == wanted and each.null_driver == on_null:
            return each
    return None


def _over_blocks(
    dear: Configuration, cheap: Configuration, figure: str, compare: Callable[[float, float], float]
) -> Spread | None:
    deltas = []
    for one, other in zip(dear.blocks, cheap.blocks, strict=False):  # an interrupt may leave one block more
        ours, theirs = figure_stats(one, figure), figure_stats(other, figure)
        if ours is not None and theirs is not None:
            deltas.append(compare(ours.p50, theirs.p50))
    return Spread(percentile_ms(deltas, 50.0), min(deltas), max(deltas), len(deltas)) if deltas else None


def _p50(samples: Sequence[Sample], name: str) -> float:
    figure = figure_stats(samples, name)
    assert figure is not None
    return figure.p50
