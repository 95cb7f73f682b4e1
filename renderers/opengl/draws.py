"""The scene pass: one program per shader and finish, and one function per submission. Used by executable."""

import time
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

import moderngl

from renderers.blocks import RECORD_BYTES, FrameBlocks
from renderers.commands import object_commands, range_commands
from renderers.device import Array, BuildError
from renderers.materials import palette
from renderers.opengl.barriers import Barrier
from renderers.opengl.buffers import allocate
from renderers.opengl.context import GlContext
from renderers.plan import Material, ScenePass, StateRun, Submission

_TRIANGLES = moderngl.TRIANGLES


class ScenePrograms:
    """One program per shader, finish and way to the record, and a texture per palette; kept for the context's life."""

    def __init__(self, context: GlContext) -> None:
        self._context = context
        self._built: dict[tuple[str, str, bool], Any] = {}
        self._textures: dict[str, Any] = {}

    @property
    def built(self) -> int:
        return len(self._built)

    def get(self, shader: str, finish: str, bound_record: bool) -> Any:
        key = (shader, finish, bound_record)
        if key not in self._built:
            self._built[key] = self._build(*key)
        return self._built[key]

    def texture(self, name: str) -> Any:
        if name not in self._textures:
            texels = palette(name)
            texture = self._context.gl.texture(texels.shape[1::-1], 4, texels.tobytes())
            texture.filter = (moderngl.NEAREST, moderngl.NEAREST)  # complete without mipmaps
            self._textures[name] = texture
        return self._textures[name]

    def _build(self, shader: str, finish: str, bound_record: bool) -> Any:
        defines = [f"FINISH {finish}"]
        if bound_record:
            defines.append("BOUND_RECORD")
        if not self._context.has_clip_control:
            defines.append("DEPTH_FROM_MINUS_ONE")
        vertex, fragment = (_source(f"{shader}.{stage}", defines) for stage in ("vert", "frag"))
        try:
            return self._context.gl.program(vertex_shader=vertex, fragment_shader=fragment)
        except moderngl.Error as error:
            raise BuildError(f"{shader} {finish}: {error}") from error


class SceneDraws:
    """One scene pass with nothing left to decide. ``barrier``: the bits before its first draw.

    moderngl has no base instance except in a stored command, so every draw reads one: ``render_indirect`` of a count
    of 1 is the immediate draw here. ``recording_ms``: thread time that storing the commands took, None without any.
    """

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
        self.label, self.objects = scene.label, scene.objects
        self._barrier = barrier
        block_range = blocks.range_of(scene)
        assert block_range is not None
        self._block = block_range
        self._runs = () if submission is Submission.NONE else scene.state_runs
        used = scene.materials if self._runs else ()
        self._vertex_arrays = [_vertex_array(gl, scene, each, submission, programs, buffers) for each in used]
        self._textures = [None if each.palette is None else programs.texture(each.palette) for each in used]
        bound = submission is Submission.IMMEDIATE_BIND
        self._uniforms = [each.program["record"] for each in self._vertex_arrays] if bound else []
        self._records: list[bytes] = []
        self._commands: Any = None
        self.recording_ms: float | None = None
        if self._runs:
            self._store_commands()

    def set_records(self, objects: Array) -> None:
        """The bytes of each object's record, made once: a steady frame only hands them over. Others read the array."""
        if self._submission is Submission.IMMEDIATE_BIND:
            self._records = [row.tobytes() for row in objects]

    def issue(self, framebuffer: Any, region_offset: int) -> None:
        """Clear, then draw every object. Called at once: there is no command buffer to fill."""
        framebuffer.use()
        self._gl.enable_only(moderngl.DEPTH_TEST | moderngl.CULL_FACE)
        framebuffer.clear(*self._scene.clear, depth=1.0)
        if not self._runs:
            return
        if self._barrier:
            self._gl.memory_barrier(self._barrier)
        self._scalars.bind_to_uniform_block(0, region_offset + self._block.offset, self._block.size)
        submit = _SUBMIT[self._submission]
        for run in self._runs:
            texture = self._textures[run.material]
            if texture is not None:
                texture.use(0)
            submit(self, run, self._vertex_arrays[run.material])

    def _store_commands(self) -> None:
        begin = time.thread_time_ns()
        scene = self._scene
        ranged = self._submission is Submission.INSTANCED
        commands = range_commands(scene.draws) if ranged else object_commands(scene)
        self._commands = allocate(self._gl, "draw commands", commands.nbytes)
        self._commands.write(commands)
        self.recording_ms = (time.thread_time_ns() - begin) / 1e6

    def release(self) -> None:
        for each in self._vertex_arrays:
            each.release()
        if self._commands is not None:
            self._commands.release()

    def _immediate_bind(self, run: StateRun, array: Any) -> None:
        """A uniform write and a draw per object. llvmpipe takes twice as long for a range of a uniform buffer.

        A null driver takes an eighth less for it.
        """
        write, draw = self._uniforms[run.material].write, array.render_indirect
        records, commands = self._records, self._commands
        for i in range(run.first_object, run.first_object + run.object_count):
            write(records[i])
            draw(commands, _TRIANGLES, 1, i)

    def _immediate(self, run: StateRun, array: Any) -> None:
        draw, commands = array.render_indirect, self._commands
        for i in range(run.first_object, run.first_object + run.object_count):
            draw(commands, _TRIANGLES, 1, i)

    def _instanced(self, run: StateRun, array: Any) -> None:
        """One command a range, whose instances are its objects."""
        for i in range(run.first_range, run.first_range + len(run.draws)):
            array.render_indirect(self._commands, _TRIANGLES, 1, i)

    def _indirect(self, run: StateRun, array: Any) -> None:
        """One call for all objects that need no change of state between them."""
        array.render_indirect(self._commands, _TRIANGLES, run.object_count, run.first_object)

    @property
    def draws(self) -> int:
        return self._scene.draws_by(self._submission)

    @property
    def uniform_bytes(self) -> int:
        """Where it is bound, each draw's record travels with it, anew every frame."""
        return RECORD_BYTES * self.draws if self._submission is Submission.IMMEDIATE_BIND else 0

    @property
    def api_calls(self) -> int:
        """use, enable, clear; with draws the barrier and the frame's block, a texture a run, and the calls per draw."""
        if not self._runs:
            return 3
        textures = sum(self._textures[run.material] is not None for run in self._runs)
        calls = {
            Submission.IMMEDIATE_BIND: 2 * self._scene.object_count,
            Submission.IMMEDIATE: self._scene.object_count,
            Submission.INSTANCED: len(self._scene.draws),
            Submission.INDIRECT: len(self._runs),
        }[self._submission]
        return 3 + bool(self._barrier) + 1 + textures + calls

    @property
    def barriers(self) -> int:
        return int(bool(self._barrier) and bool(self._runs))


def _source(name: str, defines: list[str]) -> str:
    text = files("assets").joinpath(name).read_text()
    return text.replace("\n", "\n" + "".join(f"#define {each}\n" for each in defines), 1)


def _vertex_array(
    gl: Any,
    scene: ScenePass,
    material: Material,
    submission: Submission,
    programs: ScenePrograms,
    buffers: Mapping[str, Any],
) -> Any:
    """Divisor 1 adds the base instance: draw i reads height i, and where it is not bound, record i."""
    bound = submission is Submission.IMMEDIATE_BIND
    content = [
        (buffers[f"{scene.vertices}[0]"], "3f 3f", "position", "normal"),
        (buffers[f"{scene.heights}[0]"], "1f/i", "height"),
    ]
    if not bound:
        content.append((buffers[f"{scene.objects}[0]"], "4f 4f/i", "place", "colour"))
    program = programs.get(scene.shader, material.finish, bound)
    return gl.vertex_array(program, content, buffers[f"{scene.indices}[0]"], index_element_size=4)


_SUBMIT = {
    Submission.IMMEDIATE_BIND: SceneDraws._immediate_bind,
    Submission.IMMEDIATE: SceneDraws._immediate,
    Submission.INSTANCED: SceneDraws._instanced,
    Submission.INDIRECT: SceneDraws._indirect,
}
