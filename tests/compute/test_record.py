"""A plain Python function, run once on lazy arrays: what it says is kept, what it cannot say is refused by name."""

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from compute.expr import RecordError
from compute.ops import OPS
from compute.record import Recorded, Spec, record
from compute.workloads.elementwise import record_wave, wave

ARRAY = Spec((8,))


def _ops(recorded: Recorded) -> list[str]:
    return [node.op for node in recorded.nodes if node.is_op]


def test_the_same_text_runs_on_numpy_arrays_and_lazily() -> None:
    x = np.array([-2.0, 0.0, 3.0], np.float32)
    assert wave(x, 2.0, 1.0).tolist() == [0.0, 1.0, 7.0]
    assert _ops(record(wave, Spec((3,)), Spec(), Spec())) == ["multiply", "add", "maximum"]


def test_inputs_keep_the_names_and_shapes_of_the_parameters() -> None:
    inputs = record_wave(100).inputs
    assert [(node.name, node.shape) for node in inputs] == [("x", (100,)), ("a", ()), ("b", ())]


def test_nodes_stand_behind_their_sources() -> None:
    recorded = record_wave(8)
    for position, node in enumerate(recorded.nodes):
        assert set(node.sources) <= set(recorded.nodes[:position])


def test_a_shared_subexpression_is_one_node() -> None:
    def square(x: Any) -> Any:
        y = x + 1.0
        return y * y

    assert _ops(record(square, ARRAY)) == ["add", "multiply"]


def test_what_no_result_needs_is_not_kept() -> None:
    def careless(x: Any) -> Any:
        x * 3.0
        return x + 1.0

    assert _ops(record(careless, ARRAY)) == ["add"]


def test_operators_work_with_the_array_on_either_side() -> None:
    assert _ops(record(lambda x: 1.0 - (2.0 * -x), ARRAY)) == ["negative", "multiply", "subtract"]


def test_constants_are_rounded_to_float32() -> None:
    (constant,) = (node for node in record(lambda x: x * 0.1, ARRAY).nodes if node.op == "constant")
    assert constant.value == float(np.float32(0.1)) != 0.1


@pytest.mark.parametrize("specs", [(), (ARRAY,), (ARRAY, Spec(), Spec(), Spec())])
def test_a_wrong_number_of_specs_is_refused_with_both_numbers(specs: tuple[Spec, ...]) -> None:
    with pytest.raises(RecordError, match=f"wave: takes 3 arguments, got {len(specs)} specs"):
        record(wave, *specs)


@pytest.mark.parametrize(
    ("asked", "function"),
    [
        ("sin", lambda x: np.sin(x)),
        ("power", lambda x: x**2),
        ("divide", lambda x: x / 2.0),
        ("matmul", lambda x: x @ x),
        ("greater", lambda x: x > 0.0),
        ("add.reduce", lambda x: np.add.reduce(x)),
        ("multiply.outer", lambda x: np.multiply.outer(x, x)),
    ],
)
def test_an_op_outside_the_vocabulary_is_refused_with_the_vocabulary(asked: str, function: Callable[..., Any]) -> None:
    with pytest.raises(RecordError) as refusal:
        record(function, ARRAY)
    assert str(refusal.value).startswith(f"{asked}: ")
    assert all(op in str(refusal.value) for op in OPS)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: np.dot(x, x),
        lambda x: np.inner(x, x),
        lambda x: np.tensordot(x, x, 0),
        lambda x: np.sum(x),
        lambda x: np.mean(x),
        lambda x: np.where(x, 1.0, 0.0),
    ],
    ids=["dot", "inner", "tensordot", "sum", "mean", "where"],
)
def test_a_numpy_function_that_is_no_ufunc_is_not_recorded_as_something_else(function: Callable[..., Any]) -> None:
    with pytest.raises(RecordError):
        record(function, ARRAY)


def test_an_option_of_an_op_is_refused() -> None:
    with pytest.raises(RecordError, match=r"add: .* without options"):
        record(lambda x: np.add(x, 1.0, where=True), ARRAY)


@pytest.mark.parametrize("function", [lambda x: x if x else -x, lambda x: not x, lambda x: x and -x])
def test_a_branch_on_values_is_refused(function: Callable[..., Any]) -> None:
    with pytest.raises(RecordError, match="branch on array values cannot be recorded"):
        record(function, ARRAY)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf"), 1e39, np.float64(-1e300)])
def test_a_constant_that_is_no_finite_float32_is_refused_with_its_value_and_the_way_out(value: float) -> None:
    with pytest.raises(RecordError) as refusal:
        record(lambda x: x * value, ARRAY)
    assert f"constant {float(value)}" in str(refusal.value)
    assert "pass it as an argument" in str(refusal.value)


def test_an_integer_too_large_for_any_float_is_refused_like_other_constants() -> None:
    with pytest.raises(RecordError, match="not a finite float32"):
        record(lambda x: x * 10**400, ARRAY)


@pytest.mark.parametrize("value", [np.ones(8), "2", None, 2j, [1.0]])
def test_an_operand_that_is_no_number_is_refused_with_its_type(value: Any) -> None:
    with pytest.raises(RecordError, match=f"^{type(value).__name__} in an expression"):
        record(lambda x: np.add(x, value), ARRAY)


def test_a_complex_numpy_number_is_refused_instead_of_cut() -> None:
    with pytest.raises(RecordError, match="complex64"):
        record(lambda x: x * np.complex64(2j), ARRAY)


def test_arrays_of_two_shapes_are_refused_with_both() -> None:
    with pytest.raises(RecordError, match=r"add: shapes .*differ; use one shape, or a scalar") as refusal:
        record(lambda x, y: x + y, Spec((4,)), Spec((8,)))
    assert "(4,)" in str(refusal.value)
    assert "(8,)" in str(refusal.value)


@pytest.mark.parametrize(
    "function", [lambda x: x, lambda x: 1.0, lambda x: None, lambda x: [x + 1.0], lambda x: (x + 1.0, 2.0)]
)
def test_a_result_that_is_no_computed_array_is_refused(function: Callable[..., Any]) -> None:
    with pytest.raises(RecordError, match="must return arrays computed from its arguments"):
        record(function, ARRAY)


def test_a_scalar_result_is_refused() -> None:
    with pytest.raises(RecordError, match="must return arrays"):
        record(lambda a: a + 1.0, Spec())


def test_a_chain_longer_than_the_interpreters_stack_is_recorded() -> None:
    length = sys.getrecursionlimit() + 100

    def chain(x: Any) -> Any:
        for _ in range(length):
            x = x + 1.0
        return x

    assert len(_ops(record(chain, ARRAY))) == length
