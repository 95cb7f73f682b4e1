"""Dear ImGui's draw data on wgpu, by wgpu-py's own backend, in a pass of its own. Used by device."""

from typing import Any

import wgpu
from imgui_bundle import imgui
from wgpu.utils.imgui import ImguiWgpuBackend

from renderers.webgpu.target import COLOUR_FORMAT


class _Backend(ImguiWgpuBackend):  # type: ignore[misc]
    """wgpu-py uploads of a new texture only what changed last: an atlas that grows loses the glyphs it had."""

    def _update_texture(self, texture: Any) -> None:
        created = texture.status == imgui.ImTextureStatus.want_create
        super()._update_texture(texture)
        if created:
            self._device.queue.write_texture(
                {"texture": self._textures[texture.tex_id]},
                texture.get_pixels_array(),
                {"bytes_per_row": texture.width * texture.bytes_per_pixel},
                (texture.width, texture.height, 1),
            )


class WebGpuOverlay:
    """Belongs to the ImGui context that is current when it is made."""

    def __init__(self, device: "wgpu.GPUDevice") -> None:
        self._backend = _Backend(device, COLOUR_FORMAT)

    def encode(self, draw_data: Any, encoder: "wgpu.GPUCommandEncoder", colour: Any) -> None:
        """Blend over what ``colour`` shows. No timestamps: the overlay is no part of the workload's GPU time."""
        attachment = {"view": colour, "load_op": "load", "store_op": "store"}
        encoding = encoder.begin_render_pass(label="overlay", color_attachments=[attachment])
        self._backend.render(draw_data, encoding)
        encoding.end()
