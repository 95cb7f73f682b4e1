"""The scene pass: one program per shader, and one function per submission. Used by executable."""

from collections.abc import Mapping
from importlib.resources import files
from typing import Any

import moderngl
import numpy as np

from renderers.blocks import BlockRange, FrameBlocks
from renderers.device import Array, BuildError
from renderers.opengl.barriers import Barrier
from renderers.opengl.context import GlContext
from renderers.plan import ScenePass, Submission

RECORD_BYTES = 32  # two vec4: place, colour


class ScenePrograms:
    """One program per shader and context."""

    def __init__(self, context: GlContext) -> None:
        self._context = context
        self._built: dict[str, Any] = {}

    def get(self, shader: str) -> Any:
        if shader not in self._built:
            vertex, fragment = (files("assets").joinpath(f"{shader}.{stage}").read_text() for stage in ("vert", "frag"))
            if not self._context.has_clip_control:
                vertex = vertex.replace("\n", "\n#define DEPTH_FROM_MINUS_ONE\n", 1)
            try:
                self._built[shader] = self._context.gl.program(vertex_shader=vertex, fragment_shader=fragment)
            except moderngl.Error as error:
                raise BuildError(f"{shader}: {error}") from error
        return self._built[shader]


class SceneDraws:
    """One scene pass with nothing left to decide. ``barrier``: the bits before its first draw."""

    def __init__(
        self,
        scene: ScenePass,
        submission: Submission,
        gl: Any,
        programs: ScenePrograms,
        buffers: Mapping[str, Any],
        scalars: Any,
        blocks: FrameBlocks,
        barrier: Barrier,
    ) -> None:
        self._scene, self._submission, self._gl, self._scalars = scene, submission, gl, scalars
        self.label = scene.label
        self._barrier = barrier
        block_range = blocks.range_of(scene)
        assert block_range is not None
        self._block: BlockRange = block_range
        program = programs.get(scene.shader)
        self._record = program["record"]
        self._vertex_array = gl.vertex_array(
            program,
            [
                (buffers[f"{scene.vertices}[0]"], "3f 3f", "position", "normal"),
                (buffers[f"{scene.heights}[0]"], "1f/i", "height"),  # divisor 1 adds base instance: draw i, height i
            ],
            buffers[f"{scene.indices}[0]"],
            index_element_size=4,
        )
        self._commands = gl.buffer(_commands(scene))
        self._records: list[bytes] = []

    def set_records(self, objects: Array) -> None:
        """The bytes of each object's record, made once: a steady frame only hands them over."""
        self._records = [row.tobytes() for row in objects]

    def issue(self, framebuffer: Any, region_offset: int) -> None:
        """Clear, then draw every object. Called at once: there is no command buffer to fill."""
        framebuffer.use()
        self._gl.enable_only(moderngl.DEPTH_TEST | moderngl.CULL_FACE)
        framebuffer.clear(*self._scene.clear, depth=1.0)
        if self._submission is Submission.IMMEDIATE_BIND:
            self._immediate_bind(region_offset)

    def release(self) -> None:
        self._vertex_array.release()
        self._commands.release()

    def _immediate_bind(self, region_offset: int) -> None:
        """One uniform write and one draw per object. moderngl has no base instance except in a stored command."""
        if self._barrier:
            self._gl.memory_barrier(self._barrier)
        self._scalars.bind_to_uniform_block(0, region_offset + self._block.offset, self._block.size)
        write, draw = self._record.write, self._vertex_array.render_indirect
        commands, mode = self._commands, moderngl.TRIANGLES
        for i, record in enumerate(self._records):
            write(record)
            draw(commands, mode, 1, first=i)

    @property
    def draws(self) -> int:
        if self._submission is Submission.NONE:
            return 0
        return sum(each.object_count for each in self._scene.draws)

    @property
    def uniform_bytes(self) -> int:
        """Each draw's record travels with it, anew every frame; wgpu's stay in their buffer."""
        return RECORD_BYTES * self.draws

    @property
    def api_calls(self) -> int:
        """use, enable, clear; with draws the barrier and the frame's block, and per draw a uniform and a draw."""
        return 3 + (bool(self._barrier) + 1 + 2 * self.draws if self.draws else 0)

    @property
    def barriers(self) -> int:
        return int(bool(self._barrier) and self.draws > 0)


def _commands(scene: ScenePass) -> bytes:
    """DrawElementsIndirectCommand per object: count, instances, first index, base vertex, base instance."""
    rows = [(draw.index_count, 1, draw.first_index, draw.base_vertex, i) for i, draw in scene.each_draw()]
    return np.array(rows, np.uint32).tobytes()
