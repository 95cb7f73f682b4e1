"""Random functions on every device, by every schedule, against the float64 interpreter. ``make fuzz``: thousands."""

from hypothesis import given, note

from compute.kernel import SCHEDULES, LimitError
from compute.reference import bounds, evaluate, max_scaled_error
from renderers.device import Device
from renderers.run import run
from tests.compute.expressions import DRAWN, Drawn, functions


@DRAWN
@given(drawn=functions())
def test_every_schedule_computes_what_the_interpreter_does_within_the_bounds(device: Device, drawn: Drawn) -> None:
    recorded = drawn.record()
    exact, allowed = evaluate(recorded, drawn.arguments), bounds(recorded, drawn.arguments)
    for how in SCHEDULES:
        note(how)
        try:
            results = run(device, drawn.function, *drawn.arguments.values(), schedule=how)
        except LimitError:  # more arrays than one kernel takes
            continue
        for mine, right, bound in zip(results, exact, allowed, strict=True):
            assert mine.shape == right.shape
            assert max_scaled_error(mine, right, bound) <= 1.0
