"""How many kernels a function becomes, what they read and write, and what stops fusing. Counts are exact."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from compute.kernel import SCHEDULES, Access, Dispatch, How, Schedule
from compute.record import Spec, record
from compute.schedule import schedule
from compute.workloads.elementwise import WORKLOADS, wave
from compute.workloads.layers import gelu, layernorm, softmax

N = 1_000
ARRAY, TABLE = Spec((N,)), Spec((8, 64))
OVER = Spec((N,), overwrite=True)


def _attention(q: Any, k: Any, v: Any) -> Any:
    return softmax(q @ k.T * 0.125) @ v


def _made(function: Callable[..., Any], *specs: Spec, how: How = "fused") -> Schedule:
    return schedule(record(function, *specs), how)


def _kernels(made: Schedule) -> int:
    assert len(made.notes) == sum(each.kernels for each in made.passes)
    return len(made.notes)


def _bytes(made: Schedule) -> int:
    return sum(each.memory_bytes for each in made.passes)


def _dispatches(made: Schedule) -> list[Dispatch]:
    return [dispatch for each in made.passes for dispatch in each.dispatches]


def _reads_and_writes(made: Schedule) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    return [(note.reads, note.writes) for note in made.notes]


@pytest.mark.parametrize(
    ("name", "how", "kernels", "bytes_an_element"),
    [
        ("relu", "eager", 3, 24), ("relu", "batched", 3, 24), ("relu", "fused", 1, 8),
        ("wave", "eager", 3, 24), ("wave", "batched", 3, 24), ("wave", "fused", 1, 8),
        ("chain", "eager", 12, 4 * 29), ("chain", "batched", 12, 4 * 29), ("chain", "fused", 1, 12),
    ],
)  # fmt: skip
def test_a_workload_has_its_kernels_and_its_bytes(name: str, how: How, kernels: int, bytes_an_element: int) -> None:
    made = schedule(WORKLOADS[name].record(N), how)
    assert _kernels(made) == kernels
    assert _bytes(made) == bytes_an_element * N


def test_relu_on_100_million_floats_is_described_as_2_4_and_0_8_gigabytes() -> None:
    recorded = WORKLOADS["relu"].record(100_000_000)
    assert [_bytes(schedule(recorded, how)) for how in SCHEDULES] == [2_400_000_000, 2_400_000_000, 800_000_000]


@pytest.mark.parametrize(("how", "kernels"), [("eager", 5), ("batched", 5), ("fused", 3)])
def test_softmax_is_five_kernels_op_by_op_and_three_fused(how: How, kernels: int) -> None:
    assert _kernels(_made(softmax, TABLE, how=how)) == kernels


@pytest.mark.parametrize(("how", "kernels"), [("batched", 11), ("fused", 3)])
def test_layernorm_is_eleven_kernels_op_by_op_and_three_fused(how: How, kernels: int) -> None:
    assert _kernels(_made(layernorm, TABLE, Spec((64,)), Spec((64,)), how=how)) == kernels


@pytest.mark.parametrize(("how", "kernels"), [("batched", 9), ("fused", 1)])
def test_gelu_is_nine_kernels_op_by_op_and_one_fused(how: How, kernels: int) -> None:
    assert _kernels(_made(gelu, ARRAY, how=how)) == kernels


@pytest.mark.parametrize(("how", "kernels"), [("batched", 8), ("fused", 5)])
def test_attention_is_eight_kernels_op_by_op_and_five_fused(how: How, kernels: int) -> None:
    made = _made(_attention, Spec((33, 16)), Spec((20, 16)), Spec((20, 8)), how=how)
    assert _kernels(made) == kernels


@pytest.mark.parametrize(("how", "before", "first"), [("batched", 3, "sum"), ("fused", 0, "multiply_add_maximum_sum")])
def test_a_sum_over_16_million_is_four_stages(how: How, before: int, first: str) -> None:
    made = schedule(WORKLOADS["sum"].record(16 << 20), how)
    assert [note.name for note in made.notes[before:]] == [first, "sum", "sum", "sum"]
    results = [16 << 20, 1 << 18, 1 << 12, 8, 1]
    stages = [(4 * read, 4 * written) for read, written in pairwise(results)]
    assert [(note.work.bytes_read, note.work.bytes_written) for note in made.notes[before:]] == stages


def test_a_sum_of_few_terms_is_one_kernel() -> None:
    assert _kernels(_made(lambda x: np.sum(x), Spec((512,)))) == 1
    assert _kernels(_made(lambda x: np.sum(x), Spec((513,)))) == 2


def test_a_sum_to_many_results_is_one_kernel() -> None:
    assert _kernels(_made(lambda x: np.sum(x, axis=1), Spec((4096, 1_000)))) == 1
    assert _kernels(_made(lambda x: np.sum(x, axis=1), Spec((4095, 1_000)))) == 2


def test_reductions_of_one_kind_along_the_same_axes_are_one_kernel() -> None:
    made = _made(lambda x: (np.sum(x, axis=1), np.sum(x * x, axis=1), np.max(x, axis=1)), TABLE)
    assert [note.writes for note in made.notes] == [("out0", "out1"), ("out2",)]


def test_several_results_of_one_shape_come_from_one_kernel_that_reads_once() -> None:
    made = _made(lambda x, y: (x + y, x * y, x > y), ARRAY, ARRAY)
    assert _reads_and_writes(made) == [(("x", "y"), ("out0", "out1", "out2"))]
    assert _bytes(made) == 5 * 4 * N


def test_results_of_two_shapes_come_from_two_kernels() -> None:
    made = _made(lambda x, y: (x * 2.0, y * 2.0), Spec((4,)), Spec((8,)))
    assert _reads_and_writes(made) == [(("x",), ("out0",)), (("y",), ("out1",))]


def test_a_shared_subexpression_is_computed_once_in_a_kernel() -> None:
    def both(x: Any) -> Any:
        shared = np.exp(x)
        return shared + 1.0, shared * shared

    (note,) = _made(both, ARRAY).notes
    assert note.name == "exp_add_multiply"
    assert note.work.flops == 3 * N


@pytest.mark.parametrize("how", SCHEDULES)
def test_dead_code_is_gone_and_its_argument_is_not_in_memory(how: How) -> None:
    def careless(x: Any, y: Any) -> Any:
        np.exp(y)
        return x + 1.0

    made = _made(careless, ARRAY, ARRAY, how=how)
    assert [note.name for note in made.notes] == ["add"]
    assert dict(made.arrays).keys() == {"careless/x", "careless/out"}


@pytest.mark.parametrize("how", SCHEDULES)
def test_what_is_made_of_scalars_only_is_computed_where_it_is_used(how: How) -> None:
    made = _made(lambda x, a, b: x * (a * b + 1.0), ARRAY, Spec(), Spec(), how=how)
    assert _reads_and_writes(made) == [(("x",), ("out",))]


@pytest.mark.parametrize("how", SCHEDULES)
def test_a_view_is_no_kernel_unless_it_is_the_result(how: How) -> None:
    assert [note.name for note in _made(lambda x: x.T.reshape(-1)[:, None] + 1.0, TABLE, how=how).notes] == ["add"]
    assert [note.name for note in _made(lambda x: x.T, TABLE, how=how).notes] == ["copy"]


@pytest.mark.parametrize("how", SCHEDULES)
def test_in_place_is_one_buffer_less_and_one_parameter_that_is_read_and_written(how: How) -> None:
    made, apart = (_made(wave, spec, Spec(), Spec(), how=how) for spec in (OVER, ARRAY))
    assert len(made.arrays) == len(apart.arrays) - 1
    first = _dispatches(made)[0]
    assert first.kernel.buffers[0].access is Access.READ_WRITE
    assert _bytes(made) == _bytes(apart)
    for dispatch in _dispatches(made):
        buffers = [name for _, name in dispatch.buffer_arguments()]
        assert len(buffers) == len(set(buffers))


def test_in_place_gives_the_result_the_arguments_own_array() -> None:
    made = _made(wave, OVER, Spec(), Spec())
    assert made.outputs == ("wave/x",)
    assert [name for name, _ in made.arrays] == ["wave/x"]


@pytest.mark.parametrize(
    ("function", "specs"),
    [
        (lambda x: x - np.max(x), [OVER]),  # the maximum is done before; x is read last where it is written
        (lambda x, y: x + y, [OVER, ARRAY]),
        (lambda x, y: x + y, [ARRAY, OVER]),
    ],
)
def test_in_place_is_taken_where_the_last_kernel_reads_in_step(function: Callable[..., Any], specs: list[Spec]) -> None:
    made = _made(function, *specs)
    over = "x" if specs[0].overwrite else "y"
    assert made.outputs == (f"<lambda>/{over}",)


@pytest.mark.parametrize(
    ("how", "function"),
    [
        ("batched", lambda x: (x + 1.0, np.sum(x))),  # a later kernel reads it
        ("fused", lambda x: (x * 2.0, x[:, None] + 1.0)),  # a later kernel reads it
        ("fused", lambda x: x[:, None] * x[None, :]),  # another shape
        ("fused", lambda x: x > 0.0),  # another type
        ("fused", lambda x: x.reshape(8, 125).T.reshape(N) + x),  # read out of step: others' elements
        ("fused", lambda x: np.sum(x[None, :], axis=0)),  # not element by element
    ],
)
def test_in_place_is_refused_silently_where_it_would_be_wrong(how: How, function: Callable[..., Any]) -> None:
    made = _made(function, OVER, how=how)
    assert "x" not in {name for note in made.notes for name in note.writes}


def test_in_place_waits_for_the_last_kernel_that_reads_the_argument() -> None:
    made = _made(lambda x: (x + 1.0, np.sum(x)), OVER)
    assert _reads_and_writes(made)[0] == (("x",), ("t0",))
    assert _reads_and_writes(made)[-1] == (("x",), ("x",))


def test_two_arguments_that_may_be_overwritten_hold_two_results() -> None:
    made = _made(lambda x, y: (x + y, x - y, x * y), OVER, OVER)
    assert made.outputs == ("<lambda>/x", "<lambda>/y", "<lambda>/out2")


def test_what_stops_fusing_is_explained() -> None:
    assert (
        _made(softmax, TABLE).explain()
        == """\
1. max: x -> t0
   2,048 bytes read, 32 written; max: all 64 terms must be there before the result is used
2. subtract_exp_sum: x, t0 -> t1
   4,096 bytes read, 32 written; sum: all 64 terms must be there before the result is used
3. subtract_exp_divide: x, t0, t1 -> out
   6,144 bytes read, 2,048 written; results of shape (8, 64)
3 kernels, 14,400 bytes described"""
    )


def test_parts_and_matmul_say_why_they_are_kernels_of_their_own() -> None:
    whys = [note.why for note in _made(lambda x: np.sum(x), Spec((100_000,))).notes]
    assert whys == [
        "sum in parts of 64: enough to do at once",
        "sum in parts of 512: enough to do at once",
        "sum: all 4 terms must be there before the result is used",
    ]
    whys = [note.why for note in _made(lambda a, b: (a + 1.0) @ b, Spec((3, 4)), Spec((4, 5))).notes]
    assert whys == ["matmul reads each element many times", "matmul: each result takes a row and a column of 4"]


def test_op_by_op_says_so() -> None:
    assert {note.why for note in _made(softmax, TABLE, how="batched").notes} == {"batched: a kernel per op"}
