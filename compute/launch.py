"""One step of a program -> its kernel, and a dispatch of it for each chunk of what it goes through."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from compute.body import COUNT, PLACE, Memory, in_step
from compute.emit import Assignment, Description, map_kernel, matmul_kernel, reduce_kernel
from compute.expr import Expr, topological
from compute.fuse import Step
from compute.kernel import (
    Access,
    Argument,
    BufferParam,
    Dispatch,
    FrameValue,
    Kernel,
    KernelNote,
    KernelShape,
    LimitError,
    Limits,
    Param,
    ScalarParam,
    Work,
)
from compute.limits import check_kernel
from compute.ops import OPS
from compute.places import ELEMENT_BYTES, ELEMENTS, Places

_KERNELS = {"map": map_kernel, "reduce": reduce_kernel, "matmul": matmul_kernel}
_LONGEST_NAME = 60


@dataclass(frozen=True, slots=True)
class Launch:
    """A kernel as described, and its dispatches: none where there is nothing to do."""

    note: KernelNote
    dispatches: tuple[Dispatch, ...]


def launch(step: Step, places: Places, limits: Limits, shape: KernelShape) -> Launch:
    plan = _planned(step, places)
    kernel = _kernel(plan, places, shape)
    check_kernel(kernel, limits)
    dispatches = tuple(_dispatch(plan, kernel, places, shape, piece, limits) for piece in plan.pieces)
    work = sum((dispatch.work for dispatch in dispatches), Work(0, 0, 0))
    reads, writes = (tuple(places.names[node] for node in nodes) for nodes in (plan.reads, step.writes))
    return Launch(KernelNote(kernel.name, reads, writes, work, step.why), dispatches)


def fold_workgroups(count: int, per_axis: int) -> tuple[int, int, int]:
    """``count`` workgroups as x * y with neither above ``per_axis``; at most y - 1 too many, which the kernel skips."""
    rows = max(1, -(-count // per_axis))
    if rows > per_axis:
        raise LimitError(f"{count} workgroups exceed {per_axis} x {per_axis}; do more per invocation")
    return (-(-count // rows), rows, 1)


@dataclass(frozen=True, slots=True)
class _Piece:
    """What one dispatch goes through: elements of which chunk, and which of all results it writes."""

    chunk: int
    elements: int
    results: int
    place: int = 0


@dataclass(frozen=True, slots=True)
class _Planned:
    """A step with all that its kernel and its dispatches share. ``ops``: what it computes, each once."""

    step: Step
    reads: tuple[Expr, ...]
    scalars: tuple[Expr, ...]
    ops: tuple[Expr, ...]
    memory: Memory
    pieces: tuple[_Piece, ...] = field(default=())


def _planned(step: Step, places: Places) -> _Planned:
    reads = places.reads[step]
    leaves = frozenset(reads)
    nodes = topological(step.writes, leaves=leaves)
    scalars = tuple(node for node in nodes if node.op == "input" and node.shape == ())
    ops = tuple(node for node in nodes if node.is_op and not node.is_view and node not in leaves)
    domain = step.writes[0].sources[0] if step.kind == "reduce" else step.writes[0]
    by_four = step.kind == "map" and in_step(step.writes, leaves)
    by_four |= step.kind == "reduce" and _terms_in_step(step.writes, leaves)
    pieces = _pieces(step, places, reads, domain, by_four)
    masked = step.kind == "reduce" and by_four and domain.size % 4 != 0
    loads = {node: places.names[node] for node in reads}
    memory = Memory(loads, by_four, masked, placed=step.kind == "reduce" and len(pieces) > 1)
    return _Planned(step, reads, scalars, ops, memory, pieces)


def _terms_in_step(reductions: Sequence[Expr], leaves: frozenset[Expr]) -> bool:
    """Whether the terms of these reductions can be read four at a time: all of an array, along one axis."""
    outer, _, inner, terms = reductions[0].axes
    return outer == inner == 1 and terms % 4 == 0 and in_step([each.sources[0] for each in reductions], leaves)


def _pieces(step: Step, places: Places, reads: Sequence[Expr], domain: Expr, by_four: bool) -> tuple[_Piece, ...]:
    """Chunk by chunk where everything is read in step; else all at once, which takes arrays of one chunk."""
    results = step.writes[0].size
    several = [node for node in (*reads, *step.writes) if len(places.chunks(node)) > 1]
    if not several:
        return (_Piece(0, domain.size, results),) if results else ()
    chunks = places.chunks(several[0])
    size = chunks[0][1] // ELEMENT_BYTES
    counts = [min(size, domain.size - number * size) for number in range(len(chunks))]
    if step.kind == "map" and by_four:
        return tuple(_Piece(number, count, count) for number, count in enumerate(counts))
    terms = step.writes[0].axes[3] if step.kind == "reduce" else 0
    if by_four and size % terms == 0 and all(len(places.chunks(node)) == 1 for node in step.writes):
        each = size // terms
        return tuple(_Piece(number, count, -(-count // terms), number * each) for number, count in enumerate(counts))
    node = several[0]
    raise LimitError(
        f"{places.names[node]}: {node.size * ELEMENT_BYTES:,} bytes are several buffers here, and "
        f"{step.writes[0].op} does not go through it in step; make it smaller than one binding"
    )


def _kernel(plan: _Planned, places: Places, shape: KernelShape) -> Kernel:
    step = plan.step
    name = "_".join(dict.fromkeys(op.op for op in plan.ops))[:_LONGEST_NAME] or "copy"
    assignments = tuple(Assignment(places.names[node], node) for node in step.writes)
    return _KERNELS[step.kind](Description(name, _params(plan, places), assignments, plan.memory, shape))


def _params(plan: _Planned, places: Places) -> tuple[Param, ...]:
    """Results, then arguments, then scalars. An array that is overwritten is one parameter."""
    loads, memory = set(plan.memory.loads.values()), plan.memory
    params: list[Param] = []
    for node in plan.step.writes:
        access = Access.READ_WRITE if places.names[node] in loads else Access.WRITE
        single = plan.step.kind == "reduce" and memory.by_four
        params.append(BufferParam(places.names[node], access, ELEMENTS[node.dtype], single))
    written = {param.name for param in params}
    for node, name in memory.loads.items():
        if name not in written:
            params.append(BufferParam(name, Access.READ, ELEMENTS[node.dtype]))
    params += [ScalarParam(node.name, node.dtype) for node in plan.scalars if node.dtype != "bool"]
    params += [ScalarParam(COUNT, "u32")] if memory.masked else []
    params += [ScalarParam(PLACE, "u32")] if memory.placed else []
    return tuple(params)


def _dispatch(
    plan: _Planned, kernel: Kernel, places: Places, shape: KernelShape, piece: _Piece, limits: Limits
) -> Dispatch:
    nodes = {places.names[node]: node for node in (*plan.reads, *plan.step.writes)}
    arguments: list[Argument] = []
    for param in kernel.buffers:
        chunks = places.chunks(nodes[param.name])
        arguments.append(chunks[piece.chunk if len(chunks) > 1 else 0][0])
    arguments += [FrameValue(node.name) for node in plan.scalars]
    arguments += [piece.elements] if plan.memory.masked else []
    arguments += [piece.place] if plan.memory.placed else []
    invocations = piece.results
    if plan.step.kind == "map":
        invocations = -(-piece.elements // (shape.vectors_per_invocation * (4 if plan.memory.by_four else 1)))
    workgroups = fold_workgroups(-(-invocations // shape.workgroup_size), limits.workgroups_per_axis)
    return Dispatch(kernel, tuple(arguments), workgroups, _work(plan, piece))


def _work(plan: _Planned, piece: _Piece) -> Work:
    """As if nothing were cached: each read array once an element that the kernel goes through; one element once."""
    first = plan.step.writes[0]
    if plan.step.kind == "matmul":
        terms = first.size * first.sources[0].shape[-1]
        return Work(2 * terms, 2 * ELEMENT_BYTES * terms, ELEMENT_BYTES * first.size)
    ops = sum(OPS[op.op].flops for op in plan.ops if op.op in OPS)
    totals = len(plan.step.writes) if plan.step.kind == "reduce" else 0
    read = sum(piece.elements if node.size > 1 else 1 for node in plan.reads)
    written = piece.results * len(plan.step.writes)
    return Work(piece.elements * (ops + totals), ELEMENT_BYTES * read, ELEMENT_BYTES * written)
