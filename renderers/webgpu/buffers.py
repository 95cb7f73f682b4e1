"""Buffers: what is drawn from, and logical arrays in theirs; or an error that names what has no room."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import wgpu

from compute.kernel import Arrays, ArraySpec
from renderers.arrays import DTYPES, check_upload, chunk_reads, chunk_slices
from renderers.device import Array
from renderers.memory import ARRAY_WAY_OUT, no_room
from renderers.plan import Plan
from renderers.webgpu import native

_LEAST_BYTES = 16


def allocate(device: "wgpu.GPUDevice", what: str, size: int, usage: int, way_out: str = "lower --objects") -> Any:
    """A buffer of at least ``size`` bytes. Raises AllocationError."""
    try:
        return device.create_buffer(label=what, size=max(_LEAST_BYTES, size), usage=usage)
    except (wgpu.GPUError, RuntimeError) as error:
        if "is lost" in str(error):
            raise
        raise no_room(what, size, way_out) from error


class WebGpuArray:
    """One logical array in its buffers. ``extra``: usages beside storage and copies."""

    def __init__(self, device: "wgpu.GPUDevice", name: str, spec: ArraySpec, extra: int = 0) -> None:
        self._queue, self.name, self.spec = device.queue, name, spec
        usage = wgpu.BufferUsage.STORAGE | wgpu.BufferUsage.COPY_SRC | wgpu.BufferUsage.COPY_DST | extra
        what = f"{name} of {spec.shape}"
        self.buffers = [allocate(device, what, size, usage, ARRAY_WAY_OUT) for _, size in spec.chunks]

    @property
    def is_released(self) -> bool:
        return not self.buffers

    @native.names_loss
    def upload(self, data: Array) -> None:
        flat = check_upload(self.name, self.spec, data)
        for buffer, part in zip(self.buffers, chunk_slices(self.spec), strict=True):
            if flat[part].size:  # wgpu-py refuses to write nothing
                self._queue.write_buffer(buffer, 0, flat[part])

    @native.names_loss
    def read_back(self, first: int = 0, count: int | None = None) -> Array:
        buffers = dict(zip((chunk for chunk, _ in self.spec.chunks), self.buffers, strict=True))
        reads = chunk_reads(self.spec, first, count)
        parts = [self._queue.read_buffer(buffers[chunk], offset, size) for chunk, offset, size in reads]
        return np.frombuffer(b"".join(parts), DTYPES[self.spec.element])

    def release(self) -> None:
        """Drops every reference; wgpu frees a buffer when the submissions that use it are done."""
        self.buffers = []


def allocate_arrays(device: "wgpu.GPUDevice", plan: Plan, arrays: Arrays) -> dict[str, WebGpuArray]:
    """Every one of ``arrays`` by name, with the usages that the scenes of ``plan`` ask for."""
    usage = wgpu.BufferUsage
    extra = dict.fromkeys((each.indices for each in plan.scene_passes), usage.INDEX)
    for scene in plan.scene_passes:
        extra |= dict.fromkeys((scene.vertices, scene.heights, scene.objects), usage.VERTEX)
    return {name: WebGpuArray(device, name, spec, extra.get(name, 0)) for name, spec in arrays}


def by_chunk(arrays: Arrays, made: Mapping[str, WebGpuArray]) -> dict[str, Any]:
    """The buffer behind each chunk that a plan names."""
    pairs = (zip(spec.chunks, made[name].buffers, strict=True) for name, spec in arrays)
    return {chunk: buffer for pair in pairs for (chunk, _), buffer in pair}
