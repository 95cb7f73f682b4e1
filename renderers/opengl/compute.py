"""Kernels as programs, dispatches as bound ranges, passes as calls that run at once. Used by executable."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import moderngl

from compute.kernel import ComputePass, Dispatch, Kernel
from renderers.blocks import BlockRange, FrameBlocks
from renderers.device import BuildError
from renderers.opengl import native
from renderers.opengl.barriers import Barrier


class ComputePrograms:
    """One program per text and context: kernels that say the same share it."""

    def __init__(self, gl: Any) -> None:
        self._gl = gl
        self._built: dict[str, Any] = {}

    @property
    def built(self) -> int:
        return len(self._built)

    def get(self, kernel: Kernel) -> Any:
        if kernel.glsl not in self._built:
            try:
                self._built[kernel.glsl] = self._gl.compute_shader(kernel.glsl)
            except moderngl.Error as error:
                raise BuildError(f"{kernel.name}: {error}") from error
        return self._built[kernel.glsl]


@dataclass(frozen=True, slots=True)
class _Launch:
    program: Any
    buffers: tuple[Any, ...]
    scalars: BlockRange | None
    workgroups: tuple[int, int, int]
    barrier: Barrier


class PassLaunches:
    """One compute pass with nothing left to decide. ``barriers``: the bits before each dispatch."""

    def __init__(
        self,
        compute_pass: ComputePass,
        gl: Any,
        programs: ComputePrograms,
        buffers: Mapping[str, Any],
        scalars: Any,
        blocks: FrameBlocks,
        barriers: Sequence[Barrier],
    ) -> None:
        self.label = compute_pass.label
        self.submit_alone = compute_pass.submit_alone
        self._gl, self._scalars = gl, scalars

        def launch(dispatch: Dispatch, barrier: Barrier) -> _Launch:
            bound = tuple(buffers[name] for _, name in dispatch.buffer_arguments())
            return _Launch(
                programs.get(dispatch.kernel), bound, blocks.range_of(dispatch), dispatch.workgroups, barrier
            )

        self._launches = [launch(*each) for each in zip(compute_pass.dispatches, barriers, strict=True)]

    def issue(self, region_offset: int) -> None:
        """Bind, dispatch, and put the barrier before the kernel that needs it. Alone: flushed by itself."""
        for launch in self._launches:
            if launch.barrier:
                self._gl.memory_barrier(launch.barrier)
            for binding, buffer in enumerate(launch.buffers):
                buffer.bind_to_storage_buffer(binding)
            if launch.scalars is not None:
                offset, size = region_offset + launch.scalars.offset, launch.scalars.size
                self._scalars.bind_to_uniform_block(0, offset, size)
            launch.program.run(*launch.workgroups)
        if self.submit_alone:
            native.flush()

    @property
    def api_calls(self) -> int:
        """Per launch its barrier, a bind per buffer, one for the scalars, the dispatch; alone: a flush."""
        per_launch = (
            bool(each.barrier) + len(each.buffers) + (each.scalars is not None) + 1 for each in self._launches
        )
        return sum(per_launch) + self.submit_alone

    @property
    def barriers(self) -> int:
        return sum(bool(each.barrier) for each in self._launches)
