"""What this device asks of a window: its GL configuration, and care when it is replaced. Used by demo/window.py."""

import os
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


@contextmanager
def no_error_asked(wanted: bool) -> Iterator[None]:
    """Contexts made meanwhile leave out error checks. Neither moderngl nor pyglet can ask for that; Mesa is told so."""
    before = os.environ.get("MESA_NO_ERROR")
    if wanted:
        os.environ["MESA_NO_ERROR"] = "1"
    try:
        yield
    finally:
        if wanted:
            os.environ.pop("MESA_NO_ERROR")
            os.environ.update({} if before is None else {"MESA_NO_ERROR": before})
