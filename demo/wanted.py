"""What the person wants: written by keys and overlay, read by app, which makes it so between frames."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple, TypeVar

from compute.kernel import SCHEDULES, How
from compute.workloads.elementwise import WORKLOADS
from demo.settings import Settings
from renderers.device import MAX_FRAMES_IN_FLIGHT, Interface
from renderers.materials import STATES, State
from renderers.plan import Submission
from renderers.scene import ORDERS, Order

MAX_ELEMENTS_SHOWN = 1 << 26
MAX_OBJECTS_SHOWN = 100_000
MAX_SHADER_COST_SHOWN = 2_000
_STAND_INS = (Submission.INDIRECT, Submission.RECORDED, Submission.INSTANCED, Submission.IMMEDIATE_BIND)
T = TypeVar("T")


class Variant(NamedTuple):
    """One way to draw the same content."""

    interface: Interface
    how: How
    submission: Submission


class Ingredients(NamedTuple):
    """What content is made of: with any of them changed, it is another content."""

    objects: int
    elements: int
    state: State
    order: Order
    workload: str


@dataclass(slots=True)
class Wanted:
    """``shader_cost``: rounds of invisible work in each pixel."""

    interface: Interface
    how: How
    objects: int
    elements: int
    frames_in_flight: int
    submission: Submission = Submission.IMMEDIATE_BIND
    state: State = "none"
    order: Order = "sorted"
    shader_cost: int = 0
    workload: str = "wave"
    vsync: bool = True
    paused: bool = False
    fullscreen: bool = False
    overlay: bool = True
    help: bool = False

    @property
    def variant(self) -> Variant:
        return Variant(self.interface, self.how, self.submission)

    @variant.setter
    def variant(self, variant: Variant) -> None:
        self.interface, self.how, self.submission = variant

    @property
    def ingredients(self) -> Ingredients:
        return Ingredients(self.objects, self.elements, self.state, self.order, self.workload)

    @ingredients.setter
    def ingredients(self, ingredients: Ingredients) -> None:
        self.objects, self.elements, self.state, self.order, self.workload = ingredients

    def scale_objects(self, factor: float) -> None:
        """Twice none is one, so that there is a way up again."""
        self.objects = min(MAX_OBJECTS_SHOWN, round(max(0.5, self.objects) * factor))

    def scale_elements(self, factor: float) -> None:
        self.elements = min(MAX_ELEMENTS_SHOWN, max(1, round(self.elements * factor)))


def first_wishes(settings: Settings) -> Wanted:
    """What the command line asked for; a window shows the first of each."""
    return Wanted(
        settings.interfaces[0],
        settings.schedules[0],
        settings.objects,
        settings.elements_for(settings.objects),
        settings.frames_in_flight,
        settings.submissions[0],
        settings.states[0],
        settings.orders[0],
        settings.shader_cost,
        settings.workload,
    )


class Settling:
    """A slider on its way asks for another content every frame; only the one it rests on is worth building."""

    AFTER_S = 0.15

    def __init__(self) -> None:
        self._asked: Ingredients | None = None
        self._since_s = 0.0

    def rested(self, asked: Ingredients, now_s: float) -> bool:
        """Whether ``asked`` has been asked for long enough. Called every frame."""
        if asked != self._asked:
            self._asked, self._since_s = asked, now_s
        return now_s - self._since_s >= self.AFTER_S


class Action(Enum):
    """What a key or a button asks for; the value is what the help shows."""

    OPENGL = "show OpenGL"
    WEBGPU = "show wgpu"
    NEXT_WORKLOAD = "next workload"
    NEXT_SCHEDULE = "next schedule"
    NEXT_SUBMISSION = "next submission of draws"
    NEXT_STATE = "next state: none, texture, pipeline"
    NEXT_ORDER = "next order of draws: sorted, shuffled"
    FEWER_OBJECTS = "half the objects"
    MORE_OBJECTS = "twice the objects"
    FEWER_ELEMENTS = "a quarter of the elements"
    MORE_ELEMENTS = "four times the elements"
    FIT = "find how many objects fit in the budget"
    VSYNC = "vsync on, off"
    IN_FLIGHT = "frames in flight: 1, 2, 3"
    PAUSE = "pause, go on"
    STEP = "one step of 1/60 s"
    RESET = "statistics anew"
    SCREENSHOT = "save a screenshot"
    SAVE_JSON = "save the last frames as JSON"
    OVERLAY = "overlay on, off"
    FULLSCREEN = "fullscreen on, off"
    HELP = "this list"
    QUIT = "stop fitting; quit"


def apply(action: Action, wanted: Wanted, offered: Sequence[Submission] = tuple(Submission)) -> bool:
    """Change ``wanted``; False for an action that is no wish but a deed, which is the app's to do.

    ``offered``: the submissions that the interface on show does not refuse.
    """
    if action in (Action.OPENGL, Action.WEBGPU):
        wanted.interface = "opengl" if action is Action.OPENGL else "webgpu"
    elif action is Action.NEXT_SCHEDULE:
        wanted.how = _after(wanted.how, SCHEDULES)
    elif action is Action.NEXT_WORKLOAD:
        wanted.workload = _after(wanted.workload, tuple(WORKLOADS))
    elif action is Action.NEXT_SUBMISSION:
        wanted.submission = _after(wanted.submission, [each for each in Submission if each in offered])
    elif action is Action.NEXT_STATE:
        wanted.state = _after(wanted.state, STATES)
    elif action is Action.NEXT_ORDER:
        wanted.order = _after(wanted.order, ORDERS)
    elif action in (Action.FEWER_OBJECTS, Action.MORE_OBJECTS):
        wanted.scale_objects(2.0 if action is Action.MORE_OBJECTS else 0.5)
    elif action in (Action.FEWER_ELEMENTS, Action.MORE_ELEMENTS):
        wanted.scale_elements(4.0 if action is Action.MORE_ELEMENTS else 0.25)
    elif action is Action.IN_FLIGHT:
        wanted.frames_in_flight = wanted.frames_in_flight % MAX_FRAMES_IN_FLIGHT + 1
    elif action in _TOGGLES:
        setattr(wanted, _TOGGLES[action], not getattr(wanted, _TOGGLES[action]))
    else:
        return False
    return True


def offered(submissions: Mapping[Submission, str | None]) -> list[Submission]:
    """Those without a reason against them."""
    return [each for each, refusal in submissions.items() if refusal is None]


def stand_in(submissions: Mapping[Submission, str | None]) -> Submission:
    """The best idiom that a device has, for one that it refuses: compared with it, the other side is not held back."""
    return next(each for each in _STAND_INS if submissions[each] is None)


def _after(chosen: T, known: Sequence[T]) -> T:
    """The next one, round and round; the first where the chosen one is none of them."""
    return known[(known.index(chosen) + 1) % len(known)] if chosen in known else known[0]


_TOGGLES = {
    Action.VSYNC: "vsync",
    Action.PAUSE: "paused",
    Action.OVERLAY: "overlay",
    Action.FULLSCREEN: "fullscreen",
    Action.HELP: "help",
}
