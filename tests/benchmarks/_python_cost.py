"""What Python takes to record and schedule a function, once, and to call what was made of it. Used by compute."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from _arrays import SCALARS
from _targets import Target, print_target

from compute.kernel import SCHEDULES, How, Limits
from compute.schedule import schedule
from compute.workloads.elementwise import WORKLOADS, Workload
from demo.budget import percentile_ms
from demo.configuration import Bench
from renderers.device import Device, Executable, Interface
from renderers.plan import build_plan
from renderers.timers import SpanRecorder

_BLOCKS = 9
_FEW = 1024  # elements of a call whose kernel takes no time


@dataclass(frozen=True, slots=True)
class Recording:
    """Recording and scheduling ``workload``, once a function and its shapes."""

    workload: Workload
    elements: int
    limits: Limits

    def record(self) -> object:
        return self.workload.record(self.elements)

    def both(self, how: How) -> object:
        return schedule(self.workload.record(self.elements), how, self.limits)


def python_costs(elements: int, calls: int, benches: Mapping[Interface, Bench], limits: Limits, judged: bool) -> None:
    """Thread time: what other threads do is not in it.

    There is no cache of calls; what stands for a cached call is ``execute`` of an executable that is kept.
    """
    print(f"\nPython's thread time, {_BLOCKS} blocks of {calls}; median (low to high)")
    once = Recording(WORKLOADS["chain"], elements, limits)
    measured = {"record chain": _blocks(once.record, calls)}
    targets = [Target("record chain", digits=2)]
    for how in SCHEDULES:
        name = f"record and schedule chain, {how}"
        measured[name] = _blocks(lambda how=how: once.both(how), calls)
        targets.append(Target(name, most=5.0, digits=2))
    for interface, bench in benches.items():
        execute, frame = f"{interface}: execute", f"{interface}: begin_frame, execute, end_frame"
        measured[execute], measured[frame] = _call_costs(bench.device, calls, limits)
        targets += [Target(execute, most=50.0, unit="us"), Target(frame, unit="us")]
    for target in targets:
        print_target(target, measured, judged)


def _blocks(call: Callable[[], object], calls: int) -> list[float]:
    """Medians, ms."""
    return [percentile_ms([_thread_ns(call) / 1e6 for _ in range(calls)], 50.0) for _ in range(_BLOCKS)]


def _thread_ns(call: Callable[[], object]) -> int:
    begin = time.thread_time_ns()
    call()
    return time.thread_time_ns() - begin


def _call_costs(device: Device, calls: int, limits: Limits) -> tuple[list[float], list[float]]:
    """Of one dispatch: execute, and the frame around it; medians of blocks, us."""
    work = device.compile(build_plan((schedule(WORKLOADS["relu"].record(_FEW), "fused", limits),)))
    _call_ns(device, work)  # first use
    execute, frame = [], []
    for _ in range(_BLOCKS):
        executes, frames = zip(*(_call_ns(device, work) for _ in range(calls)), strict=True)
        execute.append(percentile_ms(executes, 50.0) / 1e3)
        frame.append(percentile_ms(frames, 50.0) / 1e3)
    work.release()
    return execute, frame


def _call_ns(device: Device, work: Executable) -> tuple[int, int]:
    """Of execute, and of the whole frame up to where it waits for the device."""
    clock = SpanRecorder(0)
    begin = time.thread_time_ns()
    device.begin_frame(clock)
    before = time.thread_time_ns()
    work.execute(SCALARS)
    after = time.thread_time_ns()
    device.end_frame()
    whole = time.thread_time_ns() - begin
    device.finish()
    return after - before, whole
