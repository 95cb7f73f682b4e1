"""The last three frames, lane by lane: where a frame's time went. Drawn by overlay."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from imgui_bundle import imgui

from demo.budget import WORK, FrameRecord
from demo.history import Summary
from demo.verdict import share_text
from demo.widgets import CPU, DIM, GPU, OVERLAY, WAIT, packed
from renderers.device import CpuSpan

_LANES: dict[str, int] = {
    "CPU work": packed(CPU),
    "submit": packed((0.86, 0.46, 0.12, 1.0)),
    "wait": packed(WAIT),
    "present": packed((0.34, 0.37, 0.44, 1.0)),
    "overlay": packed(OVERLAY),
    "GPU": packed(GPU),
}
_LANE_NAMES, _LANE_COLOURS = list(_LANES), list(_LANES.values())
_LANE_HEIGHT, _LANE_LABEL = 14.0, 62.0
_FAINT, _SEPARATOR, _NOTE = packed((1.0, 1.0, 1.0, 0.04)), packed((1.0, 1.0, 1.0, 0.25)), packed(DIM)
_LEAST_SPAN_MS = 0.03  # shorter spans would be thinner than a line, and painting them costs more than they last


@dataclass(frozen=True, slots=True)
class Bar:
    """A span in a lane of the timeline, in ms from the first frame's begin."""

    lane: int
    begin_ms: float
    end_ms: float
    text: str


def timeline(records: Sequence[FrameRecord], summary: Summary) -> None:
    """The last three frames, lane by lane. GPU bars keep order and length, and begin where the frame's work does."""
    imgui.text_colored(DIM, "Last three frames")
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
