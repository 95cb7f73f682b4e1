"""The definition of right: a float64 NumPy interpreter of recorded functions, and a bound of what rounding may change.

Whole numbers and truth values are computed in their own types, where every result is exact.
"""

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from compute.expr import FEW_RESULTS, Expr
from compute.ops import OPS, REDUCTIONS, ULP, exact
from compute.record import Recorded

Array = npt.NDArray[Any]
FloatArray = npt.NDArray[np.float64]

MAX_SCALED_ERROR = 1.0  # of the bound
_NUMPY: dict[str, Any] = {"f32": np.float64, "i32": np.int32, "u32": np.uint32, "bool": np.bool_}
_DEVICE: dict[str, Any] = {**_NUMPY, "f32": np.float32}
_NORMAL, _TINY, _HUGE = 2.0**-126, 2.0**-125, float(np.finfo(np.float32).max)  # below: maybe 0; above: infinity


def evaluate(recorded: Recorded, arguments: Mapping[str, npt.ArrayLike]) -> tuple[Array, ...]:
    """The outputs, f32 in float64. ``arguments`` are rounded to their types first, as the device receives them."""
    values = _values(recorded, arguments)
    return tuple(values[output] for output in recorded.outputs)


def bounds(recorded: Recorded, arguments: Mapping[str, npt.ArrayLike]) -> tuple[FloatArray, ...]:
    """Per output element, how far a right result may be from ``evaluate``'s: errors of operands carried on, op by op.

    Infinite where nothing is sure: near a comparison's edge, or beyond float32's range.
    """
    values = _values(recorded, arguments)
    errors: dict[Expr, FloatArray] = {}
    made_of: dict[Expr, frozenset[Expr]] = {}
    for node in recorded.nodes:
        bound = _bound(node, values, errors)
        if _may_be_simplified(node, made_of):
            bound = np.where(np.isnan(values[node].astype(np.float64)), np.inf, bound)
        errors[node] = bound
        behind = [made_of[source] for source in node.sources]
        made_of[node] = frozenset((node,)) if node.op == "input" else frozenset().union(*behind)
    return tuple(errors[output] for output in recorded.outputs)


def max_scaled_error(measured: npt.ArrayLike, exact: Array, bound: FloatArray) -> float:
    """Largest |measured - exact| / bound; infinite where one is no number and the other is, or no error is allowed."""
    found = np.asarray(measured, np.float64)
    right = exact.astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        error = np.where(found == right, 0.0, np.abs(found - right))
        part = np.where(error == 0.0, 0.0, error / bound)
    part = np.where(np.isnan(found) & np.isnan(right), 0.0, np.where(np.isnan(part), np.inf, part))
    return float(np.max(np.where(np.isinf(bound), 0.0, part), initial=0.0))


def _values(recorded: Recorded, arguments: Mapping[str, npt.ArrayLike]) -> dict[Expr, Array]:
    values: dict[Expr, Array] = {}
    with np.errstate(all="ignore"):
        for node in recorded.nodes:
            sources = [values[source] for source in node.sources]
            if node.op == "input":
                values[node] = np.asarray(arguments[node.name]).astype(_DEVICE[node.dtype]).astype(_NUMPY[node.dtype])
            else:
                values[node] = np.asarray(_value(node, sources))
    return values


def _value(node: Expr, sources: list[Array]) -> Array:
    if node.op == "constant":
        return np.asarray(node.value, _NUMPY[node.dtype])
    if node.op == "zeros":
        return np.zeros(node.shape, _NUMPY[node.dtype])
    if node.op == "reshape":
        return sources[0].reshape(node.shape)
    if node.op == "transpose":
        return sources[0].transpose(node.axes)
    if node.op == "matmul":
        return np.asarray(sources[0] @ sources[1])
    if node.is_reduction:
        combine: Any = OPS[REDUCTIONS[node.op]].numpy
        whole = combine.reduce(sources[0].reshape(node.axes[:3]), axis=1)
        return np.asarray(whole, _NUMPY[node.dtype]).reshape(node.shape)
    return np.asarray(OPS[node.op].numpy(*sources), _NUMPY[node.dtype])


def _may_be_simplified(node: Expr, made_of: Mapping[Expr, frozenset[Expr]]) -> bool:
    """Whether algebra may rewrite this op as if there were no NaN: see ``ops``."""
    sources = node.sources
    meets_itself = any(made_of[one] & made_of[other] for one, other in combinations(sources, 2))
    meets_0 = any(source.op == "constant" and source.value == 0 for source in sources)
    inverse = len(sources) == 1 and sources[0].is_op and node.op in ("square", "sqrt", "exp", "log")
    return inverse or (node.op in ("add", "subtract", "multiply", "divide") and (meets_itself or meets_0))


def _bound(node: Expr, values: Mapping[Expr, Array], errors: Mapping[Expr, FloatArray]) -> FloatArray:
    mine = values[node]
    of_sources = tuple(errors[source] for source in node.sources)
    with np.errstate(all="ignore"):
        if not node.sources:  # a driver may take what is subnormal for 0
            return np.where(np.abs(mine) < _NORMAL, np.abs(mine), 0.0) if node.dtype == "f32" else np.zeros(mine.shape)
        if node.op == "reshape":
            return of_sources[0].reshape(node.shape)
        if node.op == "transpose":
            return of_sources[0].transpose(node.axes)
        if node.is_reduction:
            bound = _reduction_bound(node, values[node.sources[0]], of_sources[0])
        elif node.op == "matmul":
            bound = _matmul_bound(*(values[source] for source in node.sources), *of_sources)
        else:
            operands = tuple(values[source].astype(np.float64) for source in node.sources)
            whole = all(each.dtype != "f32" for each in (node, *node.sources)) and node.op != "where"
            rule = exact if whole else OPS[node.op].bound
            bound = rule(operands, of_sources, mine.astype(np.float64))
            if node.op != "where":
                bound = np.where(_is_surely_no_number(mine, operands, of_sources), 0.0, bound)
        if node.dtype != "f32":
            return np.broadcast_to(np.where(bound > 0.0, np.inf, 0.0), mine.shape)
        beyond = np.isfinite(mine) & (np.abs(mine) + bound > _HUGE)
        return np.broadcast_to(np.where(beyond | np.isnan(bound), np.inf, bound + _TINY), mine.shape)


def _is_surely_no_number(mine: Array, operands: Sequence[Array], errors: Sequence[FloatArray]) -> npt.NDArray[np.bool_]:
    """Whether NaN or infinity: of operands without error, or because an operand is surely a NaN."""
    is_nan = [np.isnan(each) & np.isfinite(error) for each, error in zip(operands, errors, strict=True)]
    no_error = np.asarray(sum(errors) == 0.0)
    return np.asarray(~np.isfinite(mine) & no_error | np.isnan(mine) & np.any(np.broadcast_arrays(*is_nan), axis=0))


def _reduction_bound(node: Expr, terms: Array, errors: FloatArray) -> FloatArray:
    """A sum in any order: n roundings of the sum of magnitudes. The largest: the largest error of a term."""
    axes = node.axes[:3]
    if node.op != "sum":
        return np.asarray(errors.reshape(axes).max(axis=1).reshape(node.shape))
    carried = errors.reshape(axes).sum(axis=1).reshape(node.shape)
    if node.dtype != "f32":
        return np.asarray(carried)
    magnitudes = _finite(terms).reshape(axes).sum(axis=1).reshape(node.shape)
    outer, n, inner = axes
    steps = n if outer * inner >= FEW_RESULTS else min(n, _STEPS_IN_PARTS)
    return np.asarray(np.where(magnitudes > _HUGE, np.inf, carried + steps * ULP * magnitudes))


_STEPS_IN_PARTS = 1100  # additions behind one another: of one part, and of the parts' parts, see fuse.py


def _matmul_bound(a: Array, b: Array, ea: FloatArray, eb: FloatArray) -> FloatArray:
    magnitudes = _finite(a) @ _finite(b)
    carried = ea @ np.abs(b) + np.abs(a) @ eb + ea @ eb
    return np.asarray(np.where(magnitudes > _HUGE, np.inf, carried + a.shape[-1] * ULP * magnitudes))


def _finite(values: Array) -> FloatArray:
    """Magnitudes; 0 of what is infinite, because that is not rounded."""
    return np.where(np.isfinite(values), np.abs(values), 0.0)
