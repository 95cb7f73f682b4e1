"""Frame plot and histogram: the last frames' times against the budget. Drawn by overlay."""

from typing import Any

import numpy as np
from imgui_bundle import implot

from demo.budget import BUDGET_MS
from demo.history import LENGTH, History
from demo.widgets import BUDGET, CALM, CPU, GPU, tip, vector

# Plain integers: combining enum flags anew every frame costs as much as a plot.
_PLOT = int(implot.Flags_.no_mouse_text | implot.Flags_.no_menus | implot.Flags_.no_box_select | implot.Flags_.no_title)
_PLOT_WITHOUT_LEGEND = _PLOT | int(implot.Flags_.no_legend)
_AXIS = int(implot.AxisFlags_.no_menus | implot.AxisFlags_.no_highlight)
_AXIS_OF_FRAMES = _AXIS | int(
    implot.AxisFlags_.no_tick_labels | implot.AxisFlags_.no_tick_marks | implot.AxisFlags_.no_grid_lines
)
_AXIS_OF_COUNTS = _AXIS | int(implot.AxisFlags_.no_decorations | implot.AxisFlags_.auto_fit)
_AXIS_OF_TIMES = _AXIS | int(implot.AxisFlags_.no_grid_lines)
_LEGEND = int(implot.LegendFlags_.outside | implot.LegendFlags_.horizontal)  # inside it would cover a spike
_HORIZONTAL, _UNLISTED = int(implot.InfLinesFlags_.horizontal), int(implot.ItemFlags_.no_legend)
_ALWAYS_PLOT = int(implot.Cond_.always)
_LADDER_MS = (20.0, 25.0, 40.0, 60.0, 100.0, 200.0, 400.0, 800.0, 1600.0)
_TAG, _AROUND = 18.0, 40.0  # least distance of a label from the tag's middle; legend and padding around a plot: points
_BUDGET_AT = np.array([BUDGET_MS])


def frame_plot(history: History, top: float, height: float) -> None:
    """Newest at the right. The axis ends on a fixed ladder that ignores the odd spike: only a hitch leaves the plot."""
    if implot.begin_plot("##frames", (-1.0, height), _PLOT):
        implot.setup_axes("", "", _AXIS_OF_FRAMES, _AXIS)
        implot.setup_axes_limits(1.0 - LENGTH, 0.0, 0.0, top, _ALWAYS_PLOT)
        implot.setup_axis_ticks(implot.ImAxis_.y1, [0.0, top], _end_labels(top, height), False)
        implot.setup_legend(implot.Location_.north_east, _LEGEND)
        for name, series, colour, weight in (
            ("frame", history.frame, (0.92, 0.93, 0.95, 0.75), 1.2),
            ("CPU work", history.cpu, CPU, 2.0),
            ("GPU", history.gpu, GPU, 2.0),
        ):
            implot.plot_line(name, history.x, series, _line(colour, weight))
        implot.plot_scatter("rebuilt, skipped", history.x, history.marks, _marker())
        _budget_line(_HORIZONTAL)
        implot.tag_y(BUDGET_MS, vector(BUDGET), f"{BUDGET_MS:.1f}")
        implot.end_plot()
    tip("Red line: the budget. Triangles: frames that were rebuilt or skipped; they are in no statistic.")


def _end_labels(top: float, height: float) -> list[str]:
    """Of the time axis, but for an end that the budget's tag would cover."""
    point_ms = top / max(1.0, height - _AROUND)
    return [
        "0" if _TAG * point_ms < BUDGET_MS else "",
        f"{top:g} ms" if top - BUDGET_MS > _TAG * point_ms else "",
    ]


def axis_top_ms(series: Any) -> float:
    """The first rung above all but the slowest fiftieth of the frames in sight."""
    known = np.sort(series[~np.isnan(series)])
    reach = float(known[int(0.98 * (len(known) - 1))]) if len(known) else 0.0
    return next((rung for rung in _LADDER_MS if reach * 1.1 <= rung), _LADDER_MS[-1])


def histogram(history: History, top: float, height: float) -> None:
    if implot.begin_plot("##histogram", (-1.0, height), _PLOT_WITHOUT_LEGEND):
        implot.setup_axes("", "", _AXIS_OF_TIMES, _AXIS_OF_COUNTS)
        implot.setup_axis_limits(implot.ImAxis_.x1, 0.0, top, _ALWAYS_PLOT)
        labels = ["0", f"{BUDGET_MS:.1f}", f"{top:g} ms"]
        implot.setup_axis_ticks(implot.ImAxis_.x1, [0.0, BUDGET_MS, top], labels, False)
        for name, series, colour in (
            ("frame", history.frame, (0.92, 0.93, 0.95, 0.45)),
            ("CPU work", history.cpu, (*CPU[:3], 0.75)),
            ("GPU", history.gpu, (*GPU[:3], 0.75)),
        ):
            known = np.ascontiguousarray(series[~np.isnan(series)])
            if len(known):
                spec = implot.Spec(fill_color=vector(colour), line_color=vector((0.0, 0.0, 0.0, 0.0)))
                implot.plot_histogram(name, known, 60, 1.0, implot.Range(0.0, top), spec)
        _budget_line(0)
        implot.end_plot()
    tip(f"How often each time came up: frame white, CPU work orange, GPU blue; last {LENGTH} frames.")


def _budget_line(flags: int) -> None:
    spec = implot.Spec(line_color=vector(BUDGET), line_weight=1.5, flags=flags | _UNLISTED)
    implot.plot_inf_lines("##budget", _BUDGET_AT, spec)


def _line(colour: Any, weight: float) -> Any:
    return implot.Spec(line_color=vector(colour), line_weight=weight)


def _marker() -> Any:
    calm = vector(CALM)
    return implot.Spec(marker=implot.Marker_.up, marker_size=4.0, marker_fill_color=calm, flags=_UNLISTED)
