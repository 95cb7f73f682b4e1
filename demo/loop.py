"""One frame, in order. Shared by window and headless."""

import time
from collections.abc import Mapping

from compute.kernel import Scalar
from demo.budget import FrameRecord, FrameState
from renderers.device import Device, Executable
from renderers.timers import SpanRecorder


def run_frame(device: Device, work: Executable, index: int, values: Mapping[str, Scalar]) -> FrameRecord:
    """Draw one frame and say where its time went; its GPU times arrive later, through ``collect``."""
    clock = SpanRecorder(index)
    begin, process = time.perf_counter_ns(), time.process_time_ns()
    drawn = device.begin_frame(clock)  # the only place that waits before work: slot, acquire
    if drawn:
        work.execute(values)  # encodes or issues; submits lone passes; never waits by design
        device.end_frame()  # one submit of all that is open; present
    used = time.process_time_ns() - process
    state: FrameState = "drawn" if drawn else "skipped"
    return FrameRecord(index, state, begin, time.perf_counter_ns(), clock.spans, used)


def collect(device: Device, records: Mapping[int, FrameRecord]) -> None:
    """Join the GPU times that have arrived to their frames."""
    for times in device.completed_frames():
        if times.index in records:
            records[times.index].gpu = times
