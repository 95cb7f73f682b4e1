"""Recorded ops and how to run them -> passes over named arrays. Pure values; a device executes them.

eager: a kernel and a submission per op. batched: the same kernels in one submission. fused: as few kernels as the
maths allows (see fuse.py).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from compute.emit import (
    COUNT,
    Assignment,
    Memory,
    in_step,
    map_kernel,
    matmul_kernel,
    reduce_kernel,
    sources_in_step,
)
from compute.expr import Expr, topological
from compute.fuse import Program, Step, program
from compute.kernel import (
    FLOOR,
    Access,
    Argument,
    ArraySpec,
    BufferParam,
    ComputePass,
    Dispatch,
    Element,
    FrameValue,
    How,
    Kernel,
    KernelNote,
    KernelShape,
    LimitError,
    Limits,
    Param,
    ScalarParam,
    Schedule,
    Work,
)
from compute.ops import OPS, DType
from compute.record import Recorded

ELEMENT_BYTES = 4
_CHUNK_ALIGNMENT = 256  # bytes: every interface can bind a chunk, and a chunk is whole vectors
_ELEMENTS: dict[DType, Element] = {"f32": "f32", "i32": "i32", "u32": "u32", "bool": "u32"}
_KERNELS = {"map": map_kernel, "reduce": reduce_kernel, "matmul": matmul_kernel}


def schedule(
    recorded: Recorded,
    how: How,
    limits: Limits = FLOOR,
    shape: KernelShape = KernelShape(),
    label: str | None = None,
) -> Schedule:
    """Cut ``recorded`` into kernels, arrays and passes within ``limits``.

    Array and pass names begin with ``label`` (default: the function's name). Raises LimitError.
    """
    label = label or recorded.name
    whole = program(recorded.outputs, how)
    places = _Places(recorded, whole, label, limits)
    launches = [_launch(step, places, limits, shape) for step in whole.steps]
    return Schedule(
        _passes(label, how, [(launch.note.name, launch.dispatches) for launch in launches]),
        tuple((f"{label}/{name}", spec) for name, spec in places.arrays.items()),
        tuple(f"{label}/{places.names[output]}" for output in whole.outputs),
        tuple(launch.note for launch in launches),
    )


def array_spec(name: str, shape: tuple[int, ...], limits: Limits, element: Element = "f32") -> ArraySpec:
    """An array cut into buffers that fit one binding and one buffer of ``limits``; an empty one still has a buffer."""
    most = min(limits.storage_binding_bytes, limits.buffer_bytes) // _CHUNK_ALIGNMENT * _CHUNK_ALIGNMENT
    total = max(16, -(-math.prod(shape) * ELEMENT_BYTES // 16) * 16)
    chunks = tuple((f"{name}[{i}]", min(most, total - start)) for i, start in enumerate(range(0, total, most)))
    return ArraySpec(shape, element, chunks)


def fold_workgroups(count: int, per_axis: int) -> tuple[int, int, int]:
    """``count`` workgroups as x * y with neither above ``per_axis``; at most y - 1 too many, which the kernel skips."""
    rows = max(1, -(-count // per_axis))
    if rows > per_axis:
        raise LimitError(f"{count} workgroups exceed {per_axis} x {per_axis}; do more per invocation")
    return (-(-count // rows), rows, 1)


class _Places:
    """Where every node lives that is in memory: its name, and its array."""

    def __init__(self, recorded: Recorded, whole: Program, label: str, limits: Limits) -> None:
        self._stored = whole.stored
        self.names = {node: node.name for node in recorded.inputs if node.shape != ()}
        taken = {node.name for node in recorded.inputs}
        results = dict.fromkeys(whole.outputs)
        wanted = ["out"] if len(results) == 1 else [f"out{index}" for index in range(len(results))]
        self.names.update({node: _free(name, taken) for node, name in zip(results, wanted, strict=True)})
        written = [node for step in whole.steps for node in step.writes if node not in results]
        self.names.update({node: _free(f"t{index}", taken) for index, node in enumerate(written)})
        self._overwrite(recorded.overwrites, whole.steps)
        used = {node for step in whole.steps for node in (*step.writes, *self.reads(step))}
        self.arrays: dict[str, ArraySpec] = {}
        for node, name in self.names.items():
            if node in used and name not in self.arrays:
                self.arrays[name] = array_spec(f"{label}/{name}", node.shape, limits, _ELEMENTS[node.dtype])

    def reads(self, step: Step) -> tuple[Expr, ...]:
        """What the step's kernel reads from memory, each once, in order of use."""
        leaves = self._leaves(step)
        return tuple(node for node in topological(step.writes, leaves=leaves) if node in leaves)

    def chunks(self, node: Expr) -> tuple[tuple[str, int], ...]:
        return self.arrays[self.names[node]].chunks

    def _leaves(self, step: Step) -> set[Expr]:
        return {node for node in self.names if node.op == "input" or node in self._stored} - set(step.writes)

    def _overwrite(self, allowed: frozenset[str], steps: Sequence[Step]) -> None:
        """A result takes the place of an argument that may be overwritten, and that no later kernel reads."""
        for number, step in enumerate(steps):
            later = {node for each in steps[number + 1 :] for node in self.reads(each)}
            free = [node for node in self.reads(step) if node.name in allowed and node not in later]
            if step.kind != "map" or not in_step(step.writes, dict.fromkeys(self.reads(step), "")):
                continue
            for result in step.writes:
                for node in free:
                    if (result.shape, result.dtype) == (node.shape, node.dtype):
                        self.names[result] = node.name
                        free.remove(node)
                        break


@dataclass(frozen=True, slots=True)
class _Launch:
    """One kernel and its dispatches: one for each chunk of what it goes through."""

    note: KernelNote
    dispatches: tuple[Dispatch, ...]


def _launch(step: Step, places: _Places, limits: Limits, shape: KernelShape) -> _Launch:
    reads = places.reads(step)
    mine = topological(step.writes, leaves=set(reads))
    scalars = [node for node in mine if node.op == "input" and node.shape == ()]
    loads = {node: places.names[node] for node in reads}
    domain = step.writes[0] if step.kind != "reduce" else step.writes[0].sources[0]
    whole = step.kind == "reduce" and sources_in_step(step.writes, loads)
    stepwise = whole or (step.kind == "map" and in_step(step.writes, loads))
    masked = whole and domain.size % 4 != 0
    params = _params(step, places, reads, scalars, whole, masked)
    memory = Memory(loads, masked)
    assignments = [Assignment(places.names[node], node) for node in step.writes]
    name = "_".join(dict.fromkeys(op.op for op in _ops(step, reads)))[:60] or "copy"
    kernel = _KERNELS[step.kind](name, params, assignments, memory, shape)
    _check(kernel, limits)
    pieces = _pieces(step, places, (*reads, *step.writes), domain, stepwise)
    dispatches = tuple(
        _dispatch(step, kernel, places, reads, scalars, shape, piece, masked, limits)
        for piece in pieces
        if piece.elements
    )
    work = sum((dispatch.work for dispatch in dispatches), Work(0, 0, 0))
    note = KernelNote(name, tuple(loads.values()), tuple(places.names[node] for node in step.writes), work, step.why)
    return _Launch(note, dispatches)


@dataclass(frozen=True, slots=True)
class _Piece:
    """Elements of the domain that one dispatch goes through, and which chunk they are in."""

    chunk: int
    elements: int


def _pieces(step: Step, places: _Places, nodes: Sequence[Expr], domain: Expr, stepwise: bool) -> list[_Piece]:
    """Chunk by chunk where everything is read in step; else all at once, which takes arrays of one chunk."""
    several = [node for node in nodes if len(places.chunks(node)) > 1]
    if not several:
        return [_Piece(0, domain.size)]
    if not stepwise or step.kind != "map":
        node = several[0]
        raise LimitError(
            f"{places.names[node]}: {node.size * ELEMENT_BYTES:,} bytes are several buffers here, and "
            f"{step.writes[0].op} reads it out of step; make it smaller than one binding"
        )
    chunks = places.chunks(several[0])
    first = chunks[0][1] // ELEMENT_BYTES
    return [_Piece(i, min(size // ELEMENT_BYTES, domain.size - i * first)) for i, (_, size) in enumerate(chunks)]


def _params(
    step: Step, places: _Places, reads: Sequence[Expr], scalars: Sequence[Expr], whole: bool, masked: bool
) -> tuple[Param, ...]:
    """Results, then arguments, then scalars. An array that is overwritten is one parameter."""
    read_names = {places.names[node] for node in reads}
    params: list[Param] = []
    for node in step.writes:
        access = Access.READ_WRITE if places.names[node] in read_names else Access.WRITE
        params.append(BufferParam(places.names[node], access, _ELEMENTS[node.dtype], single=whole))
    written = {param.name for param in params}
    params += [
        BufferParam(places.names[node], Access.READ, _ELEMENTS[node.dtype])
        for node in reads
        if places.names[node] not in written
    ]
    params += [ScalarParam(node.name, node.dtype) for node in scalars if node.dtype != "bool"]
    return (*params, *([ScalarParam(COUNT, "u32")] if masked else []))


def _dispatch(
    step: Step,
    kernel: Kernel,
    places: _Places,
    reads: Sequence[Expr],
    scalars: Sequence[Expr],
    shape: KernelShape,
    piece: _Piece,
    masked: bool,
    limits: Limits,
) -> Dispatch:
    by_name = {places.names[node]: node for node in (*reads, *step.writes)}

    def buffer(name: str) -> str:
        chunks = places.chunks(by_name[name])
        return chunks[piece.chunk if len(chunks) > 1 else 0][0]

    arguments: list[Argument] = [buffer(param.name) for param in kernel.buffers]
    arguments += [FrameValue(node.name) for node in scalars]
    arguments += [piece.elements] if masked else []
    invocations = _invocations(step, kernel, shape, piece)
    workgroups = fold_workgroups(-(-invocations // shape.workgroup_size), limits.workgroups_per_axis)
    return Dispatch(kernel, tuple(arguments), workgroups, _work(step, reads, piece))


def _invocations(step: Step, kernel: Kernel, shape: KernelShape, piece: _Piece) -> int:
    if step.kind != "map":
        return step.writes[0].size
    four_at_a_time = "vec4" in kernel.glsl
    elements = shape.vectors_per_invocation * (4 if four_at_a_time else 1)
    return -(-piece.elements // elements)


def _work(step: Step, reads: Sequence[Expr], piece: _Piece) -> Work:
    """As if nothing were cached: each read array once an element that the kernel goes through; one element once."""
    ops = sum(OPS[op.op].flops for op in _ops(step, reads) if op.op in OPS)
    if step.kind == "matmul":
        a, result = step.writes[0].sources[0], step.writes[0]
        terms = result.size * a.shape[-1]
        return Work(2 * terms, 2 * ELEMENT_BYTES * terms, ELEMENT_BYTES * result.size)
    read = sum(piece.elements if node.size > 1 else 1 for node in reads)
    written = sum(node.size if step.kind == "reduce" else piece.elements for node in step.writes)
    flops = piece.elements * (ops + (len(step.writes) if step.kind == "reduce" else 0))
    return Work(flops, ELEMENT_BYTES * read, ELEMENT_BYTES * written)


def _ops(step: Step, reads: Sequence[Expr]) -> tuple[Expr, ...]:
    """What the kernel computes, each once."""
    known = set(reads)
    nodes = topological(step.writes, leaves=known)
    return tuple(node for node in nodes if node.is_op and not node.is_view and node not in known)


def _free(name: str, taken: set[str]) -> str:
    """``name``, or with as many x behind it as it takes: a parameter may be called out or t0."""
    while name in taken:
        name += "x"
    taken.add(name)
    return name


def _check(kernel: Kernel, limits: Limits) -> None:
    invocations, most = kernel.workgroup_size[0], min(limits.invocations_per_workgroup, limits.workgroup_size[0])
    if invocations > most:
        raise LimitError(
            f"{kernel.name}: a workgroup of {invocations} invocations exceeds this device's {most}; "
            "lower workgroup_size"
        )
    if len(kernel.buffers) > limits.storage_buffers_per_stage:
        raise LimitError(
            f"{kernel.name}: {len(kernel.buffers)} buffers exceed this device's "
            f"{limits.storage_buffers_per_stage} per stage; return fewer arrays or split the function"
        )


def _passes(label: str, how: How, launches: list[tuple[str, tuple[Dispatch, ...]]]) -> tuple[ComputePass, ...]:
    """A label names one pass: the second launch of the same op is counted in its own."""
    if how != "eager":
        together = tuple(dispatch for _, dispatches in launches for dispatch in dispatches)
        return (ComputePass(f"{label}/{how}", together, len(launches)),)
    passes: dict[str, ComputePass] = {}
    for name, dispatches in launches:
        unique = f"{label}/{name}"
        repeat = 2
        while unique in passes:
            unique, repeat = f"{label}/{name} {repeat}", repeat + 1
        passes[unique] = ComputePass(unique, dispatches, 1, submit_alone=True)
    return tuple(passes.values())
