"""A GPU timer is believed only if it grows with the work as wall time does."""

import pytest

from renderers.trust import judge

WALL_MS = (8.0, 13.0, 23.0)  # a frame of 3 ms, and 5 ms of work once, twice and four times


def test_a_timer_that_grows_as_wall_time_does_is_believed_with_its_evidence() -> None:
    trust = judge(WALL_MS, (5.1, 10.0, 20.2))
    assert trust.trusted
    assert "timer 5.1, 10, 20.2 ms" in trust.reason
    assert "wall 8, 13, 23 ms" in trust.reason


def test_what_every_frame_costs_anyway_does_not_count_against_the_timer() -> None:
    assert judge([wall + 50.0 for wall in WALL_MS], (5.0, 10.0, 20.0)).trusted


@pytest.mark.parametrize(
    ("wall_ms", "gpu_ms"),
    [
        ((790.0, 1580.0, 3160.0), (40e-6, 40e-6, 41e-6)),
        (WALL_MS, (5.0 / 8, 10.0 / 8, 20.0 / 8)),
        (WALL_MS, (5.0, 5.0, 5.0)),
        (WALL_MS, (5.0, 10.0, 10.0)),
        (WALL_MS, (20.0, 10.0, 5.0)),
        (WALL_MS, (50.0, 100.0, 200.0)),
        (WALL_MS, (0.0, 0.0, 0.0)),
    ],
    ids=["40 ns for 790 ms", "an eighth", "constant", "stops growing", "shrinks", "ten times", "zero"],
)
def test_a_timer_that_grows_otherwise_is_untrusted_and_both_series_are_shown(
    wall_ms: tuple[float, ...], gpu_ms: tuple[float, ...]
) -> None:
    trust = judge(wall_ms, gpu_ms)
    assert not trust.trusted
    assert trust.reason.startswith("untrusted: ")
    assert f"wall {wall_ms[0]:.3g}" in trust.reason
    assert f"timer {gpu_ms[0]:.3g}" in trust.reason


@pytest.mark.parametrize("missing", [0, 1, 2])
def test_a_missing_reading_is_untrusted_with_the_reasons_once_each(missing: int) -> None:
    gpu_ms = [None if i == missing else wall for i, wall in enumerate(WALL_MS)]
    trust = judge(WALL_MS, gpu_ms, ["b", "a", "b"])
    assert not trust.trusted
    assert trust.reason == "no reading: a; b"


def test_a_missing_reading_without_a_reason_still_has_one() -> None:
    assert judge(WALL_MS, (None, None, None)).reason == "no reading: none arrived"


@pytest.mark.parametrize("wall_ms", [(8.0, 8.0, 8.0), (8.0, 7.0, 23.0), (8.0, 13.0, 12.0)])
def test_where_wall_time_does_not_grow_with_the_work_nothing_can_be_told(wall_ms: tuple[float, ...]) -> None:
    trust = judge(wall_ms, (5.0, 10.0, 20.0))
    assert not trust.trusted
    assert trust.reason.startswith("cannot tell: ")
    assert "0.00" not in trust.reason
