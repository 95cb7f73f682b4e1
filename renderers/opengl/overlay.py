"""Dear ImGui's draw data on moderngl: dynamic textures, one vertex buffer, no PyOpenGL. Used by device."""

import ctypes
from typing import Any

import moderngl
from imgui_bundle import imgui

_VERTEX = """#version 430
uniform vec4 box;  // scale, offset: pixels to clip space
layout(location = 0) in vec2 position;
layout(location = 1) in vec2 uv;
layout(location = 2) in vec4 colour;
out vec2 at;
out vec4 tint;
void main() {
    at = uv;
    tint = colour;
    gl_Position = vec4(position * box.xy + box.zw, 0.0, 1.0);
}
"""
_FRAGMENT = """#version 430
uniform sampler2D glyphs;
in vec2 at;
in vec4 tint;
layout(location = 0) out vec4 pixel;
void main() { pixel = tint * texture(glyphs, at); }
"""
_FIRST_VERTICES, _FIRST_INDICES = 8192, 16384


class OpenGlOverlay:
    """Belongs to the ImGui context that is current when it is made."""

    def __init__(self, gl: Any) -> None:
        self._gl = gl
        platform = imgui.get_platform_io()
        platform.renderer_texture_max_width = platform.renderer_texture_max_height = gl.info["GL_MAX_TEXTURE_SIZE"]
        self._program = gl.program(vertex_shader=_VERTEX, fragment_shader=_FRAGMENT)
        self._textures: dict[int, Any] = {}
        self._room = (0, 0)
        self._buffers: tuple[Any, ...] = ()
        self._reserve(_FIRST_VERTICES, _FIRST_INDICES)

    def render(self, draw_data: Any, framebuffer: Any) -> None:
        """Blend over what ``framebuffer`` shows. Clip rectangles are cut to it: a window may have shrunk meanwhile."""
        for texture in draw_data.textures or ():
            if texture.status != imgui.ImTextureStatus.ok:
                self._update(texture)
        width, height = framebuffer.size if framebuffer.glo else framebuffer.viewport[2:]
        scale_x, scale_y = draw_data.framebuffer_scale
        self._prepare(draw_data, framebuffer)
        for commands in draw_data.cmd_lists:
            self._upload(commands)
            for command in commands.cmd_buffer:
                left, top, right, bottom = command.clip_rect
                x0, y0 = max(int(left * scale_x), 0), max(int(top * scale_y), 0)
                x1, y1 = min(int(right * scale_x), width), min(int(bottom * scale_y), height)
                if x1 > x0 and y1 > y0:
                    self._textures[command.get_tex_id()].use(0)
                    framebuffer.scissor = (x0, height - y1, x1 - x0, y1 - y0)
                    self._vertex_array.render(moderngl.TRIANGLES, command.elem_count, first=command.idx_offset)
        framebuffer.scissor = None

    def release(self) -> None:
        for texture in self._textures.values():
            texture.release()
        for each in (*self._buffers, self._program):
            each.release()

    def _prepare(self, draw_data: Any, framebuffer: Any) -> None:
        gl, (width, height) = self._gl, draw_data.display_size
        framebuffer.use()
        gl.enable_only(moderngl.BLEND)
        gl.blend_equation = moderngl.FUNC_ADD
        gl.blend_func = moderngl.SRC_ALPHA, moderngl.ONE_MINUS_SRC_ALPHA, moderngl.ONE, moderngl.ONE_MINUS_SRC_ALPHA
        self._program["box"].value = (2.0 / width, -2.0 / height, -1.0, 1.0)
        self._reserve(draw_data.total_vtx_count, draw_data.total_idx_count)

    def _upload(self, commands: Any) -> None:
        """Indices count from their own list's first vertex, so each list has the buffers to itself."""
        self._vertices.orphan()
        self._indices.orphan()
        for buffer, data, size in (
            (self._vertices, commands.vtx_buffer, imgui.VERTEX_SIZE),
            (self._indices, commands.idx_buffer, imgui.INDEX_SIZE),
        ):
            buffer.write((ctypes.c_char * (data.size() * size)).from_address(data.data_address()))

    def _reserve(self, vertices: int, indices: int) -> None:
        """Grow, never shrink."""
        if vertices <= self._room[0] and indices <= self._room[1]:
            return
        for each in self._buffers:
            each.release()
        self._room = (max(vertices * 3 // 2, _FIRST_VERTICES), max(indices * 3 // 2, _FIRST_INDICES))
        self._vertices = self._gl.buffer(reserve=self._room[0] * imgui.VERTEX_SIZE, dynamic=True)
        self._indices = self._gl.buffer(reserve=self._room[1] * imgui.INDEX_SIZE, dynamic=True)
        self._vertex_array = self._gl.vertex_array(
            self._program,
            [(self._vertices, "2f 2f 4f1", "position", "uv", "colour")],
            index_buffer=self._indices,
            index_element_size=imgui.INDEX_SIZE,
        )
        self._buffers = (self._vertex_array, self._vertices, self._indices)

    def _update(self, data: Any) -> None:
        """ImGui asks for textures as it needs glyphs."""
        status = imgui.ImTextureStatus
        if data.status == status.want_create:
            texture = self._gl.texture((data.width, data.height), 4, data.get_pixels_array().tobytes())
            texture.filter = (moderngl.LINEAR, moderngl.LINEAR)
            texture.repeat_x = texture.repeat_y = False
            self._textures[texture.glo] = texture
            data.set_tex_id(texture.glo)
            data.set_status(status.ok)
        elif data.status == status.want_updates:
            pixels = data.get_pixels_array().reshape(data.height, data.width, data.bytes_per_pixel)
            for part in data.updates:
                rows = pixels[part.y : part.y + part.h, part.x : part.x + part.w]
                self._textures[data.tex_id].write(rows.tobytes(), viewport=(part.x, part.y, part.w, part.h))
            data.set_status(status.ok)
        elif data.status == status.want_destroy and data.unused_frames > 0:
            self._textures.pop(data.tex_id).release()
            data.set_tex_id(0)
            data.set_status(status.destroyed)
