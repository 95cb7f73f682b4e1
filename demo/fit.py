"""How many objects fit in the budget: a search over measured blocks. Pure: bench and window measure what it asks."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from demo.budget import percentile_ms

CLOSE_ENOUGH = 1.05  # of the two ends of the interval
_START = 64
_LEAST_GROWTH, _MOST_GROWTH = 1.5, 8.0
_ENDS, _DOUBTS = 2, 6  # blocks behind each end of the interval; at most behind what is doubtful
_MOST_BLOCKS = 60


@dataclass(frozen=True, slots=True)
class Measured:
    """The chosen percentile of all ``n`` times that were measured with this many objects, ms."""

    objects: int
    n: int
    time_ms: float


@dataclass(frozen=True, slots=True)
class Fit:
    """Surely fits: ``fits``, None where even no objects at all do not. Surely does not: ``exceeds``, None if unknown.

    Between the two lies what the noise of the measurements leaves open.
    """

    fits: int | None
    exceeds: int | None
    limit: int
    measured: tuple[Measured, ...]

    def text(self, budget_ms: float) -> str:
        """One sentence, with the interval in which it is sure."""
        if not self.measured:
            return "n/a (nothing was measured)"
        if self.fits is None and self.exceeds == 0:
            return f"no number of objects fits in {budget_ms:.1f} ms"
        if self.fits is None:
            found = "nothing is sure" if self.exceeds is None else f"fewer than {self.exceeds:,} objects"
            return f"{found} fit in {budget_ms:.1f} ms (time was up)"
        if self.exceeds is None:
            assert self.fits is not None
            why = "limit" if self.fits >= self.limit else "time was up"
            return f">= {self.fits:,} objects fit in {budget_ms:.1f} ms ({why})"
        return f"{self.fits:,} objects fit in {budget_ms:.1f} ms ({self.exceeds:,} do not)"


class FitSearch:
    """Grow until a block exceeds the budget, then halve the interval. What is doubtful is measured again.

    Doubtful is a number that only its slowest frames keep from fitting, and measurements that contradict each other.
    """

    def __init__(self, budget_ms: float, percent: float, limit: int, start: int = _START) -> None:
        self._budget_ms, self._percent, self._limit = budget_ms, percent, limit
        self._times_ms: dict[int, list[float]] = {}
        self._blocks: Counter[int] = Counter()
        self._asks: int | None = min(start, limit)

    @property
    def asks(self) -> int | None:
        """The number of objects to measure next; None when the search is over."""
        return self._asks

    def report(self, times_ms: Sequence[float]) -> None:
        """Times of frames with as many objects as were asked for, ms; at least one."""
        if self._asks is None:
            raise RuntimeError("nothing was asked; the search is over")
        self._times_ms.setdefault(self._asks, []).extend(times_ms)
        self._blocks[self._asks] += 1
        self._asks = self._next(self._asks)

    @property
    def result(self) -> Fit:
        """What is sure by now: where measurements contradict each other, neither is believed."""
        within, over = self._sides()
        fits = max((count for count in within if not over or count < over[0]), default=None)
        exceeds = min((count for count in over if not within or count > within[-1]), default=None)
        counts = sorted(self._times_ms)
        measured = tuple(Measured(count, len(self._times_ms[count]), self._time_ms(count)) for count in counts)
        return Fit(fits, exceeds, self._limit, measured)

    def _next(self, last: int) -> int | None:
        if self._blocks.total() >= _MOST_BLOCKS:
            return None
        doubtful = [count for count in self._doubtful(last) if self._blocks[count] < _DOUBTS]
        if doubtful:
            return min(doubtful, key=lambda count: self._blocks[count])
        result = self.result
        if result.fits is None:
            return None if last == 0 else last // 4
        if result.exceeds is None:
            return None if result.fits >= self._limit else self._larger(result.fits)
        between = round(math.sqrt(max(1, result.fits) * result.exceeds))
        if result.exceeds > CLOSE_ENOUGH * result.fits and between not in (result.fits, result.exceeds):
            return between
        return next((end for end in (result.exceeds, result.fits) if self._blocks[end] < _ENDS), None)

    def _doubtful(self, last: int) -> list[int]:
        within, over = self._sides()
        contradicted = [count for count in over if within and count < within[-1]]
        contradicted += [count for count in within if over and count > over[0]]
        late = last in over and percentile_ms(self._times_ms[last], 50.0) <= self._budget_ms
        return contradicted + ([last] if late else [])

    def _sides(self) -> tuple[list[int], list[int]]:
        """(numbers within the budget, numbers over it), each from small to large."""
        counts = sorted(self._times_ms)
        within = [count for count in counts if self._time_ms(count) <= self._budget_ms]
        return within, [count for count in counts if count not in within]

    def _larger(self, count: int) -> int:
        """As many as this one's time lets expect, within bounds: what every frame costs anyway is not known."""
        growth = min(_MOST_GROWTH, max(_LEAST_GROWTH, self._budget_ms / max(1e-3, self._time_ms(count))))
        return min(self._limit, max(count + 1, round(count * growth)))

    def _time_ms(self, count: int) -> float:
        return percentile_ms(self._times_ms[count], self._percent)
