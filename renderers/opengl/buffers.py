"""Buffers: what is drawn from, and logical arrays in theirs; or an error that names what has no room."""

from collections.abc import Iterable, Mapping
from typing import Any

import moderngl
import numpy as np

from compute.kernel import Arrays, ArraySpec
from renderers.arrays import DTYPES, check_upload, chunk_reads, chunk_slices
from renderers.device import AllocationError, Array
from renderers.memory import ARRAY_WAY_OUT, no_room
from renderers.opengl.barriers import Barrier
from renderers.opengl.context import GlContext

_LEAST_BYTES = 16


def allocate(gl: Any, what: str, size: int, way_out: str = "lower --objects") -> Any:
    """A buffer of at least ``size`` bytes. Raises AllocationError."""
    try:
        return gl.buffer(reserve=max(_LEAST_BYTES, size))
    except moderngl.Error as error:
        raise no_room(what, size, way_out) from error


class OpenGlArray:
    """One logical array in its buffers: all of them, or none, since moderngl frees only what is released."""

    def __init__(self, context: GlContext, name: str, spec: ArraySpec) -> None:
        self._context, self.name, self.spec = context, name, spec
        self.buffers: list[Any] = []
        context.make_current()
        try:
            for _, size in spec.chunks:
                self.buffers.append(allocate(context.gl, f"{name} of {spec.shape}", size, ARRAY_WAY_OUT))
        except AllocationError:
            self.release()
            raise

    @property
    def is_released(self) -> bool:
        return not self.buffers

    def upload(self, data: Array) -> None:
        self._context.make_current()
        flat = check_upload(self.name, self.spec, data)
        self._context.gl.memory_barrier(Barrier.BUFFER_UPDATE)
        for buffer, part in zip(self.buffers, chunk_slices(self.spec), strict=True):
            buffer.write(flat[part])

    def read_back(self, first: int = 0, count: int | None = None) -> Array:
        self._context.make_current()
        self._context.gl.memory_barrier(Barrier.BUFFER_UPDATE)
        buffers = dict(zip((chunk for chunk, _ in self.spec.chunks), self.buffers, strict=True))
        reads = chunk_reads(self.spec, first, count)
        parts = [buffers[chunk].read(size, offset=offset) for chunk, offset, size in reads]
        return np.frombuffer(b"".join(parts), DTYPES[self.spec.element])

    def release(self) -> None:
        """OpenGL keeps a deleted object until the commands that use it are done."""
        self._context.make_current()
        for buffer in self.buffers:
            buffer.release()
        self.buffers = []


def allocate_arrays(context: GlContext, arrays: Arrays) -> dict[str, OpenGlArray]:
    """Every one of ``arrays`` by name, or none."""
    made: dict[str, OpenGlArray] = {}
    try:
        for name, spec in arrays:
            made[name] = OpenGlArray(context, name, spec)
    except AllocationError:
        release_arrays(made.values())
        raise
    return made


def release_arrays(arrays: Iterable[OpenGlArray]) -> None:
    for each in arrays:
        each.release()


def by_chunk(arrays: Arrays, made: Mapping[str, OpenGlArray]) -> dict[str, Any]:
    """The buffer behind each chunk that a plan names."""
    pairs = (zip(spec.chunks, made[name].buffers, strict=True) for name, spec in arrays)
    return {chunk: buffer for pair in pairs for (chunk, _), buffer in pair}
