"""The panel: what limits this frame, numbers, plots, timeline, controls. Widgets only; no GPU calls, no decisions.

Colours mean one thing everywhere: CPU orange, GPU blue, waiting grey, overlay violet, budget red.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from imgui_bundle import imgui, implot

from compute.kernel import SCHEDULES
from demo.budget import BUDGET_MS, WORK, FrameRecord, Stats, headroom_ms
from demo.history import LENGTH, History, Summary
from demo.verdict import Forecast, share_text
from demo.wanted import MAX_ELEMENTS_SHOWN, MAX_OBJECTS_SHOWN, Action, Wanted
from renderers.device import CpuSpan, DeviceInfo, Interface

WIDTH, LEFT_WIDTH = 452.0, 430.0
_FIXED_HEIGHT = 468.0  # of the panel without its two plots
_CPU, _GPU, _WAIT = (1.00, 0.64, 0.22, 1.0), (0.30, 0.68, 1.00, 1.0), (0.44, 0.47, 0.54, 1.0)
_OVERLAY, _BUDGET, _GOOD = (0.68, 0.52, 0.95, 1.0), (1.00, 0.33, 0.36, 1.0), (0.45, 0.86, 0.55, 1.0)
_TEXT, _DIM, _CALM = (0.93, 0.94, 0.97, 1.0), (0.60, 0.64, 0.72, 1.0), (0.96, 0.82, 0.50, 1.0)
_CHOSEN = (0.26, 0.40, 0.66, 1.0)
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
_ALWAYS, _ALWAYS_PLOT = int(imgui.Cond_.always), int(implot.Cond_.always)
_FIXED = int(imgui.WindowFlags_.no_decoration | imgui.WindowFlags_.no_move | imgui.WindowFlags_.no_saved_settings)
_GROWING = _FIXED | int(imgui.WindowFlags_.always_auto_resize)
_LOGARITHMIC = int(imgui.SliderFlags_.logarithmic | imgui.SliderFlags_.always_clamp)
_LADDER_MS = (20.0, 25.0, 40.0, 60.0, 100.0, 200.0, 400.0, 800.0, 1600.0)
_BUDGET_AT = np.array([BUDGET_MS])


def _packed(rgba: tuple[float, float, float, float]) -> int:
    """As ImGui's draw lists take a colour."""
    red, green, blue, alpha = (round(255.0 * channel) for channel in rgba)
    return alpha << 24 | blue << 16 | green << 8 | red


DEFINITIONS = {
    "Frame": "End of present to end of present. Percentiles are nearest rank, of the frames in sight.",
    "CPU work": "Thread time in update, encode and submit. What is blocked is wait, wherever it happens.",
    "GPU": "Union of the frame's timed passes: elapsed between stamps, without the overlay.",
    "Headroom": "Budget minus the longer of CPU work and GPU time; n/a where the GPU time is.",
}


@dataclass(frozen=True, slots=True)
class PassRow:
    label: str
    kernels: int | None
    bytes: int | None
    gpu_p50: float | None


@dataclass(frozen=True, slots=True)
class Shown:
    """Everything that one frame of the panel shows."""

    interfaces: Mapping[Interface, str]  # what each is called, or why it is not there
    interface: Interface
    info: DeviceInfo
    present_mode: str
    refresh_hz: float | None
    history: History
    summary: Summary
    verdict: str
    forecast: Forecast | None
    passes: Sequence[PassRow]
    missed_rule: str
    message: str
    shortcuts: Mapping[Action, str]


def draw(shown: Shown, wanted: Wanted, do: Callable[[Action], None]) -> None:
    """Both panels, and the help where it is wanted. ``do``: what a button asks for."""
    width, height = imgui.get_io().display_size
    imgui.set_next_window_pos((max(0.0, width - WIDTH - 12.0), 12.0), _ALWAYS)
    imgui.set_next_window_size((min(WIDTH, width), max(60.0, height - 24.0)), _ALWAYS)
    if imgui.begin("panel", None, _FIXED)[0]:
        _switches(shown, wanted, do)
        _verdict(shown)
        _numbers(shown.summary)
        plots = max(150.0, height - _FIXED_HEIGHT)  # what all else leaves free
        top = axis_top_ms(shown.history.frame)
        _frame_plot(shown.history, top, 0.62 * plots)
        _timeline([record for record, _ in list(shown.history.records)[-3:]], shown.summary)
        _histogram(shown.history, top, 0.38 * plots)
        _controls(shown, wanted, do)
    imgui.end()
    if width > WIDTH + LEFT_WIDTH + 36.0:
        _facts(shown, height)
    if shown.message:
        _message(shown.message, width)
    if wanted.help:
        _help(shown, width, height)


def _switches(shown: Shown, wanted: Wanted, do: Callable[[Action], None]) -> None:
    width = (imgui.get_content_region_avail().x - 8.0) / 2.0
    for action, (interface, title) in zip((Action.OPENGL, Action.WEBGPU), shown.interfaces.items(), strict=True):
        if _choice(f"{title}##{interface}", shown.interface == interface, width, 28.0):
            do(action)
        _tip(f"Key {shown.shortcuts[action]}")
        imgui.same_line()
    imgui.new_line()
    width = (imgui.get_content_region_avail().x - 16.0) / 3.0
    for how in SCHEDULES:
        if _choice(how, wanted.how == how, width, 22.0):
            wanted.how = how
        _tip({"eager": "A kernel and a submission per op.", "batched": "The same kernels, one submission.",
              "fused": "One kernel."}[how] + f" Key {shown.shortcuts[Action.NEXT_SCHEDULE]}")  # fmt: skip
        imgui.same_line()
    imgui.new_line()


def _verdict(shown: Shown) -> None:
    imgui.push_text_wrap_pos(0.0)
    start = imgui.get_cursor_pos_y()
    imgui.text_colored(_TEXT, shown.verdict)
    imgui.set_cursor_pos_y(max(imgui.get_cursor_pos_y(), start + 2.0 * imgui.get_text_line_height_with_spacing()))
    imgui.pop_text_wrap_pos()


def _numbers(summary: Summary) -> None:
    """A column a figure: p50 large, then p95, p99, max."""
    gpu = summary.gpu
    work_p50 = None if summary.cpu_work is None else summary.cpu_work.p50
    headroom = None if work_p50 is None else headroom_ms(work_p50, None if gpu is None else gpu.p50)
    if not imgui.begin_table("numbers", 4):
        return
    columns: tuple[tuple[str, Stats | None, Any], ...] = (
        ("Frame", summary.frame, _TEXT),
        ("CPU work", summary.cpu_work, _CPU),
        ("GPU", gpu, _GPU),
    )
    for name, figure, colour in columns:
        imgui.table_next_column()
        _number(name, "n/a" if figure is None else f"{figure.p50:.1f} ms", colour)
        if name == "GPU" and figure is None and summary.why_no_gpu:
            _tip(summary.why_no_gpu)
        imgui.push_font(None, 13.0)
        for line in _tail(figure):
            imgui.text_colored(_DIM, line)
        imgui.pop_font()
    imgui.table_next_column()
    good = headroom is not None and headroom > 0.0
    _number(
        "Headroom",
        "n/a" if headroom is None else f"{headroom:.1f} ms",
        _GOOD if good else _BUDGET if headroom else _DIM,
    )
    frames = 0 if summary.frame is None else summary.frame.n
    imgui.push_font(None, 13.0)
    imgui.text_colored(_DIM, f"missed {summary.missed}")
    _tip(f"Of {frames} frames.")
    imgui.text_colored(_DIM, f"hitches {summary.hitches}")
    imgui.pop_font()
    _tip("A hitch is a frame over twice the median.")
    imgui.end_table()


def _number(name: str, value: str, colour: Any) -> None:
    imgui.text_colored(_DIM, name)
    _tip(DEFINITIONS[name])
    imgui.push_font(None, 23.0)
    imgui.text_colored(colour, value)
    imgui.pop_font()
    _tip(DEFINITIONS[name])


def _tail(figure: Stats | None) -> tuple[str, str]:
    if figure is None:
        return "", ""
    p99 = "n/a" if figure.p99 is None else f"{figure.p99:.1f}"
    return f"p95 {figure.p95:.1f}  p99 {p99}", f"max {figure.max:.1f}"


def _frame_plot(history: History, top: float, height: float) -> None:
    """Newest at the right. The axis ends on a fixed ladder that ignores the odd spike: only a hitch leaves the plot."""
    if implot.begin_plot("##frames", (-1.0, height), _PLOT):
        implot.setup_axes("", "", _AXIS_OF_FRAMES, _AXIS)
        implot.setup_axes_limits(1.0 - LENGTH, 0.0, 0.0, top, _ALWAYS_PLOT)
        zero = "0" if 0.12 * top < BUDGET_MS else ""  # the budget's tag would cover it
        implot.setup_axis_ticks(implot.ImAxis_.y1, [0.0, top], [zero, f"{top:g} ms"], False)
        implot.setup_legend(implot.Location_.north_east, _LEGEND)
        for name, series, colour, weight in (
            ("frame", history.frame, (0.92, 0.93, 0.95, 0.75), 1.2),
            ("CPU work", history.cpu, _CPU, 2.0),
            ("GPU", history.gpu, _GPU, 2.0),
        ):
            implot.plot_line(name, history.x, series, _line(colour, weight))
        implot.plot_scatter("rebuilt, skipped", history.x, history.marks, _marker())
        _budget_line(_HORIZONTAL)
        implot.tag_y(BUDGET_MS, imgui.ImVec4(*_BUDGET), f"{BUDGET_MS:.1f}")
        implot.end_plot()
    _tip("Red line: the budget. Triangles: frames that were rebuilt or skipped; they are in no statistic.")


def axis_top_ms(series: Any) -> float:
    """The first rung above all but the slowest fiftieth of the frames in sight."""
    known = np.sort(series[~np.isnan(series)])
    reach = float(known[int(0.98 * (len(known) - 1))]) if len(known) else 0.0
    return next((rung for rung in _LADDER_MS if reach * 1.1 <= rung), _LADDER_MS[-1])


_LANES: dict[str, int] = {
    "CPU work": _packed(_CPU),
    "submit": _packed((0.86, 0.46, 0.12, 1.0)),
    "wait": _packed(_WAIT),
    "present": _packed((0.34, 0.37, 0.44, 1.0)),
    "overlay": _packed(_OVERLAY),
    "GPU": _packed(_GPU),
}
_LANE_NAMES, _LANE_COLOURS = list(_LANES), list(_LANES.values())
_LANE_HEIGHT, _LANE_LABEL = 14.0, 62.0
_FAINT, _SEPARATOR, _NOTE = _packed((1.0, 1.0, 1.0, 0.04)), _packed((1.0, 1.0, 1.0, 0.25)), _packed(_DIM)
_LEAST_SPAN_MS = 0.03  # shorter spans would be thinner than a line, and painting them costs more than they last


@dataclass(frozen=True, slots=True)
class Bar:
    """A span in a lane of the timeline, in ms from the first frame's begin."""

    lane: int
    begin_ms: float
    end_ms: float
    text: str


def _timeline(records: Sequence[FrameRecord], summary: Summary) -> None:
    """The last three frames, lane by lane. GPU bars keep order and length, and begin where the frame's work does."""
    imgui.text_colored(_DIM, "Last three frames")
    origin, width = imgui.get_cursor_screen_pos(), imgui.get_content_region_avail().x
    left, right, bottom = origin.x + _LANE_LABEL, origin.x + width, origin.y + _LANE_HEIGHT * len(_LANES)
    imgui.dummy((width, _LANE_HEIGHT * len(_LANES) + 2.0))
    hovered, mouse = imgui.is_item_hovered(), imgui.get_mouse_pos()
    paint = imgui.get_window_draw_list()
    for lane, name in enumerate(_LANE_NAMES):
        y = origin.y + lane * _LANE_HEIGHT
        paint.add_text((origin.x, y - 1.0), _NOTE, name)
        paint.add_rect_filled((left, y + 1.0), (right, y + _LANE_HEIGHT - 1.0), _FAINT)
    if not any((summary.passes_p50 or {}).values()):
        y = bottom - _LANE_HEIGHT - 1.0
        paint.add_text((left + 4.0, y), _NOTE, "n/a: no pass has a timer that is trusted")
    if not records:
        return
    scale = (width - _LANE_LABEL) / max(1e-6, (records[-1].end_ns - records[0].begin_ns) / 1e6)
    for record in records:
        x = left + (record.begin_ns - records[0].begin_ns) / 1e6 * scale
        paint.add_line((x, origin.y), (x, bottom), _SEPARATOR)
    for bar in bars(records, summary):
        top = origin.y + bar.lane * _LANE_HEIGHT
        low = (left + bar.begin_ms * scale, top + 1.0)
        high = (min(max(left + bar.end_ms * scale, low[0] + 1.0), right), top + _LANE_HEIGHT - 1.0)
        paint.add_rect_filled(low, high, _LANE_COLOURS[bar.lane], 2.0)
        if hovered and low[0] <= mouse.x <= high[0] and low[1] <= mouse.y <= high[1]:
            imgui.set_tooltip(bar.text)


def bars(records: Sequence[FrameRecord], summary: Summary) -> Iterator[Bar]:
    """Every span of ``records`` that is long enough to be seen, and the passes whose timer is believed."""
    origin_ns = records[0].begin_ns
    for record in records:
        for span in record.spans:
            length_ms = (span.end_ns - span.begin_ns) / 1e6
            if length_ms >= _LEAST_SPAN_MS:
                begin_ms = (span.begin_ns - origin_ns) / 1e6
                yield Bar(_lane(span), begin_ms, begin_ms + length_ms, f"{span.label}: {length_ms:.2f} ms")
        yield from _gpu_bars(record, summary, origin_ns)


def _gpu_bars(record: FrameRecord, summary: Summary, origin_ns: int) -> Iterator[Bar]:
    if record.gpu is None or not record.gpu.spans:
        return
    believed = summary.passes_p50 or {}
    first_ns = next((span.begin_ns for span in record.spans if span.kind in WORK), record.begin_ns)
    shift_ns = first_ns - origin_ns - record.gpu.spans[0].begin_ns
    frame_ms = None if summary.frame is None else summary.frame.p50
    for span in record.gpu.spans:
        if believed.get(span.label) is not None:
            begin_ms, end_ms = (span.begin_ns + shift_ns) / 1e6, (span.end_ns + shift_ns) / 1e6
            share = share_text(end_ms - begin_ms, frame_ms)
            text = f"{span.label}: {end_ms - begin_ms:.2f} ms, {share} of a median frame"
            yield Bar(len(_LANES) - 1, begin_ms, end_ms, text)


def _lane(span: CpuSpan) -> int:
    if span.kind == "wait":
        return 3 if span.label in ("present", "pace") else 2
    return {"submit": 1, "overlay": 4}.get(span.kind, 0)


def _histogram(history: History, top: float, height: float) -> None:
    if implot.begin_plot("##histogram", (-1.0, height), _PLOT_WITHOUT_LEGEND):
        implot.setup_axes("", "", _AXIS_OF_TIMES, _AXIS_OF_COUNTS)
        implot.setup_axis_limits(implot.ImAxis_.x1, 0.0, top, _ALWAYS_PLOT)
        labels = ["0", f"{BUDGET_MS:.1f}", f"{top:g} ms"]
        implot.setup_axis_ticks(implot.ImAxis_.x1, [0.0, BUDGET_MS, top], labels, False)
        for name, series, colour in (
            ("frame", history.frame, (0.92, 0.93, 0.95, 0.45)),
            ("CPU work", history.cpu, (*_CPU[:3], 0.75)),
            ("GPU", history.gpu, (*_GPU[:3], 0.75)),
        ):
            known = np.ascontiguousarray(series[~np.isnan(series)])
            if len(known):
                spec = implot.Spec(fill_color=imgui.ImVec4(*colour), line_color=imgui.ImVec4(0.0, 0.0, 0.0, 0.0))
                implot.plot_histogram(name, known, 60, 1.0, implot.Range(0.0, top), spec)
        _budget_line(0)
        implot.end_plot()
    _tip(f"How often each time came up: frame white, CPU work orange, GPU blue; last {LENGTH} frames.")


def _controls(shown: Shown, wanted: Wanted, do: Callable[[Action], None]) -> None:
    imgui.push_item_width(imgui.get_content_region_avail().x - 76.0)
    _, wanted.objects = imgui.slider_int("objects", wanted.objects, 1, MAX_OBJECTS_SHOWN, "%d", _LOGARITHMIC)
    _, wanted.elements = imgui.slider_int("elements", wanted.elements, 1, MAX_ELEMENTS_SHOWN, "%d", _LOGARITHMIC)
    imgui.pop_item_width()
    _, wanted.vsync = imgui.checkbox("vsync", wanted.vsync)
    _tip(f"Present mode obtained: {shown.present_mode}. Key {shown.shortcuts[Action.VSYNC]}")
    imgui.same_line()
    if imgui.button(f"{wanted.frames_in_flight} in flight"):
        do(Action.IN_FLIGHT)
    _tip(f"How many frames the CPU may be ahead. Key {shown.shortcuts[Action.IN_FLIGHT]}")
    for text, action in (
        ("Go on" if wanted.paused else "Pause", Action.PAUSE),
        ("Step", Action.STEP),
        ("Reset", Action.RESET),
    ):
        imgui.same_line()
        _button(text, action, shown, do)
    for text, action in _BUTTONS:
        _button(text, action, shown, do)
        imgui.same_line()
    imgui.new_line()


_BUTTONS = (
    ("Screenshot", Action.SCREENSHOT),
    ("JSON", Action.SAVE_JSON),
    ("Fullscreen", Action.FULLSCREEN),
    ("Hide", Action.OVERLAY),
    ("Keys", Action.HELP),
)


def _button(text: str, action: Action, shown: Shown, do: Callable[[Action], None]) -> None:
    if imgui.button(text):
        do(action)
    _tip(f"{action.value[0].upper()}{action.value[1:]}. Key {shown.shortcuts[action]}")


def _facts(shown: Shown, height: float) -> None:
    """Bottom left: passes, the last switch, and what all this runs on."""
    imgui.set_next_window_pos((12.0, height - 12.0), _ALWAYS, (0.0, 1.0))
    imgui.set_next_window_size((LEFT_WIDTH, 0.0), _ALWAYS)
    imgui.begin("facts", None, _GROWING)
    _pass_table(shown)
    if shown.forecast is not None:
        imgui.push_text_wrap_pos(0.0)
        imgui.text_colored(_DIM, forecast_text(shown.forecast))
        imgui.pop_text_wrap_pos()
    imgui.separator()
    imgui.push_text_wrap_pos(0.0)
    imgui.text_colored(_DIM, f"{shown.info.title}, {shown.info.adapter}")
    imgui.text_colored(_DIM, f"Driver {shown.info.driver}")
    refresh = "n/a" if shown.refresh_hz is None else f"{shown.refresh_hz:.2f} Hz"
    imgui.text_colored(_DIM, f"Present {shown.present_mode}, refresh {refresh}")
    imgui.text_colored(_DIM, f"Validation: {shown.info.validation}")
    imgui.text_colored(
        _DIM, f"Missed: {shown.missed_rule}; {shown.history.rebuilt} rebuilt, {shown.history.skipped} skipped"
    )
    if shown.info.is_software:
        imgui.text_colored(
            _CALM, "Software adapter: the GPU is these CPU cores. It shows what describing costs, not hardware."
        )
    imgui.pop_text_wrap_pos()
    imgui.end()


def _message(text: str, width: float) -> None:
    """Top left: what was saved, what is lost, a compiler's words."""
    imgui.set_next_window_pos((12.0, 12.0), _ALWAYS)
    imgui.set_next_window_size((min(width - 24.0, 1.2 * LEFT_WIDTH), 0.0), _ALWAYS)
    imgui.begin("message", None, _GROWING)
    imgui.push_text_wrap_pos(0.0)
    imgui.text_colored(_CALM, text)
    imgui.pop_text_wrap_pos()
    imgui.end()


def _pass_table(shown: Shown) -> None:
    frame = None if shown.summary.frame is None else shown.summary.frame.p50
    if not imgui.begin_table("passes", 5, int(imgui.TableFlags_.sizing_stretch_prop)):
        return
    for title in ("pass", "kernels", "described", "GPU p50", "of frame"):
        imgui.table_next_column()
        imgui.text_colored(_DIM, title)
    for row in shown.passes:
        cells = (
            row.label,
            "" if row.kernels is None else str(row.kernels),
            "" if row.bytes is None else bytes_text(row.bytes),
            "n/a" if row.gpu_p50 is None else f"{row.gpu_p50:.2f} ms",
            share_text(row.gpu_p50, frame),
        )
        for cell in cells:
            imgui.table_next_column()
            imgui.text(cell)
    imgui.end_table()


def forecast_text(forecast: Forecast) -> str:
    """The last switch: the whole frame before, predicted and measured."""
    predicted = f"n/a ({forecast.reason})" if forecast.predicted_ms is None else f"{forecast.predicted_ms:.1f} ms"
    measured = "n/a" if forecast.measured_ms is None else f"{forecast.measured_ms:.1f} ms"
    return f"Last switch: frame {forecast.before_ms:.1f} ms before, predicted {predicted}, measured {measured}"


def bytes_text(count: int) -> str:
    """Described bytes in decimal units, three digits."""
    for unit, size in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if count >= size:
            return f"{count / size:.3g} {unit}"
    return f"{count} B"


def _help(shown: Shown, width: float, height: float) -> None:
    imgui.set_next_window_pos((width / 2.0, height / 2.0), _ALWAYS, (0.5, 0.5))
    imgui.begin("keys", None, _GROWING)
    if imgui.begin_table("list", 2, int(imgui.TableFlags_.sizing_fixed_fit)):
        for action, key in shown.shortcuts.items():
            imgui.table_next_column()
            imgui.text_colored(_CALM, key)
            imgui.table_next_column()
            imgui.text(action.value)
        imgui.end_table()
    imgui.end()


def _choice(label: str, chosen: bool, width: float, height: float) -> bool:
    if chosen:
        imgui.push_style_color(imgui.Col_.button, _CHOSEN)
        imgui.push_style_color(imgui.Col_.button_hovered, _CHOSEN)
    clicked: bool = imgui.button(label, (width, height))
    if chosen:
        imgui.pop_style_color(2)
    return clicked


def _tip(text: str) -> None:
    if imgui.is_item_hovered():
        imgui.set_next_window_size((360.0, 0.0))
        if imgui.begin_tooltip():
            imgui.push_text_wrap_pos(0.0)
            imgui.text(text)
            imgui.pop_text_wrap_pos()
            imgui.end_tooltip()


def _budget_line(flags: int) -> None:
    spec = implot.Spec(line_color=imgui.ImVec4(*_BUDGET), line_weight=1.5, flags=flags | _UNLISTED)
    implot.plot_inf_lines("##budget", _BUDGET_AT, spec)


def _line(colour: Any, weight: float) -> Any:
    return implot.Spec(line_color=imgui.ImVec4(*colour), line_weight=weight)


def _marker() -> Any:
    calm = imgui.ImVec4(*_CALM)
    return implot.Spec(marker=implot.Marker_.up, marker_size=4.0, marker_fill_color=calm, flags=_UNLISTED)
