"""What the command line asked for, checked, and how a run can end. Made by cli; read by bench and window."""

from dataclasses import dataclass
from pathlib import Path

from compute.kernel import How
from renderers.device import Interface

EXIT_DONE, EXIT_CHECK, EXIT_INPUT, EXIT_ENVIRONMENT, EXIT_INTERRUPTED = 0, 1, 2, 3, 130


class InputError(ValueError):
    """The user asked for something that cannot be. The message says what, the rule and the way out."""


class CheckError(RuntimeError):
    """A run did not prove that it did its work."""


@dataclass(frozen=True, slots=True)
class Settings:
    """``interfaces_named``: the user listed them, so a missing one is an error and not just a report.

    ``frames`` None: until closed (window only).
    """

    interfaces: tuple[Interface, ...]
    interfaces_named: bool
    scene: str
    objects: int
    workload: str
    elements: int
    schedules: tuple[How, ...]
    size_px: tuple[int, int]
    frames: int | None
    warmup: int
    frames_in_flight: int
    adapter: str | None
    screenshot: Path | None
    json: str | None
