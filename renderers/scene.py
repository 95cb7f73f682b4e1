"""Procedural scenes: meshes and objects -> arrays and one sorted draw list. Feeds plan; knows no interface."""

from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Literal

import numpy as np
import numpy.typing as npt

from compute.kernel import Arrays, ArraySpec, Element, LimitError, ScalarParam
from renderers.device import MAX_OBJECTS
from renderers.materials import MATERIALS, State
from renderers.meshes import FloatArray, IndexArray, load_mesh
from renderers.plan import DrawRange, Material, ScenePass

FIELD_HALF_EXTENT = 10.0  # the field spans [-10, 10] on x and z
BACKGROUND = (0.043, 0.055, 0.094, 1.0)  # as displayed; the shaders fade distant objects into it
FRAME_VALUES = (ScalarParam("view_projection", "mat4f"), ScalarParam("time"), ScalarParam("shader_cost", "u32"))
Order = Literal["sorted", "shuffled"]
ORDERS: tuple[Order, ...] = ("sorted", "shuffled")
_MESHES = ("pillar", "crystal", "house", "cone")
_SEED, _MATERIAL_SEED, _ORDER_SEED = 20, 21, 22


@dataclass(frozen=True, slots=True, eq=False)
class Scene:
    """``vertices`` (n, 6): position, normal. ``objects`` (objects, 8): x, z, yaw, scale, r, g, b, spin.

    Object i of the draw list is row i. ``phases`` (objects,): what the wave workload reads as x.
    """

    name: str
    vertices: FloatArray
    indices: IndexArray
    objects: FloatArray
    phases: FloatArray
    materials: tuple[Material, ...]
    draws: tuple[DrawRange, ...]

    def arrays(self) -> Arrays:
        """The scene's own arrays; each is one buffer, since drawing needs random access."""
        data = self.data()
        return tuple((name, _one_buffer(name, values)) for name, values in data.items())

    def data(self) -> dict[str, npt.NDArray[np.generic]]:
        return {"scene/vertices": self.vertices, "scene/indices": self.indices, "scene/objects": self.objects}

    def draw_pass(self, heights: str) -> ScenePass:
        """``heights``: the array whose element i is the height and glow of object i."""
        return ScenePass(
            "scene", self.name, FRAME_VALUES, self.materials, self.draws, "scene/vertices", "scene/indices",
            "scene/objects", heights, BACKGROUND,
        )  # fmt: skip


@lru_cache(maxsize=8)
def field(objects: int, state: State = "none", order: Order = "sorted") -> Scene:
    """``objects`` solids of four shapes on a jittered grid, coloured from left to right, of the materials of ``state``.

    Sorted: by material, then by mesh, so that state changes as rarely as it can. Shuffled: the same objects, at random.
    """
    if not 0 <= objects <= MAX_OBJECTS:
        raise LimitError(f"objects: must be 0 to {MAX_OBJECTS:,}, got {objects:,}; choose a number in that range")
    random = np.random.default_rng(_SEED)
    mesh_of = np.sort(random.integers(0, len(_MESHES), objects))
    place = random.permutation(objects)
    columns = max(1, int(np.ceil(np.sqrt(objects))))
    spacing = 2 * FIELD_HALF_EXTENT / columns
    jitter = random.uniform(-0.22, 0.22, (objects, 2))
    x = (place % columns + 0.5 + jitter[:, 0]) * spacing - FIELD_HALF_EXTENT
    z = (place // columns + 0.5 + jitter[:, 1]) * spacing - FIELD_HALF_EXTENT
    record = np.empty((objects, 8), np.float32)
    record[:, 0], record[:, 1] = x, z
    record[:, 2] = random.uniform(0.0, 2.0 * np.pi, objects)
    record[:, 3] = min(spacing, 2.5) * random.uniform(0.36, 0.46, objects)
    record[:, 4:7] = _colours(x, random)
    record[:, 7] = random.uniform(-0.6, 0.6, objects)
    materials = MATERIALS[state]
    material_of = np.random.default_rng(_MATERIAL_SEED).integers(0, len(materials), objects)
    listed = _draw_order(mesh_of, material_of, order)
    vertices, indices, draws = _pack_meshes(mesh_of[listed], material_of[listed])
    return Scene("field", vertices, indices, record[listed], _phases(x, z)[listed], materials, draws)


SCENES = {"field": field}


def wave_input(scene: Scene, elements: int) -> FloatArray:
    """x of the wave workload, (elements,): the objects' phases, repeated or cut; zeros without objects."""
    return np.resize(scene.phases, elements)


def _draw_order(
    mesh_of: npt.NDArray[np.int64], material_of: npt.NDArray[np.int64], order: Order
) -> npt.NDArray[np.int64]:
    """Which object is drawn first, second ..., (objects,)."""
    if order == "shuffled":
        return np.random.default_rng(_ORDER_SEED).permutation(len(mesh_of))
    return np.lexsort((mesh_of, material_of))


def _pack_meshes(
    mesh_of: npt.NDArray[np.int64], material_of: npt.NDArray[np.int64]
) -> tuple[FloatArray, IndexArray, tuple[DrawRange, ...]]:
    """All meshes in one vertex and one index array, and a draw range for each run of one mesh and one material."""
    meshes = [load_mesh(name) for name in _MESHES]
    first_index = np.cumsum([0, *(len(indices) for _, indices in meshes)]).tolist()
    base_vertex = np.cumsum([0, *(len(vertices) for vertices, _ in meshes)]).tolist()
    changes = np.flatnonzero((np.diff(mesh_of) != 0) | (np.diff(material_of) != 0)) + 1
    ends = [*changes.tolist(), len(mesh_of)] if len(mesh_of) else []
    draws = []
    for first, end in pairwise([0, *ends]):
        mesh = int(mesh_of[first])
        count = first_index[mesh + 1] - first_index[mesh]
        draws.append(
            DrawRange(first_index[mesh], count, base_vertex[mesh], first, end - first, int(material_of[first]))
        )
    vertices, indices = (np.concatenate(parts) for parts in zip(*meshes, strict=True))
    return vertices, indices, tuple(draws)


def _colours(x: npt.NDArray[np.float64], random: np.random.Generator) -> npt.NDArray[np.float64]:
    """Linear colour from left (teal) to right (amber), (objects, 3): a mirrored picture is seen at once."""
    stops = np.array([[0.01, 0.30, 0.36], [0.08, 0.16, 0.52], [0.50, 0.08, 0.26], [0.80, 0.34, 0.05]])
    at = (x + FIELD_HALF_EXTENT) / (2 * FIELD_HALF_EXTENT) * (len(stops) - 1)
    channels = [np.interp(at, range(len(stops)), stops[:, channel]) for channel in range(3)]
    return np.stack(channels, axis=1) * random.uniform(0.7, 1.3, (len(x), 1))


def _phases(x: npt.NDArray[np.float64], z: npt.NDArray[np.float64]) -> FloatArray:
    """Rings around a point off the centre, so that the field has no symmetry; within [-1, 1]."""
    distance = np.hypot(x + 4.0, z - 2.5)
    return np.cos(0.85 * distance).astype(np.float32)


def _one_buffer(name: str, values: npt.NDArray[np.generic]) -> ArraySpec:
    element: Element = "u32" if values.dtype == np.uint32 else "f32"
    return ArraySpec(values.shape, element, ((f"{name}[0]", max(16, -(-values.nbytes // 16) * 16)),))
