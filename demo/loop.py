"""One frame, in order. Shared by window and headless."""

import time
from collections.abc import Callable, Mapping

from compute.kernel import Scalar
from demo.budget import FrameRecord, FrameState
from renderers.device import Device, Executable
from renderers.timers import SpanRecorder


def run_frame(
    device: Device,
    work: Executable,
    index: int,
    values: Callable[[], Mapping[str, Scalar]],
    overlay: Callable[[], object] | None = None,
    pace: Callable[[], None] | None = None,
) -> FrameRecord:
    """Draw one frame and say where its time went; its GPU times arrive later, through ``completed_frames``."""
    clock = SpanRecorder(index)
    begin, process = time.perf_counter_ns(), time.process_time_ns()
    widgets: object | None = None
    if overlay is not None:
        with clock.span("overlay", "build"):
            widgets = overlay()
    drawn = device.begin_frame(clock)  # the only place that waits before work: slot, acquire
    if drawn:
        with clock.span("update", "values"):
            now = values()  # camera, time, the workload's scalars
        work.execute(now)  # encodes or issues; submits lone passes; never waits by design
        device.end_frame(widgets)  # one submit of all that is open, the overlay included; present
    if pace is not None:
        with clock.span("wait", "pace"):
            pace()
    used = time.process_time_ns() - process
    state: FrameState = "drawn" if drawn else "skipped"
    return FrameRecord(index, state, begin, time.perf_counter_ns(), clock.spans, used)


def collect(device: Device, records: Mapping[int, FrameRecord]) -> None:
    """Join the GPU times that have arrived to their frames."""
    for times in device.completed_frames():
        if times.index in records:
            records[times.index].gpu = times


class Pacer:
    """Sixty even frames a second where no display sets the pace: sleep, then spin the last part."""

    SPIN_S = 0.002  # longer than a sleep is late

    def __init__(self, hz: float) -> None:
        self._period_s = 1.0 / hz
        self._next_s = 0.0

    def __call__(self) -> None:
        now = time.perf_counter()
        self._next_s = max(self._next_s + self._period_s, now)  # late frames are not made up for
        if self._next_s - now > self.SPIN_S:
            time.sleep(self._next_s - now - self.SPIN_S)
        while time.perf_counter() < self._next_s:
            pass
