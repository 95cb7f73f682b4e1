"""Dear ImGui contexts, one per interface, and pyglet's events for them. Knows no widgets and no GPU."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import imgui_bundle
from imgui_bundle import imgui, implot

from renderers.device import Interface

FONT_SIZE = 15.0
_FONT = Path(imgui_bundle.__file__).parent / "assets" / "fonts" / "Roboto" / "Roboto-Regular.ttf"
_OUTSIDE = -3.4e38  # ImGui's "no mouse here"


class Ui:
    """Two contexts, because one cannot serve two renderers; the mouse is carried over at a switch.

    ``size``: the window in points, which is what mouse events count in; ``pixels_per_point``: 2.0 on a HiDPI display.
    """

    def __init__(self) -> None:
        self._contexts: dict[Interface, tuple[Any, Any]] = {}
        self._mouse = (_OUTSIDE, _OUTSIDE)
        self._last_s = time.perf_counter()
        self.size = (1.0, 1.0)
        self.pixels_per_point = (1.0, 1.0)

    def use(self, interface: Interface) -> None:
        """Make this interface's context current, with the mouse where it is and no key stuck."""
        if interface in self._contexts:
            gui, plots = self._contexts[interface]
            imgui.set_current_context(gui)
            implot.set_current_context(plots)
        else:
            gui = imgui.create_context()
            imgui.set_current_context(gui)
            plots = implot.create_context()
            implot.set_current_context(plots)
            self._contexts[interface] = (gui, plots)
            _style()
        imgui.get_io().clear_input_mouse()
        imgui.get_io().clear_input_keys()
        imgui.get_io().add_mouse_pos_event(*self._mouse)

    def forget(self, interface: Interface) -> None:
        """The context of a lost device: its textures are gone."""
        contexts = self._contexts.pop(interface, None)
        if contexts is not None:
            implot.destroy_context(contexts[1])
            imgui.destroy_context(contexts[0])

    def frame(self, draw: Callable[[], None]) -> object:
        """One frame of widgets -> ImGui's draw data."""
        io: Any = imgui.get_io()
        now = time.perf_counter()
        io.display_size = self.size
        io.display_framebuffer_scale = self.pixels_per_point
        io.delta_time, self._last_s = max(1e-4, now - self._last_s), now
        imgui.new_frame()
        draw()
        imgui.render()
        data: object = imgui.get_draw_data()
        return data

    # pyglet's events; True stops the window's own handlers

    def on_mouse_motion(self, x: int, y: int, dx: int, dy: int) -> None:
        """pyglet counts points from the bottom, ImGui from the top."""
        self._mouse = (float(x), self.size[1] - y)
        if self._contexts:
            imgui.get_io().add_mouse_pos_event(*self._mouse)

    def on_mouse_drag(self, x: int, y: int, dx: int, dy: int, buttons: int, modifiers: int) -> None:
        self.on_mouse_motion(x, y, dx, dy)

    def on_mouse_leave(self, x: int, y: int) -> None:
        self._mouse = (_OUTSIDE, _OUTSIDE)
        imgui.get_io().add_mouse_pos_event(*self._mouse)

    def on_mouse_press(self, x: int, y: int, button: int, modifiers: int) -> None:
        self._button(x, y, button, True)

    def on_mouse_release(self, x: int, y: int, button: int, modifiers: int) -> None:
        self._button(x, y, button, False)

    def on_mouse_scroll(self, x: int, y: int, scroll_x: float, scroll_y: float) -> None:
        imgui.get_io().add_mouse_wheel_event(scroll_x, scroll_y)

    def on_text(self, text: str) -> None:
        if text >= " ":
            imgui.get_io().add_input_characters_utf8(text)

    def on_key_press(self, symbol: int, modifiers: int) -> bool | None:
        """Keys belong to a text field while one has the focus."""
        self._key(symbol, modifiers, True)
        return True if imgui.get_io().want_text_input else None

    def on_key_release(self, symbol: int, modifiers: int) -> None:
        self._key(symbol, modifiers, False)

    def _button(self, x: int, y: int, button: int, pressed: bool) -> None:
        self.on_mouse_motion(x, y, 0, 0)
        if button in (1, 2, 4):  # pyglet's left, middle, right
            imgui.get_io().add_mouse_button_event({1: 0, 2: 2, 4: 1}[button], pressed)

    def _key(self, symbol: int, modifiers: int, pressed: bool) -> None:
        io = imgui.get_io()
        io.add_key_event(imgui.Key.mod_ctrl, bool(modifiers & 2))
        io.add_key_event(imgui.Key.mod_shift, bool(modifiers & 1))
        if symbol in _KEYS:
            io.add_key_event(_KEYS[symbol], pressed)


# pyglet's key symbols are X11 keysyms; only those that edit a text field matter here.
_KEYS = {
    0xFF08: imgui.Key.backspace,
    0xFF09: imgui.Key.tab,
    0xFF0D: imgui.Key.enter,
    0xFF1B: imgui.Key.escape,
    0xFFFF: imgui.Key.delete,
    0xFF51: imgui.Key.left_arrow,
    0xFF53: imgui.Key.right_arrow,
    0xFF50: imgui.Key.home,
    0xFF57: imgui.Key.end,
    0xFF8D: imgui.Key.keypad_enter,
    0xFFE3: imgui.Key.left_ctrl,
}


def _style() -> None:
    """Calm, dark, and the same on both interfaces: colours are stored as they are given."""
    io: Any = imgui.get_io()
    io.set_ini_filename("")
    io.backend_flags |= imgui.BackendFlags_.renderer_has_textures  # both renderers make glyphs as they are needed
    if _FONT.exists():
        io.fonts.add_font_from_file_ttf(str(_FONT), FONT_SIZE)
    style: Any = imgui.get_style()
    imgui.style_colors_dark()
    style.window_rounding, style.frame_rounding, style.grab_rounding = 8.0, 4.0, 4.0
    style.window_padding, style.frame_padding, style.item_spacing = (14.0, 12.0), (8.0, 3.0), (8.0, 5.0)
    style.window_border_size = 0.0
    for name, colour in {
        "window_bg": (0.05, 0.06, 0.09, 0.90),
        "popup_bg": (0.09, 0.10, 0.14, 0.98),
        "frame_bg": (0.15, 0.17, 0.23, 1.0),
        "frame_bg_hovered": (0.20, 0.23, 0.30, 1.0),
        "button": (0.17, 0.20, 0.27, 1.0),
        "button_hovered": (0.24, 0.28, 0.37, 1.0),
        "slider_grab": (0.55, 0.60, 0.70, 1.0),
        "check_mark": (0.80, 0.84, 0.92, 1.0),
    }.items():
        style.set_color_(getattr(imgui.Col_, name), imgui.ImVec4(*colour))
    plot: Any = implot.get_style()
    plot.plot_padding, plot.plot_border_size, plot.label_padding = (16.0, 4.0), 0.0, (4.0, 3.0)
    plot.legend_padding = (0.0, 2.0)
    plot.set_color_(implot.Col_.plot_bg, imgui.ImVec4(0.0, 0.0, 0.0, 0.25))
    plot.set_color_(implot.Col_.frame_bg, imgui.ImVec4(0.0, 0.0, 0.0, 0.0))
