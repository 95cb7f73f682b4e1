"""Buffers of a plan and what is drawn from, or an error that names what has no room. Used by executable and draws."""

from typing import Any

import moderngl

from renderers.device import AllocationError
from renderers.plan import Plan

_LEAST_BYTES = 16


def allocate(gl: Any, what: str, size: int, way_out: str = "lower --objects") -> Any:
    """A buffer of at least ``size`` bytes. Raises AllocationError."""
    try:
        return gl.buffer(reserve=max(_LEAST_BYTES, size))
    except moderngl.Error as error:
        raise AllocationError(f"{what}: the device has no room for {size:,} bytes; {way_out}") from error


def allocate_arrays(gl: Any, plan: Plan) -> dict[str, Any]:
    """Every chunk of every array by name, or none: moderngl frees only what is released."""
    buffers: dict[str, Any] = {}
    try:
        for name, spec in plan.arrays:
            for chunk, size in spec.chunks:
                buffers[chunk] = allocate(gl, f"{name} of {spec.shape}", size, "lower --elements or --objects")
    except AllocationError:
        for buffer in buffers.values():
            buffer.release()
        raise
    return buffers
