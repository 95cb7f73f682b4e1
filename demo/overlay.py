"""The panel: what limits this frame, numbers, plots, timeline, controls. Widgets only; no GPU calls, no decisions."""

from collections.abc import Callable

from imgui_bundle import imgui

from demo.controls import controls, switches
from demo.facts import facts
from demo.figures import numbers, verdict
from demo.plots import axis_top_ms, frame_plot, histogram
from demo.shown import Shown
from demo.timeline import timeline
from demo.wanted import Action, Wanted
from demo.widgets import ALWAYS, CALM, FIXED, GROWING, LEFT_WIDTH, MARGIN, WIDTH, wrapped

_FIXED_HEIGHT = 514.0  # of the panel without its two plots
_LEAST_PLOTS = 150.0


def draw(shown: Shown, wanted: Wanted, do: Callable[[Action], None]) -> None:
    """Both panels, and the help where it is wanted. ``do``: what a button asks for."""
    width, height = imgui.get_io().display_size
    imgui.set_next_window_pos((max(0.0, width - WIDTH - MARGIN), MARGIN), ALWAYS)
    imgui.set_next_window_size((min(WIDTH, width), max(60.0, height - 2.0 * MARGIN)), ALWAYS)
    if imgui.begin("panel", None, FIXED)[0]:
        switches(shown, wanted, do)
        verdict(shown.verdict)
        numbers(shown.summary)
        plots = max(_LEAST_PLOTS, height - _FIXED_HEIGHT)  # what all else leaves free
        top = axis_top_ms(shown.history.frame)
        frame_plot(shown.history, top, 0.62 * plots)
        timeline([record for record, _ in list(shown.history.records)[-3:]], shown.summary)
        histogram(shown.history, top, 0.38 * plots)
        controls(shown, wanted, do)
    imgui.end()
    if width > WIDTH + LEFT_WIDTH + 3.0 * MARGIN:
        facts(shown, height)
    if shown.message:
        _message(shown.message, width)
    if wanted.help:
        _help(shown, width, height)


def _message(text: str, width: float) -> None:
    """Top left: what was saved, what is lost, a compiler's words."""
    imgui.set_next_window_pos((MARGIN, MARGIN), ALWAYS)
    imgui.set_next_window_size((min(width - 2.0 * MARGIN, 1.2 * LEFT_WIDTH), 0.0), ALWAYS)
    imgui.begin("message", None, GROWING)
    wrapped(CALM, text)
    imgui.end()


def _help(shown: Shown, width: float, height: float) -> None:
    imgui.set_next_window_pos((width / 2.0, height / 2.0), ALWAYS, (0.5, 0.5))
    imgui.begin("keys", None, GROWING)
    if imgui.begin_table("list", 2, int(imgui.TableFlags_.sizing_fixed_fit)):
        for action, key in shown.shortcuts.items():
            imgui.table_next_column()
            imgui.text_colored(CALM, key)
            imgui.table_next_column()
            imgui.text(action.value)
        imgui.end_table()
    imgui.end()
