"""A plain Python function, run once on lazy arrays: what it says is kept, what it cannot say is refused by name."""

import sys
from collections.abc import Callable
from pathlib import Path
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


def _refusal(function: Callable[..., Any], *specs: Spec) -> str:
    """What the recorder says against ``function``. It names this file and the line of the function."""
    with pytest.raises(RecordError) as refusal:
        record(function, *(specs or (ARRAY,)))
    message = str(refusal.value)
    assert message.endswith(f"at {Path(__file__).name}:{function.__code__.co_firstlineno}"), message
    return message


@pytest.mark.parametrize(
    ("asked", "function"),
    [
        ("arctan", lambda x: np.arctan(x)),
        ("float_power", lambda x: np.float_power(x, 2)),
        ("remainder", lambda x: x % 2.0),
        ("floor_divide", lambda x: x // 2.0),
        ("left_shift", lambda x: x << 2),
        ("multiply.reduce", lambda x: np.multiply.reduce(x)),
        ("multiply.outer", lambda x: np.multiply.outer(x, x)),
        ("add.accumulate", lambda x: np.add.accumulate(x)),
        ("dot", lambda x: np.dot(x, x)),
        ("inner", lambda x: np.inner(x, x)),
        ("tensordot", lambda x: np.tensordot(x, x, 0)),
        ("concatenate", lambda x: np.concatenate([x, x])),
        ("sort", lambda x: np.sort(x)),
    ],
)
def test_an_op_outside_the_vocabulary_is_refused_with_the_vocabulary_and_the_line(
    asked: str, function: Callable[..., Any]
) -> None:
    message = _refusal(function)
    assert message.startswith(f"{asked}: not in the vocabulary; use absolute, add, ")
    assert all(name in message for name in (*(op for op in OPS if "astype" not in op), "astype", "matmul", "sum"))


@pytest.mark.parametrize(
    ("refused", "function"),
    [
        ("add with where: ", lambda x: np.add(x, 1.0, where=True)),
        ("add with out: ", lambda x: np.add(x, 1.0, out=x)),
        ("sum: ", lambda x: np.sum(x, dtype=np.float64)),
        ("max: ", lambda x: np.max(x, initial=3.0)),
        ("sum: takes only axis and keepdims", lambda x: np.add.reduce(x, dtype=np.float32)),
        ("mean: ", lambda x: np.mean(x, where=True)),
        ("where: ", lambda x: np.where(x > 0.0)),
        ("clip: ", lambda x: np.clip(x, 0.0)),
    ],
)
def test_an_option_of_an_op_is_refused_with_its_line(refused: str, function: Callable[..., Any]) -> None:
    assert _refusal(function).startswith(refused)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x if x else -x,
        lambda x: -x if x > 0.0 else x,
        lambda x: not x,
        lambda x: x and -x,
        lambda x: x if np.sum(x) > 1.0 else -x,
        lambda x: max(x, 0.0),
        lambda x: [x := x * 2.0 for _ in iter(lambda: bool(x), False)],
    ],
)
def test_a_branch_on_values_is_refused_with_the_way_out_and_its_line(function: Callable[..., Any]) -> None:
    assert "a branch on array values cannot be recorded, nothing has run yet; use np.where, or run it" in _refusal(
        function
    )


def test_a_loop_on_values_is_refused_with_the_line_of_the_loop() -> None:
    def halve(x: Any) -> Any:
        while np.max(x) > 1.0:
            x = x * 0.5
        return x

    with pytest.raises(RecordError, match="a branch on array values") as refusal:
        record(halve, ARRAY)
    assert str(refusal.value).endswith(f":{halve.__code__.co_firstlineno + 1}")


@pytest.mark.parametrize(
    "function", [lambda x: x * float(np.sum(x)), lambda x: x * int(np.sum(x)), lambda x: [1.0, 2.0][np.sum(x)]]
)
def test_a_value_is_not_to_be_had_before_it_has_run(function: Callable[..., Any]) -> None:
    assert _refusal(function).startswith("sum: has no value before it has run; ")


@pytest.mark.parametrize(
    "function", [lambda x: x[0], lambda x: x[1:], lambda x: x[x > 0.0], lambda x: x[:, :, None], lambda x: x[..., ...]]
)
def test_only_new_axes_are_recorded_of_an_index(function: Callable[..., Any]) -> None:
    assert _refusal(function).startswith("getitem: only new axes can be recorded, as in x[:, None]; got ")


@pytest.mark.parametrize(
    "index", [np.s_[None], np.s_[:, None], np.s_[..., None], np.s_[None, :, None], np.s_[:, None, ...]]
)
def test_a_new_axis_stands_where_numpy_puts_it(index: Any) -> None:
    (output,) = record(lambda x: x[index], Spec((4, 5))).outputs
    assert output.shape == np.zeros((4, 5))[index].shape


@pytest.mark.parametrize(
    ("refused", "function", "specs"),
    [
        ("add: takes operands of one type of f32, i32, u32, got f32, i32; use astype", lambda x, i: x + i, "f32 i32"),
        ("where: the condition must be bool, got f32; compare it", lambda x, y: np.where(x, y, y), "f32 f32"),
        ("sqrt: takes operands of one type of f32, got i32; use astype", lambda i: np.sqrt(i), "i32"),
        ("divide: takes operands of one type of f32, got u32; use astype", lambda i: i / 2, "u32"),
        ("negative: takes operands of one type of f32, i32, got u32", lambda i: -i, "u32"),
        ("add: takes operands of one type of f32, i32, u32, got bool", lambda c: c + c, "bool"),
        ("logical_and: takes operands of one type of bool, got i32", lambda i: i & i, "i32"),
        ("constant 0.5: no i32; cast the array with astype(np.float32)", lambda i: i * 0.5, "i32"),
        ("constant -1: no u32", lambda i: i + -1, "u32"),
        ("constant 2147483648: no i32", lambda i: i + 2**31, "i32"),
        ("sum: takes numbers, got bool; use astype", lambda c: np.sum(c), "bool"),
        ("mean: takes f32, got i32; use astype", lambda i: np.mean(i), "i32"),
        ("matmul: takes f32, got i32 and i32; use astype", lambda i: i @ i, "i32"),
        ("astype: float64 is not float32, int32 or uint32", lambda x: x.astype(np.float64), "f32"),
        ("astype: bool is not float32, int32 or uint32", lambda x: x.astype(bool), "f32"),
    ],
)
def test_types_that_do_not_go_together_are_refused_with_both(
    refused: str, function: Callable[..., Any], specs: str
) -> None:
    kinds: Any = specs.split()
    assert _refusal(function, *(Spec((8,), kind) for kind in kinds)).startswith(refused)


@pytest.mark.parametrize(
    ("refused", "function", "shapes"),
    [
        ("add: shapes (4,) and (8,) do not broadcast; reshape one of them", lambda x, y: x + y, [(4,), (8,)]),
        ("where: shapes (4,) and (2, 3) do not broadcast", lambda x, y: np.where(x > 0.0, 1.0, y), [(4,), (2, 3)]),
        ("matmul: takes (m, k) @ (k, n), got (3, 4) @ (3, 4); reshape them", lambda x, y: x @ y, [(3, 4), (3, 4)]),
        ("matmul: takes (m, k) @ (k, n), got (4,) @ (4,)", lambda x, y: x @ y, [(4,), (4,)]),
        ("matmul: takes (m, k) @ (k, n), got (2, 3, 4) @ (4, 5)", lambda x, y: x @ y, [(2, 3, 4), (4, 5)]),
        ("reshape: (2, 3) does not fit (4,)", lambda x: x.reshape(4), [(2, 3)]),
        ("reshape: (2, 3) does not fit (-1, -1)", lambda x: x.reshape(-1, -1), [(2, 3)]),
        ("transpose: (0, 2) is no order of 2 axes", lambda x: np.transpose(x, (0, 2)), [(2, 3)]),
        ("sum: axis must be None or one of 2 axes, got 2", lambda x: np.sum(x, axis=2), [(2, 3)]),
        ("sum: axis must be None or one of 2 axes, got (0, 1)", lambda x: np.sum(x, axis=(0, 1)), [(2, 3)]),
        ("max: no elements along this axis, and so no max", lambda x: np.max(x), [(0,)]),
        ("min: no elements along this axis, and so no min", lambda x: np.min(x, axis=1), [(3, 0)]),
        ("mean: no elements along this axis, and so no mean", lambda x: np.mean(x), [(0, 2)]),
    ],
)
def test_shapes_that_do_not_go_together_are_refused_with_both(
    refused: str, function: Callable[..., Any], shapes: list[tuple[int, ...]]
) -> None:
    assert _refusal(function, *(Spec(shape) for shape in shapes)).startswith(refused)


@pytest.mark.parametrize("exponent", [5, -1, 1.5, np.array([2.0, 3.0])])
def test_a_power_that_is_no_product_is_refused_with_those_that_are(exponent: Any) -> None:
    assert _refusal(lambda x: x**exponent).startswith("power: takes an exponent of 0.5, 1, 2, 3 or 4, got ")


def test_a_power_of_an_array_is_refused() -> None:
    assert _refusal(lambda x: 2.0**x).startswith("power: takes an exponent of 0.5, 1, 2, 3 or 4, got ")


@pytest.mark.parametrize(
    ("function", "ops"),
    [
        (lambda x: x**2, ["square"]),
        (lambda x: x**3, ["square", "multiply"]),
        (lambda x: x**4, ["square", "square"]),
        (lambda x: x**0.5, ["sqrt"]),
    ],
)
def test_a_whole_power_is_a_product(function: Callable[..., Any], ops: list[str]) -> None:
    assert _ops(record(function, ARRAY)) == ops


@pytest.mark.parametrize(
    "function", [lambda x: np.add.reduce(x), lambda x: np.sum(x, axis=0), lambda x: x.sum(0), lambda x: x.sum(axis=-2)]
)
def test_every_way_to_say_a_sum_reduces_the_axis_that_numpy_reduces(function: Callable[..., Any]) -> None:
    (output,) = record(function, Spec((4, 5))).outputs
    assert (output.op, output.shape, output.axes) == ("sum", (5,), (1, 4, 5, 4))


def test_a_transpose_that_moves_only_axes_of_one_moves_nothing_in_memory() -> None:
    assert _ops(record(lambda x: x.T + 1.0, Spec((7, 1)))) == ["reshape", "add"]
    assert _ops(record(lambda x: x.T + 1.0, Spec((7, 2)))) == ["transpose", "add"]


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


@pytest.mark.parametrize(
    "function", [lambda x: x, lambda x: 1.0, lambda x: None, lambda x: [x + 1.0], lambda x: (x + 1.0, 2.0)]
)
def test_a_result_that_is_no_computed_array_is_refused(function: Callable[..., Any]) -> None:
    with pytest.raises(RecordError, match="must return arrays computed from its arguments"):
        record(function, ARRAY)


def test_a_bool_is_refused_as_a_scalar_with_the_way_out() -> None:
    with pytest.raises(RecordError, match="<lambda>: c: a bool is no scalar of a kernel; pass 0 or 1 as i32"):
        record(lambda x, c: x * c, ARRAY, Spec((), "bool"))


def test_a_chain_longer_than_the_interpreters_stack_is_recorded() -> None:
    length = sys.getrecursionlimit() + 100

    def chain(x: Any) -> Any:
        for _ in range(length):
            x = x + 1.0
        return x

    assert len(_ops(record(chain, ARRAY))) == length
