"""Layers of networks as plain functions of (rows, columns) float32: what fusing can and cannot make one kernel."""

from typing import Any

import numpy as np


def softmax(x: Any) -> Any:
    """Each row's exponentials as parts of their sum, (rows, columns)."""
    e = np.exp(x - np.max(x, axis=1, keepdims=True))
    return e / np.sum(e, axis=1, keepdims=True)


def layernorm(x: Any, gain: Any, bias: Any) -> Any:
    """Each row with mean 0 and variance 1, times ``gain`` plus ``bias``, (columns,) each: (rows, columns)."""
    centred = x - np.mean(x, axis=1, keepdims=True)
    return centred / np.sqrt(np.mean(centred * centred, axis=1, keepdims=True) + 1e-5) * gain + bias


def gelu(x: Any) -> Any:
    """Gaussian error linear unit, the approximation by tanh, of any shape."""
    return 0.5 * x * (1.0 + np.tanh(0.7978845608 * (x + 0.044715 * x**3)))
