"""Frames as they are drawn -> history, and what a switch changed. Fed by app; knows no window and no device."""

from collections.abc import Mapping

from demo.budget import FrameRecord
from demo.history import History, Summary
from demo.verdict import Forecast, forecast
from renderers.device import PassKind
from renderers.trust import Trust

_SETTLED = 60  # frames behind a switch before it is compared
_COMPARABLE = 10  # frames in front of it: a slider on its way leaves fewer behind each step


class Meter:
    """Statistics begin anew with every change: frames of two settings are never mixed."""

    def __init__(self) -> None:
        self.history = History()
        self.forecast: Forecast | None = None
        self.frames = 0  # presented, ever
        self._before: Summary | None = None
        self._last_end_ns: int | None = None
        self._rebuilt = True

    def begin_anew(self, rebuilt: bool) -> None:
        """``rebuilt``: the next frame is no measure of what comes, and is marked."""
        before = self.history.summary
        if before.frame is not None and before.frame.n >= _COMPARABLE:
            self._before = before
        self.forecast = None
        self.history.clear()
        if rebuilt:
            self._last_end_ns, self._rebuilt = None, True

    def leave_out(self) -> None:
        """What happens between this frame and the next is no frame time."""
        self._last_end_ns = None

    def count(self, record: FrameRecord, trust: Mapping[PassKind, Trust]) -> float | None:
        """Frame time, ms: end of present to end of present. None for a frame that is marked, or begins after a gap."""
        if record.state == "skipped":
            self.history.mark("skipped")
            self._last_end_ns = None
            return None
        frame_ms = None
        if self._rebuilt:
            record.state, self._rebuilt = "rebuilt", False
            self.history.mark("rebuilt")
        elif self._last_end_ns is not None:
            frame_ms = (record.end_ns - self._last_end_ns) / 1e6
            self.history.add(record, frame_ms, trust)
        self._last_end_ns = record.end_ns
        self.frames += 1
        return frame_ms

    def summarise(self, trust: Mapping[PassKind, Trust], refresh_hz: float | None, software: bool) -> None:
        """Statistics and forecast of what is in sight. ``refresh_hz``: of a display that is synced to, else None."""
        summary = self.history.refresh(trust, refresh_hz)
        if self._before is not None and summary.frame is not None and summary.frame.n >= _SETTLED:
            self.forecast = forecast(self._before, summary, software)
