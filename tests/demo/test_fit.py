"""The search for how many objects fit: against machines whose frame time is known, noisy or not."""

import random
from collections.abc import Callable

import pytest

from demo.fit import CLOSE_ENOUGH, Fit, FitSearch

BUDGET_MS = 16.0


def search(frame_ms: Callable[[int], float], limit: int = 1_000_000, frames: int = 20, percent: float = 95) -> Fit:
    found = FitSearch(BUDGET_MS, percent, limit)
    for _ in range(100):
        if found.asks is None:
            return found.result
        found.report([frame_ms(found.asks) for _ in range(frames)])
    raise AssertionError("the search does not end")


@pytest.mark.parametrize("per_object_ms", [1.0, 0.5, 0.01, 0.001, 0.0001])
@pytest.mark.parametrize("base_ms", [0.0, 2.0, 15.875])
def test_the_interval_holds_the_truth_and_is_narrow(base_ms: float, per_object_ms: float) -> None:
    truth = (BUDGET_MS - base_ms) / per_object_ms
    fit = search(lambda count: base_ms + per_object_ms * count)
    assert fit.fits is not None
    assert fit.exceeds is not None
    assert fit.fits <= truth < fit.exceeds
    assert fit.exceeds <= max(fit.fits + 1, CLOSE_ENOUGH * fit.fits + 1)


def test_a_machine_faster_than_the_limit_gives_the_limit() -> None:
    fit = search(lambda count: 1e-6 * count, limit=50_000)
    assert (fit.fits, fit.exceeds) == (50_000, None)
    assert fit.text(BUDGET_MS) == ">= 50,000 objects fit in 16.0 ms (limit)"


def test_a_machine_too_slow_for_any_object_says_so() -> None:
    fit = search(lambda count: 20.0)
    assert (fit.fits, fit.exceeds) == (None, 0)
    assert fit.text(BUDGET_MS) == "no number of objects fits in 16.0 ms"


def test_no_objects_may_be_what_fits() -> None:
    fit = search(lambda count: 20.0 if count else 1.0)
    assert (fit.fits, fit.exceeds) == (0, 1)


def test_stopped_early_it_says_what_is_sure_by_then() -> None:
    found = FitSearch(BUDGET_MS, 95, 1_000_000)
    assert found.result.text(BUDGET_MS) == "n/a (nothing was measured)"
    found.report([1.0] * 20)
    assert found.result.text(BUDGET_MS) == ">= 64 objects fit in 16.0 ms (time was up)"


@pytest.mark.parametrize("seed", range(20))
def test_noise_widens_the_interval_and_does_not_move_it_off_the_truth(seed: int) -> None:
    """Measurements that contradict each other are believed on neither side."""
    noise = random.Random(seed)
    fit = search(lambda count: 0.004 * count * noise.uniform(0.97, 1.03), percent=50)
    assert fit.fits is not None
    assert fit.exceeds is not None
    assert fit.fits < fit.exceeds
    assert fit.fits <= 4_000 * 1.03
    assert fit.exceeds >= 4_000 * 0.97


def test_both_ends_are_measured_twice() -> None:
    fit = search(lambda count: 0.01 * count, frames=20)
    twice = [each.objects for each in fit.measured if each.n == 40]
    assert twice == [fit.fits, fit.exceeds]


@pytest.mark.parametrize("seed", range(20))
def test_a_few_late_frames_do_not_decide(seed: int) -> None:
    """Something else ran on the machine for a while: whole blocks are late, whatever the number of objects."""
    noise = random.Random(seed)
    blocks = [0]

    def frame_ms(count: int) -> float:
        blocks[0] += 1
        disturbed = (blocks[0] // 20) % 9 == seed % 9 and noise.random() < 0.2
        return 0.004 * count + (20.0 if disturbed else 0.0)

    fit = search(frame_ms)
    assert fit.fits is not None
    assert fit.fits >= 0.8 * 4_000


def test_a_contradiction_leaves_only_what_every_measurement_agrees_with() -> None:
    """100 do not fit, 200 do: surely fits only what is smaller, surely does not only what is larger."""
    times = {50: 1.0, 100: 20.0, 200: 10.0, 400: 30.0}
    found = FitSearch(BUDGET_MS, 95, 1_000)
    found._times_ms = {count: [time] for count, time in times.items()}
    assert (found.result.fits, found.result.exceeds) == (50, 400)
    assert set(found._doubtful(400)) == {100, 200}


def test_every_measurement_is_kept_for_the_report() -> None:
    fit = search(lambda count: 0.1 * count)
    assert [each.objects for each in fit.measured] == sorted(each.objects for each in fit.measured)
    assert all(each.time_ms == pytest.approx(0.1 * each.objects) for each in fit.measured)


def test_nothing_can_be_reported_when_nothing_is_asked() -> None:
    found = FitSearch(BUDGET_MS, 95, 10)
    while found.asks is not None:
        found.report([1.0])
    with pytest.raises(RuntimeError, match="the search is over"):
        found.report([1.0])


def test_a_number_that_does_not_fit_says_nothing_of_smaller_ones() -> None:
    found = FitSearch(BUDGET_MS, 95, 1_000)
    found.report([20.0] * 20)
    assert found.result.text(BUDGET_MS) == "fewer than 64 objects fit in 16.0 ms (time was up)"
