"""The search for what fits in the budget, on a live window: the numbers it asks for become wishes. Used by app.

Frames go on being shown; no clock but the one it is told, no device.
"""

from dataclasses import replace

from demo.budget import BUDGET_MS
from demo.fit import Fit, FitSearch
from demo.wanted import MAX_OBJECTS_SHOWN, Wanted

PERCENT = 95.0
_DROPPED, _MEASURED = 10, 30  # frames of each number of objects
_DROPPED_MS, _MEASURED_MS = 500.0, 1000.0  # at most: frames that long are far over the budget
_LIMIT_S = 20.0


class Fitting:
    """Takes over the number of objects and vsync; ``let_go`` gives them back. A wish of the person's ends it."""

    def __init__(self, wanted: Wanted, now_s: float) -> None:
        self._search = FitSearch(BUDGET_MS, PERCENT, MAX_OBJECTS_SHOWN)
        self._before, self._held = replace(wanted), replace(wanted)
        self._end_s = now_s + _LIMIT_S
        self._times_ms: list[float] = []
        self._dropped = 0
        self._dropped_ms = 0.0
        self._cancelled, self._over = False, False
        self._ask(wanted)

    @property
    def result(self) -> Fit:
        return self._search.result

    @property
    def text(self) -> str:
        """What stands in the message line: how far it is, and what it found."""
        if self._cancelled:
            return "Fit cancelled"
        asks, found = self._search.asks, self.result
        if asks is not None and not self._over:
            known = f"; so far {found.text(BUDGET_MS)}" if found.fits else ""
            return f"Fitting: {asks:,} objects ...{known}"
        panel = ", this panel drawn too" if self._held.overlay else ""
        return f"{self._held.submission.value}, {self._held.how}: {found.text(BUDGET_MS)}; p95 of frame time{panel}"

    def add(self, frame_ms: float) -> None:
        """A frame that was drawn with the number that was asked for last."""
        if self._dropped < _DROPPED and self._dropped_ms < _DROPPED_MS:
            self._dropped += 1
            self._dropped_ms += frame_ms
        elif not self._block_is_full:
            self._times_ms.append(frame_ms)

    def go_on(self, wanted: Wanted, now_s: float) -> bool:
        """Between frames: wish for the next number once one is measured. False when it is over, for whatever reason."""
        self._held = replace(self._held, overlay=wanted.overlay, help=wanted.help)  # no settings of what is measured
        if self._held != wanted:
            self._cancelled = True
        elif self._block_is_full:
            self._search.report(self._times_ms)
            self._ask(wanted)
        self._over = self._search.asks is None or now_s > self._end_s
        return not (self._over or self._cancelled)

    def cancel(self) -> None:
        self._cancelled = True

    def let_go(self, wanted: Wanted) -> None:
        """Put back what was taken over and not touched since; the objects stay at what fits where that is known."""
        if wanted.vsync == self._held.vsync:
            wanted.vsync = self._before.vsync
        if wanted.objects == self._held.objects:
            fits = None if self._cancelled else self.result.fits
            wanted.objects = self._before.objects if fits is None else fits

    def _ask(self, wanted: Wanted) -> None:
        self._times_ms, self._dropped, self._dropped_ms = [], 0, 0.0
        wanted.vsync = False
        if self._search.asks is not None:
            wanted.objects = self._search.asks
        self._held = replace(wanted)

    @property
    def _block_is_full(self) -> bool:
        return len(self._times_ms) >= _MEASURED or sum(self._times_ms) > _MEASURED_MS
