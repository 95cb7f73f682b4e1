"""The time that the scene shows: it can be paused and stepped, and survives every switch. Used by app."""

import time


class PausableTime:
    """Simulated seconds: wall time minus pauses."""

    def __init__(self) -> None:
        self._before_s, self._since = 0.0, time.perf_counter()
        self.paused = False

    @property
    def now_s(self) -> float:
        return self._before_s + (0.0 if self.paused else time.perf_counter() - self._since)

    def pause(self, paused: bool) -> None:
        self._before_s, self._since = self.now_s, time.perf_counter()
        self.paused = paused

    def step(self, seconds: float) -> None:
        self._before_s += seconds
