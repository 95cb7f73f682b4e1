"""Run a plain Python function once on lazy arrays. Pure: no device, no data. Feeds ``schedule`` and ``reference``."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from compute.expr import Expr, RecordError, array_input, topological
from compute.ops import DType


@dataclass(frozen=True, slots=True)
class Spec:
    """Shape and type of one argument. Shape ``()``: a scalar whose value comes with every frame.

    ``overwrite``: the caller needs the array no more, so a result may take its place in memory.
    """

    shape: tuple[int, ...] = ()
    dtype: DType = "f32"
    overwrite: bool = False


@dataclass(frozen=True, slots=True)
class Recorded:
    """What a function said: its arguments, its results, and every node between them, sources first."""

    name: str
    inputs: tuple[Expr, ...]
    outputs: tuple[Expr, ...]
    nodes: tuple[Expr, ...]
    overwrites: frozenset[str] = frozenset()


def record(function: Callable[..., Any], *specs: Spec) -> Recorded:
    """Call ``function`` with one lazy argument per spec and keep what it did.

    Raises RecordError for a wrong number of specs, an op outside the vocabulary, a branch on values,
    or a result that is not an array expression.
    """
    parameters = tuple(inspect.signature(function).parameters)
    if len(parameters) != len(specs):
        raise RecordError(f"{function.__name__}: takes {len(parameters)} arguments, got {len(specs)} specs")
    named = tuple(zip(parameters, specs, strict=True))
    for name, spec in named:
        if spec.shape == () and spec.dtype == "bool":
            raise RecordError(f"{function.__name__}: {name}: a bool is no scalar of a kernel; pass 0 or 1 as i32")
    inputs = tuple(array_input(name, spec.shape, spec.dtype) for name, spec in named)
    result = function(*inputs)
    outputs = result if isinstance(result, tuple) else (result,)
    for output in outputs:
        if not isinstance(output, Expr) or output.op == "input":
            raise RecordError(f"{function.__name__}: must return arrays computed from its arguments, got {output!r}")
    overwrites = frozenset(name for name, spec in named if spec.overwrite)
    return Recorded(function.__name__, inputs, outputs, topological(outputs), overwrites)
