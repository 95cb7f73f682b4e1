"""relu(x*a + b): the smallest chain that eager execution cannot fuse and a recorder can."""

from typing import Any

import numpy as np

from compute.record import Recorded, Spec, record


def wave(x: Any, a: Any, b: Any) -> Any:
    """relu(x*a + b): ``x`` (elements,), scalars ``a`` and ``b``. Runs on NumPy arrays and on lazy ones."""
    return np.maximum(x * a + b, 0.0)


def record_wave(elements: int) -> Recorded:
    """``wave`` recorded for ``elements`` float32 values."""
    return record(wave, Spec((elements,)), Spec(), Spec())
