"""The figures of the frames in sight, and what limits them. Drawn by overlay."""

from typing import Any

from imgui_bundle import imgui

from demo.budget import Stats, headroom_ms
from demo.history import Summary
from demo.widgets import BUDGET, CPU, DIM, GOOD, GPU, TEXT, tip

DEFINITIONS = {
    "Frame": "End of present to end of present. Percentiles are nearest rank, of the frames in sight.",
    "CPU work": "Thread time in update, encode and submit. What is blocked is wait, wherever it happens.",
    "GPU": "Union of the frame's timed passes: elapsed between stamps, without the overlay.",
    "Headroom": "Budget minus the longer of CPU work and GPU time; n/a where the GPU time is.",
}


def verdict(text: str) -> None:
    imgui.push_text_wrap_pos(0.0)
    start = imgui.get_cursor_pos_y()
    imgui.text_colored(TEXT, text)
    imgui.set_cursor_pos_y(max(imgui.get_cursor_pos_y(), start + 2.0 * imgui.get_text_line_height_with_spacing()))
    imgui.pop_text_wrap_pos()


def numbers(summary: Summary) -> None:
    """A column a figure: p50 large, then p95, p99, max."""
    gpu = summary.gpu
    work_p50 = None if summary.cpu_work is None else summary.cpu_work.p50
    headroom = None if work_p50 is None else headroom_ms(work_p50, None if gpu is None else gpu.p50)
    if not imgui.begin_table("numbers", 4):
        return
    columns: tuple[tuple[str, Stats | None, Any], ...] = (
        ("Frame", summary.frame, TEXT),
        ("CPU work", summary.cpu_work, CPU),
        ("GPU", gpu, GPU),
    )
    for name, figure, colour in columns:
        imgui.table_next_column()
        _number(name, "n/a" if figure is None else f"{figure.p50:.1f} ms", colour)
        if name == "GPU" and figure is None and summary.why_no_gpu:
            tip(summary.why_no_gpu)
        imgui.push_font(None, 13.0)
        for line in _tail(figure):
            imgui.text_colored(DIM, line)
        imgui.pop_font()
    imgui.table_next_column()
    good = headroom is not None and headroom > 0.0
    _number(
        "Headroom",
        "n/a" if headroom is None else f"{headroom:.1f} ms",
        GOOD if good else BUDGET if headroom else DIM,
    )
    frames = 0 if summary.frame is None else summary.frame.n
    imgui.push_font(None, 13.0)
    imgui.text_colored(DIM, f"missed {summary.missed}")
    tip(f"Of {frames} frames.")
    imgui.text_colored(DIM, f"hitches {summary.hitches}")
    imgui.pop_font()
    tip("A hitch is a frame over twice the median.")
    imgui.end_table()


def _number(name: str, value: str, colour: Any) -> None:
    imgui.text_colored(DIM, name)
    tip(DEFINITIONS[name])
    imgui.push_font(None, 23.0)
    imgui.text_colored(colour, value)
    imgui.pop_font()
    tip(DEFINITIONS[name])


def _tail(figure: Stats | None) -> tuple[str, str]:
    if figure is None:
        return "", ""
    p99 = "n/a" if figure.p99 is None else _short(figure.p99)
    return f"p95 {_short(figure.p95)}  p99 {p99}", f"max {_short(figure.max)}"


def _short(time_ms: float) -> str:
    """No wider than a column has room for."""
    return f"{time_ms:.1f}" if time_ms < 100.0 else f"{time_ms:.0f}"
