"""What describing draws costs, against its targets and beside peers. ``--toy``: just that it runs.

Thread time of encode and submit, one frame in flight. All ways take turns, block by block, in random order; a figure is
the median over blocks, with the lowest and the highest. Blocks that render are proven; the null driver renders nothing:
there the draws of a frame are what the counters say, and in C they are counted.
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import thread_time_ns

sys.path.insert(0, str(Path(__file__).parents[2]))

from _bundles import bundle_grain
from _targets import Target, print_target
from _ways import (
    Lines,
    Measure,
    Size,
    Way,
    content_of,
    measure_in_turns,
    opened,
    print_ways,
    proven,
    remote,
)

from demo.bench import Block
from demo.configuration import Bench, Variant
from demo.content import Content
from demo.null_driver import open_null_driver
from demo.progress import Interrupt
from demo.remote_bench import RemoteBench
from demo.settings import CheckError
from renderers.device import Interface, UnavailableError
from renderers.plan import Submission

_FOLDER = Path(__file__).parent
_RECORDED, _IMMEDIATE, _BIND = "webgpu recorded", "webgpu immediate", "webgpu immediate-bind"
_UNCHECKED = "webgpu indirect, no validation"
_NULL_BIND, _NULL_IMMEDIATE = "opengl null immediate-bind", "opengl null immediate"
_NULL_INDIRECT, _IN_C = "opengl null indirect", "opengl null immediate-bind in C"
_LEAST_OBJECTS = 10_000  # that the targets are for
_PEERS = (("pygfx", False), ("panda3d", False), ("panda3d", True))  # name, on the null driver


def targets(objects: int) -> tuple[Target, ...]:
    return (
        Target(_NULL_BIND, _RECORDED, least=7.0 if objects < 50_000 else 12.0),
        Target(_NULL_IMMEDIATE, _RECORDED, least=4.0),
        Target(_NULL_INDIRECT, most=0.05, digits=3),
        Target(_UNCHECKED, most=0.5, digits=3),
        Target(_NULL_BIND, _IN_C, most=3.0),
        Target(_BIND, _IMMEDIATE, least=2.0),
    )


def webgpu_ways(size: Size, bench: Bench, content: Content, interrupt: Interrupt) -> list[Way]:
    """In this process, as they are."""

    def way(name: str, submission: Submission) -> Way:
        work = content.compile(bench.device, "fused", submission)
        return proven(name, size, bench, content, Variant("fused", submission), work, interrupt)

    return [
        way(_RECORDED, Submission.RECORDED),
        way(_IMMEDIATE, Submission.IMMEDIATE),
        way(_BIND, Submission.IMMEDIATE_BIND),
        way("webgpu none", Submission.NONE),
    ]


def unchecked_ways(size: Size, bench: Bench, content: Content, stack: ExitStack) -> list[Way]:
    """In a child: whether wgpu checks is decided once for a process."""
    if bench.device.info.submissions[Submission.INDIRECT] is not None:
        print(f"{_UNCHECKED}: n/a ({bench.device.info.submissions[Submission.INDIRECT]})")
        return []
    settings = replace(size.settings, validation=False)
    child = RemoteBench(
        "webgpu without validation", settings, "webgpu", content.limits, content.shape, {}, rendered=True
    )
    stack.callback(child.stop)
    return [
        Way(_UNCHECKED, size.objects, remote(child, Submission.INDIRECT)),
        Way("webgpu none, no validation", 0, remote(child, Submission.NONE)),
    ]


def null_ways(size: Size, bench: Bench, content: Content, stack: ExitStack) -> list[Way]:
    """Describing alone, and the same loop in C."""
    try:
        child = open_null_driver(size.settings, bench, content.limits, content.shape)
    except UnavailableError as error:
        print(f"{error.subject}: n/a ({error.what})")
        return []
    stack.callback(child.stop)
    ours = [
        Way(_NULL_BIND, size.objects, remote(child, Submission.IMMEDIATE_BIND)),
        Way(_NULL_IMMEDIATE, size.objects, remote(child, Submission.IMMEDIATE)),
        Way(_NULL_INDIRECT, size.objects, remote(child, Submission.INDIRECT)),
        Way("opengl null none", 0, remote(child, Submission.NONE)),
        Way("two empty calls an object in Python", 0, partial(empty_calls, size.objects)),
    ]
    return ours + c_ways(size, content, child.adapter, bench.device.info.null_driver or {}, stack)


def c_ways(size: Size, content: Content, adapter: str, null_driver: Mapping[str, str], stack: ExitStack) -> list[Way]:
    """The loop of immediate-bind with the scene's own draw list."""
    compiler = shutil.which("cc")
    if compiler is None:
        print(f"{_IN_C}: n/a (no C compiler)")
        return []
    program = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="draws-"))) / "draws_loop"
    subprocess.run([compiler, "-O2", "-o", str(program), str(_FOLDER / "draws_loop.c"), "-ldl"], check=True)
    scene = content.scene
    figures = [len(scene.vertices), len(scene.indices)]
    for each in scene.draws:
        figures += [each.index_count, each.first_index, each.base_vertex, each.object_count]
    loop = Lines([str(program), *map(str, figures)], null_driver)
    stack.callback(loop.stop)
    if loop.greeting != adapter:
        raise CheckError(f"{_IN_C}: runs on {loop.greeting}, not on {adapter}")

    def way(name: str, how: str) -> Way:
        return Way(name, size.objects, lambda block: loop.ask(f"{how} {block.frames}", size.objects))

    return [way(_IN_C, "direct"), way(f"{_IN_C}, stored commands", "indirect")]


def empty_calls(objects: int, block: Block) -> list[float]:
    """What Python itself takes for two calls an object: no binding is faster."""

    def once() -> float:
        begin, call = thread_time_ns(), abs
        for i in range(objects):
            call(i)
            call(i)
        return (thread_time_ns() - begin) / 1e6

    return [once() for _ in range(block.frames)]


def peer_ways(size: Size, python: str, null_driver: Mapping[str, str], stack: ExitStack) -> list[Way]:
    """Those that ``python`` has installed."""
    ways = []
    for peer, on_null in _PEERS:
        name = f"{peer} null" if on_null else peer
        if on_null and not null_driver:
            continue
        command = [python, str(_FOLDER / "_peers.py"), peer, str(size.objects)]
        lines = Lines(command, null_driver if on_null else {})
        stack.callback(lines.stop)
        if lines.greeting == "ready":
            ways.append(Way(f"{name}, more work an object", size.objects, peer_measure(lines, size)))
        else:
            print(f"{name}: n/a ({lines.greeting})")
    return ways


def peer_measure(lines: Lines, size: Size) -> Measure:
    return lambda block: lines.ask(str(size.peer_frames), size.objects)


def draws(size: Size, benches: Mapping[Interface, Bench], peers: str | None, interrupt: Interrupt) -> None:
    """One number of objects: every way, and the targets."""
    content, opengl, webgpu = content_of(size, benches), benches["opengl"], benches["webgpu"]
    with ExitStack() as stack:
        ways = webgpu_ways(size, webgpu, content, interrupt)
        ways += unchecked_ways(size, webgpu, content, stack)
        ways += null_ways(size, opengl, content, stack)
        if peers is not None:
            ways += peer_ways(size, peers, opengl.device.info.null_driver or {}, stack)
        measure_in_turns(size, content, ways, interrupt)
    print_ways(size, "objects", ways)
    measured = {way.name: way.blocks_ms for way in ways}
    for target in targets(size.objects):
        print_target(target, measured, judged=size.objects >= _LEAST_OBJECTS)


def run(sizes: Sequence[Size], bundled: Size, peers: str) -> None:
    """Peers only at the first size: their first frame takes ours by the hundred."""
    with opened() as benches, Interrupt() as interrupt:
        for size in sizes:
            draws(size, benches, peers if size is sizes[0] else None, interrupt)
        bundle_grain(bundled, benches, interrupt)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--toy", action="store_true", help="a few frames, to see that it runs")
    parser.add_argument("--peers", default=sys.executable, metavar="PYTHON", help="one that has pygfx and panda3d")
    asked = parser.parse_args()
    try:
        if asked.toy:
            run([Size(200, 2, 2, 1)], Size(200, 2, 2), asked.peers)
        else:
            run([Size(10_000, 9, 10), Size(50_000, 9, 10)], Size(2_000, 9, 30), asked.peers)
    except (CheckError, UnavailableError) as error:
        sys.exit(f"draws: {error}")


if __name__ == "__main__":
    main()
