"""Workloads of one loop over many floats: the same function text runs on NumPy arrays and on lazy ones."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from compute.record import Recorded, Spec, record


@dataclass(frozen=True, slots=True)
class Workload:
    """A plain function of ``arrays``, (elements,) float32 each, and of scalars that come with every frame.

    ``reduces``: its result is one number, that of the whole being the sum of those of its parts.
    """

    name: str
    function: Callable[..., Any]
    arrays: tuple[str, ...] = ("x",)
    scalars: tuple[str, ...] = ("a", "b")
    reduces: bool = False

    def record(self, elements: int) -> Recorded:
        """Recorded for arrays of ``elements`` values."""
        return record(self.function, *[Spec((elements,))] * len(self.arrays), *[Spec()] * len(self.scalars))


def wave(x: Any, a: Any, b: Any) -> Any:
    """relu(x*a + b): the smallest chain that eager execution cannot fuse and a recorder can. It lifts the solids."""
    return np.maximum(x * a + b, 0.0)


def relu(x: Any, a: Any, b: Any) -> Any:
    """The same on as many elements as there is memory for."""
    return np.maximum(x * a + b, 0.0)


def chain(x: Any, y: Any) -> Any:
    """Twelve ops on two arrays: 29 accesses an element op by op, 3 at once."""
    t = np.maximum(x * y + x, 0.0) * 0.5 - y
    t = np.square(t) + 1.0
    t = np.sqrt(t) * x + y
    return np.minimum(t, 4.0) * 0.25


def total(x: Any, a: Any, b: Any) -> Any:
    """The sum of relu(x*a + b)."""
    return np.sum(np.maximum(x * a + b, 0.0))


WORKLOADS: dict[str, Workload] = {
    "wave": Workload("wave", wave),
    "relu": Workload("relu", relu),
    "chain": Workload("chain", chain, ("x", "y"), ()),
    "sum": Workload("sum", total, reduces=True),
}


def record_wave(elements: int) -> Recorded:
    """``wave`` recorded for ``elements`` float32 values."""
    return WORKLOADS["wave"].record(elements)
