"""Logical arrays and their chunks: checks and slices that both devices share."""

from collections.abc import Mapping
from itertools import accumulate, pairwise
from typing import TypeVar

import numpy as np

from compute.kernel import ArraySpec
from renderers.device import Array, DeviceArray
from renderers.plan import Plan

DTYPES = {"f32": np.dtype(np.float32), "i32": np.dtype(np.int32), "u32": np.dtype(np.uint32)}
ELEMENT_BYTES = 4
A = TypeVar("A", bound=DeviceArray)


def chunk_slices(spec: ArraySpec) -> list[slice]:
    """Which elements of the flat logical array each chunk holds; padding belongs to none."""
    ends = accumulate(size // ELEMENT_BYTES for _, size in spec.chunks)
    starts = [0, *ends]
    return [slice(a, min(b, spec.size)) for a, b in pairwise(starts)]


def check_upload(name: str, spec: ArraySpec, data: Array) -> Array:
    """``data`` flat and contiguous. Raises ValueError that names the array, its shape and element, and what came."""
    if data.shape != spec.shape or data.dtype != DTYPES[spec.element]:
        raise ValueError(f"{name}: takes {spec.shape} of {DTYPES[spec.element]}, got {data.shape} of {data.dtype}")
    return np.ascontiguousarray(data).reshape(-1)


def chunk_reads(spec: ArraySpec, first: int, count: int | None) -> list[tuple[str, int, int]]:
    """(chunk, offset in bytes, size in bytes) that together hold elements [first, first + count)."""
    last = spec.size if count is None else min(spec.size, first + count)
    reads = []
    for (chunk, _), part in zip(spec.chunks, chunk_slices(spec), strict=True):
        begin, end = max(first, part.start), min(last, part.stop)
        if begin < end:
            reads.append((chunk, ELEMENT_BYTES * (begin - part.start), ELEMENT_BYTES * (end - begin)))
    return reads


def lent_arrays(plan: Plan, lent: Mapping[str, DeviceArray], kind: type[A]) -> dict[str, A]:
    """``lent`` for arrays of ``plan``, all of one device's ``kind``.

    Raises ValueError for an array that the plan does not have, that is cut otherwise, of another interface, or gone.
    """
    wanted, mine = dict(plan.arrays), {}
    for name, array in lent.items():
        if name not in wanted:
            raise ValueError(f"{name}: the plan has no such array; it has {', '.join(wanted)}")
        if not isinstance(array, kind):
            raise ValueError(f"{name}: {array.name} is an array of another interface; allocate it on this device")
        if array.is_released:
            raise ValueError(f"{name}: {array.name} was released; keep it until the plan has run")
        if _cut(array.spec) != _cut(wanted[name]):
            raise ValueError(
                f"{name}: takes {wanted[name].element} in chunks of {_cut(wanted[name])[1]} bytes, got {array.name}: "
                f"{array.spec.element} in {_cut(array.spec)[1]}; allocate it with the plan's spec"
            )
        mine[name] = array
    return mine


def _cut(spec: ArraySpec) -> tuple[str, tuple[int, ...]]:
    """What one array must have in common with another to stand for it; the shape is only how its elements are seen."""
    return spec.element, tuple(size for _, size in spec.chunks)
