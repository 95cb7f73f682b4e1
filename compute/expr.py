"""Lazy array expressions: what a plain Python function says when ``record`` calls it. Runs nothing."""

import math
from collections.abc import Container, Iterable
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from compute.ops import OPS

_LARGEST = float(np.finfo(np.float32).max)


class RecordError(TypeError):
    """The function says something that cannot be recorded. The message names it and the way out."""


@dataclass(frozen=True, slots=True, eq=False)
class Expr(NDArrayOperatorsMixin):
    """One node: an input, a constant, or a row of the op table applied to sources.

    Operators and NumPy functions reach ``__array_ufunc__``, so the same function text runs on NumPy arrays.
    Nodes are compared by identity; ``==`` would be an op.
    """

    op: str
    shape: tuple[int, ...]
    sources: tuple["Expr", ...] = ()
    name: str = ""
    value: float = 0.0

    __hash__ = object.__hash__

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *operands: Any, **options: Any) -> "Expr":
        name = ufunc.__name__
        if method != "__call__" or options or name not in OPS:
            asked = name if method == "__call__" else f"{name}.{method}"
            with_options = f" with {', '.join(options)}" if options else ""
            vocabulary = ", ".join(sorted(OPS))
            raise RecordError(f"{asked}: not in the vocabulary{with_options}; use {vocabulary} without options")
        sources = tuple(lift(operand) for operand in operands)
        return Expr(name, _common_shape(name, sources), sources)

    def __array_function__(self, function: Any, types: Any, operands: Any, options: Any) -> NoReturn:
        raise RecordError(f"{function.__name__}: not in the vocabulary; use {', '.join(sorted(OPS))}")

    def __bool__(self) -> NoReturn:
        raise RecordError(f"{self.op}: a branch on array values cannot be recorded; nothing has run yet")

    @property
    def is_op(self) -> bool:
        return self.op in OPS


def array_input(name: str, shape: tuple[int, ...]) -> Expr:
    """An argument of the recorded function. Shape ``()`` is a scalar whose value comes with every frame."""
    return Expr("input", shape, name=name)


def lift(operand: object) -> Expr:
    """``operand`` as an expression: itself, or a finite float32 constant."""
    if isinstance(operand, Expr):
        return operand
    if not isinstance(operand, int | float | np.integer | np.floating):
        raise RecordError(f"{type(operand).__name__} in an expression; use arguments of the function and plain numbers")
    try:
        value = float(operand)
    except OverflowError:
        value = math.inf
    if not abs(value) <= _LARGEST:
        raise RecordError(f"constant {value}: not a finite float32; pass it as an argument of the function")
    return Expr("constant", (), value=float(np.float32(value)))


def topological(outputs: Iterable[Expr], leaves: Container[Expr] = frozenset()) -> tuple[Expr, ...]:
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


def _common_shape(op: str, sources: tuple[Expr, ...]) -> tuple[int, ...]:
    shapes = {source.shape for source in sources if source.shape != ()}
    if len(shapes) > 1:
        raise RecordError(f"{op}: shapes {' and '.join(map(str, shapes))} differ; use one shape, or a scalar")
    return shapes.pop() if shapes else ()
