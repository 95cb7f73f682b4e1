"""The fit on a live window, without a window: what it wishes for, what it counts, and what it gives back."""

from collections.abc import Callable

import pytest

from demo.budget import BUDGET_MS
from demo.fitting import Fitting
from demo.wanted import MAX_OBJECTS_SHOWN, Action, Wanted, apply
from renderers.plan import Submission


def _wanted() -> Wanted:
    return Wanted("opengl", "fused", 1000, 1000, 2)


def _driven(fitting: Fitting, wanted: Wanted, time_ms: Callable[[int], float]) -> None:
    """Frames of ``time_ms`` for each number of objects, until it is over."""
    now_s = 0.0
    for _ in range(100_000):
        if not fitting.go_on(wanted, now_s):
            return
        now_s += time_ms(wanted.objects) / 1e3
        fitting.add(time_ms(wanted.objects))
    pytest.fail("never ended")


def test_it_ends_at_the_most_that_fits_and_gives_vsync_back() -> None:
    wanted = _wanted()
    fitting = Fitting(wanted, 0.0)
    assert not wanted.vsync
    assert fitting.text.startswith("Fitting: 64 objects ...")
    _driven(fitting, wanted, lambda objects: 2.0 + objects / 500.0)
    fitting.let_go(wanted)
    exact = 500.0 * (BUDGET_MS - 2.0)
    assert 0.95 * exact <= wanted.objects <= exact
    assert f"immediate-bind, fused: {wanted.objects:,} objects fit in 16.7 ms" in fitting.text
    assert wanted == Wanted("opengl", "fused", wanted.objects, 1000, 2)


def test_what_always_fits_ends_at_the_most_that_is_shown() -> None:
    wanted = _wanted()
    fitting = Fitting(wanted, 0.0)
    _driven(fitting, wanted, lambda objects: 0.5)
    fitting.let_go(wanted)
    assert wanted.objects == MAX_OBJECTS_SHOWN
    assert f">= {MAX_OBJECTS_SHOWN:,} objects" in fitting.text


def test_where_nothing_fits_the_objects_stay_what_they_were() -> None:
    wanted = _wanted()
    fitting = Fitting(wanted, 0.0)
    _driven(fitting, wanted, lambda objects: 20.0)
    fitting.let_go(wanted)
    assert wanted == _wanted()
    assert "no number of objects fits in 16.7 ms" in fitting.text


def test_ten_frames_are_dropped_and_thirty_counted_of_each_number() -> None:
    wanted = _wanted()
    fitting, asked = Fitting(wanted, 0.0), wanted.objects
    for frame in range(40):
        assert fitting.go_on(wanted, 0.0)
        assert wanted.objects == asked
        fitting.add(40.0 if frame < 10 else 1.0)
    fitting.go_on(wanted, 0.0)
    (measured,) = fitting.result.measured
    assert (measured.objects, measured.n, measured.time_ms) == (asked, 30, 1.0)


def test_frames_far_over_the_budget_end_a_block_early() -> None:
    wanted = _wanted()
    fitting, frames = Fitting(wanted, 0.0), 0
    while fitting.go_on(wanted, 0.0) and not fitting.result.measured:
        fitting.add(600.0)
        frames += 1
    assert frames == 3
    assert fitting.result.exceeds == 64


def test_twenty_seconds_end_it_with_what_is_known() -> None:
    wanted = _wanted()
    fitting = Fitting(wanted, 100.0)
    for _ in range(40):
        fitting.add(1.0)
    assert fitting.go_on(wanted, 119.9)
    assert not fitting.go_on(wanted, 120.1)
    fitting.let_go(wanted)
    assert wanted.objects == 64
    assert ">= 64 objects fit in 16.7 ms (time was up)" in fitting.text


def test_cancelled_it_leaves_everything_as_it_was() -> None:
    wanted = _wanted()
    fitting = Fitting(wanted, 0.0)
    fitting.cancel()
    assert not fitting.go_on(wanted, 0.0)
    fitting.let_go(wanted)
    assert wanted == _wanted()
    assert fitting.text == "Fit cancelled"


@pytest.mark.parametrize(
    "action",
    [
        Action.WEBGPU, Action.NEXT_SCHEDULE, Action.NEXT_SUBMISSION, Action.NEXT_STATE, Action.NEXT_ORDER,
        Action.MORE_OBJECTS, Action.MORE_ELEMENTS, Action.VSYNC, Action.IN_FLIGHT, Action.PAUSE, Action.FULLSCREEN,
    ],
)  # fmt: skip
def test_a_change_of_any_setting_cancels_it_and_is_kept(action: Action) -> None:
    wanted, expected = _wanted(), _wanted()
    fitting = Fitting(wanted, 0.0)
    apply(action, wanted)
    asked = wanted.objects
    assert not fitting.go_on(wanted, 0.0)
    fitting.let_go(wanted)
    apply(action, expected)
    if action is Action.MORE_OBJECTS:  # twice what was on show when the key was pressed
        expected.objects = asked
    if action is Action.VSYNC:  # off meanwhile, so that the key turns it on
        expected.vsync = True
    assert wanted == expected


@pytest.mark.parametrize("action", [Action.OVERLAY, Action.HELP])
def test_the_panel_may_come_and_go_meanwhile(action: Action) -> None:
    wanted = _wanted()
    fitting = Fitting(wanted, 0.0)
    apply(action, wanted)
    assert fitting.go_on(wanted, 0.0)


def test_the_result_says_what_was_fitted_and_whether_the_panel_was_drawn() -> None:
    for overlay in (True, False):
        wanted = _wanted()
        wanted.submission, wanted.how, wanted.overlay = Submission.INSTANCED, "eager", overlay
        fitting = Fitting(wanted, 0.0)
        _driven(fitting, wanted, lambda objects: 0.5)
        assert fitting.text.startswith("instanced, eager: >= 100,000")
        assert ("this panel drawn too" in fitting.text) is overlay
