"""GL_TIMESTAMP pairs around passes, read as 64 bits when they are there. Feeds timers.TimerRing."""

from collections.abc import Sequence

from renderers.opengl import native
from renderers.timers import MAX_TIMED_PASSES, RING_SLOTS, TimedUnit, TimerRing

_STAMPS_PER_SLOT = 2 * MAX_TIMED_PASSES
_FIRST_READING = "the first reading of a GL timer is not believed: drivers return a saturated or uninitialised value"


class OpenGlTimer:
    """Stamps, not GL_TIME_ELAPSED: they cannot be nested wrongly, and two passes can be compared on one clock."""

    def __init__(self) -> None:
        self._queries = native.create_queries(RING_SLOTS * _STAMPS_PER_SLOT)
        self._last = [0] * RING_SLOTS
        self.ring = TimerRing(self, 1.0, reject_first=_FIRST_READING)

    def begin(self, slot: int, units: Sequence[TimedUnit], index: int) -> None:
        """Before pass ``index``."""
        for i, unit in enumerate(units):
            if index == unit.first:
                self._stamp(slot, 2 * i)

    def end(self, slot: int, units: Sequence[TimedUnit], index: int) -> None:
        """Behind pass ``index``."""
        for i, unit in enumerate(units):
            if index == unit.last:
                self._stamp(slot, 2 * i + 1)

    def ready(self, slot: int) -> bool:
        """Stamps become available in order, so the last one stands for all."""
        return native.stamp_available(self._queries[self._last[slot]])

    def read(self, slot: int, count: int) -> Sequence[int]:
        first = slot * _STAMPS_PER_SLOT
        return [native.read_stamp(self._queries[first + i]) for i in range(count)]

    def release(self) -> None:
        native.delete_queries(self._queries)

    def _stamp(self, slot: int, position: int) -> None:
        self._last[slot] = slot * _STAMPS_PER_SLOT + position
        native.stamp(self._queries[self._last[slot]])
