"""The op table: one row per op, named as NumPy names it, with its GLSL and WGSL text side by side.

NaN: ``maximum(nan, 0)`` and ``minimum(nan, 1)`` are nan in NumPy, 0 and 1 on both devices.
"""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class Op:
    """``scale`` bounds the result's magnitude by the operands' magnitudes: what rounding errors grow with."""

    ufunc: np.ufunc
    glsl: str
    wgsl: str
    scale: np.ufunc
    flops: int = 1


_ROWS = (
    # NumPy          GLSL              WGSL              scale
    Op(np.add, "({0} + {1})", "({0} + {1})", np.add),
    Op(np.subtract, "({0} - {1})", "({0} - {1})", np.add),
    Op(np.multiply, "({0} * {1})", "({0} * {1})", np.multiply),
    Op(np.negative, "(-{0})", "(-{0})", np.positive),
    Op(np.maximum, "max({0}, {1})", "max({0}, {1})", np.maximum),
    Op(np.minimum, "min({0}, {1})", "min({0}, {1})", np.maximum),
)
OPS: dict[str, Op] = {row.ufunc.__name__: row for row in _ROWS}
