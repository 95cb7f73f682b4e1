"""The GL configuration that a window must have for this device. Used by demo/window.py."""

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
