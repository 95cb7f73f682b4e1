"""Colours, flags and small widgets that every part of the overlay shares.

Colours mean one thing everywhere: CPU orange, GPU blue, waiting grey, overlay violet, budget red.
"""

from typing import Any

from imgui_bundle import imgui

Colour = tuple[float, float, float, float]

WIDTH, LEFT_WIDTH, MARGIN = 452.0, 430.0, 12.0  # of the panel, of what stands on the left; points
CPU, GPU, WAIT = (1.00, 0.64, 0.22, 1.0), (0.30, 0.68, 1.00, 1.0), (0.44, 0.47, 0.54, 1.0)
OVERLAY, BUDGET, GOOD = (0.68, 0.52, 0.95, 1.0), (1.00, 0.33, 0.36, 1.0), (0.45, 0.86, 0.55, 1.0)
TEXT, DIM, CALM = (0.93, 0.94, 0.97, 1.0), (0.60, 0.64, 0.72, 1.0), (0.96, 0.82, 0.50, 1.0)
_CHOSEN = (0.26, 0.40, 0.66, 1.0)
# Plain integers: combining enum flags anew every frame costs as much as a plot.
ALWAYS = int(imgui.Cond_.always)
FIXED = int(imgui.WindowFlags_.no_decoration | imgui.WindowFlags_.no_move | imgui.WindowFlags_.no_saved_settings)
GROWING = FIXED | int(imgui.WindowFlags_.always_auto_resize)
_EVEN_IF_DISABLED = int(imgui.HoveredFlags_.allow_when_disabled)
_TIP_WIDTH = 360.0


def choice(label: str, chosen: bool, width: float, height: float) -> bool:
    """A button that looks pressed while ``chosen``; True when it is clicked."""
    if chosen:
        imgui.push_style_color(imgui.Col_.button, _CHOSEN)
        imgui.push_style_color(imgui.Col_.button_hovered, _CHOSEN)
    clicked: bool = imgui.button(label, (width, height))
    if chosen:
        imgui.pop_style_color(2)
    return clicked


def tip(text: str) -> None:
    """Beside the mouse while it points at the last widget, greyed or not."""
    if imgui.is_item_hovered(_EVEN_IF_DISABLED):
        imgui.set_next_window_size((_TIP_WIDTH, 0.0))
        if imgui.begin_tooltip():
            imgui.push_text_wrap_pos(0.0)
            imgui.text(text)
            imgui.pop_text_wrap_pos()
            imgui.end_tooltip()


def wrapped(colour: Colour, text: str) -> None:
    """Broken at the window's edge."""
    imgui.push_text_wrap_pos(0.0)
    imgui.text_colored(colour, text)
    imgui.pop_text_wrap_pos()


def packed(rgba: Colour) -> int:
    """As ImGui's draw lists take a colour."""
    red, green, blue, alpha = (round(255.0 * channel) for channel in rgba)
    return alpha << 24 | blue << 16 | green << 8 | red


def vector(rgba: Colour) -> Any:
    """As ImPlot takes a colour."""
    return imgui.ImVec4(*rgba)
