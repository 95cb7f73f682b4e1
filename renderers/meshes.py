"""Low-poly solids from assets/*.obj -> vertex and index arrays. Feeds scene."""

from importlib.resources import files

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float32]
IndexArray = npt.NDArray[np.uint32]


def load_mesh(name: str) -> tuple[FloatArray, IndexArray]:
    """A solid of ``assets/NAME.obj`` with flat faces: vertices (n, 6) position and normal, indices (m,).

    Faces are convex polygons, counter-clockwise seen from outside; each gets its own corners.
    """
    lines = files("assets").joinpath(f"{name}.obj").read_text().splitlines()
    rows = [line.split() for line in lines if line[:2] in ("v ", "f ")]
    points = np.array([row[1:4] for row in rows if row[0] == "v"], np.float64)
    vertices: list[npt.NDArray[np.float64]] = []
    indices: list[int] = []
    for row in rows:
        if row[0] == "f":
            corners = points[[int(index) - 1 for index in row[1:]]]
            normal = np.cross(corners[1] - corners[0], corners[2] - corners[1])
            normal /= np.linalg.norm(normal)
            first = len(vertices)
            vertices += [np.concatenate((corner, normal)) for corner in corners]
            indices += [first + i for fan in range(1, len(corners) - 1) for i in (0, fan, fan + 1)]
    return np.array(vertices, np.float32), np.array(indices, np.uint32)
