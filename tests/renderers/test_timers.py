"""CPU spans and late GPU stamps: what is booked, what is refused as a reading, and what never waits."""

import time
from collections.abc import Sequence

import pytest

from compute.kernel import ComputePass
from renderers.device import GpuTimes, SpanKind
from renderers.plan import Plan
from renderers.scene import field
from renderers.timers import (
    MAX_TIMED_PASSES,
    RING_SLOTS,
    SpanRecorder,
    TimedUnit,
    TimerRing,
    gpu_times,
    timed_units,
)

UNITS = (TimedUnit("wave", "compute", 0, 0), TimedUnit("scene", "draw", 1, 1))
GOOD = (100, 200, 210, 300)


class StubStamps:
    """Slots become ready when the test says so; what was never written reads as garbage."""

    def __init__(self) -> None:
        self.is_ready: set[int] = set()
        self.reads: list[tuple[int, int]] = []
        self.stamps: Sequence[int] = GOOD

    def ready(self, slot: int) -> bool:
        return slot in self.is_ready

    def read(self, slot: int, count: int) -> Sequence[int]:
        self.reads.append((slot, count))
        return self.stamps[:count]


def _ring(stamps: StubStamps, reject_first: str | None = None) -> TimerRing:
    return TimerRing(stamps, 1.0, reject_first)


def _begin(ring: TimerRing, index: int, units: tuple[TimedUnit, ...] = UNITS) -> int:
    slot = ring.begin(index, units)
    assert slot is not None
    return slot


def _plan(compute_passes: int, scene: bool = True) -> Plan:
    passes = tuple(ComputePass(f"pass {i}", (), 1) for i in range(compute_passes))
    return Plan((*passes, field(4).draw_pass("heights")) if scene else passes, ())


@pytest.mark.parametrize(
    ("ticks", "reason"),
    [
        ((0, 0, 0, 0), "every stamp is 0"),
        ((100, 200, 210, 2**32 - 1), "a stamp is saturated at 2^32 - 1"),
        ((100, 200, 0, 0), "a stamp of scene was never written"),
        ((100, 0, 210, 300), "a stamp of wave was never written"),
        ((200, 100, 210, 300), "the clock ran backwards in wave"),
        ((100, 200, 210, 210), "no time passed in scene"),
        ((100, 200, 10, 20), "the clock was reset before scene"),
        ((100, 200, 210, 10**12), "scene lasts over a minute"),
    ],
)
def test_each_fault_of_the_stamps_drops_the_sample_with_its_own_reason(ticks: tuple[int, ...], reason: str) -> None:
    times = gpu_times(7, UNITS, ticks, 1.0)
    assert (times.index, times.spans, times.reason) == (7, None, reason)


def test_stamps_without_fault_become_spans_with_label_and_kind() -> None:
    times = gpu_times(7, UNITS, GOOD, 1.0)
    assert times.reason is None
    assert times.spans is not None
    assert [(span.label, span.kind, span.begin_ns, span.end_ns) for span in times.spans] == [
        ("wave", "compute", 100, 200),
        ("scene", "draw", 210, 300),
    ]


def test_passes_that_overlap_on_the_device_are_believed() -> None:
    assert gpu_times(0, UNITS, (100, 200, 150, 300), 1.0).reason is None


@pytest.mark.parametrize("ns_per_tick", [83.333, 10.0, 1.0])
def test_a_million_ticks_last_as_many_ms_as_a_tick_has_ns(ns_per_tick: float) -> None:
    times = gpu_times(0, UNITS[:1], (5_000_001, 6_000_001), ns_per_tick)
    assert times.spans is not None
    (span,) = times.spans
    assert (span.end_ns - span.begin_ns) / 1e6 == pytest.approx(ns_per_tick, abs=2e-6)


@pytest.mark.parametrize("begin", [10**9, 2**53 + 1, 1_790_000_000 * 10**9])
def test_a_span_keeps_its_length_however_long_the_clock_has_run(begin: int) -> None:
    times = gpu_times(0, UNITS[:1], (begin, begin + 1_001), 1.0)
    assert times.spans is not None
    assert times.spans[0].end_ns - times.spans[0].begin_ns == 1_001


def test_a_minute_is_counted_in_ns_and_not_in_ticks() -> None:
    assert gpu_times(0, UNITS[:1], (1, 10**9), 83.333).reason == "wave lasts over a minute"
    assert gpu_times(0, UNITS[:1], (1, 10**9), 10.0).reason is None


def test_up_to_the_limit_each_pass_is_timed_by_itself() -> None:
    units = timed_units(_plan(MAX_TIMED_PASSES - 1))
    assert [(unit.first, unit.last) for unit in units] == [(i, i) for i in range(MAX_TIMED_PASSES)]
    assert [unit.kind for unit in units] == ["compute"] * (MAX_TIMED_PASSES - 1) + ["draw"]


@pytest.mark.parametrize(("scene", "kind"), [(True, "draw"), (False, "compute")])
def test_above_the_limit_all_passes_share_one_pair_of_stamps(scene: bool, kind: str) -> None:
    plan = _plan(MAX_TIMED_PASSES + 1, scene)
    (unit,) = timed_units(plan)
    assert (unit.first, unit.last, unit.kind) == (0, len(plan.passes) - 1, kind)


def test_late_stamps_join_the_frame_that_wrote_them() -> None:
    stamps = StubStamps()
    ring = _ring(stamps)
    slots = [_begin(ring, index) for index in (10, 11, 12)]
    assert list(ring.completed()) == []
    stamps.is_ready = {slots[0], slots[1]}
    assert [times.index for times in ring.completed()] == [10, 11]
    stamps.is_ready = {slots[2]}
    assert [times.index for times in ring.completed()] == [12]


def test_a_frame_that_is_ready_waits_for_the_frame_before_it() -> None:
    stamps = StubStamps()
    ring = _ring(stamps)
    first, second = _begin(ring, 0), _begin(ring, 1)
    stamps.is_ready = {second}
    assert list(ring.completed()) == []
    stamps.is_ready = {first, second}
    assert [times.index for times in ring.completed()] == [0, 1]


def test_a_slot_is_used_again_only_after_it_was_read() -> None:
    stamps = StubStamps()
    ring = _ring(stamps)
    slots = [_begin(ring, index) for index in range(RING_SLOTS)]
    assert len(set(slots)) == RING_SLOTS
    stamps.is_ready = {slots[0]}
    list(ring.completed())
    assert ring.begin(RING_SLOTS, UNITS) == slots[0]


def test_a_full_ring_leaves_the_frame_untimed_and_says_why_once() -> None:
    ring = _ring(StubStamps())
    for index in range(RING_SLOTS):
        _begin(ring, index)
    assert ring.begin(99, UNITS) is None
    (times,) = ring.completed()
    assert (times.index, times.spans) == (99, None)
    assert times.reason is not None
    assert "still in flight" in times.reason
    assert list(ring.completed()) == []


def test_stamps_that_never_arrive_stay_bounded_over_1000_frames() -> None:
    ring = _ring(StubStamps())
    reported: list[GpuTimes] = []
    for index in range(1_000):
        ring.begin(index, UNITS)
        reported += ring.completed()
        assert ring.pending <= RING_SLOTS
    assert [times.index for times in reported] == list(range(RING_SLOTS, 1_000))
    assert all(times.spans is None and times.reason for times in reported)


def test_every_frame_is_reported_exactly_once_with_spans_or_a_reason() -> None:
    stamps = StubStamps()
    ring = _ring(stamps)
    reported: list[GpuTimes] = []
    for index in range(100):
        ring.begin(index, UNITS)
        stamps.is_ready = set(range(RING_SLOTS)) if index % 7 == 0 else set()
        reported += ring.completed()
    stamps.is_ready = set(range(RING_SLOTS))
    reported += ring.completed()
    assert sorted(times.index for times in reported) == list(range(100))
    assert all((times.spans is None) == (times.reason is not None) for times in reported)


@pytest.mark.parametrize("units", [UNITS[:1], UNITS])
def test_only_stamps_that_were_written_are_read(units: tuple[TimedUnit, ...]) -> None:
    stamps = StubStamps()
    stamps.stamps = (*GOOD, 2**64 - 1, 2**32 - 1)
    ring = _ring(stamps)
    slot = _begin(ring, 0, units)
    stamps.is_ready = {slot}
    (times,) = ring.completed()
    assert stamps.reads == [(slot, 2 * len(units))]
    assert times.reason is None


def test_only_the_first_reading_is_rejected_where_the_driver_asks_for_it() -> None:
    stamps = StubStamps()
    ring = _ring(stamps, reject_first="the first is garbage")
    stamps.is_ready = {_begin(ring, 0), _begin(ring, 1)}
    first, second = ring.completed()
    assert (first.index, first.spans, first.reason) == (0, None, "the first is garbage")
    assert (second.index, second.reason) == (1, None)


def test_spans_are_booked_in_order_and_do_not_overlap() -> None:
    clock = SpanRecorder(3)
    kinds: tuple[SpanKind, ...] = ("wait", "encode", "submit")
    for kind in kinds:
        with clock.span(kind, kind.upper()):
            pass
    assert [(span.kind, span.label) for span in clock.spans] == [(kind, kind.upper()) for kind in kinds]
    edges = [edge for span in clock.spans for edge in (span.begin_ns, span.end_ns)]
    assert edges == sorted(edges)


def test_a_span_within_a_span_is_refused_with_both_names() -> None:
    clock = SpanRecorder(0)
    with (
        clock.span("encode"),
        pytest.raises(RuntimeError, match="span submit inside encode: spans may not nest"),
        clock.span("submit"),
    ):
        pass
    assert [span.kind for span in clock.spans] == ["encode"]


def test_a_span_that_fails_is_booked_and_closed() -> None:
    clock = SpanRecorder(0)
    with pytest.raises(ZeroDivisionError), clock.span("encode"):
        raise ZeroDivisionError
    with clock.span("submit"):
        pass
    assert [span.kind for span in clock.spans] == ["encode", "submit"]


@pytest.mark.parametrize("fine", [True, False])
def test_thread_time_is_unknown_where_the_threads_clock_is_too_coarse(
    fine: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("renderers.timers.thread_clock_is_fine", lambda: fine)
    monkeypatch.setattr(time, "thread_time_ns", iter([1_000, 1_400]).__next__)
    clock = SpanRecorder(0)
    with clock.span("encode"):
        pass
    assert clock.spans[0].thread_ns == (400 if fine else None)
