"""One pixel of the scene in float64 NumPy: what every timed run's picture is checked against.

Follows assets/field.vert and .frag line by line, for the few objects whose box covers the pixel, without any GPU code.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from compute.kernel import Scalar
from renderers.materials import palette, texel
from renderers.plan import DrawRange, Material
from renderers.scene import BACKGROUND, Scene

FloatArray = npt.NDArray[np.float64]

MAX_CHANNEL_ERROR = 2  # of 255: one rounding on each side
_CANDIDATES = 100
_MOST_COVERING = 4000  # objects whose boxes hold one point
_WITHIN_BOX = ((0.5, 0.5), (0.4, 0.7), (0.6, 0.7), (0.5, 0.3))  # tapering solids are widest below
_SUN = np.array([-0.48, 0.64, 0.6])
_GLOW = np.array([1.0, 0.62, 0.22])


@dataclass(frozen=True, slots=True)
class Witness:
    """``rgb``: what pixel (x, y), counted from the top left, must show, each channel 0 to 255."""

    x: int
    y: int
    rgb: tuple[int, int, int]

    def error(self, image: npt.NDArray[np.uint8]) -> int:
        """Largest channel difference of ``image`` (height, width, 4) at this pixel."""
        drawn = image[self.y, self.x, :3].astype(int)
        return int(np.max(np.abs(drawn - self.rgb)))


def find_witness(
    scene: Scene, values: Mapping[str, Scalar], heights: FloatArray, size_px: tuple[int, int]
) -> Witness | None:
    """A pixel well inside one face, and its colour. None when no face is large enough to hold a pixel.

    ``heights`` (objects,): what the compute pass must have written, in float64.
    """
    view = _View(scene, values, heights, size_px)
    for x, y in view.candidates():
        centre = view.colour_at(x + 0.5, y + 0.5)
        if centre is not None and all(_same(centre, view.colour_at(x + 0.5 + dx, y + 0.5 + dy)) for dx, dy in _AROUND):
            red, green, blue = np.rint(255.0 * centre).astype(int).tolist()
            return Witness(x, y, (red, green, blue))
    return None


_AROUND = ((0.7, 0.0), (-0.7, 0.0), (0.0, 0.7), (0.0, -0.7))


class _View:
    """The scene as one frame sees it: boxes of all objects on the screen, faces of those that are asked for."""

    def __init__(
        self, scene: Scene, values: Mapping[str, Scalar], heights: FloatArray, size_px: tuple[int, int]
    ) -> None:
        self._scene, self._heights = scene, heights
        matrix = np.asarray(values["view_projection"], np.float32).astype(np.float64)
        self._matrix = matrix.reshape(4, 4).T
        self._half_px = np.array(size_px) / 2.0
        self._objects = scene.objects.astype(np.float64)
        self._time = float(np.float32(values["time"]))  # type: ignore[arg-type]
        counts = [draw.object_count for draw in scene.draws]
        self._mesh_of = np.repeat([draw.first_index for draw in scene.draws], counts)
        self._meshes = {draw.first_index: draw for draw in scene.draws}
        self._material_of = np.repeat([draw.material for draw in scene.draws], counts)
        self._size = np.stack((self._scale, 0.9 * self._scale + 1.6 * heights, self._scale), axis=1)
        self._low, self._high = self._boxes()

    @property
    def _scale(self) -> FloatArray:
        return self._objects[:, 3]

    def candidates(self) -> Iterator[tuple[int, int]]:
        """Pixels inside the boxes of the objects that look largest, largest first."""
        low, high = np.clip(self._low, 0.0, 2.0 * self._half_px), np.clip(self._high, 0.0, 2.0 * self._half_px)
        area = np.prod(np.maximum(high - low, 0.0), axis=1)
        for i in np.argsort(-area)[:_CANDIDATES]:
            if area[i] > 0.0:
                for across, down in _WITHIN_BOX:
                    x, y = low[i] + (high[i] - low[i]) * (across, down)
                    yield int(min(x, 2.0 * self._half_px[0] - 1.0)), int(min(y, 2.0 * self._half_px[1] - 1.0))

    def colour_at(self, x: float, y: float) -> FloatArray | None:
        """The nearest face's colour at a point of the screen; None where there is only background."""
        point = np.array([x, y])
        covering = np.flatnonzero(np.all((self._low <= point) & (point <= self._high), axis=1))
        if len(covering) > _MOST_COVERING:
            return None  # far objects thinner than a pixel: no place for a witness
        nearest, colour = np.inf, None
        for mesh, draw in self._meshes.items():
            objects = covering[self._mesh_of[covering] == mesh]
            corners, normals = self._faces(objects, draw)
            depths = _depths_at(self._to_screen(corners.reshape(-1, 3)).reshape(-1, 3, 3), point)
            if len(depths) and depths.min() < nearest:
                face = int(depths.argmin())
                nearest = float(depths[face])
                faces = draw.index_count // 3
                colour = self._shade(int(objects[face // faces]), normals[face], self._mesh_normals(draw)[face % faces])
        return colour

    def _boxes(self) -> tuple[FloatArray, FloatArray]:
        """Screen boxes, (objects, 2) each, around every object's own box."""
        corner = np.array([[x, y, z] for x in (-1, 1) for y in (0, 1) for z in (-1, 1)], np.float64)
        reach = self._scale[:, None, None] * 1.5
        spread = np.array([1.0, 0.0, 1.0]) * reach + np.array([0.0, 1.0, 0.0]) * self._size[:, None, :]
        place = np.stack((self._objects[:, 0], np.zeros(len(self._objects)), self._objects[:, 1]), axis=1)
        screen = self._to_screen((place[:, None, :] + corner * spread).reshape(-1, 3)).reshape(-1, 8, 3)
        behind = np.any(screen[:, :, 2] < 0.0, axis=1)
        low, high = screen[:, :, :2].min(axis=1), screen[:, :, :2].max(axis=1)
        low[behind], high[behind] = np.inf, -np.inf
        return low, high

    def _to_screen(self, points: FloatArray) -> FloatArray:
        """World (n, 3) -> x, y in pixels from the top left, and depth, -1 behind the camera."""
        clip = np.column_stack((points, np.ones(len(points)))) @ self._matrix.T
        in_front = clip[:, 3] > 0.0
        w = np.where(in_front, clip[:, 3], 1.0)
        across = clip[:, :2] / w[:, None] * np.array([1.0, -1.0])
        return np.column_stack(((across + 1.0) * self._half_px, np.where(in_front, clip[:, 2] / w, -1.0)))

    def _faces(self, objects: npt.NDArray[np.intp], draw: DrawRange) -> tuple[FloatArray, FloatArray]:
        """Triangles of ``objects``, which share one mesh, object by object: corners (n, 3, 3) and normals (n, 3)."""
        chosen = self._scene.indices[draw.first_index : draw.first_index + draw.index_count].astype(int)
        vertices = self._scene.vertices[chosen + draw.base_vertex].astype(np.float64)
        angle = self._objects[objects, 2] + self._objects[objects, 7] * self._time
        c, s, zero, one = np.cos(angle), np.sin(angle), np.zeros(len(objects)), np.ones(len(objects))
        turn = np.stack((c, zero, s, zero, one, zero, -s, zero, c), axis=1).reshape(-1, 3, 3)
        place = np.stack((self._objects[objects, 0], zero, self._objects[objects, 1]), axis=1)
        size = self._size[objects][:, None, :]
        corners = np.einsum("oij,ovj->ovi", turn, vertices[None, :, :3] * size) + place[:, None, :]
        normals = vertices[None, ::3, 3:] / size
        normals = np.einsum("oij,ofj->ofi", turn, normals / np.linalg.norm(normals, axis=2, keepdims=True))
        return corners.reshape(-1, 3, 3), normals.reshape(-1, 3)

    def _mesh_normals(self, draw: DrawRange) -> FloatArray:
        """As stored, before an object is scaled and turned: (faces, 3)."""
        chosen = self._scene.indices[draw.first_index : draw.first_index + draw.index_count].astype(int)
        normals: FloatArray = self._scene.vertices[chosen[::3] + draw.base_vertex, 3:].astype(np.float64)
        return normals

    def _shade(self, i: int, normal: FloatArray, mesh_normal: FloatArray) -> FloatArray:
        record, height = self._objects[i], self._heights[i]
        light = 0.12 + 0.12 * normal[1] + 0.95 * max(float(normal @ _SUN), 0.0)
        lit = record[4:7] * light + _GLOW * (0.32 * height * height)
        distance = self._matrix[3] @ np.array([record[0], 0.0, record[1], 1.0])
        far = float(np.clip((distance - 13.0) / 16.0, 0.0, 1.0)) ** 2
        finished = _finished(self._scene.materials[self._material_of[i]], np.sqrt(np.clip(lit, 0.0, 1.0)), mesh_normal)
        shade: FloatArray = np.clip(finished * (1.0 - far) + np.array(BACKGROUND[:3]) * far, 0.0, 1.0)
        return shade


def _finished(material: Material, colour: FloatArray, mesh_normal: FloatArray) -> FloatArray:
    if material.palette is not None:
        painted: FloatArray = colour * (palette(material.palette)[texel(mesh_normal)][:3] / 255.0) * 1.25
        return painted
    finish = _FINISHES[material.finish]
    return finish(colour)


_FINISHES: dict[str, Callable[[FloatArray], FloatArray]] = {
    "plain": lambda c: c,
    "frost": lambda c: c * 0.55 + np.array([0.20, 0.26, 0.32]),
    "ember": lambda c: np.array([c[0] * (2.0 - c[0]), c[1] * 0.62, c[2] * 0.35]),
    "moss": lambda c: np.array([c[0] * 0.6, c[1] * 0.7 + 0.14, c[2] * 0.45]),
    "slate": lambda c: np.full(3, c[0] * 0.3 + c[1] * 0.5 + c[2] * 0.2),
}


def _depths_at(corners: FloatArray, point: FloatArray) -> FloatArray:
    """Depth of every front-facing triangle (n, 3, 3: x, y, depth) at ``point``; infinite outside it or from behind."""
    a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
    area = _cross(b - a, c - a)  # y runs down, so counter-clockwise is negative
    sides = ((c - b, b), (a - c, c), (b - a, a))
    edges = np.stack([_cross(side, point - corner[:, :2]) for side, corner in sides])
    seen = (area < 0.0) & np.all(corners[:, :, 2] >= 0.0, axis=1) & np.all(edges < 0.0, axis=0)
    weights = edges.T / np.where(seen, area, 1.0)[:, None]
    depths: FloatArray = np.where(seen, np.sum(weights * corners[:, :, 2], axis=1), np.inf)
    return depths


def _same(one: FloatArray, other: FloatArray | None) -> bool:
    return other is not None and np.array_equal(one, other)


def _cross(u: FloatArray, v: FloatArray) -> FloatArray:
    product: FloatArray = u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0]
    return product
