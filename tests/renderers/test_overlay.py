"""Textures of the overlay: whole from the start, or an atlas that grows shows holes where its glyphs were."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from imgui_bundle import imgui

from renderers.device import Device
from renderers.webgpu.overlay import WebGpuOverlay


class GrownAtlas:
    """What ImGui hands over as its atlas grows: a new texture of which only a part is marked as changed."""

    width, height, bytes_per_pixel, format = 64, 32, 4, imgui.ImTextureFormat.rgba32
    update_rect = SimpleNamespace(x=20, y=10, w=8, h=4)

    def __init__(self) -> None:
        self.status, self.tex_id = imgui.ImTextureStatus.want_create, 0

    def get_pixels_array(self) -> "np.ndarray[Any, np.dtype[np.uint8]]":
        return np.arange(64 * 32 * 4, dtype=np.uint32).astype(np.uint8)

    def set_tex_id(self, number: int) -> None:
        self.tex_id = number

    def set_status(self, status: Any) -> None:
        self.status = status


def test_a_new_texture_is_uploaded_whole_whatever_changed_last(webgpu: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    context = imgui.create_context()
    imgui.set_current_context(context)
    device: Any = webgpu
    written = []
    real = type(device._queue).write_texture

    def write(queue: Any, destination: Any, data: Any, layout: Any, size: Any) -> None:
        written.append((destination.get("origin", (0, 0, 0)), bytes(data), size))
        real(queue, destination, data, layout, size)

    monkeypatch.setattr(type(device._queue), "write_texture", write)
    atlas = GrownAtlas()
    overlay: Any = WebGpuOverlay(device._device)
    overlay._backend._update_texture(atlas)
    assert written[-1] == ((0, 0, 0), atlas.get_pixels_array().tobytes(), (64, 32, 1))
    assert atlas.status == imgui.ImTextureStatus.ok
    imgui.destroy_context(context)
