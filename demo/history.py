"""The last frames as arrays that a plot can take, and their statistics. Fed by app; read by overlay."""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from demo.budget import FrameRecord, Sample, Stats, gpu_figures, missed_synced, missed_unsynced, sample, stats
from renderers.device import GpuTimes, PassKind
from renderers.trust import Trust

LENGTH = 300  # frames looked back on
_REFRESH_EVERY = 15  # frames: statistics cost as much as a small frame
Series = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Summary:
    """Statistics of the counted frames in sight. ``why_no_gpu``: the reason that most frames without GPU time give."""

    frame: Stats | None = None
    cpu_work: Stats | None = None
    wait: Stats | None = None
    present_p50: float | None = None
    gpu: Stats | None = None
    why_no_gpu: str | None = None
    passes_p50: Mapping[str, float | None] | None = None
    missed: int = 0
    hitches: int = 0


class History:
    """Rolling series, newest last; NaN where a frame has no such figure or was not counted."""

    def __init__(self) -> None:
        self.x: Series = np.arange(1.0 - LENGTH, 1.0)
        self.frame, self.cpu, self.gpu = (np.full(LENGTH, np.nan) for _ in range(3))
        self.marks = np.full(LENGTH, np.nan)  # 0 where a frame was rebuilt or skipped
        self.clear()

    def clear(self) -> None:
        """Statistics begin anew: frames of two settings are never mixed."""
        for series in (self.frame, self.cpu, self.gpu, self.marks):
            series.fill(np.nan)
        self.records: deque[tuple[FrameRecord, float]] = deque(maxlen=LENGTH)
        self.rebuilt = self.skipped = 0
        self.summary = Summary()
        self._positions: dict[int, int] = {}
        self._samples: dict[int, Sample] = {}
        self._trust: dict[PassKind, Trust] = {}
        self._count = 0
        self._stale = True

    def add(self, record: FrameRecord, frame_ms: float, trust: Mapping[PassKind, Trust]) -> None:
        """A frame that counts. Its GPU time may come later, through ``join``."""
        figures = sample(record, frame_ms, trust)
        self._push(frame_ms, figures.cpu_work_ms, np.nan)
        self.records.append((record, frame_ms))
        self._samples[record.index] = figures
        self._positions[record.index] = self._count
        self._stale = True

    def mark(self, state: str) -> None:
        """A frame that was rebuilt or skipped: seen in the plot, in no statistic."""
        self.rebuilt += state == "rebuilt"
        self.skipped += state == "skipped"
        self._push(np.nan, np.nan, 0.0)

    def join(self, times: GpuTimes, trust: Mapping[PassKind, Trust]) -> None:
        """GPU times of an earlier frame, if it is still in sight."""
        position = self._positions.pop(times.index, None)
        if position is None or self._count - position >= LENGTH:
            return
        for record, frame_ms in reversed(self.records):
            if record.index == times.index:
                record.gpu = times
                self._samples[record.index] = sample(record, frame_ms, trust)
                break
        gpu_ms, _, _ = gpu_figures(times, trust)
        if gpu_ms is not None:
            self.gpu[LENGTH - 1 - (self._count - position)] = gpu_ms

    def refresh(self, trust: Mapping[PassKind, Trust], refresh_hz: float | None) -> Summary:
        """Statistics, anew every few frames only. ``refresh_hz``: of a display that is synced to, else None."""
        if self._stale and (self._count % _REFRESH_EVERY == 0 or self.summary.frame is None):
            self.summary = self._summarise(trust, refresh_hz)
            self._stale = False
        return self.summary

    def samples(self, trust: Mapping[PassKind, Trust]) -> list[Sample]:
        """Every counted frame in sight, as a report keeps it; made again only when the timers have been judged."""
        if trust != self._trust:
            self._trust = dict(trust)
            self._samples = {record.index: sample(record, frame_ms, trust) for record, frame_ms in self.records}
        return [self._samples[record.index] for record, _ in self.records]

    def _push(self, frame_ms: float, cpu_ms: float, mark: float) -> None:
        new = (frame_ms, cpu_ms, np.nan, mark)
        for series, value in zip((self.frame, self.cpu, self.gpu, self.marks), new, strict=True):
            series[:-1] = series[1:]
            series[-1] = value
        self._count += 1
        for old in (self._positions, self._samples):
            while len(old) > LENGTH:
                del old[next(iter(old))]

    def _summarise(self, trust: Mapping[PassKind, Trust], refresh_hz: float | None) -> Summary:
        samples = self.samples(trust)
        if not samples:
            return Summary()
        frames = [each.frame_ms for each in samples]
        gpu = [each.gpu_ms for each in samples if each.gpu_ms is not None]
        reasons = [each.reasons["gpu_ms"] for each in samples if "gpu_ms" in each.reasons]
        whole = stats(frames)
        assert whole is not None
        return Summary(
            frame=whole,
            cpu_work=stats([each.cpu_work_ms for each in samples]),
            wait=stats([each.wait_ms for each in samples]),
            present_p50=_p50([_present_ms(record) for record, _ in self.records]),
            gpu=stats(gpu),
            why_no_gpu=max(set(reasons), key=reasons.count) if reasons and not gpu else None,
            passes_p50=_passes_p50(samples),
            missed=missed_unsynced(frames) if refresh_hz is None else missed_synced(frames, refresh_hz),
            hitches=sum(time > 2.0 * whole.p50 for time in frames),
        )


def _present_ms(record: FrameRecord) -> float:
    return sum(span.end_ns - span.begin_ns for span in record.spans if span.label in ("present", "pace")) / 1e6


def _passes_p50(samples: list[Sample]) -> dict[str, float | None]:
    labels = dict.fromkeys(label for each in samples for label in each.passes_ms)
    times = {label: [each.passes_ms.get(label) for each in samples] for label in labels}
    return {label: _p50([time for time in row if time is not None]) for label, row in times.items()}


def _p50(times: list[float]) -> float | None:
    figure = stats(times)
    return None if figure is None else figure.p50
