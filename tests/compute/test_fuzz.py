"""Random functions without a device: the recorder and the interpreter against NumPy itself."""

import numpy as np
from hypothesis import given

from compute.kernel import SCHEDULES, LimitError
from compute.reference import bounds, evaluate, max_scaled_error
from compute.schedule import schedule
from tests.compute.expressions import DRAWN, Drawn, functions

_FLOAT64_ROUNDS_FINER = 2.0**-24  # than float32, whose roundings the bounds are made of; it has 29 more bits


@DRAWN
@given(functions())
def test_the_interpreter_computes_what_numpy_does_in_float64(drawn: Drawn) -> None:
    recorded = drawn.record()
    exact, allowed = evaluate(recorded, drawn.arguments), bounds(recorded, drawn.arguments)
    for mine, theirs, bound in zip(exact, drawn.by_numpy_in_float64(), allowed, strict=True):
        assert mine.shape == theirs.shape == bound.shape
        assert max_scaled_error(theirs, mine, bound * _FLOAT64_ROUNDS_FINER) <= 1.0


@DRAWN
@given(functions())
def test_numpy_in_float32_stays_within_the_bounds(drawn: Drawn) -> None:
    recorded = drawn.record()
    exact, allowed = evaluate(recorded, drawn.arguments), bounds(recorded, drawn.arguments)
    for mine, theirs, bound in zip(exact, drawn.by_numpy(), allowed, strict=True):
        assert max_scaled_error(theirs, mine, bound) <= 1.0


@DRAWN
@given(functions())
def test_every_schedule_writes_each_result_once_and_reads_nothing_before_it_is_written(drawn: Drawn) -> None:
    recorded = drawn.record()
    for how in SCHEDULES:
        try:
            made = schedule(recorded, how)
        except LimitError:  # more arrays than one kernel takes
            continue
        written = {f"f/{name}" for name, each in drawn.arguments.items() if each.shape}
        for note in made.notes:
            assert {f"f/{name}" for name in note.reads} <= written
            assert not {f"f/{name}" for name in note.writes} & written
            written |= {f"f/{name}" for name in note.writes}
        assert set(made.outputs) <= written
        assert [dict(made.arrays)[name].shape for name in made.outputs] == [each.shape for each in recorded.outputs]


@DRAWN
@given(functions())
def test_equal_functions_have_equal_plans(drawn: Drawn) -> None:
    for how in SCHEDULES:
        try:
            one, other = schedule(drawn.record(), how), schedule(drawn.record(), how)
        except LimitError:
            continue
        assert one == other
        assert hash(one) == hash(other)
        assert np.all([dispatch.workgroups for each in one.passes for dispatch in each.dispatches])
