"""The OpenGL-style immediate path: moderngl, OpenGL 4.3 core; fences, 64-bit queries and flushes through pyglet.gl."""

import pyglet

# Before anything imports pyglet.gl: no hidden window of its own, and no glGetError around every call.
pyglet.options.shadow_window = False
pyglet.options.debug_gl = False
