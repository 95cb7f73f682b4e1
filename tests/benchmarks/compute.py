"""What describing arrays op by op costs, against its targets and beside peers. ``--toy``: just that it runs.

A unit is one frame, from its begin until the device is idle, in wall time: begin_frame, execute, end_frame, finish. All
ways of a group take turns, block by block, in random order; a figure is the median over blocks, with the lowest and the
highest; a ratio is formed block by block. Rates are described bytes over time, never measured traffic.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

import _kernels as own
from _arrays import Size, Task, Timed, measure_in_turns, on_device, print_timed, scheduled
from _python_cost import python_costs
from _targets import Target, print_target, spread, text
from _ways import Lines, opened

from compute.kernel import How, KernelShape, Limits
from compute.workloads.elementwise import WORKLOADS, Workload
from demo.budget import percentile_ms
from demo.configuration import Bench, common_limits
from demo.progress import Interrupt
from demo.settings import CheckError
from renderers.device import Device, Interface, UnavailableError

_FOLDER = Path(__file__).parent
_SHAPES = [KernelShape(size, vectors) for size, vectors in product((64, 128, 256), (1, 2, 4, 8, 16))]
_TUNED_FOR: tuple[How, ...] = ("batched", "fused")
_PEERS = ("numpy", "torch", "jax", "numba")
_IN_C = "C, streaming stores"
_COPY = Workload("copy", lambda x: x * 1.0, scalars=())
_QUIET = {"OMP_WAIT_POLICY": "passive", "KMP_BLOCKTIME": "0"}  # idle threads must not spin while others are measured
Benches = Mapping[Interface, Bench]
Shapes = Mapping[tuple[Interface, How], KernelShape]


@dataclass(frozen=True, slots=True)
class Sizes:
    """``search``: of kernel shapes. ``largest``: measured one interface at a time. ``calls``: of Python's cost."""

    search: Size
    small: Size
    middle: Size
    largest: Size
    calls: int
    judged: bool
    shapes: Sequence[KernelShape]


FULL = Sizes(
    Size(1 << 21, 5, 2), Size(1 << 20, 9, 15), Size(1 << 24, 7, 1), Size(100_000_000, 5, 1), 100, True, _SHAPES
)
TOY = Sizes(Size(3000, 1, 1), Size(1000, 2, 1), Size(5000, 2, 1), Size(40_000, 1, 1), 10, False, _SHAPES[::7])


def judge(timed: Sequence[Timed], targets: Sequence[Target], judged: bool) -> None:
    measured, cpu = ({each.name: getattr(each, figure) for each in timed} for figure in ("blocks_ms", "cpu_ms"))
    for target in targets:
        print_target(replace(target, digits=2), measured, judged)
        if all(cpu.get(name) for name in target.names):
            print(f"    in CPU time: {text(spread(target.blocks(cpu)), 2)}")


def best_shapes(sizes: Sizes, benches: Benches, limits: Limits, interrupt: Interrupt) -> Shapes:
    """Of each interface, for the fused kernel and for the kernels of one op: both are tuned.

    Where the device is this CPU, by CPU time: other processes decide more than the shape does about the wall time.
    """
    best: dict[tuple[Interface, How], KernelShape] = {}
    size = sizes.search
    task = Task(WORKLOADS["relu"], size.elements, limits)
    for interface, bench in benches.items():
        for how in _TUNED_FOR:
            timed = {shape: scheduled(_name(shape), task, bench.device, how, shape) for shape in sizes.shapes}
            measure_in_turns(size, list(timed.values()), interrupt)
            print_timed(f"shapes of {interface} {how} relu", size, list(timed.values()))
            figure = "cpu_ms" if bench.device.info.is_software else "blocks_ms"
            medians = {shape: percentile_ms(getattr(each, figure), 50.0) for shape, each in timed.items()}
            best[interface, how] = min(medians, key=lambda shape: medians[shape])
            print(f"best by {figure}: {_name(best[interface, how])}; worst over best {_range(list(medians.values()))}")
    return best


def _range(medians: Sequence[float]) -> str:
    return f"{max(medians) / min(medians):.2f}"


def _name(shape: KernelShape) -> str:
    return f"{shape.vectors_per_invocation} x vec4, workgroup {shape.workgroup_size}"


def relu_ways(task: Task, interface: Interface, device: Device, shapes: Shapes) -> list[Timed]:
    """Each schedule with the shape that is best for its kernels: eager's are the batched ones, submitted alone."""
    tuned: dict[How, KernelShape] = {"eager": shapes[interface, "batched"]}
    tuned |= {how: shapes[interface, how] for how in _TUNED_FOR}
    return [scheduled(f"{interface} {how}", task, device, how, shape) for how, shape in tuned.items()]


def own_ways(task: Task, interface: Interface, device: Device, shapes: Shapes) -> list[Timed]:
    """The kernels that the compiler does not write: one float an invocation, no care for NaN, a copy."""
    copies = replace(task, workload=_COPY)
    one_op, all_ops = (own.Cut(4, s.workgroup_size, s.vectors_per_invocation) for s in _pair(interface, shapes))

    def way(name: str, ops: Sequence[own.Op], cut: own.Cut, how: How = "batched", of: Task = task) -> Timed:
        plan = own.plan(ops, task.elements, cut, task.limits, how)
        return on_device(f"{interface} {name}", of, device, plan, {"x": own.INPUT}, own.OUTPUT)

    return [
        way("eager, scalar at 64", own.RELU_BY_OP, own.SCALAR, "eager"),
        way("fused, scalar at 64", own.RELU, own.SCALAR),
        way("batched, plain max", own.plain(own.RELU_BY_OP), one_op),
        way("fused, plain max", own.plain(own.RELU), all_ops),
        way("a copy", own.COPY, one_op, of=copies),
        way("three copies", own.COPY * 3, one_op, of=copies),
    ]


def _pair(interface: Interface, shapes: Shapes) -> list[KernelShape]:
    return [shapes[interface, how] for how in _TUNED_FOR]


def relu_targets(interface: Interface) -> list[Target]:
    return [
        Target(f"{interface} batched", f"{interface} fused", least=2.8),
        Target(f"{interface} eager", f"{interface} batched"),
    ]


def own_targets(interface: Interface) -> list[Target]:
    fused = f"{interface} fused"
    return [
        Target(f"{interface} fused, scalar at 64", fused, least=2.8),
        Target(f"{interface} eager, scalar at 64", f"{interface} eager"),
        Target(f"{interface} eager, scalar at 64", fused),
        Target(f"{interface} eager", fused),
        Target(f"{interface} three copies", fused),
        Target(f"{interface} batched, plain max", f"{interface} fused, plain max"),
        Target(fused, f"{interface} fused, plain max"),
        Target(f"{interface} batched", f"{interface} batched, plain max"),
        Target(fused, f"{interface} a copy"),
    ]


def peer_targets(interface: Interface) -> list[Target]:
    """Ours has its result's memory before it begins: against the peers' allocating calls, and those that do not."""
    fused = f"{interface} fused"
    return [
        *(Target(fused, f"{peer}: fused", most=1.3) for peer in ("torch", "jax")),
        *(Target(fused, f"{peer}: fused, preallocated") for peer in ("torch", "jax", "numba")),
        Target(fused, "numpy: op by op, preallocated"),
        Target(fused, f"{_IN_C}: relu"),
    ]


def own_peers_targets() -> list[Target]:
    """What fusing brings the peers themselves."""
    pairs = [("torch", ""), ("torch", ", preallocated"), ("jax", ""), ("numba", ", preallocated")]
    return [Target(f"{peer}: op by op{how}", f"{peer}: fused{how}") for peer, how in pairs]


def peer_ways(elements: int, python: str, stack: ExitStack) -> Iterator[Timed]:
    """Those that ``python`` has installed, and C."""
    for peer in _PEERS:
        lines = Lines([python, str(_FOLDER / "_array_peers.py"), peer, str(elements)], _QUIET)
        stack.callback(lines.stop)
        ready, *ways = lines.greeting.split(";")
        if ready != "ready":
            print(f"{peer}: n/a ({ready})")
        for number, way in enumerate(ways):
            moved = 24 if way.startswith("op by op") else 8
            yield Timed(f"{peer}: {way}", moved * elements, _asked(lines, f"{number} {{}}", elements))
    yield from c_ways(elements, stack)


def c_ways(elements: int, stack: ExitStack) -> list[Timed]:
    compiler = shutil.which("cc")
    if compiler is None:
        print(f"{_IN_C}: n/a (no C compiler)")
        return []
    program = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="arrays-"))) / "arrays_limit"
    command = [compiler, "-O2", "-fopenmp", "-o", str(program), str(_FOLDER / "arrays_limit.c"), "-lm"]
    built = subprocess.run(command, capture_output=True, text=True)
    if built.returncode:
        print(f"{_IN_C}: n/a ({built.stderr.strip().splitlines()[0]})")
        return []
    lines = Lines([str(program), str(elements)], {**_QUIET, "OMP_NUM_THREADS": str(os.cpu_count())})
    stack.callback(lines.stop)
    return [
        Timed(f"{_IN_C}: {what}", 8 * elements, _asked(lines, f"{what} {{}}", elements)) for what in ("copy", "relu")
    ]


def _asked(lines: Lines, line: str, elements: int) -> Callable[[int], list[float]]:
    return lambda units: lines.ask(line.format(units), elements, "elements")


def relu(
    size: Size, benches: Benches, limits: Limits, shapes: Shapes, peers: str | None, judged: bool, interrupt: Interrupt
) -> None:
    """``peers`` None: only the schedules."""
    task, targets = Task(WORKLOADS["relu"], size.elements, limits), []
    with ExitStack() as stack:
        timed: list[Timed] = []
        for interface, bench in benches.items():
            timed += relu_ways(task, interface, bench.device, shapes)
            targets += relu_targets(interface)
            if peers is not None:
                timed += own_ways(task, interface, bench.device, shapes)
                targets += own_targets(interface) + peer_targets(interface)
        if peers is not None:
            timed += peer_ways(size.elements, peers, stack)
            targets += own_peers_targets()
        measure_in_turns(size, timed, interrupt)
    print_timed("relu", size, timed)
    judge(timed, targets, judged)


def fused_or_not(
    workload: str, least: float, sizes: Sizes, benches: Benches, limits: Limits, interrupt: Interrupt
) -> None:
    """Batched and fused. One interface at a time: the chain keeps fourteen arrays."""
    size, task = sizes.middle, Task(WORKLOADS[workload], sizes.middle.elements, limits)
    for interface, bench in benches.items():
        timed = [scheduled(f"{interface} {how}", task, bench.device, how) for how in _TUNED_FOR]
        measure_in_turns(size, timed, interrupt)
        print_timed(workload, size, timed)
        judge(timed, [Target(f"{interface} batched", f"{interface} fused", least=least)], sizes.judged)


def run(sizes: Sizes, peers: str) -> None:
    with opened() as benches, Interrupt() as interrupt:
        limits = common_limits([each.device for each in benches.values()])
        python_costs(sizes.middle.elements, sizes.calls, benches, limits, sizes.judged)
        shapes = best_shapes(sizes, benches, limits, interrupt)
        relu(sizes.small, benches, limits, shapes, None, sizes.judged, interrupt)
        relu(sizes.middle, benches, limits, shapes, peers, sizes.judged, interrupt)
        fused_or_not("chain", 8.5, sizes, benches, limits, interrupt)
        fused_or_not("sum", 2.7, sizes, benches, limits, interrupt)
        for interface, bench in benches.items():
            relu(sizes.largest, {interface: bench}, limits, shapes, None, sizes.judged, interrupt)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--toy", action="store_true", help="a few elements, to see that it runs")
    parser.add_argument("--peers", default=sys.executable, metavar="PYTHON", help="one that has torch, jax and numba")
    asked = parser.parse_args()
    try:
        run(TOY if asked.toy else FULL, asked.peers)
    except (CheckError, UnavailableError) as error:
        sys.exit(f"compute: {error}")


if __name__ == "__main__":
    main()
