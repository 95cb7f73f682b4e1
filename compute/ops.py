"""The op table: one row per op, named as NumPy names it: meaning, GLSL and WGSL side by side, error bound, NaN rule.

NaN: what a float op makes of a NaN is a NaN, as in NumPy: also maximum, minimum and clip, where the languages promise
nothing and a test of the bits makes it so (``keeps_nan``), and every reduction. A comparison with a NaN is false, but
``!=`` is true; ``where`` takes a NaN only if it is chosen. But a compiler of shaders takes values for finite where
algebra lets it, and there is no word against it in WGSL: where a value meets itself or a constant 0, or a function its
inverse (x - x, (x - w) + w, x * 0.0, sqrt(x)**2), a NaN may be lost, and ``bounds`` says that nothing is sure.
Casts: a float loses its fraction; out of range it becomes the nearest float32 inside; NaN becomes 0 (NumPy promises
nothing here). Whole numbers keep their bits, and wrap as they do in NumPy; where drivers differ on them (division,
remainder), there is no row. What is subnormal may count as 0.
Texts hold for a float and for four; words like ``less`` are helpers that ``helpers`` declares where they are used. Each
operand is a name or a literal, so that texts need no parentheses around them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

DType = Literal["f32", "i32", "u32", "bool"]
FloatArray = npt.NDArray[np.float64]
# (operands, their error bounds, result) -> error bound of the result, absolute; infinite where nothing is sure.
Bound = Callable[[tuple[FloatArray, ...], tuple[FloatArray, ...], FloatArray], FloatArray]

ULP = 2.0**-23
NUMBERS: tuple[DType, ...] = ("f32", "i32", "u32")
EVERY: tuple[DType, ...] = (*NUMBERS, "bool")


@dataclass(frozen=True, slots=True)
class Op:
    """``takes``: types of its operands, all alike except a leading condition. ``gives``: None for that same type."""

    name: str
    numpy: Callable[..., Any]
    glsl: str
    wgsl: str
    bound: Bound
    takes: tuple[DType, ...] = ("f32",)
    gives: DType | None = None
    keeps_nan: bool = False
    flops: int = 1

    @property
    def arity(self) -> int:
        return 1 + max(int(digit) for digit in self.wgsl.replace("{", " ").replace("}", " ").split() if digit.isdigit())


def _linear(x: Any, e: Any, y: FloatArray) -> FloatArray:
    """A sum of operands, rounded once."""
    return np.asarray(sum(e) + np.where(np.isinf(y), 0.0, ULP * np.abs(y)))


def exact(x: Any, e: Any, y: FloatArray) -> FloatArray:
    """Nothing is rounded: the errors of the operands stay."""
    return np.asarray(np.broadcast_to(sum(e), np.shape(y)))


def _product(x: Any, e: Any, y: FloatArray) -> FloatArray:
    return np.asarray(np.abs(x[0]) * e[1] + np.abs(x[1]) * e[0] + e[0] * e[1] + ULP * np.abs(y))


def _quotient(x: Any, e: Any, y: FloatArray) -> FloatArray:
    """WGSL allows a division 2.5 ulp."""
    least = np.abs(x[1]) - e[1]
    with np.errstate(divide="ignore", invalid="ignore"):
        bound = (e[0] + np.abs(y) * e[1]) / least + 3.0 * ULP * np.abs(y)
    return np.where((least > 0.0) | ((e[1] == 0.0) & (e[0] == 0.0)), bound, np.inf)


def _largest(x: Any, e: Any, y: FloatArray) -> FloatArray:
    return np.asarray(np.broadcast_to(np.maximum.reduce(np.broadcast_arrays(*e)), np.shape(y)))


def _smooth(slope: Callable[[Any, Any], Any], own: Callable[[Any, Any], Any]) -> Bound:
    """Of a function of one operand: its steepest slope near by, and its own rounding. Both of (x, y)."""
    return lambda x, e, y: np.asarray(slope(np.abs(x[0]) + e[0], np.abs(y)) * e[0] + own(x[0], np.abs(y)))


def _square_root(x: Any, e: Any, y: FloatArray) -> FloatArray:
    """Steep near 0: there the error of the operand's root."""
    with np.errstate(divide="ignore", invalid="ignore"):
        near = np.where(e[0] > 0.0, np.minimum(e[0] / np.maximum(y, 1e-300), np.sqrt(2.0 * e[0])), 0.0)
    return np.asarray(near + 3.0 * ULP * np.abs(y))


def _logarithm(x: Any, e: Any, y: FloatArray) -> FloatArray:
    least = x[0] - e[0]
    with np.errstate(divide="ignore", invalid="ignore"):
        near = np.where(e[0] == 0.0, 0.0, np.where(least > 0.0, e[0] / least, np.inf))
    return np.asarray(near + 4.0 * ULP * np.abs(y) + 2.0**-21)


def _decided(x: Any, e: Any, y: FloatArray) -> FloatArray:
    """Of a comparison: nothing is sure where the operands are nearer than their errors."""
    with np.errstate(invalid="ignore"):
        close = (np.abs(x[0] - x[1]) <= e[0] + e[1]) | np.isinf(e[0] + e[1])
    return np.where(close & (e[0] + e[1] > 0.0), np.inf, 0.0)


def _chosen(x: Any, e: Any, y: FloatArray) -> FloatArray:
    """Of where(condition, a, b): either side's where the condition itself is not sure."""
    unsure = np.asarray(np.where(e[0] > 0.0, np.inf, 0.0))
    return np.asarray(np.where(x[0] != 0, e[1], e[2]) + np.where((unsure > 0) & (x[1] != x[2]), np.inf, 0.0))


def _logic(x: Any, e: Any, y: FloatArray) -> FloatArray:
    return np.asarray(np.broadcast_to(np.where(sum(e) > 0.0, np.inf, 0.0), np.shape(y)))


def _stepped(x: Any, e: Any, y: FloatArray) -> FloatArray:
    """Of floor and casts to whole numbers: nothing is sure near a step."""
    with np.errstate(invalid="ignore"):
        near = (np.abs(x[0] - np.rint(x[0])) <= e[0]) | np.isinf(e[0])
    return np.where(near & (e[0] > 0.0), np.inf, 0.0)


def _whole(dtype: Any, low: float, high: float) -> Callable[[Any], Any]:
    """A cast that drops the fraction. Outside the range: the nearest float32 inside it; NaN: 0."""

    def cast(x: Any) -> Any:
        if x.dtype.kind != "f":
            return x.astype(dtype)
        return np.trunc(np.clip(np.nan_to_num(x, nan=0.0, posinf=high, neginf=low), low, high)).astype(dtype)

    return cast


_ROWS = (
    # NumPy's name, meaning, GLSL, WGSL, bound
    Op("add", np.add, "{0} + {1}", "{0} + {1}", _linear, NUMBERS),
    Op("subtract", np.subtract, "{0} - {1}", "{0} - {1}", _linear, NUMBERS),
    Op("multiply", np.multiply, "{0} * {1}", "{0} * {1}", _product, NUMBERS),
    Op("divide", np.divide, "{0} / {1}", "{0} / {1}", _quotient),
    Op("negative", np.negative, "-{0}", "-{0}", exact, ("f32", "i32")),
    Op("absolute", np.absolute, "abs({0})", "abs({0})", exact, ("f32", "i32")),
    Op("square", np.square, "{0} * {0}", "{0} * {0}", _smooth(lambda x, y: 2.0 * x, lambda x, y: ULP * y), NUMBERS),
    Op("sqrt", np.sqrt, "sqrt({0})", "sqrt({0})", _square_root),
    Op("exp", np.exp, "exp({0})", "exp({0})", _smooth(lambda x, y: 1.01 * y, lambda x, y: (3 + 2 * abs(x)) * ULP * y)),
    Op("log", np.log, "log({0})", "log({0})", _logarithm),
    Op("tanh", np.tanh, "tanh({0})", "tanh({0})", _smooth(lambda x, y: 1.0, lambda x, y: 2e-6), keeps_nan=True),
    Op("sin", np.sin, "sin({0})", "sin({0})", _smooth(lambda x, y: 1.0, lambda x, y: 2e-6 * (1 + abs(x)))),
    Op("cos", np.cos, "cos({0})", "cos({0})", _smooth(lambda x, y: 1.0, lambda x, y: 2e-6 * (1 + abs(x)))),
    Op("floor", np.floor, "floor({0})", "floor({0})", _stepped),
    Op("maximum", np.maximum, "max({0}, {1})", "max({0}, {1})", _largest, NUMBERS, keeps_nan=True),
    Op("minimum", np.minimum, "min({0}, {1})", "min({0}, {1})", _largest, NUMBERS, keeps_nan=True),
    Op("clip", np.clip, "min(max({0}, {1}), {2})", "min(max({0}, {1}), {2})", _largest, NUMBERS, keeps_nan=True),
    Op("less", np.less, "less({0}, {1})", "less({0}, {1})", _decided, NUMBERS, "bool"),
    Op("less_equal", np.less_equal, "less_equal({0}, {1})", "less_equal({0}, {1})", _decided, NUMBERS, "bool"),
    Op("greater", np.greater, "less({1}, {0})", "less({1}, {0})", _decided, NUMBERS, "bool"),
    Op("greater_equal", np.greater_equal, "less_equal({1}, {0})", "less_equal({1}, {0})", _decided, NUMBERS, "bool"),
    Op("equal", np.equal, "same({0}, {1})", "same({0}, {1})", _decided, EVERY, "bool"),
    Op("not_equal", np.not_equal, "neither(same({0}, {1}))", "!same({0}, {1})", _decided, EVERY, "bool"),
    Op("logical_and", np.logical_and, "both({0}, {1})", "{0} & {1}", _logic, ("bool",), "bool"),
    Op("logical_or", np.logical_or, "either({0}, {1})", "{0} | {1}", _logic, ("bool",), "bool"),
    Op("logical_not", np.logical_not, "neither({0})", "!{0}", _logic, ("bool",), "bool"),
    Op(
        "astype_f32",
        lambda x: x.astype(np.float64),
        "to_f32({0})",
        "to_f32({0})",
        _linear,
        ("i32", "u32", "bool"),
        "f32",
    ),
    Op(
        "astype_i32",
        _whole(np.int32, -(2.0**31), 2147483520.0),
        "to_i32({0})",
        "to_i32({0})",
        _stepped,
        ("f32", "u32", "bool"),
        "i32",
    ),
    Op(
        "astype_u32",
        _whole(np.uint32, 0.0, 4294967040.0),
        "to_u32({0})",
        "to_u32({0})",
        _stepped,
        ("f32", "i32", "bool"),
        "u32",
    ),
    Op("where", np.where, "pick({0}, {1}, {2})", "select({2}, {1}, {0})", _chosen, EVERY),
)
OPS: dict[str, Op] = {row.name: row for row in _ROWS}

# A reduction's combining op. Its bound grows with the number of terms; see reference.
REDUCTIONS: dict[str, str] = {"sum": "add", "max": "maximum", "min": "minimum"}
