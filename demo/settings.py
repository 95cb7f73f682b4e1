"""What the command line asked for, checked, and how a run can end. Made by cli; read by bench and window."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from compute.kernel import How
from renderers.device import Interface
from renderers.materials import State
from renderers.plan import Submission
from renderers.scene import Order

EXIT_DONE, EXIT_CHECK, EXIT_INPUT, EXIT_ENVIRONMENT, EXIT_INTERRUPTED = 0, 1, 2, 3, 130


class InputError(ValueError):
    """The user asked for something that cannot be. The message says what, the rule and the way out."""


class CheckError(RuntimeError):
    """A run did not prove that it did its work."""


FitOn = Literal["frame", "cpu"]


@dataclass(frozen=True, slots=True)
class FitSettings:
    """Grow the number of objects until percentile ``percent`` reaches the budget, ``seconds`` at most each time.

    ``on`` cpu: of CPU work alone; frame: of the whole frame time.
    """

    on: FitOn
    percent: float
    seconds: float


@dataclass(frozen=True, slots=True)
class Settings:
    """``interfaces_named``, ``submissions_named``: the user listed them, so a missing one is an error, not a report.

    ``elements`` None: as many as objects, at least one. ``frames`` None: until closed (window only).
    """

    interfaces: tuple[Interface, ...]
    interfaces_named: bool = False
    scene: str = "field"
    objects: int = 1000
    workload: str = "wave"
    elements: int | None = None
    schedules: tuple[How, ...] = ("fused",)
    submissions: tuple[Submission, ...] = (Submission.IMMEDIATE_BIND,)
    submissions_named: bool = False
    states: tuple[State, ...] = ("none",)
    orders: tuple[Order, ...] = ("sorted",)
    shader_cost: int = 0
    size_px: tuple[int, int] = (640, 360)
    frames: int | None = None
    warmup: int = 0
    frames_in_flight: int = 2
    adapter: str | None = None
    validation: bool = True
    null_driver: bool = False
    fit: FitSettings | None = None
    screenshot: Path | None = None
    json: str | None = None

    def elements_for(self, objects: int) -> int:
        return max(1, objects) if self.elements is None else self.elements
