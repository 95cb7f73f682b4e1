"""Lazy array expressions: what a plain Python function says when ``record`` calls it. Runs nothing."""

import math
import sys
from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from compute.ops import NUMBERS, OPS, REDUCTIONS, DType

_LARGEST = float(np.finfo(np.float32).max)
_WHOLE: dict[str, tuple[int, int]] = {"i32": (-(1 << 31), (1 << 31) - 1), "u32": (0, (1 << 32) - 1)}
_DTYPES: dict[str, DType] = {"float32": "f32", "int32": "i32", "uint32": "u32", "bool": "bool"}
VIEWS = ("reshape", "transpose")
# The operators / & | ~ by their ufuncs: the last three take truth values here, where they mean the same.
_OTHER_NAMES = {
    "true_divide": "divide",
    "bitwise_and": "logical_and",
    "bitwise_or": "logical_or",
    "invert": "logical_not",
}
FEW_RESULTS = 4096  # of a reduction: with fewer, its terms are combined in parts, so that there is enough to do at once
_OURS = (Path(__file__).parent, Path(__file__).parents[1] / "renderers")
_NUMPYS = Path(np.__file__).parent


class RecordError(TypeError):
    """The function says something that cannot be recorded. The message names it, its line and the way out."""


@dataclass(frozen=True, slots=True, eq=False)
class Expr(NDArrayOperatorsMixin):
    """One node: an input, a constant, a row of the op table, a reduction (of no terms: zeros), a matmul, or a view.

    Operators and NumPy functions arrive here by NumPy's own protocols, so the same function text runs on NumPy arrays.
    Nodes are compared by identity; ``==`` would be an op. ``axes``: of a transpose, its order; of a reduction,
    (outer, n, inner, terms): the source seen as (outer, n, inner), ``terms`` of the n combined into one result.
    """

    op: str
    shape: tuple[int, ...]
    sources: tuple["Expr", ...] = ()
    name: str = ""
    value: float | int | bool = 0.0
    dtype: DType = "f32"
    axes: tuple[int, ...] = ()

    __hash__ = object.__hash__

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *operands: Any, **options: Any) -> "Expr":
        name = _OTHER_NAMES.get(ufunc.__name__, ufunc.__name__)
        if method == "reduce" and name in ("add", "maximum", "minimum"):
            kind = {"add": "sum", "maximum": "max", "minimum": "min"}[name]
            return _reduced(kind, operands[0], **{"axis": 0, **options})  # a ufunc's default, unlike np.sum's
        if method != "__call__" or options:
            asked = name if method == "__call__" else f"{name}.{method}"
            with_options = f" with {', '.join(options)}" if options else ""
            raise _unknown(f"{asked}{with_options}")
        if name == "matmul":
            return _matmul(*operands)
        if name == "power":
            return _power(*operands)
        if name not in OPS:
            raise _unknown(name)
        return apply(name, *operands)

    def __array_function__(self, function: Any, types: Any, operands: Any, options: Any) -> "Expr":
        known = _FUNCTIONS.get(function.__name__)
        if known is None:
            raise _unknown(function.__name__)
        try:
            return known(*operands, **options)
        except TypeError as error:
            if isinstance(error, RecordError):
                raise
            raise RecordError(f"{function.__name__}: {error}; {_line()}") from None

    def __bool__(self) -> NoReturn:
        raise RecordError(
            f"{self.op}: a branch on array values cannot be recorded, nothing has run yet; use np.where, or run it "
            f"eagerly; {_line()}"
        )

    def __float__(self) -> NoReturn:
        raise RecordError(f"{self.op}: has no value before it has run; {_line()}")

    __int__ = __index__ = __float__

    def __len__(self) -> int:
        if not self.shape:
            raise RecordError(f"{self.op}: a scalar has no length; {_line()}")
        return self.shape[0]

    def __getitem__(self, key: Any) -> "Expr":
        """Only new axes of length 1: ``x[:, None]``."""
        keys = key if isinstance(key, tuple) else (key,)
        named = sum(isinstance(each, slice) and each == slice(None) for each in keys)
        new, rest = sum(each is None for each in keys), sum(each is Ellipsis for each in keys)
        if named + new + rest != len(keys) or rest > 1 or named > self.ndim:
            raise RecordError(
                f"getitem: only new axes can be recorded, as in x[:, None]; got {key!r} of {self.ndim} axes; {_line()}"
            )
        left = iter(self.shape)
        shape: list[int] = []
        for each in keys if rest else (*keys, Ellipsis):
            if each is Ellipsis:
                shape += [next(left) for _ in range(self.ndim - named)]
            else:
                shape.append(1 if each is None else next(left))
        return _reshaped(self, tuple(shape))

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def T(self) -> "Expr":  # noqa: N802  NumPy's name
        return _transposed(self)

    def transpose(self, *axes: Any) -> "Expr":
        return _transposed(self, axes[0] if len(axes) == 1 and isinstance(axes[0], tuple) else axes or None)

    def reshape(self, *shape: Any) -> "Expr":
        return _reshaped(self, shape[0] if len(shape) == 1 and isinstance(shape[0], tuple) else shape)

    def astype(self, dtype: Any) -> "Expr":
        wanted = _DTYPES.get(np.dtype(dtype).name)
        if wanted is None or (wanted == "bool" and self.dtype != "bool"):
            raise RecordError(f"astype: {np.dtype(dtype).name} is not float32, int32 or uint32; {_line()}")
        return self if wanted == self.dtype else apply(f"astype_{wanted}", self)

    def sum(self, axis: Any = None, keepdims: bool = False) -> "Expr":
        return _reduced("sum", self, axis, keepdims)

    def max(self, axis: Any = None, keepdims: bool = False) -> "Expr":
        return _reduced("max", self, axis, keepdims)

    def min(self, axis: Any = None, keepdims: bool = False) -> "Expr":
        return _reduced("min", self, axis, keepdims)

    def mean(self, axis: Any = None, keepdims: bool = False) -> "Expr":
        return _mean(self, axis, keepdims)

    @property
    def is_op(self) -> bool:
        return self.op not in ("input", "constant")

    @property
    def is_view(self) -> bool:
        return self.op in VIEWS

    @property
    def is_reduction(self) -> bool:
        return self.op in REDUCTIONS


def array_input(name: str, shape: tuple[int, ...], dtype: DType = "f32") -> Expr:
    """An argument of the recorded function. Shape ``()`` is a scalar whose value comes with every frame."""
    return Expr("input", shape, name=name, dtype=dtype)


def constant(value: float | int | bool, dtype: DType = "f32") -> Expr:
    return Expr("constant", (), value=float(np.float32(value)) if dtype == "f32" else value, dtype=dtype)


def lift(operand: object, dtype: DType | None = None) -> Expr:
    """``operand`` as an expression: itself, or a constant of ``dtype``, the type of what it meets."""
    if isinstance(operand, Expr):
        return operand
    if isinstance(operand, bool | np.bool_):
        return constant(bool(operand), "bool")
    if not isinstance(operand, int | float | np.integer | np.floating):
        raise RecordError(
            f"{type(operand).__name__} in an expression; use arguments of the function and plain numbers; {_line()}"
        )
    if dtype in _WHOLE:
        low, high = _WHOLE[dtype]
        if isinstance(operand, float | np.floating) or not low <= operand <= high:
            raise RecordError(f"constant {operand}: no {dtype}; cast the array with astype(np.float32); {_line()}")
        return constant(int(operand), dtype)
    try:
        value = float(operand)
    except OverflowError:
        value = math.inf
    if not abs(value) <= _LARGEST:
        raise RecordError(f"constant {value}: not a finite float32; pass it as an argument of the function; {_line()}")
    return constant(value)


def apply(name: str, *operands: Any) -> Expr:
    """Row ``name`` of the op table. Raises RecordError for types or shapes that do not go together."""
    row = OPS[name]
    types = {each.dtype for each in operands[name == "where" :] if isinstance(each, Expr)}
    common = next(iter(types), None)
    sources = tuple(lift(operand, common) for operand in operands)
    if len(sources) != row.arity:
        raise RecordError(f"{name}: takes {row.arity} operands, got {len(sources)}; {_line()}")
    if name == "where" and sources[0].dtype != "bool":
        raise RecordError(f"where: the condition must be bool, got {sources[0].dtype}; compare it; {_line()}")
    values = sources[1:] if name == "where" else sources
    found = {each.dtype for each in values}
    if len(found) > 1 or not found <= set(row.takes):
        allowed = ", ".join(row.takes)
        raise RecordError(
            f"{name}: takes operands of one type of {allowed}, got {', '.join(sorted(found))}; use astype; {_line()}"
        )
    dtype = row.gives or values[0].dtype
    return Expr(name, _broadcast(name, sources), sources, dtype=dtype)


def topological(outputs: Iterable[Expr], leaves: Set[Expr] | Mapping[Expr, object] = frozenset()) -> tuple[Expr, ...]:
    """Every node that ``outputs`` need, each once, sources before their users; nothing behind ``leaves``.

    A stack of its own, because a recorded chain may be longer than the interpreter's.
    """
    order: dict[Expr, None] = {}
    waiting = [(output, False) for output in reversed(tuple(outputs))]
    while waiting:
        node, sources_done = waiting.pop()
        if node in order:
            continue
        if sources_done or node in leaves:
            order[node] = None
        else:
            waiting.append((node, True))
            waiting.extend((source, False) for source in reversed(node.sources))
    return tuple(order)


def _broadcast(op: str, sources: tuple[Expr, ...]) -> tuple[int, ...]:
    try:
        return np.broadcast_shapes(*(source.shape for source in sources))
    except ValueError:
        shapes = " and ".join(str(source.shape) for source in sources if source.shape)
        raise RecordError(f"{op}: shapes {shapes} do not broadcast; reshape one of them; {_line()}") from None


def _reduced(
    kind: str, source: Any, axis: Any = None, keepdims: bool = False, dtype: Any = None, out: Any = None, **options: Any
) -> Expr:
    source = lift(source)
    if dtype is not None or out is not None or options:
        raise RecordError(f"{kind}: takes only axis and keepdims; {_line()}")
    if source.dtype not in NUMBERS:
        raise RecordError(f"{kind}: takes numbers, got {source.dtype}; use astype; {_line()}")
    if axis is not None and (not isinstance(axis, int | np.integer) or not -source.ndim <= axis < source.ndim):
        raise RecordError(f"{kind}: axis must be None or one of {source.ndim} axes, got {axis}; {_line()}")
    if axis is None:
        outer, n, inner, shape = 1, source.size, 1, (1,) * source.ndim
    else:
        axis = int(axis) % source.ndim
        outer, n, inner = math.prod(source.shape[:axis]), source.shape[axis], math.prod(source.shape[axis + 1 :])
        shape = (*source.shape[:axis], 1, *source.shape[axis + 1 :])
    if n == 0 and kind != "sum":
        raise RecordError(f"{kind}: no elements along this axis, and so no {kind}; {_line()}")
    kept = shape if keepdims else tuple(e for i, e in enumerate(shape) if axis is not None and i != axis)
    if n == 0:
        return Expr("zeros", kept, value=0, dtype=source.dtype)
    return Expr(kind, kept, (source,), dtype=source.dtype, axes=(outer, n, inner, n))


def _mean(source: Any, axis: Any = None, keepdims: bool = False) -> Expr:
    source = lift(source)
    total = _reduced("sum", source, axis, keepdims)
    if source.dtype != "f32":
        raise RecordError(f"mean: takes f32, got {source.dtype}; use astype; {_line()}")
    terms = source.size if axis is None else source.shape[axis]
    if terms == 0:
        raise RecordError(f"mean: no elements along this axis, and so no mean; {_line()}")
    return apply("divide", total, float(terms))


def _matmul(a: Any, b: Any) -> Expr:
    """(m, k) @ (k, n), with equal leading axes before both."""
    a, b = lift(a), lift(b)
    if a.dtype != "f32" or b.dtype != "f32":
        raise RecordError(f"matmul: takes f32, got {a.dtype} and {b.dtype}; use astype; {_line()}")
    fits = a.ndim == b.ndim >= 2 and a.shape[-1] == b.shape[-2] and a.shape[:-2] == b.shape[:-2]
    if not fits:
        raise RecordError(f"matmul: takes (m, k) @ (k, n), got {a.shape} @ {b.shape}; reshape them; {_line()}")
    return Expr("matmul", (*a.shape[:-1], b.shape[-1]), (a, b))


def _power(base: Any, exponent: Any) -> Expr:
    """Whole powers as products, and the square root."""
    plain = isinstance(base, Expr) and isinstance(exponent, int | float | np.number)
    if not plain or exponent not in (0.5, 1, 2, 3, 4):
        raise RecordError(f"power: takes an exponent of 0.5, 1, 2, 3 or 4, got {exponent!r}; {_line()}")
    source = lift(base)
    if exponent == 0.5:
        return apply("sqrt", source)
    if exponent == 1:
        return source
    squared = apply("square", source)
    if exponent == 2:
        return squared
    return apply("multiply", squared, source) if exponent == 3 else apply("square", squared)


def _reshaped(source: Any, shape: Any) -> Expr:
    wanted = [shape] if isinstance(shape, int) else list(shape)
    if wanted.count(-1) == 1:
        known = math.prod(each for each in wanted if each != -1)
        wanted[wanted.index(-1)] = source.size // known if known else 0
    if math.prod(wanted) != source.size or any(each < 0 for each in wanted):
        raise RecordError(f"reshape: {source.shape} does not fit {tuple(shape)}; {_line()}")
    return Expr("reshape", tuple(wanted), (source,), dtype=source.dtype)


def _transposed(source: Any, axes: Any = None) -> Expr:
    every = list(range(source.ndim))
    order = every[::-1] if axes is None else [axis + source.ndim if axis < 0 else axis for axis in axes]
    if sorted(order) != every:
        raise RecordError(f"transpose: {axes} is no order of {source.ndim} axes; {_line()}")
    shape = tuple(source.shape[axis] for axis in order)
    long = [axis for axis in order if source.shape[axis] != 1]
    if long == sorted(long):  # in memory nothing moves
        return _reshaped(source, shape)
    return Expr("transpose", shape, (source,), dtype=source.dtype, axes=tuple(order))


_FUNCTIONS: dict[str, Callable[..., Expr]] = {
    "where": lambda condition, a, b: apply("where", condition, a, b),
    "clip": lambda x, low, high: apply("clip", x, low, high),
    "sum": lambda x, axis=None, keepdims=False: _reduced("sum", x, axis, keepdims),
    "max": lambda x, axis=None, keepdims=False: _reduced("max", x, axis, keepdims),
    "amax": lambda x, axis=None, keepdims=False: _reduced("max", x, axis, keepdims),
    "min": lambda x, axis=None, keepdims=False: _reduced("min", x, axis, keepdims),
    "amin": lambda x, axis=None, keepdims=False: _reduced("min", x, axis, keepdims),
    "mean": _mean,
    "transpose": _transposed,
    "reshape": _reshaped,
}
VOCABULARY = tuple(
    sorted(
        {
            *(name.partition("_f32")[0] for name in OPS if name not in ("astype_i32", "astype_u32")),
            "matmul",
            "power",
            *_FUNCTIONS,
        }
    )
)


def _unknown(asked: str) -> RecordError:
    return RecordError(f"{asked}: not in the vocabulary; use {', '.join(VOCABULARY)} without other options; {_line()}")


def _line() -> str:
    """Where the recorded function says it: the nearest line that is neither ours nor NumPy's."""
    frame = sys._getframe(1)
    file = Path(frame.f_code.co_filename)
    while frame.f_back is not None and (file.parent in _OURS or _NUMPYS in file.parents):
        frame = frame.f_back
        file = Path(frame.f_code.co_filename)
    return f"at {file.name}:{frame.f_lineno}"
