"""What can be chosen: interface, schedule, how draws are submitted, sizes, and the buttons. Drawn by overlay."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from imgui_bundle import imgui

from compute.kernel import SCHEDULES, How
from compute.workloads.elementwise import WORKLOADS, Workload
from demo.budget import BUDGET_MS
from demo.shown import Shown
from demo.wanted import MAX_ELEMENTS_SHOWN, MAX_OBJECTS_SHOWN, MAX_SHADER_COST_SHOWN, Action, Wanted
from demo.widgets import choice, tip
from renderers.device import DeviceInfo
from renderers.materials import STATES, State
from renderers.plan import Submission
from renderers.scene import ORDERS, Order

T = TypeVar("T")
Do = Callable[[Action], None]
_LOGARITHMIC = int(imgui.SliderFlags_.logarithmic | imgui.SliderFlags_.always_clamp)
_GREYED = int(imgui.SelectableFlags_.disabled)
_LABEL_WIDTH, _SPACING = 86.0, 8.0
_BUTTONS = (
    ("Screenshot", Action.SCREENSHOT),
    ("JSON", Action.SAVE_JSON),
    ("Fullscreen", Action.FULLSCREEN),
    ("Hide", Action.OVERLAY),
    ("Keys", Action.HELP),
)
_SCHEDULES: dict[How, str] = {
    "eager": "A kernel and a submission per op.",
    "batched": "The same kernels, one submission.",
    "fused": "As few kernels as the maths allows.",
}
_SUBMISSIONS = {
    Submission.IMMEDIATE_BIND: "A change of parameters and a draw for each object.",
    Submission.IMMEDIATE: "A draw for each object; nothing else changes.",
    Submission.INSTANCED: "A draw for each run of objects of one mesh and material.",
    Submission.INDIRECT: "A multi-draw for each run of one material; its draws are read from a buffer.",
    Submission.RECORDED: "Draws recorded once, replayed with one call a frame.",
    Submission.NONE: "The whole frame except its draws.",
}
_STATES: dict[State, str] = {
    "none": "One material: nothing changes between objects.",
    "texture": "Four materials, each with a texture of its own to bind.",
    "pipeline": "Four materials, each with a shader and pipeline of its own to bind.",
}
_ORDERS: dict[Order, str] = {
    "sorted": "By material, then by mesh: state changes as rarely as it can.",
    "shuffled": "The same objects at random: state changes at almost every one.",
}
_SHADER_COST = (
    "Rounds of invisible work in each pixel. While the CPU sets the frame, this changes nothing, "
    "and a better shader gains nothing: better shaders do not help a CPU-bound frame."
)
_SHARED_CORES = " On this software adapter, pixels are CPU work too."


@dataclass(frozen=True, slots=True)
class Entry(Generic[T]):
    """Of a menu. ``greyed``: it can be seen, and why it cannot be chosen is its ``tip``."""

    value: T
    text: str
    tip: str
    greyed: bool = False


def submission_entries(info: DeviceInfo) -> list[Entry[Submission]]:
    """All of them, also those that this device refuses."""
    reasons = info.submissions
    return [
        Entry(each, each.value, reasons[each] or _SUBMISSIONS[each], reasons[each] is not None) for each in Submission
    ]


def switches(shown: Shown, wanted: Wanted, do: Do) -> None:
    """What is compared: a row of interfaces, a row of the workload and its schedules, a row of menus for draws."""
    width = _shared(2)
    for action, (interface, title) in zip((Action.OPENGL, Action.WEBGPU), shown.interfaces.items(), strict=True):
        if choice(f"{title}##{interface}", shown.variant.interface == interface, width, 28.0):
            do(action)
        tip(f"Key {shown.shortcuts[action]}")
        imgui.same_line()
    imgui.new_line()
    width = _shared(4)
    imgui.push_item_width(width)
    workloads = [Entry(name, name, _about(each)) for name, each in WORKLOADS.items()]
    about = f"What is computed. Key {shown.shortcuts[Action.NEXT_WORKLOAD]}"
    wanted.workload = _menu("workload", wanted.workload, about, workloads, wanted.workload)
    imgui.pop_item_width()
    imgui.same_line()
    for how in SCHEDULES:
        if choice(how, wanted.how == how, width, 22.0):
            wanted.how = how
        tip(f"{_SCHEDULES[how]} Key {shown.shortcuts[Action.NEXT_SCHEDULE]}")
        imgui.same_line()
    imgui.new_line()
    imgui.push_item_width(_shared(3))
    _menus(shown, wanted)
    imgui.pop_item_width()


def _about(workload: Workload) -> str:
    """The first sentence that is written at its function."""
    return (workload.function.__doc__ or "").partition("\n")[0]


def _menus(shown: Shown, wanted: Wanted) -> None:
    keys = shown.shortcuts
    entries = submission_entries(shown.info)
    about = f"How draws reach the driver. Key {keys[Action.NEXT_SUBMISSION]}"
    wanted.submission = _menu("submission", wanted.submission.value, about, entries, wanted.submission)
    imgui.same_line()
    about = f"What differs between materials. Key {keys[Action.NEXT_STATE]}"
    states = [Entry(each, each, _STATES[each]) for each in STATES]
    wanted.state = _menu("state", f"state: {wanted.state}", about, states, wanted.state)
    imgui.same_line()
    about = f"Of the draw list: it decides how often state changes. Key {keys[Action.NEXT_ORDER]}"
    orders = [Entry(each, each, _ORDERS[each]) for each in ORDERS]
    wanted.order = _menu("order", wanted.order, about, orders, wanted.order)


def _menu(name: str, preview: str, about: str, entries: Sequence[Entry[T]], chosen: T) -> T:
    """What is chosen now: ``chosen``, or the entry that was clicked."""
    is_open = imgui.begin_combo(f"##{name}", preview)
    if not is_open:
        tip(about)
        return chosen
    for each in entries:
        clicked, _ = imgui.selectable(each.text, each.value == chosen, _GREYED if each.greyed else 0)
        tip(each.tip)
        chosen = each.value if clicked else chosen
    imgui.end_combo()
    return chosen


def controls(shown: Shown, wanted: Wanted, do: Do) -> None:
    """Sizes, pacing and deeds."""
    imgui.push_item_width(imgui.get_content_region_avail().x - _LABEL_WIDTH)
    _, wanted.objects = imgui.slider_int("objects", wanted.objects, 0, MAX_OBJECTS_SHOWN, "%d", _LOGARITHMIC)
    _, wanted.elements = imgui.slider_int("elements", wanted.elements, 1, MAX_ELEMENTS_SHOWN, "%d", _LOGARITHMIC)
    most = MAX_SHADER_COST_SHOWN
    _, wanted.shader_cost = imgui.slider_int("shader cost", wanted.shader_cost, 0, most, "%d", _LOGARITHMIC)
    tip(_SHADER_COST + (_SHARED_CORES if shown.info.is_software else ""))
    imgui.pop_item_width()
    _, wanted.vsync = imgui.checkbox("vsync", wanted.vsync)
    tip(f"Present mode obtained: {shown.present_mode}. Key {shown.shortcuts[Action.VSYNC]}")
    imgui.same_line()
    if imgui.button(f"{wanted.frames_in_flight} in flight"):
        do(Action.IN_FLIGHT)
    tip(f"How many frames the CPU may be ahead. Key {shown.shortcuts[Action.IN_FLIGHT]}")
    for text, action in (
        ("Go on" if wanted.paused else "Pause", Action.PAUSE),
        ("Step", Action.STEP),
        ("Reset", Action.RESET),
        ("Stop fitting" if shown.fitting else f"Fit {BUDGET_MS:.1f} ms", Action.FIT),
    ):
        imgui.same_line()
        _button(text, action, shown, do)
    for text, action in _BUTTONS:
        _button(text, action, shown, do)
        imgui.same_line()
    imgui.new_line()


def _button(text: str, action: Action, shown: Shown, do: Do) -> None:
    if imgui.button(text):
        do(action)
    tip(f"{action.value[0].upper()}{action.value[1:]}. Key {shown.shortcuts[action]}")


def _shared(count: int) -> float:
    """Width of each of ``count`` widgets that fill a row, points."""
    available: float = imgui.get_content_region_avail().x
    return (available - (count - 1) * _SPACING) / count
