"""Run a plain Python function once on lazy arrays. Pure: no device, no data. Feeds ``schedule`` and ``reference``."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from compute.expr import Expr, RecordError, array_input, topological


@dataclass(frozen=True, slots=True)
class Spec:
    """Shape of one argument, float32. ``()``: a scalar whose value comes with every frame."""

    shape: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Recorded:
    """What a function said: its arguments, its results, and every node between them, sources first."""

    name: str
    inputs: tuple[Expr, ...]
    outputs: tuple[Expr, ...]
    nodes: tuple[Expr, ...]


def record(function: Callable[..., Any], *specs: Spec) -> Recorded:
    """Call ``function`` with one lazy argument per spec and keep what it did.

    Raises RecordError for a wrong number of specs, an op outside the vocabulary, a branch on values,
    or a result that is not an array expression.
    """
    parameters = tuple(inspect.signature(function).parameters)
    if len(parameters) != len(specs):
        raise RecordError(f"{function.__name__}: takes {len(parameters)} arguments, got {len(specs)} specs")
    inputs = tuple(array_input(name, spec.shape) for name, spec in zip(parameters, specs, strict=True))
    result = function(*inputs)
    outputs = result if isinstance(result, tuple) else (result,)
    for output in outputs:
        if not isinstance(output, Expr) or not output.is_op or output.shape == ():
            raise RecordError(f"{function.__name__}: must return arrays computed from its arguments, got {output!r}")
    return Recorded(function.__name__, inputs, outputs, topological(outputs))
