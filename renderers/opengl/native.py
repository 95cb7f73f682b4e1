"""What moderngl does not expose, through pyglet.gl: fences, 64-bit stamps, flush, clip control, limits."""

import ctypes
from typing import Any

from pyglet import gl

_NO_ERROR_BIT = 0x8
_FENCE_TIMEOUT_NS = 10 * 10**9


def link_without_window() -> None:
    """On Windows pyglet resolves entry points only once it knows a context; here moderngl has made the current one."""
    if gl.current_context is None:
        gl.current_context = object()


def flush() -> None:
    """Hand everything issued so far to the driver: the nearest thing OpenGL has to a submit."""
    gl.glFlush()


def fence() -> Any:
    """A sync object behind everything issued so far."""
    return gl.glFenceSync(gl.GL_SYNC_GPU_COMMANDS_COMPLETE, 0)


def wait_fence(sync: Any) -> None:
    """Block until the GPU has passed ``sync``, then delete it."""
    passed = (gl.GL_ALREADY_SIGNALED, gl.GL_CONDITION_SATISFIED, gl.GL_WAIT_FAILED)
    while gl.glClientWaitSync(sync, gl.GL_SYNC_FLUSH_COMMANDS_BIT, _FENCE_TIMEOUT_NS) not in passed:
        pass  # a frame may last longer than one wait
    gl.glDeleteSync(sync)


def create_queries(count: int) -> Any:
    queries = (gl.GLuint * count)()
    gl.glGenQueries(count, queries)
    return queries


def delete_queries(queries: Any) -> None:
    gl.glDeleteQueries(len(queries), queries)


def stamp(query: int) -> None:
    """Write GL_TIMESTAMP into ``query`` when everything issued so far is done."""
    gl.glQueryCounter(query, gl.GL_TIMESTAMP)


def stamp_available(query: int) -> bool:
    available = gl.GLuint()
    gl.glGetQueryObjectuiv(query, gl.GL_QUERY_RESULT_AVAILABLE, ctypes.byref(available))
    return bool(available.value)


def read_stamp(query: int) -> int:
    """64 bits, in nanoseconds; moderngl's own getter saturates at 2^32 - 1."""
    result = gl.GLuint64()
    gl.glGetQueryObjectui64v(query, gl.GL_QUERY_RESULT, ctypes.byref(result))
    return int(result.value)


def timestamp_bits() -> int:
    """0 when this driver has no timestamp counter."""
    bits = gl.GLint()
    gl.glGetQueryiv(gl.GL_TIMESTAMP, gl.GL_QUERY_COUNTER_BITS, ctypes.byref(bits))
    return int(bits.value)


def clip_control(top_row_first: bool) -> None:
    """Clip depth 0 to 1, and the first row of the framebuffer at the top or the bottom (OpenGL 4.5, ARB_clip_control).

    An image whose first row is the top one is rasterised exactly as other interfaces do; a window wants the bottom.
    """
    gl.glClipControl(gl.GL_UPPER_LEFT if top_row_first else gl.GL_LOWER_LEFT, gl.GL_ZERO_TO_ONE)


def is_no_error() -> bool:
    """Whether this context leaves out error checks (KHR_no_error)."""
    return bool(integer(gl.GL_CONTEXT_FLAGS) & _NO_ERROR_BIT)


def integer(name: int) -> int:
    """A limit; 64 bits, because buffer sizes need them."""
    value = gl.GLint64()
    gl.glGetInteger64v(name, ctypes.byref(value))
    return int(value.value)


def indexed_integer(name: int, index: int) -> int:
    value = gl.GLint()
    gl.glGetIntegeri_v(name, index, ctypes.byref(value))
    return int(value.value)


def error() -> str | None:
    """The oldest pending GL error, if any."""
    code = gl.glGetError()
    return None if code == gl.GL_NO_ERROR else f"0x{code:04X}"


MAX_STORAGE_BLOCK_BYTES = gl.GL_MAX_SHADER_STORAGE_BLOCK_SIZE
MAX_STORAGE_BLOCKS = gl.GL_MAX_COMPUTE_SHADER_STORAGE_BLOCKS
MAX_INVOCATIONS = gl.GL_MAX_COMPUTE_WORK_GROUP_INVOCATIONS
MAX_WORKGROUP_SIZE = gl.GL_MAX_COMPUTE_WORK_GROUP_SIZE
MAX_WORKGROUP_COUNT = gl.GL_MAX_COMPUTE_WORK_GROUP_COUNT
MAX_SHARED_BYTES = gl.GL_MAX_COMPUTE_SHARED_MEMORY_SIZE
