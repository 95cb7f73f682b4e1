"""What panel and title show of one frame, as data. Made by app; read by the overlay's modules, which draw it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from compute.kernel import ComputePass, How
from demo.content import Content
from demo.history import History, Summary
from demo.stage import Stage
from demo.verdict import Forecast
from demo.wanted import Action, Variant, Wanted
from renderers.device import Counters, DeviceInfo, Interface


@dataclass(frozen=True, slots=True)
class PassRow:
    label: str
    kernels: int | None
    bytes: int | None
    gpu_p50: float | None


@dataclass(frozen=True, slots=True)
class Kernels:
    """Of the workload: (name, described bytes) in order, and why there is not one only."""

    listed: Sequence[tuple[str, int]]
    explained: str


@dataclass(frozen=True, slots=True)
class Shown:
    """Everything that one frame of the panel shows."""

    interfaces: Mapping[Interface, str]  # what each is called, or why it is not there
    variant: Variant
    info: DeviceInfo
    counters: Counters
    present_mode: str
    refresh_hz: float | None
    history: History
    summary: Summary
    verdict: str
    forecast: Forecast | None
    passes: Sequence[PassRow]
    kernels: Kernels
    missed_rule: str
    message: str
    fitting: bool
    shortcuts: Mapping[Action, str]


def pass_rows(stage: Stage, summary: Summary) -> list[PassRow]:
    """What each pass of the frame is, and its median time where that is known."""
    times = summary.passes_p50 or {}
    rows = []
    for each in stage.work.plan.passes:
        compute = each if isinstance(each, ComputePass) else None
        kernels, described = (None, None) if compute is None else (compute.kernels, compute.memory_bytes)
        rows.append(PassRow(each.label, kernels, described, times.get(each.label)))
    return rows


@lru_cache(maxsize=8)
def kernels(content: Content, how: How) -> Kernels:
    """Of the content's workload; the same every frame."""
    made = content.schedule(how)
    return Kernels([(note.name, note.work.bytes) for note in made.notes], made.explain())


def title(stage: Stage, summary: Summary, wanted: Wanted, message: str) -> str:
    """The figures for a window without its panel."""
    frame, work, gpu = summary.frame, summary.cpu_work, summary.gpu
    parts = [
        stage.device.info.title,
        stage.variant.how,
        stage.variant.submission.value,
        f"frame p50 {'n/a' if frame is None else f'{frame.p50:.1f} ms'}",
        f"CPU work {'n/a' if work is None else f'{work.p50:.1f} ms'}",
        f"GPU {'n/a' if gpu is None else f'{gpu.p50:.1f} ms'}",
        "vsync" if wanted.vsync else "no vsync",
        *(["paused"] if wanted.paused else []),
        *([message] if message else []),
    ]
    return "   ".join(parts)
