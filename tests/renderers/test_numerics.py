"""Every row of the op table on every device, on the values that go wrong: NaN, infinities, zeros, limits of types."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from compute import reference
from compute.kernel import SCHEDULES, How
from compute.ops import OPS, DType, Op
from compute.record import Spec, record
from renderers.device import Device
from renderers.run import run

Array = npt.NDArray[Any]
NAN, INF = float("nan"), float("inf")
SPECIAL: dict[DType, list[float]] = {
    "f32": [NAN, INF, -INF, 0.0, -0.0, 1e-40, -1e-40, 2.0**-126, 3.4e38, -3.4e38, 1.0, -1.0, 0.5, -2.5, 7.0, 1e5,
            88.0, -88.0, 2147483648.0, -2147483648.0, 4294967296.0, 16777217.0],
    "i32": [-(2**31), 2**31 - 1, -(2**31) + 1, 0, 1, -1, 7, -8, 46341, 65536],
    "u32": [0, 1, 2**32 - 1, 2**31, 2**31 - 1, 7, 65536, 2**24 + 1],
    "bool": [0, 1],
}  # fmt: skip
NUMPY: dict[DType, Any] = {"f32": np.float32, "i32": np.int32, "u32": np.uint32, "bool": np.bool_}
KEPT = [name for name, row in OPS.items() if row.keeps_nan]
# A NaN with a payload, one with its sign set, and a signalling one.
NANS = np.array([0x7FC00000, 0x7FC12345, 0xFFC00000, 0x7F800001, 0xFFFFFFFF], np.uint32).view(np.float32)


def _function(name: str) -> Callable[..., Any]:
    """The op as a person writes it, on as many arguments as it takes."""
    row = OPS[name]
    if name.startswith("astype"):
        return lambda x: x.astype({"i32": np.int32, "u32": np.uint32, "f32": np.float32}[name[-3:]])
    functions: dict[int, Callable[..., Any]] = {
        1: lambda x: row.numpy(x),
        2: lambda x, y: row.numpy(x, y),
        3: lambda x, y, z: row.numpy(x, y, z),
    }
    return functions[row.arity]


def _operands(row: Op, dtype: DType) -> list[Array]:
    """Every combination of special values."""
    types = [dtype] * row.arity
    if row.name == "where":
        types[0] = "bool"
    values = [np.array(SPECIAL[each]).astype(NUMPY[each]) for each in types]
    return [grid.ravel() for grid in np.meshgrid(*values, indexing="ij")]


CASES = [(name, dtype) for name, row in OPS.items() for dtype in row.takes]


@pytest.mark.parametrize("by_four", [True, False], ids=["four", "one"])
@pytest.mark.parametrize(("name", "dtype"), CASES)
def test_every_op_is_right_on_special_values(device: Device, name: str, dtype: DType, by_four: bool) -> None:
    operands = _operands(OPS[name], dtype)
    if not by_four:  # a broadcast axis is read one by one
        operands = [np.stack([each, each]) for each in operands]
        operands[-1] = operands[-1][:1]
    function = _function(name)
    recorded = record(function, *(Spec(each.shape, _dtype(each)) for each in operands))
    named = {node.name: each for node, each in zip(recorded.inputs, operands, strict=True)}
    (exact,), (bound,) = reference.evaluate(recorded, named), reference.bounds(recorded, named)
    (mine,) = run(device, function, *operands)
    assert reference.max_scaled_error(mine, exact, bound) <= reference.MAX_SCALED_ERROR


def _dtype(array: Array) -> DType:
    return next(dtype for dtype, each in NUMPY.items() if array.dtype == each)


@pytest.mark.parametrize("how", SCHEDULES)
@pytest.mark.parametrize("name", KEPT)
def test_an_op_that_keeps_a_nan_keeps_it_in_each_of_its_operands(device: Device, name: str, how: How) -> None:
    row, numbers = OPS[name], np.full(len(NANS), 0.5, np.float32)
    for place in range(row.arity):
        operands = [NANS if number == place else numbers for number in range(row.arity)]
        (result,) = run(device, _function(name), *operands, schedule=how)
        assert np.all(result.view(np.uint32) & 0x7FFFFFFF > 0x7F800000)


@pytest.mark.parametrize("how", SCHEDULES)
def test_a_comparison_with_a_nan_is_false_and_unequal_is_true(device: Device, how: How) -> None:
    def compared(x: Any, y: Any) -> Any:
        return x < y, x <= y, x > y, x >= y, x == y, x != y, x != x

    numbers = np.array([0.0, 1.0, -INF, INF, NAN], np.float32)
    for operands in ((NANS, numbers), (numbers, NANS)):
        results = run(device, compared, *operands, schedule=how)
        assert [bool(each.any()) for each in results[:5]] == [False] * 5
        assert results[5].all()
        assert results[6].tolist() == np.isnan(operands[0]).tolist()


@pytest.mark.parametrize("how", SCHEDULES)
@pytest.mark.parametrize("count", [3, 64, 1_030])
def test_a_nan_anywhere_reaches_sum_maximum_minimum_and_mean(device: Device, how: How, count: int) -> None:
    def reduced(x: Any) -> Any:
        return np.sum(x), np.max(x), np.min(x), np.mean(x)

    for place in (0, 1, count // 2, count - 1):
        x = np.arange(count, dtype=np.float32)
        x[place] = NAN
        assert all(np.isnan(each) for each in run(device, reduced, x, schedule=how))


@pytest.mark.parametrize("how", SCHEDULES)
def test_relu_keeps_a_nan_and_where_chooses_one_only_if_it_is_chosen(device: Device, how: How) -> None:
    def both(x: Any) -> Any:
        return np.maximum(x, 0.0), np.where(x > 0.0, x, 0.0)

    kept, chosen = run(device, both, np.array([NAN, -1.0, 2.0], np.float32), schedule=how)
    assert np.isnan(kept).tolist() == [True, False, False]
    assert chosen.tolist() == [0.0, 0.0, 2.0]


@pytest.mark.parametrize("how", SCHEDULES)
def test_a_cast_to_whole_numbers_drops_the_fraction_and_stays_in_range(device: Device, how: How) -> None:
    x = np.array([1.9, -1.9, NAN, INF, -INF, 1e20, -1e20, 0.5, -0.5], np.float32)
    signed, unsigned = run(device, lambda x: (x.astype(np.int32), x.astype(np.uint32)), x, schedule=how)
    assert signed.tolist() == [1, -1, 0, 2147483520, -(2**31), 2147483520, -(2**31), 0, 0]
    assert unsigned.tolist() == [1, 0, 0, 4294967040, 0, 4294967040, 0, 0, 0]


@pytest.mark.parametrize("how", SCHEDULES)
def test_casts_between_whole_numbers_keep_their_bits(device: Device, how: How) -> None:
    i = np.array([-1, -(2**31), 5], np.int32)
    (unsigned,) = run(device, lambda i: i.astype(np.uint32), i, schedule=how)
    (again,) = run(device, lambda u: u.astype(np.int32), unsigned, schedule=how)
    assert unsigned.tolist() == [2**32 - 1, 2**31, 5]
    assert again.tolist() == i.tolist()


@pytest.mark.parametrize("value", [NAN, INF, -INF, 1e38, 1e-40])
def test_what_is_no_constant_travels_as_an_argument(device: Device, value: float) -> None:
    x = np.array([1.0, 2.0, -3.0], np.float32)
    (result,) = run(device, lambda x, a: np.minimum(x, a), x, value)
    np.testing.assert_array_equal(result, np.minimum(x, np.float32(value)))
