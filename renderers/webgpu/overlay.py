"""Dear ImGui's draw data on wgpu, by wgpu-py's own backend, in a pass of its own. Used by device."""

from typing import Any

import wgpu
from wgpu.utils.imgui import ImguiWgpuBackend

from renderers.webgpu.target import COLOUR_FORMAT


class WebGpuOverlay:
    """Belongs to the ImGui context that is current when it is made."""

    def __init__(self, device: "wgpu.GPUDevice") -> None:
        self._backend = ImguiWgpuBackend(device, COLOUR_FORMAT)

    def encode(self, draw_data: Any, encoder: "wgpu.GPUCommandEncoder", colour: Any) -> None:
        """Blend over what ``colour`` shows. No timestamps: the overlay is no part of the workload's GPU time."""
        attachment = {"view": colour, "load_op": "load", "store_op": "store"}
        encoding = encoder.begin_render_pass(label="overlay", color_attachments=[attachment])
        self._backend.render(draw_data, encoding)
        encoding.end()
