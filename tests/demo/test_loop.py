"""Pacing and the order of one frame, against a clock and a device of the test's own."""

import random
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any, cast

import pytest

from compute.kernel import Scalar
from demo import loop
from demo.budget import FrameRecord
from demo.loop import Pacer, collect, run_frame
from renderers.device import Device, Executable, FrameClock, GpuTimes

_PERIOD_S = 1.0 / 60.0
_TICK_S = 1e-5


class Clock:
    """Time that passes only by being asked for and by sleeping, which is always a little late."""

    def __init__(self, late_s: float) -> None:
        self.now_s, self._late_s, self.slept_s = 100.0, late_s, 0.0

    def perf_counter(self) -> float:
        self.now_s += _TICK_S
        return self.now_s

    def sleep(self, seconds: float) -> None:
        assert seconds > 0.0
        self.now_s += seconds + self._late_s
        self.slept_s += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock(late_s=0.001)
    monkeypatch.setattr(loop, "time", made)
    return made


def _paced(clock: Clock, work_s: list[float]) -> list[float]:
    """When each frame was let go."""
    pacer, ends = Pacer(60.0), []
    for each in work_s:
        clock.now_s += each
        pacer()
        ends.append(clock.now_s)
    return ends


def _intervals(ends: list[float]) -> list[float]:
    return [after - before for before, after in pairwise(ends)]


def test_even_frames_are_let_go_one_period_apart(clock: Clock) -> None:
    intervals = _intervals(_paced(clock, [0.004] * 100))
    assert intervals == pytest.approx([_PERIOD_S] * len(intervals), abs=3 * _TICK_S)
    assert clock.slept_s > 0.5 * sum(intervals)  # asleep, not spinning


def test_a_frame_is_never_let_go_early(clock: Clock) -> None:
    random_ = random.Random(3)
    intervals = _intervals(_paced(clock, [random_.uniform(0.0, 0.03) for _ in range(500)]))
    assert min(intervals) >= _PERIOD_S - 3 * _TICK_S


def test_late_frames_are_never_made_up_for(clock: Clock) -> None:
    """After a stall the next frames keep their distance: none follows at once to catch up."""
    after_stall = _intervals(_paced(clock, [0.004] * 10 + [5.0] + [0.004] * 10)[10:])
    assert after_stall == pytest.approx([_PERIOD_S] * len(after_stall), abs=3 * _TICK_S)


def test_a_late_frame_is_let_go_at_once(clock: Clock) -> None:
    pacer = Pacer(60.0)
    pacer()
    clock.now_s += 0.05
    begin, slept = clock.now_s, clock.slept_s
    pacer()
    assert clock.slept_s == slept
    assert clock.now_s - begin <= 5 * _TICK_S


class StubDevice:
    """Notes what is asked of it, in order."""

    def __init__(self, has_pixels: bool = True) -> None:
        self.log: list[str] = []
        self._has_pixels = has_pixels
        self.arrived: list[GpuTimes] = []

    def begin_frame(self, clock: FrameClock) -> bool:
        with clock.span("wait", "acquire"):
            self.log.append("begin")
        return self._has_pixels

    def execute(self, values: Mapping[str, Scalar]) -> None:
        self.log.append(f"execute {values['time']}")

    def end_frame(self, overlay: object | None = None) -> None:
        self.log.append(f"end {overlay}")

    def completed_frames(self) -> Iterator[GpuTimes]:
        yield from self.arrived


def _run(stub: StubDevice, **options: Any) -> FrameRecord:
    return run_frame(cast(Device, stub), cast(Executable, stub), 7, lambda: {"time": 1.5}, **options)


def test_a_frame_builds_its_panel_then_waits_then_works_then_is_paced() -> None:
    stub = StubDevice()

    def panel() -> str:
        stub.log.append("panel")
        return "widgets"

    record = _run(stub, overlay=panel, pace=lambda: stub.log.append("pace"))
    assert stub.log == ["panel", "begin", "execute 1.5", "end widgets", "pace"]
    assert (record.index, record.state) == (7, "drawn")
    assert [(span.kind, span.label) for span in record.spans] == [
        ("overlay", "build"),
        ("wait", "acquire"),
        ("update", "values"),
        ("wait", "pace"),
    ]
    assert record.begin_ns <= record.spans[0].begin_ns
    assert record.spans[-1].end_ns <= record.end_ns


def test_a_frame_without_an_image_is_skipped_and_still_paced() -> None:
    stub = StubDevice(has_pixels=False)
    record = _run(stub, pace=lambda: stub.log.append("pace"))
    assert record.state == "skipped"
    assert stub.log == ["begin", "pace"]


def test_gpu_times_are_joined_to_their_frames_and_strangers_are_left_out() -> None:
    stub = StubDevice()
    record = _run(stub)
    mine, stranger = GpuTimes(7, None, "why"), GpuTimes(8, None, "why")
    stub.arrived = [stranger, mine]
    collect(cast(Device, stub), {7: record})
    assert record.gpu is mine
