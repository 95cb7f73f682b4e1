"""Ways to describe the same frames, measured in turns, block by block. Used by draws and _bundles."""

import os
import random
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

from _targets import spread, text

from demo.bench import Block, block_of, run_block
from demo.budget import Sample, percentile_ms
from demo.configuration import Bench, Configuration, Picture, Variant, common_limits
from demo.content import Content
from demo.progress import Interrupt
from demo.remote_bench import RemoteBench
from demo.settings import CheckError, Settings
from renderers.device import INTERFACES, DeviceOptions, Executable, Interface, Offscreen
from renderers.interfaces import open_device
from renderers.plan import Submission

_SEED = 37
Measure = Callable[[Block], list[float]]  # thread times of a block's frames, ms


@dataclass(slots=True)
class Way:
    """``draws``: a frame's. ``blocks_ms``: the median of each block."""

    name: str
    draws: int
    measure: Measure
    blocks_ms: list[float] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Size:
    """How much is measured. ``peer_frames``: of a peer's block."""

    objects: int
    blocks: int
    frames: int
    peer_frames: int = 3

    @property
    def settings(self) -> Settings:
        return Settings(INTERFACES, objects=self.objects, warmup=1, frames_in_flight=1)


class Lines:
    """A child that says what it is, then answers each line with how much it did and the ms of each time."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        self._name = " ".join(command)
        self._child = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={**os.environ, **environment}
        )
        self.greeting = self._answer()

    def ask(self, line: str, wanted: int, what: str = "objects") -> list[float]:
        """Raises CheckError where it did not do all that is ``wanted``."""
        assert self._child.stdin is not None
        print(line, file=self._child.stdin, flush=True)
        counted, *times = self._answer().split()
        if int(counted) != wanted:
            raise CheckError(f"{self._name}: did {counted} of {wanted} {what}")
        return [float(time) for time in times]

    def stop(self) -> None:
        self._child.kill()
        self._child.communicate()

    def _answer(self) -> str:
        assert self._child.stdout is not None
        line = self._child.stdout.readline()
        if not line:
            raise CheckError(f"{self._name}: its process ended; what it printed says why")
        return line.strip()


@contextmanager
def opened() -> Iterator[dict[Interface, Bench]]:
    """Every interface, without timers: stamps are encoded, too."""
    with ExitStack() as stack:
        benches: dict[Interface, Bench] = {}
        for interface in INTERFACES:
            device = open_device(interface, Offscreen(Settings(INTERFACES).size_px), DeviceOptions(1, timers=False))
            stack.callback(device.release)
            benches[interface] = Bench(device, {}, None)
        yield benches


def content_of(size: Size, benches: Mapping[Interface, Bench]) -> Content:
    limits = common_limits([each.device for each in benches.values()])
    return Content("field", size.objects, size.settings.elements_for(size.objects), limits)


def described_ms(samples: Sequence[Sample]) -> list[float]:
    """Encode and submit; not update: the frame's values are the same few bytes, however it is drawn."""
    return [each.encode_ms + each.submit_ms for each in samples]


def proven(
    name: str, size: Size, bench: Bench, content: Content, variant: Variant, work: Executable, interrupt: Interrupt
) -> Way:
    """Blocks in this process. Measuring raises CheckError for frames that did not do their work."""
    blank = content.compile_blank(bench.device)
    configuration = Configuration(bench, variant, content, work)

    def measure(block: Block) -> list[float]:
        run_block(size.settings, configuration, blank, block, interrupt)
        if configuration.failure is not None:
            raise CheckError(f"{name}: {configuration.failure}")
        return described_ms(configuration.blocks.pop())

    return Way(name, work.counters.draws, measure)


def remote(bench: RemoteBench, submission: Submission) -> Measure:
    variant = Variant("fused", submission)
    return lambda block: described_ms(bench.run_block(variant, block.first, block.frames))


def measure_in_turns(size: Size, content: Content, ways: Sequence[Way], interrupt: Interrupt) -> None:
    """In random order: a slow moment of the machine meets all of them."""
    order = random.Random(_SEED)
    for number in range(size.blocks):
        block = block_of(size.settings, {Picture(): content}, number * size.frames, size.frames)
        for way in order.sample(ways, len(ways)):
            interrupt.check()
            way.blocks_ms.append(percentile_ms(way.measure(block), 50.0))


def print_ways(size: Size, what: str, ways: Sequence[Way]) -> None:
    print(f"\n{size.objects:,} {what}, {size.blocks} blocks of {size.frames} frames; ms a frame, median (low to high)")
    for way in ways:
        print(f"{way.name:48} {way.draws:6} draws {text(spread(way.blocks_ms), 3):>28}", flush=True)
