"""Statistics of frames: definitions against series made by hand, and what is never counted as what."""

import math
from collections.abc import Mapping
from fractions import Fraction

import pytest

from demo.budget import (
    BUDGET_MS,
    FrameRecord,
    Sample,
    headroom_ms,
    missed_synced,
    missed_unsynced,
    percentile_ms,
    sample,
    stats,
    union_ns,
)
from renderers.device import CpuSpan, GpuSpan, GpuTimes, PassKind, SpanKind
from renderers.trust import Trust

MS = 1_000_000
TRUSTED: Mapping[PassKind, Trust] = {"compute": Trust(True, ""), "draw": Trust(True, "")}
DRAW_UNTRUSTED: Mapping[PassKind, Trust] = {"compute": Trust(True, ""), "draw": Trust(False, "reads an eighth")}

# 990 frames near 10 ms, 8 at 40 and 2 at 100: four tools give four different "1 % lows" for it.
LOWS = [10.0 + i / 10_000 for i in range(990)] + [40.0] * 8 + [100.0] * 2


def _span(kind: SpanKind, wall_ms: float, thread_ms: float | None, begin_ms: float = 0.0) -> CpuSpan:
    thread_ns = None if thread_ms is None else round(thread_ms * MS)
    return CpuSpan(kind, "", round(begin_ms * MS), round((begin_ms + wall_ms) * MS), thread_ns)


def _sample(*spans: CpuSpan, gpu: GpuTimes | None = None, trust: Mapping[PassKind, Trust] = TRUSTED) -> Sample:
    return sample(FrameRecord(0, "drawn", 0, 20 * MS, spans, 30 * MS, gpu), 20.0, trust)


def _gpu(*spans: tuple[str, PassKind, float, float]) -> GpuTimes:
    return GpuTimes(0, tuple(GpuSpan(label, kind, round(a * MS), round(b * MS)) for label, kind, a, b in spans))


@pytest.mark.parametrize(
    ("times", "percent", "expected"),
    [
        ([7.0], 50.0, 7.0),
        ([1.0, 2.0], 50.0, 1.0),
        ([3.0, 1.0, 2.0], 50.0, 2.0),
        ([15.0, 20.0, 35.0, 40.0, 50.0], 5.0, 15.0),
        ([15.0, 20.0, 35.0, 40.0, 50.0], 30.0, 20.0),
        ([15.0, 20.0, 35.0, 40.0, 50.0], 40.0, 20.0),
        ([float(i) for i in range(1, 21)], 95.0, 19.0),
        ([float(i) for i in range(1, 101)], 99.0, 99.0),
        ([float(i) for i in range(1, 1_001)], 99.9, 999.0),
    ],
)
def test_a_percentile_is_the_smallest_time_that_so_many_percent_do_not_exceed(
    times: list[float], percent: float, expected: float
) -> None:
    assert percentile_ms(times, percent) == expected


@pytest.mark.parametrize("percent", [50.0, 55.0, 95.0, 99.0, 99.9])
def test_the_rank_is_exact_for_every_number_of_frames(percent: float) -> None:
    for n in (*range(1, 60), *range(95, 260), 999, 1_000, 2_000, 3_600, 10_000):
        if n >= (1_000 if percent > 99.0 else 100 if percent > 95.0 else 1):
            rank = math.ceil(Fraction(str(percent)) * n / 100)
            assert percentile_ms(range(1, n + 1), percent) == rank, n


def test_a_percentile_is_one_of_the_times() -> None:
    assert all(percentile_ms(LOWS, percent) in LOWS for percent in (1.0, 33.0, 50.0, 90.0, 95.0, 99.0))


def test_the_same_thousand_frames_have_one_p99_and_one_p999() -> None:
    assert percentile_ms(LOWS, 50.0) == pytest.approx(10.05, abs=0.001)
    assert percentile_ms(LOWS, 99.0) == max(LOWS[:990])
    assert percentile_ms(LOWS, 99.9) == 100.0


@pytest.mark.parametrize(("percent", "needed"), [(99.0, 100), (99.9, 1_000), (50.0, 1)])
def test_a_percentile_is_refused_below_its_number_of_frames_and_given_from_there(percent: float, needed: int) -> None:
    with pytest.raises(ValueError, match=f"p{percent:g} needs {needed} frames, got {needed - 1}"):
        percentile_ms([1.0] * (needed - 1), percent)
    assert percentile_ms([1.0] * needed, percent) == 1.0


def test_stats_leave_p99_out_below_100_frames() -> None:
    few, enough = stats([1.0] * 99), stats([1.0] * 100)
    assert few is not None
    assert enough is not None
    assert (few.n, few.p99) == (99, None)
    assert (enough.n, enough.p99) == (100, 1.0)


def test_stats_of_no_times_are_none() -> None:
    assert stats([]) is None


def test_stats_do_not_depend_on_the_order_of_frames() -> None:
    assert stats(LOWS) == stats(LOWS[::-1])


def test_of_frames_that_alternate_between_short_and_long_half_are_missed() -> None:
    times = [0.6, 32.7] * 300
    assert missed_unsynced(times) == 300
    assert 1000.0 * len(times) / sum(times) == pytest.approx(60.06, abs=0.005)


def test_without_vsync_a_frame_exactly_on_budget_is_not_missed() -> None:
    assert missed_unsynced([BUDGET_MS, math.nextafter(BUDGET_MS, 20.0)]) == 1


@pytest.mark.parametrize(
    ("times", "refresh_hz", "missed"),
    [
        ([1000 / 60] * 10, 60.0, 0),
        ([16.0, 17.4, 24.9], 60.0, 0),
        ([33.3], 60.0, 1),
        ([50.0, 16.7], 60.0, 2),
        ([33.3], 30.0, 0),
        ([16.7], 144.0, 1),
        ([0.1], 60.0, 0),
        ([], 60.0, 0),
    ],
)
def test_with_vsync_each_refresh_that_passed_without_a_new_frame_is_missed(
    times: list[float], refresh_hz: float, missed: int
) -> None:
    assert missed_synced(times, refresh_hz) == missed


@pytest.mark.parametrize(
    ("intervals", "total"),
    [
        ([], 0),
        ([(5, 9)], 4),
        ([(0, 4), (6, 9)], 7),
        ([(0, 4), (2, 9)], 9),
        ([(0, 9), (2, 4)], 9),
        ([(0, 9), (2, 4), (5, 8)], 9),
        ([(6, 9), (0, 4)], 7),
        ([(0, 4), (4, 9)], 9),
        ([(1, 4), (1, 4)], 3),
    ],
)
def test_the_union_of_intervals_counts_what_overlaps_once(intervals: list[tuple[int, int]], total: int) -> None:
    assert union_ns(intervals) == total


def test_work_is_the_threads_own_time_and_the_rest_of_the_span_is_wait() -> None:
    made = _sample(_span("encode", 3.0, 2.0), _span("submit", 9.0, 0.5))
    assert made.encode_ms == 2.0
    assert made.submit_ms == 0.5
    assert made.cpu_work_ms == 2.5
    assert made.wait_ms == 9.5


def test_a_frame_that_waits_for_a_busy_gpu_has_little_cpu_work() -> None:
    made = _sample(_span("wait", 14.0, 0.1), _span("encode", 1.0, 1.0), _span("submit", 5.0, 0.2))
    assert made.cpu_work_ms == pytest.approx(1.2)
    assert made.wait_ms == pytest.approx(14.0 + 4.8)


def test_a_wait_is_never_booked_as_work_even_where_it_spins() -> None:
    made = _sample(_span("wait", 8.0, 8.0))
    assert (made.cpu_work_ms, made.wait_ms) == (0.0, 8.0)


def test_update_encode_and_submit_are_work() -> None:
    made = _sample(_span("update", 1.0, 1.0), _span("encode", 2.0, 2.0), _span("submit", 4.0, 4.0))
    assert (made.cpu_work_ms, made.encode_ms, made.submit_ms, made.wait_ms) == (7.0, 2.0, 4.0, 0.0)


def test_the_overlay_counts_neither_as_work_nor_as_wait() -> None:
    assert _sample(_span("overlay", 5.0, 3.0)) == _sample()


def test_where_the_threads_clock_is_too_coarse_the_whole_span_is_work() -> None:
    made = _sample(_span("encode", 3.0, None))
    assert (made.cpu_work_ms, made.wait_ms) == (3.0, 0.0)


def test_a_threads_clock_that_runs_ahead_makes_no_negative_wait() -> None:
    made = _sample(_span("encode", 1.0, 1.5))
    assert (made.cpu_work_ms, made.wait_ms) == (1.0, 0.0)


def test_work_and_wait_of_a_frame_do_not_exceed_its_spans() -> None:
    spans = [_span("wait", 2.0, 1.0), _span("encode", 3.0, 1.0, 2.0), _span("submit", 4.0, 6.0, 5.0)]
    made = _sample(*spans)
    assert made.cpu_work_ms + made.wait_ms == 9.0


def test_process_time_is_kept_beside_the_threads() -> None:
    assert _sample().process_cpu_ms == 30.0


def test_gpu_time_is_the_union_of_the_passes_and_each_pass_has_its_own() -> None:
    made = _sample(gpu=_gpu(("wave", "compute", 1.0, 4.0), ("scene", "draw", 3.0, 9.0)))
    assert made.gpu_ms == 8.0
    assert made.passes_ms == {"wave": 3.0, "scene": 6.0}
    assert made.reasons == {}


def test_an_untrusted_kind_leaves_the_frame_without_gpu_time_but_keeps_the_passes_that_are_believed() -> None:
    gpu = _gpu(("wave", "compute", 1.0, 4.0), ("scene", "draw", 3.0, 9.0))
    made = _sample(gpu=gpu, trust=DRAW_UNTRUSTED)
    assert made.gpu_ms is None
    assert made.passes_ms == {"wave": 3.0, "scene": None}
    assert made.reasons == {"gpu_ms": "draw: reads an eighth"}


def test_an_untrusted_kind_does_not_matter_to_a_frame_without_it() -> None:
    assert _sample(gpu=_gpu(("wave", "compute", 1.0, 4.0)), trust=DRAW_UNTRUSTED).gpu_ms == 3.0


@pytest.mark.parametrize(
    ("gpu", "reason"),
    [
        (None, "no GPU time arrived for this frame"),
        (GpuTimes(0, None, "the clock ran backwards in wave"), "the clock ran backwards in wave"),
    ],
)
def test_a_gpu_time_that_is_missing_is_none_with_its_reason_and_not_zero(gpu: GpuTimes | None, reason: str) -> None:
    made = _sample(gpu=gpu)
    assert (made.gpu_ms, made.passes_ms, made.reasons) == (None, {}, {"gpu_ms": reason})


@pytest.mark.parametrize(
    ("cpu_ms", "gpu_ms", "left"), [(4.0, 6.0, BUDGET_MS - 6.0), (6.0, 4.0, BUDGET_MS - 6.0), (4.0, None, None)]
)
def test_headroom_is_what_the_longer_of_cpu_work_and_gpu_time_leaves(
    cpu_ms: float, gpu_ms: float | None, left: float | None
) -> None:
    assert headroom_ms(cpu_ms, gpu_ms) == left


def test_headroom_is_negative_where_the_budget_is_exceeded() -> None:
    left = headroom_ms(20.0, 1.0)
    assert left is not None
    assert left < 0.0
