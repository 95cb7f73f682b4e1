"""What a window saves of itself: its picture, and its last frames as JSON. Called by app."""

import time
from pathlib import Path

from demo.budget import missed_rule
from demo.history import History
from demo.report import WindowRun, save_picture, window_json, write_json
from demo.stage import Stage
from demo.wanted import Wanted
from renderers.device import Interface


def save_scene(stage: Stage, target: Path) -> None:
    """The scene without the panel. Raises InputError, DeviceLostError."""
    save_picture(stage.work.image(), target)


def save_frames(
    stage: Stage, history: History, wanted: Wanted, refresh_hz: float | None, synced_hz: float | None, target: Path
) -> None:
    """``synced_hz``: the display's rate where frames wait for it, else None. Raises InputError."""
    run = WindowRun(
        device=stage.device,
        trust=stage.trust,
        work=stage.work,
        content=stage.content,
        how=stage.variant.how,
        submission=stage.variant.submission,
        shader_cost=wanted.shader_cost,
        samples=history.samples(stage.trust),
        missed_frames=history.summary.missed,
        missed_rule=missed_rule(synced_hz),
        refresh_hz=refresh_hz,
        frames_in_flight=wanted.frames_in_flight,
    )
    write_json(window_json(run), str(target))


def file_name(interface: Interface, ending: str) -> Path:
    """In the working directory, named after interface and time."""
    return Path(f"interface-tax-{interface}-{time.strftime('%Y%m%d-%H%M%S')}.{ending}")
