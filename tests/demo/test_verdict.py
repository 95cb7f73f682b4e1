"""What limits a frame, and what a switch was predicted to change: every sentence with its evidence."""

import pytest

from demo.budget import Stats
from demo.facts import bytes_text
from demo.history import Summary
from demo.verdict import Forecast, forecast, forecast_text, limiter, share_text

_PERIOD_MS = 1000.0 / 60.0


def _stats(p50: float) -> Stats:
    return Stats(300, p50, p50, p50, p50)


def _summary(
    frame: float,
    work: float,
    gpu: float | None = None,
    present: float = 0.0,
    wait: float = 0.0,
    passes: dict[str, float | None] | None = None,
) -> Summary:
    return Summary(
        frame=_stats(frame),
        cpu_work=_stats(work),
        wait=_stats(wait),
        present_p50=present,
        gpu=None if gpu is None else _stats(gpu),
        passes_p50=passes,
    )


@pytest.mark.parametrize(
    ("summary", "software", "period_ms", "sentence"),
    [
        (Summary(), False, _PERIOD_MS, "Measuring ..."),
        (
            _summary(16.7, 3.1, 5.0, present=8.0),
            False,
            _PERIOD_MS,
            "Frame 16.7 ms, CPU work 3.1 ms, GPU 5.0 ms, 8.0 ms in present: waiting for the display.",
        ),
        (
            _summary(16.7, 3.1, present=8.0),
            True,
            _PERIOD_MS,
            "Frame 16.7 ms, CPU work 3.1 ms, 8.0 ms in present: waiting for the display.",
        ),
        (
            _summary(20.0, 18.0, 5.0),
            False,
            _PERIOD_MS,
            "Frame 20.0 ms, CPU work 18.0 ms, GPU 5.0 ms: the CPU sets the frame.",
        ),
        (
            _summary(20.0, 3.1, 18.8),
            False,
            None,
            "Frame 20.0 ms, CPU work 3.1 ms, GPU 18.8 ms: the GPU sets the frame.",
        ),
        (
            _summary(20.0, 9.0, 10.0),
            False,
            None,
            "Frame 20.0 ms, CPU work 9.0 ms, GPU 10.0 ms: CPU and GPU take turns.",
        ),
        (
            _summary(20.0, 3.0),
            False,
            None,
            "Frame 20.0 ms, CPU work 3.0 ms: cannot tell what else, this driver's GPU timer is not trusted.",
        ),
        (
            _summary(20.0, 3.0),
            True,
            None,
            "Frame 20.0 ms, CPU work 3.0 ms: cannot tell what else, this driver's GPU timer is not trusted."
            " Its work runs on these same cores.",
        ),
        (
            _summary(20.0, 3.0, 4.0, wait=13.0),
            False,
            None,
            "Frame 20.0 ms, CPU work 3.0 ms, GPU 4.0 ms: neither sets the frame; it is blocked for 13.0 ms.",
        ),
    ],
)
def test_every_limit_is_one_sentence_with_its_evidence(
    summary: Summary, software: bool, period_ms: float | None, sentence: str
) -> None:
    assert limiter(summary, software, period_ms) == sentence


def test_a_frame_that_missed_its_refresh_did_not_wait_for_the_display() -> None:
    assert "waiting for the display" not in limiter(_summary(33.3, 3.0, 30.0, present=20.0), False, _PERIOD_MS)


def test_a_frame_that_waits_for_nothing_by_design_did_not_wait_for_the_display() -> None:
    assert "waiting for the display" not in limiter(_summary(16.7, 3.0, 5.0, present=12.0), False, None)


@pytest.mark.parametrize("rate_hz", [60.0, 59.94])
def test_a_paced_frame_on_time_waits_for_the_display_at_either_rate(rate_hz: float) -> None:
    said = limiter(_summary(1000.0 / rate_hz, 2.0, 4.0, present=10.0), False, _PERIOD_MS)
    assert said.endswith("waiting for the display.")


def test_times_that_differ_by_a_tenth_are_told_apart() -> None:
    one, other = (limiter(_summary(frame, 16.0), False, None) for frame in (16.9, 16.0))
    assert "16.9 ms" in one
    assert "16.0 ms" in other
    assert one != other


def test_the_whole_frame_is_predicted_to_change_by_what_its_passes_change() -> None:
    """A pass made twice as fast saves half of its own share, not half of the frame."""
    before = _summary(20.0, 3.0, 12.0, passes={"wave": 8.0, "scene": 4.0})
    after = _summary(17.0, 3.0, 8.0, passes={"wave": 4.0, "scene": 4.0})
    assert forecast(before, after, software=False) == Forecast(20.0, 16.0, 17.0)


def test_passes_may_have_other_names_on_the_other_side() -> None:
    before = _summary(20.0, 3.0, 9.0, passes={"a": 2.0, "b": 3.0, "scene": 4.0})
    after = _summary(18.0, 3.0, 5.0, passes={"fused": 1.0, "scene": 4.0})
    assert forecast(before, after, software=False) == Forecast(20.0, 16.0, 18.0)


@pytest.mark.parametrize("passes", [None, {}, {"wave": None, "scene": 4.0}])
@pytest.mark.parametrize("missing_before", [True, False])
def test_without_every_pass_time_there_is_no_prediction_but_a_reason(
    passes: dict[str, float | None] | None, missing_before: bool
) -> None:
    known, unknown = _summary(20.0, 3.0, passes={"wave": 8.0}), _summary(20.0, 3.0, passes=passes)
    sides = (unknown, known) if missing_before else (known, unknown)
    assert forecast(*sides, software=False) == Forecast(20.0, None, 20.0, "a pass time is missing")


def test_where_cpu_and_gpu_share_cores_there_is_no_prediction_but_a_reason() -> None:
    one = _summary(20.0, 3.0, 8.0, passes={"wave": 8.0})
    assert forecast(one, one, software=True) == Forecast(20.0, None, 20.0, 'CPU and "GPU" share cores')


@pytest.mark.parametrize(("before", "after"), [(Summary(), _summary(1.0, 1.0)), (_summary(1.0, 1.0), Summary())])
def test_until_both_sides_are_measured_there_is_no_forecast(before: Summary, after: Summary) -> None:
    assert forecast(before, after, software=False) is None


@pytest.mark.parametrize(
    ("made", "text"),
    [
        (Forecast(20.0, 16.04, 16.96), "Last switch: frame 20.0 ms before, predicted 16.0 ms, measured 17.0 ms"),
        (
            Forecast(20.0, None, 17.0, "a pass time is missing"),
            "Last switch: frame 20.0 ms before, predicted n/a (a pass time is missing), measured 17.0 ms",
        ),
        (Forecast(20.0, 16.0, None), "Last switch: frame 20.0 ms before, predicted 16.0 ms, measured n/a"),
    ],
)
def test_a_forecast_is_shown_beside_what_was_measured(made: Forecast, text: str) -> None:
    assert forecast_text(made) == text


@pytest.mark.parametrize(
    ("part", "frame", "text"),
    [(4.0, 16.0, "25 %"), (None, 16.0, "n/a"), (4.0, None, "n/a"), (4.0, 0.0, "n/a"), (0.0, 16.0, "0 %")],
)
def test_a_share_without_both_times_is_n_a_and_never_divides_by_zero(
    part: float | None, frame: float | None, text: str
) -> None:
    assert share_text(part, frame) == text


@pytest.mark.parametrize(
    ("count", "text"), [(0, "0 B"), (999, "999 B"), (1_000, "1 kB"), (24_000_000, "24 MB"), (1_610_000_000, "1.61 GB")]
)
def test_described_bytes_have_three_digits_and_decimal_units(count: int, text: str) -> None:
    assert bytes_text(count) == text
