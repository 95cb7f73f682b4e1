"""What the person wants: written by keys and overlay, read by app, which makes it so between frames."""

from dataclasses import dataclass
from enum import Enum

from compute.kernel import SCHEDULES, How
from renderers.device import MAX_FRAMES_IN_FLIGHT, Interface

MAX_ELEMENTS_SHOWN = 1 << 26
MAX_OBJECTS_SHOWN = 100_000


@dataclass(slots=True)
class Wanted:
    interface: Interface
    how: How
    objects: int
    elements: int
    frames_in_flight: int
    vsync: bool = True
    paused: bool = False
    fullscreen: bool = False
    overlay: bool = True
    help: bool = False

    def scale_objects(self, factor: float) -> None:
        self.objects = min(MAX_OBJECTS_SHOWN, max(1, round(self.objects * factor)))

    def scale_elements(self, factor: float) -> None:
        self.elements = min(MAX_ELEMENTS_SHOWN, max(1, round(self.elements * factor)))


class Action(Enum):
    """What a key or a button asks for; the value is what the help shows."""

    OPENGL = "show OpenGL"
    WEBGPU = "show wgpu"
    NEXT_SCHEDULE = "next schedule"
    FEWER_OBJECTS = "half the objects"
    MORE_OBJECTS = "twice the objects"
    FEWER_ELEMENTS = "a quarter of the elements"
    MORE_ELEMENTS = "four times the elements"
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
    QUIT = "quit"


def apply(action: Action, wanted: Wanted) -> bool:
    """Change ``wanted``; False for an action that is no wish but a deed, which is the app's to do."""
    if action in (Action.OPENGL, Action.WEBGPU):
        wanted.interface = "opengl" if action is Action.OPENGL else "webgpu"
    elif action is Action.NEXT_SCHEDULE:
        wanted.how = SCHEDULES[(SCHEDULES.index(wanted.how) + 1) % len(SCHEDULES)]
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


_TOGGLES = {
    Action.VSYNC: "vsync",
    Action.PAUSE: "paused",
    Action.OVERLAY: "overlay",
    Action.FULLSCREEN: "fullscreen",
    Action.HELP: "help",
}
