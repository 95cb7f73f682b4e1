"""Launch one kernel on NumPy arrays: arguments in the order it declares, buffers and scalars freely mixed.

(out,) = launch(device, saxpy, y, 2.0, x, len(x))
"""

from collections.abc import Sequence
from itertools import combinations
from typing import cast

import numpy as np

from compute.kernel import (
    Argument,
    ArgumentError,
    ArraySpec,
    BufferParam,
    ComputePass,
    Dispatch,
    Kernel,
    LimitError,
    Limits,
    Scalar,
    ScalarParam,
    Schedule,
    Work,
    check_count,
)
from compute.packing import block
from compute.schedule import fold_workgroups
from renderers.arrays import DTYPES
from renderers.device import Array, Device
from renderers.plan import build_plan

Workgroups = int | tuple[int, int, int]
_Given = tuple[tuple[BufferParam, Array], ...]


def launch(
    device: Device, kernel: Kernel, *arguments: object, workgroups: Workgroups | None = None
) -> tuple[Array, ...]:
    """Run ``kernel`` once and return the arrays that it writes: those given, with their new content, in declared order.

    A buffer takes a NumPy array of its element's type and any shape; elements that the kernel leaves alone keep their
    values. A scalar takes a number, a vector or matrix a tuple. ``workgroups``: per axis, or how many in all; by
    default one invocation for each element of the first array that is written.
    Raises ArgumentError, LimitError, AllocationError, BuildError.
    """
    buffers = _checked(kernel, arguments)
    written = [(param, array) for param, array in buffers if param.access.writes]
    counted = _count_workgroups(kernel, workgroups, [array for _, array in written], device.info.limits)
    work = device.compile(build_plan((_schedule(kernel, arguments, counted),)))
    try:
        for param, array in buffers:
            work.upload(param.name, array)
        work.run_now({})
        for param, array in written:
            array[...] = work.read_back(param.name).reshape(array.shape)
    finally:
        work.release()
    return tuple(array for _, array in written)


def _schedule(kernel: Kernel, arguments: tuple[object, ...], workgroups: tuple[int, int, int]) -> Schedule:
    said: list[Argument] = []
    arrays: list[tuple[str, ArraySpec]] = []
    read = written = 0
    for param, argument in zip(kernel.params, arguments, strict=True):
        if isinstance(param, BufferParam):
            array = cast(Array, argument)
            size = max(16, -(-array.nbytes // 16) * 16)
            arrays.append((param.name, ArraySpec(array.shape, param.element, ((param.name, size),))))
            said.append(param.name)
            read += array.nbytes * param.access.reads
            written += array.nbytes * param.access.writes
        else:
            said.append(_scalar(argument))
    dispatch = Dispatch(kernel, tuple(said), workgroups, Work(0, read, written))
    return Schedule((ComputePass(kernel.name, (dispatch,), 1),), tuple(arrays), ())


def _checked(kernel: Kernel, arguments: tuple[object, ...]) -> _Given:
    """The arrays that buffers get. Raises ArgumentError for whatever does not fit its parameter."""
    check_count(kernel, arguments)
    pairs = tuple(zip(kernel.params, arguments, strict=True))
    buffers = tuple((param, _array(kernel, param, each)) for param, each in pairs if isinstance(param, BufferParam))
    for param, each in pairs:
        if isinstance(param, ScalarParam):
            _check_scalar(kernel, param, each)
    for (one, array), (other, another) in combinations(buffers, 2):
        written = next((param.name for param in (one, other) if param.access.writes), None)
        if written is not None and np.shares_memory(array, another):
            raise ArgumentError(
                f"{kernel.name}: {one.name} and {other.name} are given the same memory, and {written} is written; "
                "declare one read_write parameter or pass a copy"
            )
    return buffers


def _array(kernel: Kernel, param: BufferParam, argument: object) -> Array:
    wanted = DTYPES[param.element]
    if not isinstance(argument, np.ndarray):
        raise ArgumentError(
            f"{kernel.name}: {param} is a buffer, got {argument!r} of {type(argument).__name__}; "
            f"pass a NumPy array of {wanted}"
        )
    if argument.dtype != wanted:
        raise ArgumentError(
            f"{kernel.name}: {param} takes an array of {wanted}, got {argument.dtype}; "
            f"pass {param.name}.astype(numpy.{wanted})"
        )
    if param.access.writes and not argument.flags.writeable:
        raise ArgumentError(f"{kernel.name}: {param} is written, got a read-only array; pass {param.name}.copy()")
    return argument


def _check_scalar(kernel: Kernel, param: ScalarParam, argument: object) -> None:
    if isinstance(argument, np.ndarray | str):
        what = f"an array of shape {argument.shape}" if isinstance(argument, np.ndarray) else repr(argument)
        raise ArgumentError(f"{kernel.name}: {param} is a scalar, got {what}; pass a number, or a tuple of numbers")
    try:
        block([param]).pack([_scalar(argument)])
    except ArgumentError as error:
        raise ArgumentError(f"{kernel.name}: {error}") from error


def _scalar(argument: object) -> Scalar:
    return cast(Scalar, tuple(argument) if isinstance(argument, list) else argument)


def _count_workgroups(
    kernel: Kernel, workgroups: Workgroups | None, written: Sequence[Array], limits: Limits
) -> tuple[int, int, int]:
    if workgroups is None:
        if not written:
            raise ArgumentError(f"{kernel.name}: writes no buffer that says how many invocations; pass workgroups")
        x, y, z = kernel.workgroup_size
        workgroups = -(-written[0].size // (x * y * z))
    if isinstance(workgroups, tuple):
        if len(workgroups) != 3 or min(workgroups) < 0:
            raise ArgumentError(
                f"{kernel.name}: workgroups takes three counts from 0 on, got {workgroups}; pass x, y, z"
            )
        return workgroups
    if workgroups < 0:
        raise ArgumentError(f"{kernel.name}: workgroups takes a count from 0 on, got {workgroups}; pass how many")
    if workgroups <= limits.workgroups_per_axis:
        return (workgroups, 1, 1)
    if not kernel.folds:
        raise LimitError(
            f"{kernel.name}: {workgroups:,} workgroups exceed this device's {limits.workgroups_per_axis:,} on an axis; "
            "do more per invocation, or declare folds=True where the body counts by i and minds its bounds"
        )
    return fold_workgroups(workgroups, limits.workgroups_per_axis)
