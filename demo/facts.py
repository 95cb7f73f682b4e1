"""Bottom left: passes, how they are submitted, the last switch, and what all this runs on. Drawn by overlay."""

from imgui_bundle import imgui

from demo.shown import Kernels, Shown
from demo.verdict import forecast_text, share_text
from demo.widgets import ALWAYS, CALM, DIM, GROWING, LEFT_WIDTH, MARGIN, TEXT, tip, wrapped
from renderers.device import DeviceInfo
from renderers.plan import Submission

_FEW, _LONGEST = 3, 44  # kernels that are listed, characters of a kernel's name
_SOFTWARE = "Software adapter: the GPU is these CPU cores. It shows what describing costs, not hardware."


def facts(shown: Shown, height: float) -> None:
    """``height``: of the window, points."""
    imgui.set_next_window_pos((MARGIN, height - MARGIN), ALWAYS, (0.0, 1.0))
    imgui.set_next_window_size((LEFT_WIDTH, 0.0), ALWAYS)
    imgui.begin("facts", None, GROWING)
    _pass_table(shown)
    imgui.separator()
    wrapped(TEXT, submission_text(shown))
    note = submission_note(shown.variant.submission, shown.info)
    if note:
        wrapped(DIM, note)
    if shown.forecast is not None:
        wrapped(DIM, forecast_text(shown.forecast))
    imgui.separator()
    refresh = "n/a" if shown.refresh_hz is None else f"{shown.refresh_hz:.2f} Hz"
    for line in (
        f"{shown.info.title}, {shown.info.adapter}",
        f"Driver {shown.info.driver}",
        f"Present {shown.present_mode}, refresh {refresh}",
        f"Validation: {shown.info.validation}",
        f"Missed: {shown.missed_rule}; {shown.history.rebuilt} rebuilt, {shown.history.skipped} skipped",
    ):
        wrapped(DIM, line)
    if shown.info.is_software:
        wrapped(CALM, _SOFTWARE)
    imgui.end()


def submission_text(shown: Shown) -> str:
    """What is submitted, in exact counts of a steady frame."""
    counters = shown.counters
    return f"{shown.variant.submission.value}: {counters.draws:,} draws by {counters.api_calls:,} API calls a frame"


def submission_note(submission: Submission, info: DeviceInfo) -> str:
    """What to know about it on this device; empty where there is nothing to add."""
    if submission is Submission.RECORDED:
        return "A bundle: its draws are encoded natively again each frame, O(N), without Python."
    if submission is Submission.INDIRECT and info.submissions[Submission.RECORDED] is not None:
        return "Multi-draw indirect is this interface's best idiom: nothing can be recorded."
    if submission is Submission.NONE:
        return "Nothing is drawn: what is left is the rest of the frame."
    return ""


def _pass_table(shown: Shown) -> None:
    frame = None if shown.summary.frame is None else shown.summary.frame.p50
    if not imgui.begin_table("passes", 5, int(imgui.TableFlags_.sizing_stretch_prop)):
        return
    for title in ("pass", "kernels", "described", "GPU p50", "of frame"):
        imgui.table_next_column()
        imgui.text_colored(DIM, title)
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
    _kernel_list(shown.kernels)


def _kernel_list(kernels: Kernels) -> None:
    """The workload's own, a line each while they are few; all of them, and why they are several, one hover away."""
    imgui.begin_group()
    for name, count in kernels.listed[:_FEW]:
        imgui.text_colored(DIM, f"{name[:_LONGEST]}  {bytes_text(count)}")
    if len(kernels.listed) > _FEW:
        imgui.text_colored(DIM, f"... and {len(kernels.listed) - _FEW} kernels more")
    imgui.end_group()
    tip(kernels.explained)


def bytes_text(count: int) -> str:
    """Described bytes in decimal units, three digits."""
    for unit, size in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if count >= size:
            return f"{count / size:.3g} {unit}"
    return f"{count} B"
