"""The float64 interpreter that defines right, and the bound that rounding errors are held against."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from compute.ops import ULP
from compute.record import Recorded, Spec, record
from compute.reference import MAX_SCALED_ERROR, bounds, evaluate, max_scaled_error
from compute.workloads.elementwise import record_wave

X = np.array([-3.0, -0.5, 0.0, 2.0], np.float32)


def _line(constant: float | None = None) -> Recorded:
    """x*a + b, or x*constant + b."""
    array = Spec((4,))
    if constant is None:
        return record(lambda x, a, b: x * a + b, array, Spec(), Spec())
    return record(lambda x, b: x * constant + b, array, Spec())


def _scaled(measured: npt.ArrayLike, exact: npt.ArrayLike, scale: npt.ArrayLike) -> float:
    return max_scaled_error(measured, np.asarray(exact, np.float64), np.asarray(scale, np.float64))


def test_the_wave_is_what_its_formula_says() -> None:
    (exact,) = evaluate(record_wave(4), {"x": X, "a": 2.0, "b": 1.0})
    assert exact.dtype == np.float64
    assert exact.tolist() == [0.0, 0.0, 1.0, 5.0]


def test_several_results_come_in_their_order() -> None:
    recorded = record(lambda x: (-x, x - 1.0, np.minimum(x, 0.0)), Spec((4,)))
    assert [result.tolist() for result in evaluate(recorded, {"x": X})] == [
        [3.0, 0.5, 0.0, -2.0],
        [-4.0, -1.5, -1.0, 1.0],
        [-3.0, -0.5, 0.0, 0.0],
    ]


def test_arguments_are_rounded_to_float32_as_the_device_receives_them() -> None:
    (exact,) = evaluate(_line(), {"x": X, "a": 0.1, "b": 0.0})
    assert exact[3] == 2.0 * float(np.float32(0.1))


def test_between_arguments_and_result_nothing_is_rounded_to_float32() -> None:
    (exact,) = evaluate(_line(), {"x": [1.0 + 2.0**-23] * 4, "a": 1.0 + 2.0**-23, "b": -1.0})
    assert exact[0] == 2.0**-22 + 2.0**-46


def test_the_error_of_a_line_is_bounded_by_the_roundings_of_its_product_and_its_sum() -> None:
    (bound,) = bounds(_line(), {"x": X, "a": -2.0, "b": -1.0})
    assert bound == pytest.approx(ULP * np.array([6.0 + 5.0, 1.0 + 0.0, 0.0 + 1.0, 4.0 + 5.0]), abs=1e-30)


def test_a_constant_counts_as_an_argument_of_its_value_does() -> None:
    (bound,) = bounds(_line(constant=-2.0), {"x": X, "b": -1.0})
    assert bound.tolist() == bounds(_line(), {"x": X, "a": -2.0, "b": -1.0})[0].tolist()


def test_where_terms_cancel_their_errors_stay() -> None:
    (bound,) = bounds(record(lambda x: x - (x + 0.0), Spec((4,))), {"x": X})
    assert bound == pytest.approx(ULP * np.abs(X), abs=1e-30)


def test_clamping_does_not_shrink_an_error() -> None:
    arguments: dict[str, npt.ArrayLike] = {"x": X, "a": -2.0, "b": -1.0}
    (clamped,), (line,) = bounds(record_wave(4), arguments), bounds(_line(), arguments)
    assert np.all(clamped >= line)


def test_a_comparison_is_sure_except_within_the_errors_of_its_operands() -> None:
    recorded = record(lambda x, a: (x * a < 0.5, x < 0.5), Spec((4,)), Spec())
    near, sure = bounds(recorded, {"x": [0.5, 1.0, 0.5 + 2.0**-24, 0.6], "a": 1.0})
    assert near.tolist() == [np.inf, 0.0, np.inf, 0.0]
    assert sure.tolist() == [0.0] * 4


def test_a_cast_is_sure_except_within_an_error_of_a_step() -> None:
    recorded = record(lambda x, a: (x * a).astype(np.int32), Spec((3,)), Spec())
    (bound,) = bounds(recorded, {"x": [2.0, 2.4, 2.5], "a": 1.0})
    assert bound.tolist() == [np.inf, 0.0, 0.0]


def test_nothing_is_sure_beyond_the_range_of_float32() -> None:
    (bound,) = bounds(record(lambda x: x * x, Spec((3,))), {"x": [1e19, 2e19, 1e30]})
    assert np.isfinite(bound).tolist() == [True, False, False]


def test_a_sum_that_overflows_on_the_way_is_not_sure_though_the_whole_is_small() -> None:
    (bound,) = bounds(record(lambda x: np.sum(x), Spec((3,))), {"x": [3e38, 3e38, -3e38]})
    assert bound == np.inf


def test_infinities_of_the_arguments_are_sure() -> None:
    (bound,) = bounds(record(lambda x: x + 1.0, Spec((3,))), {"x": [np.inf, -np.inf, 1.0]})
    assert np.isfinite(bound).all()


@pytest.mark.parametrize(
    "function",
    [
        lambda x, w: x - x,
        lambda x, w: (x - w) + w,
        lambda x, w: (x + w) - x,
        lambda x, w: x * 0.0,
        lambda x, w: 0.0 / x,
        lambda x, w: np.sqrt(x) ** 2,
        lambda x, w: np.exp(np.log(x)),
        lambda x, w: x - x > w,
        lambda x, w: (x - x).astype(np.int32),
    ],
)
def test_a_nan_that_algebra_may_lose_is_not_sure_and_neither_is_what_depends_on_it(
    function: Callable[..., Any],
) -> None:
    (bound,) = bounds(record(function, Spec((2,)), Spec((2,))), {"x": [np.nan, 2.25], "w": [1.0, 1.0]})
    assert np.isinf(bound[0])


@pytest.mark.parametrize("function", [lambda x, w: x * w + 1.0, lambda x, w: np.maximum(x, 0.0), lambda x, w: x > w])
def test_a_nan_that_algebra_cannot_lose_is_sure(function: Callable[..., Any]) -> None:
    (bound,) = bounds(record(function, Spec((1,)), Spec((1,))), {"x": [np.nan], "w": [1.0]})
    assert bound[0] <= 2.0**-120


def test_a_subnormal_may_count_as_zero() -> None:
    (bound,) = bounds(record(lambda x: x > 0.0, Spec((2,))), {"x": [1e-40, 1e-37]})
    assert bound.tolist() == [np.inf, 0.0]


def test_whole_numbers_are_exact_and_wrap_as_the_devices_do() -> None:
    recorded = record(lambda i: (i + 1, i * i), Spec((2,), "i32"))
    arguments: dict[str, npt.ArrayLike] = {"i": np.array([2**31 - 1, 7], np.int32)}
    assert [each.tolist() for each in evaluate(recorded, arguments)] == [[-(2**31), 8], [1, 49]]
    assert not np.any(bounds(recorded, arguments))


def test_where_terms_cancel_an_error_is_held_against_the_terms_and_not_the_result() -> None:
    # What a fused multiply-add gives, and what a multiply rounded first gives: unequal, and both right.
    x = a = np.float32(1.0 + 2.0**-12)
    arguments: dict[str, npt.ArrayLike] = {"x": [x], "a": a, "b": -1.0}
    recorded = record(lambda x, a, b: x * a + b, Spec((1,)), Spec(), Spec())
    (exact,), (bound,) = evaluate(recorded, arguments), bounds(recorded, arguments)
    rounded_first = np.float32(x * a) - np.float32(1.0)
    assert rounded_first != exact[0]
    assert 0.0 < max_scaled_error([rounded_first], exact, bound) <= MAX_SCALED_ERROR


def test_float32_arithmetic_stays_within_the_bound() -> None:
    random = np.random.default_rng(1)
    x = random.normal(size=10_000).astype(np.float32)
    a, b = np.float32(0.73), np.float32(-0.41)
    recorded = record_wave(len(x))
    arguments: dict[str, npt.ArrayLike] = {"x": x, "a": a, "b": b}
    (exact,), (bound,) = evaluate(recorded, arguments), bounds(recorded, arguments)
    assert max_scaled_error(np.maximum(x * a + b, np.float32(0.0)), exact, bound) <= MAX_SCALED_ERROR


def test_a_wrong_element_is_beyond_the_bound() -> None:
    assert _scaled([1.0, 2.0, 3.001], [1.0, 2.0, 3.0], [1e-3, 1e-3, 1e-4]) > MAX_SCALED_ERROR


def test_the_error_is_the_largest_of_all_elements() -> None:
    assert _scaled([1.5, 2.0], [1.0, 2.0], [2.0, 2.0]) == 0.25


def test_where_the_bound_is_zero_only_the_exact_result_passes() -> None:
    assert _scaled([0.0], [0.0], [0.0]) == 0.0
    assert _scaled([1e-30], [0.0], [0.0]) == np.inf


def test_no_elements_have_no_error() -> None:
    assert _scaled([], [], []) == 0.0


@pytest.mark.parametrize("measured", [np.nan, np.inf, -np.inf])
def test_a_result_that_is_no_number_is_beyond_every_bound(measured: float) -> None:
    assert _scaled([1.0, measured], [1.0, 1.0], [1.0, 1.0]) == np.inf
