"""What limits a frame, and what a change of one pass was predicted to change of the whole. Sentences with evidence."""

from collections.abc import Mapping
from dataclasses import dataclass

from demo.history import Summary

_CLEARLY = 0.8  # of the frame: what fills this much of it sets it
_ON_TIME = 1.08  # of the display's period: a frame this long kept up with it
_WAITED = 0.25  # of the frame spent in present or pacing


def limiter(summary: Summary, software: bool, period_ms: float | None) -> str:
    """One sentence: what sets the frame time, with the medians it is read from.

    ``period_ms``: of the display or the pacing that frames wait for; None where they wait for nothing.
    """
    if summary.frame is None or summary.cpu_work is None:
        return "Measuring ..."
    frame, work, present = summary.frame.p50, summary.cpu_work.p50, summary.present_p50 or 0.0
    gpu = None if summary.gpu is None else summary.gpu.p50
    evidence = f"Frame {frame:.1f} ms, CPU work {work:.1f} ms" + ("" if gpu is None else f", GPU {gpu:.1f} ms")
    if period_ms is not None and frame <= _ON_TIME * period_ms and present > _WAITED * frame:
        return f"{evidence}, {present:.1f} ms in present: waiting for the display."
    if work >= _CLEARLY * frame:
        return f"{evidence}: the CPU sets the frame."
    if gpu is None:
        shared = " Its work runs on these same cores." if software else ""
        return f"{evidence}: cannot tell what else, this driver's GPU timer is not trusted.{shared}"
    if gpu >= _CLEARLY * frame:
        return f"{evidence}: the GPU sets the frame."
    if work + gpu >= _CLEARLY * frame:
        return f"{evidence}: CPU and GPU take turns."
    waited = 0.0 if summary.wait is None else summary.wait.p50
    return f"{evidence}: neither sets the frame; it is blocked for {waited:.1f} ms."


@dataclass(frozen=True, slots=True)
class Forecast:
    """The whole frame after a switch: predicted from its passes, beside measured. ms; None with ``reason``."""

    before_ms: float
    predicted_ms: float | None
    measured_ms: float | None
    reason: str | None = None


def forecast(before: Summary, after: Summary, software: bool) -> Forecast | None:
    """Amdahl: the frame should change by what its passes changed. None until both sides are measured."""
    if before.frame is None or after.frame is None:
        return None
    measured = after.frame.p50
    if software:
        return Forecast(before.frame.p50, None, measured, 'CPU and "GPU" share cores')
    old, new = _total(before.passes_p50), _total(after.passes_p50)
    if old is None or new is None:
        return Forecast(before.frame.p50, None, measured, "a pass time is missing")
    return Forecast(before.frame.p50, before.frame.p50 - (old - new), measured)


def share_text(part_ms: float | None, frame_ms: float | None) -> str:
    """A pass's share of the whole frame; a pass made twice as fast saves half of it."""
    return "n/a" if part_ms is None or not frame_ms else f"{100.0 * part_ms / frame_ms:.0f} %"


def forecast_text(forecast: Forecast) -> str:
    """The last switch: the whole frame before, predicted and measured."""
    predicted = f"n/a ({forecast.reason})" if forecast.predicted_ms is None else f"{forecast.predicted_ms:.1f} ms"
    measured = "n/a" if forecast.measured_ms is None else f"{forecast.measured_ms:.1f} ms"
    return f"Last switch: frame {forecast.before_ms:.1f} ms before, predicted {predicted}, measured {measured}"


def _total(passes: Mapping[str, float | None] | None) -> float | None:
    if not passes or any(time is None for time in passes.values()):
        return None
    return sum(time for time in passes.values() if time is not None)
