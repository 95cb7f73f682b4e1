"""What objects are made of: the materials of each kind of state change, and their palettes. Feeds scene and draws.

A palette is a small texture with one texel for each direction that a face may look to: a face reads one texel, so
that no interface's filtering can differ from another's.
"""

from typing import Literal

import numpy as np
import numpy.typing as npt

from renderers.plan import Material

State = Literal["none", "texture", "pipeline"]
Palette = npt.NDArray[np.uint8]

PALETTE_SIZE = 8
MATERIALS: dict[State, tuple[Material, ...]] = {
    "none": (Material("plain"),),
    "texture": tuple(Material("painted", name) for name in ("copper", "glacier", "meadow", "dusk")),
    "pipeline": tuple(Material(name) for name in ("frost", "ember", "moss", "slate")),
}
STATES = tuple(MATERIALS)
_HUES = {"copper": (255, 158, 96), "glacier": (128, 214, 255), "meadow": (150, 226, 110), "dusk": (206, 132, 255)}


def palette(name: str) -> Palette:
    """(PALETTE_SIZE, PALETTE_SIZE, 4) RGBA: the name's hue, darker from row to row and from column to column.

    So a palette that is turned or mirrored shows. Which face reads which row and column: see texel().
    """
    across = np.linspace(0.0, 1.0, PALETTE_SIZE)
    strength = 1.0 - 0.3 * across[:, None] - 0.25 * across[None, :]
    colours = np.rint(strength[:, :, None] * np.array(_HUES[name])).astype(np.uint8)
    opaque = np.full((PALETTE_SIZE, PALETTE_SIZE, 1), 255, np.uint8)
    return np.concatenate((colours, opaque), axis=2)


def texel(normal: npt.NDArray[np.float64]) -> tuple[int, int]:
    """(row, column) that a face of this mesh-space normal reads; what the shaders compute too."""
    row, column = (min(PALETTE_SIZE - 1, int(np.floor(4.0 * n + 4.0))) for n in (normal[2], normal[0]))
    return row, column
