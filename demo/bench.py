"""Headless: every configuration in blocks, interleaved in random order, each block proven. Feeds report."""

import random
import signal
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from compute.kernel import How, Limits, Scalar
from compute.reference import MAX_SCALED_ERROR
from demo.budget import FrameRecord, Sample, sample
from demo.content import OUTPUT, Content
from demo.loop import collect, run_frame
from demo.proof import Equivalence, Proof, check_block, compare, picture_failure
from demo.settings import CheckError, Settings
from renderers.camera import frame_values
from renderers.device import Device, Executable, Image, Interface, PassKind
from renderers.trust import Trust
from renderers.witness import Witness

FIXED_TIME_S = 7.0  # when pictures and values of all configurations are compared
FRAMES_PER_BLOCK, LEAST_BLOCKS = 30, 5
_SEED = 7
_LOG_EVERY_S = 15.0
_WARM_UP_AWAY_S = 100.0  # another camera and other heights: a warm-up frame must not pass for a counted one
_UNCOUNTED = -1  # index of frames that no statistic sees


@dataclass(frozen=True, slots=True)
class Bench:
    """An opened device and what was found out about it. ``driver_threads``: started by opening it; None: unknown."""

    device: Device
    trust: Mapping[PassKind, Trust]
    driver_threads: int | None


@dataclass(slots=True)
class Configuration:
    """One interface and schedule, its concrete plan, and what was measured of it."""

    bench: Bench
    how: How
    work: Executable
    blocks: list[list[Sample]] = field(default_factory=list)
    proof: Proof = field(default_factory=Proof)
    failure: str | None = None

    @property
    def name(self) -> str:
        return f"{self.bench.device.info.interface} {self.how}"

    @property
    def samples(self) -> list[Sample]:
        """All frames that count, block after block."""
        return [each for block in self.blocks for each in block]


@dataclass(slots=True)
class Result:
    """``partial``: interrupted, or a check failed, before every frame asked for was measured."""

    content: Content
    configurations: list[Configuration]
    equivalence: Equivalence | None = None
    pictures: dict[Interface, Image] = field(default_factory=dict)
    partial: bool = False
    interrupted: bool = False

    @property
    def failures(self) -> list[str]:
        return [each.failure for each in self.configurations if each.failure is not None]


def common_limits(devices: Sequence[Device]) -> Limits:
    """What every device grants: with it, the plan is the same on all."""
    limits = devices[0].info.limits
    for device in devices[1:]:
        limits = limits.common(device.info.limits)
    return limits


def run_bench(settings: Settings, benches: Sequence[Bench]) -> Result:
    """Compile, compare, then measure. Ctrl-C ends the measuring and keeps what was measured."""
    limits = common_limits([bench.device for bench in benches])
    content = Content(settings.scene, settings.objects, settings.elements_for(settings.objects), limits)
    result = Result(content, [])
    progress = Progress()
    with Interrupt() as interrupt:
        try:
            for bench in benches:
                for how in settings.schedules:
                    interrupt.check()
                    progress.note(f"building {bench.device.info.interface} {how}")
                    result.configurations.append(Configuration(bench, how, content.compile(bench.device, how)))
            progress.note("comparing pictures and values")
            _compare(settings, result, interrupt)
            _measure(settings, result, progress, interrupt)
        except KeyboardInterrupt:
            result.partial = result.interrupted = True
    result.partial = result.partial or bool(result.failures)
    progress.close()
    return result


def _compare(settings: Settings, result: Result, interrupt: "Interrupt") -> None:
    """One frame of each configuration at one fixed time, whole picture and whole output."""
    values = frame_values(FIXED_TIME_S, settings.size_px)
    first: npt.NDArray[np.float32] | None = None
    images, differences = [], []
    for each in result.configurations:
        interrupt.check()
        run_frame(each.bench.device, each.work, _UNCOUNTED, lambda: values)
        images.append(each.work.image())
        output = each.work.read_back(OUTPUT)
        first = output if first is None else first
        differences.append(result.content.difference(values, output, first))
        error = result.content.values_error(values, output)
        each.proof.values_max_scaled_error = error
        if error > MAX_SCALED_ERROR:
            each.failure = f"{each.name}: {OUTPUT} is off by {error:.2e} of |x*a| + |b|, {MAX_SCALED_ERROR:.2e} allowed"
        result.pictures.setdefault(each.bench.device.info.interface, images[-1])
        each.bench.device.finish()
        list(each.bench.device.completed_frames())
    if len({each.bench.device.info.interface for each in result.configurations}) > 1:
        result.equivalence = compare(images, differences)
        for each, image in zip(result.configurations, images, strict=True):
            each.failure = each.failure or picture_failure(each.name, images[0], image)


@dataclass(frozen=True, slots=True)
class _Block:
    """Frames [first, first + frames), and what the last of them must have drawn and computed."""

    first: int
    frames: int
    last_values: dict[str, Scalar]
    witness: Witness | None


def _measure(settings: Settings, result: Result, progress: "Progress", interrupt: "Interrupt") -> None:
    assert settings.frames is not None
    blanks = {id(each.bench): result.content.compile_blank(each.bench.device) for each in result.configurations}
    order = random.Random(_SEED)
    extents = list(_blocks(settings.frames))
    progress.start(len(extents) * len(result.configurations))
    for first, frames in extents:
        interrupt.check()
        last_values = frame_values((first + frames - 1) / 60.0, settings.size_px)
        block = _Block(first, frames, last_values, result.content.witness(last_values, settings.size_px))
        for each in order.sample(result.configurations, len(result.configurations)):
            progress.step(each.name)
            if each.failure is None:
                _run_block(settings, result.content, each, blanks[id(each.bench)], block, interrupt)


def _blocks(frames: int) -> Iterator[tuple[int, int]]:
    """(first frame, frames) of at least LEAST_BLOCKS blocks of at most FRAMES_PER_BLOCK."""
    blocks = min(frames, max(LEAST_BLOCKS, -(-frames // FRAMES_PER_BLOCK)))
    for i in range(blocks):
        first = frames * i // blocks
        yield first, frames * (i + 1) // blocks - first


def _run_block(
    settings: Settings,
    content: Content,
    configuration: Configuration,
    blank: Executable,
    block: _Block,
    interrupt: "Interrupt",
) -> None:
    """A blank frame, warm-up, then the frames that count, then proof that these frames drew and computed."""
    device, work = configuration.bench.device, configuration.work
    elsewhere = partial(frame_values, block.first / 60.0 + _WARM_UP_AWAY_S, settings.size_px)
    run_frame(device, blank, _UNCOUNTED, elsewhere)
    for _ in range(settings.warmup):
        interrupt.check()
        run_frame(device, work, _UNCOUNTED, elsewhere)
    records: dict[int, FrameRecord] = {}
    list(device.completed_frames())
    for index in range(block.first, block.first + block.frames):
        interrupt.check()
        values = partial(frame_values, index / 60.0, settings.size_px)
        records[index] = run_frame(device, work, index, values)
        collect(device, records)
    end_ns = time.perf_counter_ns()
    device.finish()
    collect(device, records)
    try:
        check_block(configuration.name, content, work, block.last_values, block.witness, configuration.proof)
    except CheckError as error:
        configuration.failure = str(error)
        return
    starts = [*(record.begin_ns for record in records.values()), end_ns]
    intervals_ms = [(following - start) / 1e6 for start, following in pairwise(starts)]
    pairs = zip(records.values(), intervals_ms, strict=True)
    configuration.blocks.append([sample(record, ms, configuration.bench.trust) for record, ms in pairs])


class Interrupt:
    """Ctrl-C and SIGTERM wait for the next check: an exception raised inside a native library's callback is lost."""

    def __init__(self) -> None:
        self._asked = False
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self._before = {each: signal.signal(each, self._ask) for each in (signal.SIGINT, signal.SIGTERM)}
        return self

    def __exit__(self, *error: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def check(self) -> None:
        """Between two pieces of work. Raises KeyboardInterrupt."""
        if self._asked:
            raise KeyboardInterrupt

    def _ask(self, number: int, frame: object) -> None:
        self._asked = True


class Progress:
    """A line on stderr that rewrites itself on a terminal; elsewhere a line now and then, so that a log stays short."""

    def __init__(self) -> None:
        self._terminal = sys.stderr.isatty()
        self._steps = self._done = 0
        self._started = self._written = time.monotonic()

    def note(self, what: str) -> None:
        now = time.monotonic()
        if self._terminal:
            sys.stderr.write(f"\r\x1b[K{what}")
        elif what and now - self._written > _LOG_EVERY_S:
            sys.stderr.write(f"{what}\n")
            self._written = now
        sys.stderr.flush()

    def start(self, steps: int) -> None:
        self._steps, self._done, self._started = steps, 0, time.monotonic()

    def step(self, what: str) -> None:
        """Before a block: its number, its name, and the time left by the pace so far."""
        left = ""
        if self._done:
            seconds = (time.monotonic() - self._started) / self._done * (self._steps - self._done)
            left = f", about {seconds:.0f} s left"
        self._done += 1
        self.note(f"[{self._done}/{self._steps}] {what}{left}")

    def close(self) -> None:
        self.note("")
