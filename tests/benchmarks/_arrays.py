"""Functions of arrays as timed units: a frame of one, from its begin until the device is idle. Used by compute.

Upload and read-back are outside. Each block starts from a result that is no number, and is proven when it ends.
"""

import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt
from _targets import spread, text

from compute import reference
from compute.kernel import How, KernelShape, Limits, Scalar
from compute.record import Recorded
from compute.schedule import schedule
from compute.workloads.elementwise import Workload
from demo.budget import percentile_ms
from demo.progress import Interrupt
from demo.settings import CheckError
from renderers.device import Device
from renderers.plan import Plan, build_plan
from renderers.timers import SpanRecorder

SCALARS: dict[str, Scalar] = {"a": 1.5, "b": 0.25}
_SEED, _PERIOD = 37, 1 << 20  # numbers drawn, then repeated: drawing 100 million takes longer than measuring them
_SLICES, _SLICE = 8, 4096  # elements checked: so many slices of so many
_FloatArray = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Size:
    """How much is measured: ``units`` a block."""

    elements: int
    blocks: int
    units: int


@dataclass(slots=True)
class Timed:
    """``bytes``: described, of a unit. ``block``: the times of so many units, ms. ``blocks_ms``: each one's median.

    ``cpu_ms``: the process's CPU time of a unit, all threads, where it is measured: it leaves out other processes.
    """

    name: str
    bytes: int
    block: Callable[[int], list[float]]
    release: Callable[[], None] = lambda: None
    blocks_ms: list[float] = field(default_factory=list)
    cpu_ms: list[float] = field(default_factory=list)


@dataclass(frozen=True)
class Task:
    """A workload on so many elements, with its data and its right results."""

    workload: Workload
    elements: int
    limits: Limits

    @cached_property
    def recorded(self) -> Recorded:
        return self.workload.record(self.elements)

    @cached_property
    def inputs(self) -> dict[str, _FloatArray]:
        numbers = np.random.default_rng(_SEED)
        names = self.workload.arrays
        return {name: np.resize(numbers.standard_normal(_PERIOD, np.float32), self.elements) for name in names}

    @cached_property
    def blank(self) -> _FloatArray:
        return np.full(() if self.workload.reduces else (self.elements,), np.nan, np.float32)

    @cached_property
    def _parts(self) -> tuple[slice, ...]:
        if self.workload.reduces:
            return (slice(0, 1),)
        count = min(_SLICE, self.elements)
        starts = np.linspace(0, self.elements - count, _SLICES).astype(int)
        return tuple(slice(int(start), int(start) + count) for start in starts)

    @cached_property
    def _right(self) -> list[tuple[reference.Array, reference.FloatArray]]:
        """(exact, bound) of each part."""
        return [self._total() if self.workload.reduces else self._evaluate(part) for part in self._parts]

    def schedule_plan(self, how: How, shape: KernelShape = KernelShape()) -> Plan:
        return build_plan((schedule(self.recorded, how, self.limits, shape, self.workload.name),))

    def error(self, read: Callable[[int, int], npt.NDArray[np.float32]]) -> float:
        """Largest error, as a part of its bound, of what ``read(first, count)`` returns."""
        pairs = zip(self._parts, self._right, strict=True)
        return max(
            reference.max_scaled_error(read(part.start, part.stop - part.start), *right) for part, right in pairs
        )

    def _evaluate(self, part: slice) -> tuple[reference.Array, reference.FloatArray]:
        recorded = self.workload.record(part.stop - part.start)
        arguments = {name: array[part] for name, array in self.inputs.items()} | SCALARS
        (exact,), (bound,) = reference.evaluate(recorded, arguments), reference.bounds(recorded, arguments)
        return exact, bound

    def _total(self) -> tuple[reference.Array, reference.FloatArray]:
        """Slice after slice, so that memory stays bounded."""
        pieces = [slice(i, min(i + _PERIOD, self.elements)) for i in range(0, self.elements, _PERIOD)]
        each = [self._evaluate(piece) for piece in pieces]
        return np.asarray(sum(exact for exact, _ in each)), np.asarray(sum(bound for _, bound in each))


def on_device(name: str, task: Task, device: Device, plan: Plan, arrays: Mapping[str, str], output: str) -> Timed:
    """``plan`` on ``device``. ``arrays``: where each of the task's arrays goes."""
    work = device.compile(plan)
    for array, target in arrays.items():
        work.upload(target, task.inputs[array])

    def unit() -> float:
        begin = time.perf_counter_ns()
        device.begin_frame(SpanRecorder(0))
        work.execute(SCALARS)
        device.end_frame()
        device.finish()
        return (time.perf_counter_ns() - begin) / 1e6

    def block(units: int) -> list[float]:
        work.upload(output, task.blank)
        unit()  # pages and caches as they are when units follow each other
        begin = time.process_time_ns()
        times = [unit() for _ in range(units)]
        timed.cpu_ms.append((time.process_time_ns() - begin) / 1e6 / units)
        error = task.error(lambda first, count: work.read_back(output, first, count))
        if not error <= reference.MAX_SCALED_ERROR:
            raise CheckError(f"{name}: values are off by {error:g} of what rounding allows")
        return times

    timed = Timed(name, work.counters.memory_bytes, block, work.release)
    return timed


def scheduled(name: str, task: Task, device: Device, how: How, shape: KernelShape = KernelShape()) -> Timed:
    """As the compiler makes it."""
    label = task.workload.name
    arrays = {array: f"{label}/{array}" for array in task.workload.arrays}
    return on_device(name, task, device, task.schedule_plan(how, shape), arrays, f"{label}/out")


def measure_in_turns(size: Size, timed: Sequence[Timed], interrupt: Interrupt) -> None:
    """In random order: a slow moment of the machine meets all of them."""
    order = random.Random(_SEED)
    for _ in range(size.blocks):
        for each in order.sample(timed, len(timed)):
            interrupt.check()
            each.blocks_ms.append(percentile_ms(each.block(size.units), 50.0))
    for each in timed:
        each.release()


def print_timed(title: str, size: Size, timed: Sequence[Timed]) -> None:
    print(f"\n{title}, {size.elements:,} elements, {size.blocks} blocks of {size.units}; ms, median (low to high)")
    print(f"{'':36} {'wall':>30} {'CPU, all threads':>30} {'MB described':>12} {'GB/s':>6}")
    for each in timed:
        figure = spread(each.blocks_ms)
        cpu = text(spread(each.cpu_ms), 2) if each.cpu_ms else "n/a"
        shown = f"{each.name:36} {text(figure, 2):>30} {cpu:>30}"
        print(f"{shown} {each.bytes / 1e6:12.1f} {each.bytes / figure.median / 1e6:6.2f}", flush=True)
