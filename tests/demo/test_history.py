"""The last frames as series and statistics: what belongs to which frame, and what is in none."""

import numpy as np
import pytest

from demo.budget import FrameRecord
from demo.history import LENGTH, History
from demo.plots import axis_top_ms
from renderers.device import CpuSpan, GpuSpan, GpuTimes, PassKind
from renderers.trust import Trust

MS = 1_000_000
TRUST: dict[PassKind, Trust] = {"compute": Trust(True, ""), "draw": Trust(True, "")}
DOUBT: dict[PassKind, Trust] = {"compute": Trust(True, ""), "draw": Trust(False, "reads an eighth")}


def _record(index: int, work_ms: float = 1.0, wait_ms: float = 2.0) -> FrameRecord:
    work = CpuSpan("encode", "scene", 0, round(work_ms * MS), round(work_ms * MS))
    acquire = CpuSpan("wait", "acquire", 0, round(wait_ms * MS), 0)
    present = CpuSpan("wait", "present", 0, round(wait_ms * MS), 0)
    return FrameRecord(index, "drawn", 0, 20 * MS, (acquire, work, present), 1 * MS)


def _gpu(index: int, length_ms: float) -> GpuTimes:
    return GpuTimes(index, (GpuSpan("scene", "draw", 0, round(length_ms * MS)),))


def _filled(times_ms: list[float]) -> History:
    history = History()
    for index, time_ms in enumerate(times_ms):
        history.add(_record(index), time_ms, TRUST)
    return history


@pytest.mark.parametrize("late", [1, 2, 3])
def test_gpu_times_that_come_late_land_on_their_own_frame(late: int) -> None:
    history = History()
    for index in range(20):
        history.add(_record(index), 16.7, TRUST)
        if index >= late:
            history.join(_gpu(index - late, float(index - late + 1)), TRUST)
    np.testing.assert_array_equal(history.gpu[-20 : LENGTH - late], np.arange(1.0, 21.0 - late))
    assert np.isnan(history.gpu[LENGTH - late :]).all()
    for record, _ in list(history.records)[: 20 - late]:
        assert record.gpu is not None
        assert record.gpu.index == record.index


def test_marks_in_between_do_not_shift_a_late_gpu_time() -> None:
    history = History()
    history.add(_record(0), 16.7, TRUST)
    history.mark("rebuilt")
    history.mark("skipped")
    history.add(_record(1), 16.7, TRUST)
    history.join(_gpu(0, 5.0), TRUST)
    history.join(_gpu(1, 7.0), TRUST)
    assert [history.gpu[-4], history.gpu[-1]] == [5.0, 7.0]
    assert np.isnan(history.gpu[-3:-1]).all()


def test_a_gpu_time_of_a_frame_out_of_sight_or_unknown_is_dropped() -> None:
    history = _filled([16.7] * (LENGTH + 5))
    before = history.gpu.copy()
    for index in (0, 4, 9_999):
        history.join(_gpu(index, 3.0), TRUST)
    np.testing.assert_array_equal(history.gpu, before)
    history.join(_gpu(5, 3.0), TRUST)
    assert history.gpu[0] == 3.0


def test_a_gpu_time_from_before_the_statistics_began_anew_is_dropped() -> None:
    history = _filled([16.7] * 5)
    history.clear()
    history.join(_gpu(4, 3.0), TRUST)
    assert np.isnan(history.gpu).all()


def test_a_gpu_time_that_is_not_trusted_is_in_no_series_and_its_reason_is_given() -> None:
    history = History()
    for index in range(15):
        history.add(_record(index), 16.7, DOUBT)
        history.join(_gpu(index, 3.0), DOUBT)
    assert np.isnan(history.gpu).all()
    summary = history.refresh(DOUBT, None)
    assert summary.gpu is None
    assert summary.why_no_gpu == "draw: reads an eighth"
    assert summary.passes_p50 == {"scene": None}


def test_rebuilt_and_skipped_frames_are_marked_and_in_no_statistic() -> None:
    history = History()
    for index in range(15):
        history.mark("rebuilt" if index % 2 else "skipped")
        history.add(_record(index), 10.0, TRUST)
    assert (history.rebuilt, history.skipped) == (7, 8)
    assert np.count_nonzero(history.marks == 0.0) == 15
    marked = history.marks == 0.0
    assert np.isnan(history.frame[marked]).all()
    assert np.isnan(history.cpu[marked]).all()
    summary = history.refresh(TRUST, None)
    assert summary.frame is not None
    assert (summary.frame.n, summary.frame.max, len(history.samples(TRUST))) == (15, 10.0, 15)


def test_series_stay_contiguous_float64_of_one_length() -> None:
    """A plot checks neither length nor type."""
    history = History()
    for index in range(2 * LENGTH + 7):
        history.mark("rebuilt") if index % 50 == 0 else history.add(_record(index), 16.7, TRUST)
        history.join(_gpu(index, 2.0), TRUST)
        if index in (0, LENGTH, 2 * LENGTH):
            history.clear()
        for series in (history.x, history.frame, history.cpu, history.gpu, history.marks):
            assert series.shape == (LENGTH,)
            assert series.dtype == np.float64
            assert series.flags.c_contiguous
    assert (history.x[0], history.x[-1]) == (1.0 - LENGTH, 0.0)


def test_only_the_last_frames_are_looked_back_on() -> None:
    history = _filled([100.0] * 50 + [10.0] * LENGTH)
    summary = history.refresh(TRUST, None)
    assert summary.frame is not None
    assert (summary.frame.n, summary.frame.max) == (LENGTH, 10.0)


def test_time_blocked_in_acquire_or_present_is_wait_and_never_work() -> None:
    """With a full queue a driver blocks in acquire for most of the frame."""
    history = History()
    for index in range(15):
        history.add(_record(index, work_ms=1.0, wait_ms=7.0), 16.7, TRUST)
    summary = history.refresh(TRUST, 60.0)
    assert summary.cpu_work is not None
    assert summary.wait is not None
    assert (summary.cpu_work.p50, summary.wait.p50, summary.present_p50) == (1.0, 14.0, 7.0)


@pytest.mark.parametrize("rate_hz", [60.0, 59.94, 60000 / 1001, 60.02])
@pytest.mark.parametrize("refresh_hz", [60.0, 59.94])
def test_a_perfectly_paced_series_misses_nothing_under_vsync(rate_hz: float, refresh_hz: float) -> None:
    summary = _filled([1000.0 / rate_hz] * LENGTH).refresh(TRUST, refresh_hz)
    assert (summary.missed, summary.hitches) == (0, 0)


def test_a_limiter_that_alternates_short_and_long_misses_half() -> None:
    history = _filled([0.6, 32.7] * (LENGTH // 2))
    summary = history.refresh(TRUST, 60.0)
    assert summary.missed == LENGTH // 2
    frames = [time_ms for _, time_ms in history.records]
    assert 1000.0 * len(frames) / sum(frames) == pytest.approx(60.06, abs=0.005)
    assert _filled([0.6, 32.7] * (LENGTH // 2)).refresh(TRUST, None).missed == LENGTH // 2


def test_a_stall_of_five_seconds_is_one_hitch_and_leaves_the_axis_alone() -> None:
    times = [1000.0 / 60.0] * 105
    calm, stalled = _filled(times), _filled([*times[:60], 5000.0, *times[61:]])
    summary = stalled.refresh(TRUST, 60.0)
    assert summary.hitches == 1
    assert summary.frame is not None
    assert summary.frame.p50 == times[0]
    assert summary.frame.max == 5000.0
    assert axis_top_ms(stalled.frame) == axis_top_ms(calm.frame) == 20.0


@pytest.mark.parametrize(
    ("times", "top"), [([], 20.0), ([1.0], 20.0), ([18.5] * 60, 25.0), ([90.0] * 60, 100.0), ([9_000.0] * 60, 1600.0)]
)
def test_the_axis_ends_on_a_rung_above_the_frames(times: list[float], top: float) -> None:
    assert axis_top_ms(_filled(times).frame) == top


def test_statistics_are_made_anew_every_few_frames_only() -> None:
    history = _filled([10.0] * 15)
    first = history.refresh(TRUST, None)
    history.add(_record(15), 30.0, TRUST)
    assert history.refresh(TRUST, None) is first
    for index in range(16, 30):
        history.add(_record(index), 30.0, TRUST)
    again = history.refresh(TRUST, None)
    assert again.frame is not None
    assert (again.frame.n, again.frame.max) == (30, 30.0)


def test_clearing_leaves_nothing() -> None:
    history = _filled([10.0] * 15)
    history.mark("rebuilt")
    history.refresh(TRUST, None)
    history.clear()
    assert history.summary.frame is None
    assert (history.rebuilt, history.skipped, len(history.records)) == (0, 0, 0)
    for series in (history.frame, history.cpu, history.gpu, history.marks):
        assert np.isnan(series).all()
