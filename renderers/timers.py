"""CPU spans of one frame, and the ring that brings GPU stamps back some frames late. Feeds budget."""

import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from functools import cache
from typing import Protocol

from compute.kernel import ComputePass
from renderers.device import CpuSpan, FrameClock, GpuSpan, GpuTimes, PassKind, SpanKind
from renderers.plan import Plan

MAX_TIMED_PASSES = 16  # above that one pair of stamps for all: 300 stamped passes cost 8 ms a frame
RING_SLOTS = 4
_LONGEST_CREDIBLE_NS = 60 * 10**9
_SATURATED = 2**32 - 1  # a 64-bit result read through a 32-bit getter


@cache
def thread_clock_is_fine() -> bool:
    """Whether the thread clock resolves a millisecond (Windows: 15.6 ms). Spins 1 ms, once."""
    begin, thread = time.perf_counter_ns(), time.thread_time_ns()
    while time.perf_counter_ns() - begin < 1_000_000:
        pass
    return time.thread_time_ns() - thread > 100_000


class SpanRecorder:
    """The FrameClock of one frame. Spans may not nest: each nanosecond is booked once."""

    def __init__(self, index: int) -> None:
        self.index = index
        self.spans: list[CpuSpan] = []
        self._open: SpanKind | None = None

    @contextmanager
    def span(self, kind: SpanKind, label: str = "") -> Iterator[None]:
        if self._open is not None:
            raise RuntimeError(f"span {kind} inside {self._open}: spans may not nest; close the outer one first")
        self._open = kind
        fine = thread_clock_is_fine()
        begin, thread = time.perf_counter_ns(), time.thread_time_ns()
        try:
            yield
        finally:
            thread_ns = time.thread_time_ns() - thread
            self.spans.append(CpuSpan(kind, label, begin, time.perf_counter_ns(), thread_ns if fine else None))
            self._open = None


@dataclass(frozen=True, slots=True)
class TimedUnit:
    """Consecutive passes [first, last] of a plan that share one pair of stamps."""

    label: str
    kind: PassKind
    first: int
    last: int


def timed_units(plan: Plan) -> tuple[TimedUnit, ...]:
    """One unit a pass; above MAX_TIMED_PASSES one for the whole frame."""
    if len(plan.passes) > MAX_TIMED_PASSES:
        kind: PassKind = "draw" if plan.scene_passes else "compute"
        return (TimedUnit("all passes", kind, 0, len(plan.passes) - 1),)
    return tuple(
        TimedUnit(each.label, "compute" if isinstance(each, ComputePass) else "draw", index, index)
        for index, each in enumerate(plan.passes)
    )


def gpu_times(index: int, units: Sequence[TimedUnit], ticks: Sequence[int], ns_per_tick: float) -> GpuTimes:
    """Spans from a frame's stamps (begin, end per unit), or the one reason why they cannot be believed."""
    reason = _fault(units, ticks, ns_per_tick)
    if reason is not None:
        return GpuTimes(index, None, reason)
    # Differences are scaled, not absolute ticks: those are too long for a float after weeks of uptime.
    begin_ns = round(ticks[0] * ns_per_tick)
    at_ns = [begin_ns + round((tick - ticks[0]) * ns_per_tick) for tick in ticks]
    spans = (GpuSpan(unit.label, unit.kind, at_ns[2 * i], at_ns[2 * i + 1]) for i, unit in enumerate(units))
    return GpuTimes(index, tuple(spans))


def _fault(units: Sequence[TimedUnit], ticks: Sequence[int], ns_per_tick: float) -> str | None:
    if not any(ticks):
        return "every stamp is 0"
    if _SATURATED in ticks:
        return "a stamp is saturated at 2^32 - 1"
    for i, unit in enumerate(units):
        begin, end = ticks[2 * i], ticks[2 * i + 1]
        if begin == 0 or end == 0:
            return f"a stamp of {unit.label} was never written"
        if end < begin:
            return f"the clock ran backwards in {unit.label}"
        if end == begin:
            return f"no time passed in {unit.label}"
        if i and begin < ticks[2 * i - 2]:
            return f"the clock was reset before {unit.label}"
        if (end - begin) * ns_per_tick > _LONGEST_CREDIBLE_NS:
            return f"{unit.label} lasts over a minute"
    return None


@dataclass(slots=True, kw_only=True)
class TimedFrame:
    """What every device's open frame has: where spans are booked, and the slot its stamps go to.

    ``clock`` None: a picture outside the frame loop, not timed.
    """

    clock: FrameClock | None = None
    units: tuple[TimedUnit, ...] = ()
    timer_slot: int | None = None

    def span(self, kind: SpanKind, label: str) -> AbstractContextManager[None]:
        return nullcontext() if self.clock is None else self.clock.span(kind, label)


class StampSource(Protocol):
    """A device's stamps. ``ready`` never blocks; ``read`` is for a ready slot, with how many were written."""

    def ready(self, slot: int) -> bool: ...
    def read(self, slot: int, count: int) -> Sequence[int]: ...


@dataclass(frozen=True, slots=True)
class _Pending:
    slot: int
    index: int
    units: tuple[TimedUnit, ...]


class TimerRing:
    """Joins stamps to their frame, some frames late, without a stall. A full ring leaves a frame untimed."""

    def __init__(self, source: StampSource, ns_per_tick: float, reject_first: str | None = None) -> None:
        """``reject_first``: why the very first reading is not believed, if so."""
        self._source, self._ns_per_tick, self._reject_first = source, ns_per_tick, reject_first
        self._free: deque[int] = deque(range(RING_SLOTS))
        self._pending: deque[_Pending] = deque()
        self._untimed: list[GpuTimes] = []

    @property
    def pending(self) -> int:
        return len(self._pending)

    def begin(self, index: int, units: tuple[TimedUnit, ...]) -> int | None:
        """A slot for this frame's stamps; None when all are still on their way, which is reported as a reason."""
        if not self._free:
            self._untimed.append(GpuTimes(index, None, "every timer slot was still in flight"))
            return None
        slot = self._free.popleft()
        self._pending.append(_Pending(slot, index, units))
        return slot

    def abandon(self, slot: int) -> None:
        """Give back the slot of a frame that ended in an error: its stamps will never arrive."""
        self._pending = deque(frame for frame in self._pending if frame.slot != slot)
        self._free.append(slot)

    def completed(self) -> Iterator[GpuTimes]:
        """Frames whose stamps have arrived, oldest first."""
        while self._pending and self._source.ready(self._pending[0].slot):
            frame = self._pending.popleft()
            ticks = self._source.read(frame.slot, 2 * len(frame.units))
            self._free.append(frame.slot)
            if self._reject_first is not None:
                reason, self._reject_first = self._reject_first, None
                yield GpuTimes(frame.index, None, reason)
            else:
                yield gpu_times(frame.index, frame.units, ticks, self._ns_per_tick)
        untimed, self._untimed = self._untimed, []
        yield from untimed
