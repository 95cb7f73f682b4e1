"""Logical arrays and their chunks: checks and slices that both devices share."""

from itertools import accumulate, pairwise

import numpy as np

from compute.kernel import ArraySpec
from renderers.device import Array

DTYPES = {"f32": np.dtype(np.float32), "i32": np.dtype(np.int32), "u32": np.dtype(np.uint32)}
ELEMENT_BYTES = 4


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
