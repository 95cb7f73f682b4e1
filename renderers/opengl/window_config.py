"""What this device asks of a window: its GL configuration, and care when it is replaced. Used by demo/window.py."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pyglet import gl


def window_config() -> gl.Config:
    """OpenGL 4.3 core, 24-bit depth, no multisampling and no sRGB: pixels are stored as the shaders write them."""
    return gl.Config(
        double_buffer=True,
        depth_size=24,
        sample_buffers=0,
        major_version=4,
        minor_version=3,
        forward_compatible=True,
    )


@contextmanager
def buffers_freed(context: Any) -> Iterator[None]:
    """Around what makes a window anew; ``context``: pyglet's.

    Mesa keeps a destroyed window's buffers, megabytes each, unless the context is current without any in between.
    """
    if sys.platform != "linux":
        yield
        return
    from pyglet.gl import glx

    detach = context.detach

    def detach_then_go_without() -> None:
        detach()
        glx.glXMakeContextCurrent(context.x_display, 0, 0, context.glx_context)

    context.detach = detach_then_go_without
    try:
        yield
    finally:
        del context.detach
