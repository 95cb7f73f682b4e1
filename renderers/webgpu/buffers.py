"""Buffers of a plan and what is drawn from, or an error that names what has no room. Used by executable and draws."""

from typing import Any

import wgpu

from renderers.device import AllocationError
from renderers.plan import Plan

_LEAST_BYTES = 16


def allocate(device: "wgpu.GPUDevice", what: str, size: int, usage: int, way_out: str = "lower --objects") -> Any:
    """A buffer of at least ``size`` bytes. Raises AllocationError."""
    try:
        return device.create_buffer(label=what, size=max(_LEAST_BYTES, size), usage=usage)
    except (wgpu.GPUError, RuntimeError) as error:
        if "is lost" in str(error):
            raise
        raise AllocationError(f"{what}: the device has no room for {size:,} bytes; {way_out}") from error


def allocate_arrays(device: "wgpu.GPUDevice", plan: Plan) -> dict[str, Any]:
    """Every chunk of every array by name."""
    usage = wgpu.BufferUsage
    extra = dict.fromkeys((each.indices for each in plan.scene_passes), usage.INDEX)
    for scene in plan.scene_passes:
        extra |= dict.fromkeys((scene.vertices, scene.heights, scene.objects), usage.VERTEX)
    common = usage.STORAGE | usage.COPY_SRC | usage.COPY_DST
    return {
        chunk: allocate(
            device, f"{name} of {spec.shape}", size, common | extra.get(name, 0), "lower --elements or --objects"
        )
        for name, spec in plan.arrays
        for chunk, size in spec.chunks
    }
