"""Headless: every configuration in blocks, interleaved in random order, each block proven. Feeds report."""

import random
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise

from compute.kernel import Scalar
from compute.reference import MAX_SCALED_ERROR
from demo.budget import FrameRecord, Sample, sample
from demo.configuration import (
    Bench,
    Configuration,
    FirstFrame,
    Picture,
    Refusal,
    Remote,
    Variant,
    common_limits,
    pictures,
    variants,
)
from demo.content import Content
from demo.loop import collect, run_frame
from demo.progress import Check, Interrupt, Progress
from demo.proof import Equivalence, check_block, compare, picture_failure
from demo.settings import CheckError, Settings
from renderers.camera import frame_values
from renderers.device import Array, Executable, Image, Interface, UnavailableError, kernel_shape
from renderers.witness import Witness

FIXED_TIME_S = 7.0  # when pictures and values of all configurations are compared
FRAMES_PER_BLOCK, LEAST_BLOCKS = 30, 5
_SEED = 7
_WARM_UP_AWAY_S = 100.0  # another camera and other heights: a warm-up frame must not pass for a counted one
NOWHERE: Mapping[Interface, Remote] = {}
_UNCOUNTED = -1  # index of frames that no statistic sees


@dataclass(slots=True)
class Result:
    """``partial``: interrupted, or a check failed, before every frame asked for was measured.

    ``equivalence``: the worst over all pictures of the scene that were asked for.
    """

    configurations: list[Configuration] = field(default_factory=list)
    refused: list[Refusal] = field(default_factory=list)
    equivalence: Equivalence | None = None
    pictures: dict[Interface, Image] = field(default_factory=dict)
    partial: bool = False
    interrupted: bool = False

    @property
    def failures(self) -> list[str]:
        return [each.failure for each in self.configurations if each.failure is not None]


def run_bench(
    settings: Settings, benches: Sequence[Bench], refused: list[Refusal], remotes: Mapping[Interface, Remote] = NOWHERE
) -> Result:
    """Compile, compare, then measure. Ctrl-C ends the measuring and keeps what was measured.

    ``remotes``: what measures the same frames on a null driver, for interfaces that have one.
    """
    result = Result(refused=refused)
    progress = Progress()
    with Interrupt() as interrupt:
        try:
            _build(settings, benches, remotes, result, progress, interrupt)
            progress.note("comparing pictures and values")
            _compare(settings, result, interrupt)
            _measure(settings, result, progress, interrupt)
        except KeyboardInterrupt:
            result.partial = result.interrupted = True
    result.partial = result.partial or bool(result.failures)
    progress.close()
    return result


def contents(settings: Settings, objects: int, benches: Sequence[Bench]) -> dict[Picture, Content]:
    """What each picture that was asked for shows, with a plan that is the same on all of ``benches``."""
    limits = common_limits([bench.device for bench in benches])
    shape = kernel_shape(bench.device.info for bench in benches)
    elements = settings.elements_for(objects)
    return {
        each: Content(settings.scene, objects, elements, limits, each.state, each.order, settings.workload, shape)
        for each in pictures(settings)
    }


def _build(
    settings: Settings,
    benches: Sequence[Bench],
    remotes: Mapping[Interface, Remote],
    result: Result,
    progress: Progress,
    interrupt: Interrupt,
) -> None:
    """Each interface's configurations one after the other, with those of its null driver behind them."""
    shown = contents(settings, settings.objects, benches)
    for bench in benches:
        mine = []
        for variant in variants(settings, bench):
            interrupt.check()
            content = shown[variant.picture]
            progress.note(f"building {bench.device.info.interface} {variant.how} {variant.submission.value}")
            mine.append(_compiled(bench, variant, content))
        result.configurations += mine
        remote = remotes.get(bench.device.info.interface)
        if remote is not None:
            result.configurations += [
                Configuration(bench, each.variant, each.content, each.work, remote=remote) for each in mine
            ]


def _compiled(bench: Bench, variant: Variant, content: Content) -> Configuration:
    """What is recorded is recorded once more: the first time also pays for the first use of the calls that record."""
    work = content.compile(bench.device, variant.how, variant.submission)
    if work.build.recording_ms is None:
        return Configuration(bench, variant, content, work)
    again = content.compile(bench.device, variant.how, variant.submission)
    recording_ms = again.build.recording_ms
    again.release()
    return Configuration(bench, variant, content, work, recording_ms)


@dataclass(slots=True)
class _Seen:
    """What the configurations of one picture drew and computed at one time; the first is the measure of the others."""

    first_output: Array
    drawn: list[Configuration] = field(default_factory=list)
    images: list[Image] = field(default_factory=list)
    differences: list[float] = field(default_factory=list)


def _compare(settings: Settings, result: Result, interrupt: Interrupt) -> None:
    """One frame of each configuration at one fixed time: its whole output, and its whole picture if it draws one."""
    values = frame_values(FIXED_TIME_S, settings.size_px, settings.shader_cost)
    seen: dict[Picture, _Seen] = {}
    for each in result.configurations:
        if not each.null_driver:
            interrupt.check()
            _look_at(each, values, seen)
    compared = [each for each in seen.values() if len(each.drawn) > 1]
    if compared:
        result.equivalence = Equivalence.worst([compare(each.images, each.differences) for each in compared])
    for picture in seen.values():
        for each, image in zip(picture.drawn, picture.images, strict=True):
            each.failure = each.failure or picture_failure(each.name, picture.images[0], image)
            result.pictures.setdefault(each.interface, image)


def _look_at(configuration: Configuration, values: dict[str, Scalar], seen: dict[Picture, _Seen]) -> None:
    """Its first frame, and the values it computed against float64."""
    device, work, content = configuration.bench.device, configuration.work, configuration.content
    configuration.first = _first_frame(configuration, values)
    output = work.read_back(content.output)
    error = content.values_error(values, output)
    configuration.proof.values_max_scaled_error = error
    if error > MAX_SCALED_ERROR:
        configuration.failure = f"{configuration.name}: {content.output} is off by {error:.2g} times the error bound"
    picture = seen.setdefault(configuration.variant.picture, _Seen(output))
    if work.counters.draws:
        picture.drawn.append(configuration)
        picture.images.append(work.image())
        picture.differences.append(content.difference(values, output, picture.first_output))
    device.finish()
    list(device.completed_frames())


def _first_frame(configuration: Configuration, values: dict[str, Scalar]) -> FirstFrame:
    """From an idle device."""
    record = run_frame(configuration.bench.device, configuration.work, _UNCOUNTED, lambda: values)
    figures = sample(record, (record.end_ns - record.begin_ns) / 1e6, configuration.bench.trust)
    return FirstFrame(figures.frame_ms, figures.cpu_work_ms)


@dataclass(frozen=True, slots=True)
class Block:
    """Frames [first, first + frames), and what the last of them must have drawn (each picture) and computed."""

    first: int
    frames: int
    last_values: dict[str, Scalar]
    witnesses: dict[Picture, Witness | None]


def block_of(settings: Settings, shown: Mapping[Picture, Content], first: int, frames: int) -> Block:
    """Frames [first, first + frames) of each picture."""
    last_values = frame_values((first + frames - 1) / 60.0, settings.size_px, settings.shader_cost)
    witnesses = {each: content.witness(last_values, settings.size_px) for each, content in shown.items()}
    return Block(first, frames, last_values, witnesses)


def _measure(settings: Settings, result: Result, progress: Progress, interrupt: Interrupt) -> None:
    assert settings.frames is not None
    shown = {each.variant.picture: each.content for each in result.configurations}
    blanks: dict[int, Executable] = {}
    for each in result.configurations:
        if id(each.bench) not in blanks:
            blanks[id(each.bench)] = each.content.compile_blank(each.bench.device)
    order = random.Random(_SEED)
    extents = list(_blocks(settings.frames))
    progress.start(len(extents) * len(result.configurations))
    for first, frames in extents:
        interrupt.check()
        block = block_of(settings, shown, first, frames)
        for each in order.sample(result.configurations, len(result.configurations)):
            progress.step(each.name)
            if each.failure is None:
                run_block(settings, each, blanks[id(each.bench)], block, interrupt)


def _blocks(frames: int) -> Iterator[tuple[int, int]]:
    """(first frame, frames) of at least LEAST_BLOCKS blocks of at most FRAMES_PER_BLOCK."""
    blocks = min(frames, max(LEAST_BLOCKS, -(-frames // FRAMES_PER_BLOCK)))
    for i in range(blocks):
        first = frames * i // blocks
        yield first, frames * (i + 1) // blocks - first


def run_block(
    settings: Settings, configuration: Configuration, blank: Executable, block: Block, interrupt: Check
) -> None:
    """A blank frame, warm-up, then the frames that count, then proof that these frames drew and computed."""
    if configuration.remote is not None:
        try:
            samples = configuration.remote.run_block(configuration.variant, block.first, block.frames, interrupt)
        except (UnavailableError, CheckError) as error:  # what the others measured is kept
            configuration.failure = str(error)
            return
        configuration.blocks.append(samples)
        return
    run_frame(configuration.bench.device, blank, _UNCOUNTED, partial(_away, settings, block.first))
    samples = timed_frames(settings, configuration.bench, configuration.work, block.first, block.frames, interrupt)
    try:
        witness = block.witnesses[configuration.variant.picture]
        check_block(
            configuration.name,
            configuration.content,
            configuration.work,
            block.last_values,
            witness,
            configuration.proof,
        )
    except CheckError as error:
        configuration.failure = str(error)
        return
    configuration.blocks.append(samples)


def timed_frames(
    settings: Settings, bench: Bench, work: Executable, first: int, frames: int, interrupt: Check
) -> list[Sample]:
    """Warm-up, then frames [first, first + frames); frame time is frame start to frame start."""
    device = bench.device
    for _ in range(settings.warmup):
        interrupt.check()
        run_frame(device, work, _UNCOUNTED, partial(_away, settings, first))
    records: dict[int, FrameRecord] = {}
    list(device.completed_frames())
    for index in range(first, first + frames):
        interrupt.check()
        values = partial(frame_values, index / 60.0, settings.size_px, settings.shader_cost)
        records[index] = run_frame(device, work, index, values)
        collect(device, records)
    end_ns = time.perf_counter_ns()
    device.finish()
    collect(device, records)
    starts = [*(record.begin_ns for record in records.values()), end_ns]
    intervals_ms = [(following - start) / 1e6 for start, following in pairwise(starts)]
    return [sample(record, ms, bench.trust) for record, ms in zip(records.values(), intervals_ms, strict=True)]


def _away(settings: Settings, first: int) -> dict[str, Scalar]:
    return frame_values(first / 60.0 + _WARM_UP_AWAY_S, settings.size_px, settings.shader_cost)
