"""Statistics of frames against the budget: pure functions over spans. Fed by the loop; read by window and report."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

from renderers.device import CpuSpan, GpuTimes, PassKind, SpanKind
from renderers.trust import Trust

BUDGET_MS = 1000.0 / 60.0
WORK: tuple[SpanKind, ...] = ("update", "encode", "submit")
P99_FROM, P999_FROM = 100, 1_000  # frames below which a percentile says nothing about its tail

FrameState = Literal["drawn", "rebuilt", "skipped"]


@dataclass(slots=True)
class FrameRecord:
    """One frame as it happened; ``gpu`` arrives some frames later. Times in ns on ``time.perf_counter_ns``."""

    index: int
    state: FrameState
    begin_ns: int
    end_ns: int
    spans: Sequence[CpuSpan]
    process_ns: int
    gpu: GpuTimes | None = None


@dataclass(frozen=True, slots=True)
class Stats:
    """Nearest-rank percentiles of ``n`` times, ms. ``p99`` None below P99_FROM frames."""

    n: int
    p50: float
    p95: float
    p99: float | None
    max: float


@dataclass(frozen=True, slots=True)
class Sample:
    """One frame's figures, ms. ``None``: not measured; why is in ``reasons``."""

    frame_ms: float
    cpu_work_ms: float
    encode_ms: float
    submit_ms: float
    wait_ms: float
    process_cpu_ms: float
    gpu_ms: float | None
    passes_ms: Mapping[str, float | None]
    reasons: Mapping[str, str] = field(default_factory=dict)


FIGURES = ("frame_ms", "cpu_work_ms", "encode_ms", "submit_ms", "wait_ms", "process_cpu_ms", "gpu_ms")


def percentile_ms(times_ms: Sequence[float], percent: float) -> float:
    """Nearest rank: the smallest time, in ms, that at least ``percent`` % of ``times_ms`` do not exceed.

    Raises ValueError for no times, and for a tail that so few frames cannot show.
    """
    needed = P999_FROM if percent > 99.0 else P99_FROM if percent > 95.0 else 1
    if len(times_ms) < needed:
        raise ValueError(f"p{percent:g} needs {needed} frames, got {len(times_ms)}; measure more frames")
    rank = max(1, math.ceil(Fraction(str(percent)) * len(times_ms) / 100))  # exact: 0.999 * 1000 is above 999
    return sorted(times_ms)[rank - 1]


def stats(times_ms: Sequence[float]) -> Stats | None:
    """None for no times."""
    if not times_ms:
        return None
    p99 = percentile_ms(times_ms, 99.0) if len(times_ms) >= P99_FROM else None
    return Stats(len(times_ms), percentile_ms(times_ms, 50.0), percentile_ms(times_ms, 95.0), p99, max(times_ms))


def sample(record: FrameRecord, frame_ms: float, trust: Mapping[PassKind, Trust]) -> Sample:
    """A frame's figures. Work is thread time; what a work span spent blocked or descheduled is wait."""
    gpu_ms, passes_ms, reason = gpu_figures(record.gpu, trust)
    return Sample(
        frame_ms=frame_ms,
        cpu_work_ms=sum(_busy_ns(span) for span in record.spans if span.kind in WORK) / 1e6,
        encode_ms=sum(_busy_ns(span) for span in record.spans if span.kind == "encode") / 1e6,
        submit_ms=sum(_busy_ns(span) for span in record.spans if span.kind == "submit") / 1e6,
        wait_ms=sum(_wait_ns(span) for span in record.spans) / 1e6,
        process_cpu_ms=record.process_ns / 1e6,
        gpu_ms=gpu_ms,
        passes_ms=passes_ms,
        reasons={} if reason is None else {"gpu_ms": reason},
    )


def missed_unsynced(frame_times_ms: Sequence[float]) -> int:
    """Without vsync: frames whose interval is over the budget."""
    return sum(time > BUDGET_MS for time in frame_times_ms)


def missed_synced(frame_times_ms: Sequence[float], refresh_hz: float) -> int:
    """With vsync obtained: refreshes that passed without a new frame."""
    return sum(max(0, round(time * refresh_hz / 1000.0) - 1) for time in frame_times_ms)


def missed_rule(refresh_hz: float | None) -> str:
    """The rule that a number of missed frames was counted by, in words."""
    if refresh_hz is None:
        return f"interval over {BUDGET_MS:.3f} ms"
    return f"refreshes without a new frame, at {refresh_hz:.2f} Hz"


def headroom_ms(cpu_work_ms: float, gpu_ms: float | None) -> float | None:
    """Budget minus the longer of CPU work and GPU time; None where GPU time is."""
    return None if gpu_ms is None else BUDGET_MS - max(cpu_work_ms, gpu_ms)


def union_ns(intervals: Sequence[tuple[int, int]]) -> int:
    """Total length covered by (begin, end) intervals, overlaps counted once."""
    total, reached = 0, 0
    for begin, end in sorted(intervals):
        total += max(0, end - max(begin, reached))
        reached = max(reached, end)
    return total


def _busy_ns(span: CpuSpan) -> int:
    wall = span.end_ns - span.begin_ns
    return wall if span.thread_ns is None else min(wall, span.thread_ns)


def _wait_ns(span: CpuSpan) -> int:
    wall = span.end_ns - span.begin_ns
    if span.kind == "wait":
        return wall
    return wall - _busy_ns(span) if span.kind in WORK else 0


def gpu_figures(
    gpu: GpuTimes | None, trust: Mapping[PassKind, Trust]
) -> tuple[float | None, dict[str, float | None], str | None]:
    """(union of spans, time per pass, why not). One untrusted pass leaves the frame without a GPU time."""
    if gpu is None:
        return None, {}, "no GPU time arrived for this frame"
    if gpu.spans is None:
        return None, {}, gpu.reason
    passes: dict[str, float | None] = {}
    doubts: dict[PassKind, str] = {}
    for span in gpu.spans:
        believed = trust[span.kind].trusted
        passes[span.label] = (span.end_ns - span.begin_ns) / 1e6 if believed else None
        if not believed:
            doubts[span.kind] = trust[span.kind].reason
    if doubts:
        return None, passes, "; ".join(f"{kind}: {reason}" for kind, reason in doubts.items())
    return union_ns([(span.begin_ns, span.end_ns) for span in gpu.spans]) / 1e6, passes, None
