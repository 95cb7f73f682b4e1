"""Recorded ops and how to run them -> passes over named arrays. Pure values; a device executes them.

eager: a kernel and a submission per op. batched: the same kernels in one submission. fused: one kernel.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from compute.emit import Assignment, elementwise
from compute.expr import Expr, topological
from compute.kernel import (
    FLOOR,
    Access,
    Argument,
    ArraySpec,
    BufferParam,
    ComputePass,
    Dispatch,
    FrameValue,
    How,
    Kernel,
    KernelShape,
    LimitError,
    Limits,
    Param,
    ScalarParam,
    Schedule,
    Work,
)
from compute.ops import OPS
from compute.record import Recorded

FLOAT_BYTES = 4
_CHUNK_ALIGNMENT = 256  # bytes: every interface can bind a chunk, and a chunk is whole vectors


@dataclass(frozen=True, slots=True)
class _Step:
    """One kernel to be: the ops it computes, what it writes, what it reads from memory."""

    ops: tuple[Expr, ...]
    writes: tuple[Expr, ...]


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
    ops = tuple(node for node in recorded.nodes if node.is_op and node.shape != ())
    steps = _fused(recorded, ops) if how == "fused" else _one_per_op(ops)
    names = _array_names(recorded, steps)
    arrays = {name: array_spec(f"{label}/{name}", node.shape, limits) for node, name in names.items()}
    launches = [(step, *_launch(step, names, arrays, limits, shape)) for step in steps]
    return Schedule(
        _passes(label, how, [(kernel.name, dispatches) for _, kernel, dispatches in launches]),
        tuple((f"{label}/{name}", spec) for name, spec in arrays.items()),
        tuple(f"{label}/{names[output]}" for output in recorded.outputs),
    )


def array_spec(name: str, shape: tuple[int, ...], limits: Limits) -> ArraySpec:
    """A float32 array cut into buffers that fit one binding and one buffer of ``limits``."""
    spec = ArraySpec(shape, "f32", ())
    most = min(limits.storage_binding_bytes, limits.buffer_bytes) // _CHUNK_ALIGNMENT * _CHUNK_ALIGNMENT
    total = -(-spec.size * FLOAT_BYTES // 16) * 16
    chunks = tuple((f"{name}[{i}]", min(most, total - start)) for i, start in enumerate(range(0, total, most)))
    return ArraySpec(shape, "f32", chunks)


def fold_workgroups(count: int, per_axis: int) -> tuple[int, int, int]:
    """``count`` workgroups as x * y with neither above ``per_axis``; at most y - 1 too many, which the kernel skips."""
    rows = -(-count // per_axis)
    if rows > per_axis:
        raise LimitError(f"{count} workgroups exceed {per_axis} x {per_axis}; do more per invocation")
    return (-(-count // rows), rows, 1)


def _one_per_op(ops: Iterable[Expr]) -> tuple[_Step, ...]:
    return tuple(_Step((op,), (op,)) for op in ops)


def _fused(recorded: Recorded, ops: Iterable[Expr]) -> tuple[_Step, ...]:
    """One kernel; results of another shape need a loop of their own."""
    outputs = tuple(dict.fromkeys(recorded.outputs))
    shapes = dict.fromkeys(output.shape for output in outputs)
    return tuple(
        _Step(tuple(op for op in ops if op.shape == shape), tuple(each for each in outputs if each.shape == shape))
        for shape in shapes
    )


def _array_names(recorded: Recorded, steps: Iterable[_Step]) -> dict[Expr, str]:
    """Every node that lives in memory: inputs by name, intermediates t0, t1 ..., outputs out or out0, out1 ..."""
    names = {node: node.name for node in recorded.inputs if node.shape != ()}
    taken = {node.name for node in recorded.inputs}
    outputs = dict.fromkeys(recorded.outputs)
    wanted = ["out"] if len(outputs) == 1 else [f"out{index}" for index in range(len(outputs))]
    names.update({node: _free(name, taken) for node, name in zip(outputs, wanted, strict=True)})
    written = (node for step in steps for node in step.writes if node not in outputs)
    names.update({node: _free(f"t{index}", taken) for index, node in enumerate(written)})
    return names


def _free(name: str, taken: set[str]) -> str:
    """``name``, or with as many x behind it as it takes: a parameter may be called out or t0."""
    while name in taken:
        name += "x"
    taken.add(name)
    return name


def _launch(
    step: _Step, names: Mapping[Expr, str], arrays: Mapping[str, ArraySpec], limits: Limits, shape: KernelShape
) -> tuple[Kernel, tuple[Dispatch, ...]]:
    reads, scalars = _operands(step, names)
    kernel = _kernel(step, names, reads, scalars, shape)
    _check(kernel, limits)
    written = arrays[names[step.writes[0]]]
    buffers = [*step.writes, *reads]
    dispatches = []
    for index, (_, padded_bytes) in enumerate(written.chunks):
        elements = min(padded_bytes // FLOAT_BYTES, written.size - index * written.chunks[0][1] // FLOAT_BYTES)
        arguments: list[Argument] = [arrays[names[node]].chunks[index][0] for node in buffers]
        arguments += [FrameValue(node.name) for node in scalars]
        workgroups = fold_workgroups(-(-elements // shape.elements_per_workgroup), limits.workgroups_per_axis)
        bytes_each = FLOAT_BYTES * elements
        flops = elements * sum(OPS[op.op].flops for op in step.ops)
        work = Work(flops, bytes_each * len(reads), bytes_each * len(step.writes))
        dispatches.append(Dispatch(kernel, tuple(arguments), workgroups, work))
    return kernel, tuple(dispatches)


def _operands(step: _Step, names: Mapping[Expr, str]) -> tuple[tuple[Expr, ...], tuple[Expr, ...]]:
    """What the step's kernel reads from memory, and the scalar inputs it takes, each once, in order of use."""
    in_memory = names.keys() - step.ops
    nodes = topological(step.writes, leaves=in_memory)
    reads = tuple(node for node in nodes if node in in_memory)
    return reads, tuple(node for node in nodes if node.op == "input" and node.shape == ())


def _kernel(
    step: _Step, names: Mapping[Expr, str], reads: tuple[Expr, ...], scalars: tuple[Expr, ...], shape: KernelShape
) -> Kernel:
    params: list[Param] = [BufferParam(names[node], Access.WRITE) for node in step.writes]
    params += [BufferParam(names[node], Access.READ) for node in reads]
    params += [ScalarParam(node.name) for node in scalars]
    assignments = [Assignment(names[node], node) for node in step.writes]
    loads = {node: names[node] for node in reads}
    return elementwise("_".join(op.op for op in step.ops), tuple(params), assignments, loads, shape)


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
