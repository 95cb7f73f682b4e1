"""The definition of right: a float64 NumPy interpreter of recorded functions, and the scale of rounding errors."""

from collections.abc import Callable, Mapping

import numpy as np
import numpy.typing as npt

from compute.expr import Expr
from compute.ops import OPS
from compute.record import Recorded

Array = npt.NDArray[np.float64]

# Scaled by |x*a| + |b|, so that cancellation does not count against a device that fuses multiply and add:
# two roundings of at most 2^-24 each, doubled.
MAX_SCALED_ERROR = 2.0**-22


def evaluate(recorded: Recorded, arguments: Mapping[str, npt.ArrayLike]) -> tuple[Array, ...]:
    """The outputs in float64. ``arguments`` are rounded to float32 first, as the device receives them."""
    inputs = {name: np.asarray(value, np.float32).astype(np.float64) for name, value in arguments.items()}
    return _interpret(recorded, inputs, lambda op: OPS[op].ufunc, lambda value: value)


def error_scale(recorded: Recorded, arguments: Mapping[str, npt.ArrayLike]) -> tuple[Array, ...]:
    """Per output element, the magnitude that its rounding errors grow with: |x*a| + |b| for x*a + b."""
    inputs = {name: np.abs(np.asarray(value, np.float32).astype(np.float64)) for name, value in arguments.items()}
    return _interpret(recorded, inputs, lambda op: OPS[op].scale, abs)


def max_scaled_error(measured: npt.ArrayLike, exact: Array, scale: Array) -> float:
    """Largest |measured - exact| / scale; infinite where a result is no number, or off where the scale is 0."""
    error = np.abs(np.asarray(measured, np.float64) - exact)
    with np.errstate(divide="ignore", invalid="ignore"):
        scaled = np.where(error == 0.0, 0.0, error / scale)
    return float(np.max(np.where(np.isnan(scaled), np.inf, scaled), initial=0.0))


def _interpret(
    recorded: Recorded,
    inputs: Mapping[str, Array],
    meaning: Callable[[str], np.ufunc],
    constant: Callable[[float], float],
) -> tuple[Array, ...]:
    values: dict[Expr, Array] = {}
    for node in recorded.nodes:
        if node.op == "input":
            values[node] = inputs[node.name]
        elif node.op == "constant":
            values[node] = np.asarray(constant(node.value))
        else:
            values[node] = np.asarray(meaning(node.op)(*(values[source] for source in node.sources)))
    return tuple(values[output] for output in recorded.outputs)
