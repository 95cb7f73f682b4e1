"""The frame as data: an ordered tuple of passes over named arrays. No handles, no data: compares, hashes, prints."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from itertools import groupby

from compute.kernel import Arrays, ComputePass, FrameValue, ScalarParam, Schedule


class Submission(Enum):
    """How draws reach the driver. All consume the same draw list."""

    IMMEDIATE_BIND = "immediate-bind"  # one parameter change and one draw per object
    IMMEDIATE = "immediate"  # one draw per object, nothing else changes
    INSTANCED = "instanced"  # one draw per run of objects with the same mesh and material
    INDIRECT = "indirect"  # one multi-draw per run of objects with the same material, its draws read from a buffer
    RECORDED = "recorded"  # draws recorded once, replayed with one call a frame
    NONE = "none"  # everything of the frame except the draws


@dataclass(frozen=True, slots=True)
class Material:
    """State that is set before an object is drawn.

    ``finish``: the shader's fragment stage of that name, a pipeline of its own. ``palette``: the texture that it
    reads (renderers/materials.py), None where it reads none.
    """

    finish: str
    palette: str | None = None


@dataclass(frozen=True, slots=True)
class DrawRange:
    """Consecutive objects that share one mesh and one material (its number). Indices count from ``base_vertex``."""

    first_index: int
    index_count: int
    base_vertex: int
    first_object: int
    object_count: int
    material: int = 0


@dataclass(frozen=True, slots=True)
class StateRun:
    """Consecutive draw ranges, from number ``first_range`` on, that need no change of state between them."""

    material: int
    first_range: int
    draws: tuple[DrawRange, ...]

    @property
    def first_object(self) -> int:
        return self.draws[0].first_object

    @property
    def object_count(self) -> int:
        return sum(draw.object_count for draw in self.draws)


@dataclass(frozen=True, slots=True)
class ScenePass:
    """Draws into the frame's image, which it clears first.

    ``values``: the uniform block that every object shares, in packing order. ``vertices``, ``indices``,
    ``objects`` and ``heights`` name arrays: (vertices, 6) position and normal, (indices,) u32, (objects, 8)
    the per-object record, (objects,) one float that a compute pass wrote.
    """

    label: str
    shader: str
    values: tuple[ScalarParam, ...]
    materials: tuple[Material, ...]
    draws: tuple[DrawRange, ...]
    vertices: str
    indices: str
    objects: str
    heights: str
    clear: tuple[float, float, float, float]

    @property
    def value_arguments(self) -> tuple[tuple[ScalarParam, FrameValue], ...]:
        return tuple((param, FrameValue(param.name)) for param in self.values)

    @property
    def object_count(self) -> int:
        return sum(draw.object_count for draw in self.draws)

    @property
    def state_runs(self) -> tuple[StateRun, ...]:
        """The draw list cut where the material changes."""
        runs, first = [], 0
        for material, group in groupby(self.draws, key=lambda draw: draw.material):
            runs.append(StateRun(material, first, tuple(group)))
            first += len(runs[-1].draws)
        return tuple(runs)

    def draws_by(self, submission: Submission) -> int:
        """Draws that the device executes; a multi-draw or a bundle executes many with one call."""
        if submission is Submission.NONE:
            return 0
        return len(self.draws) if submission is Submission.INSTANCED else self.object_count


Pass = ComputePass | ScenePass


@dataclass(frozen=True, slots=True)
class Plan:
    passes: tuple[Pass, ...]
    arrays: Arrays

    @property
    def compute_passes(self) -> tuple[ComputePass, ...]:
        return tuple(each for each in self.passes if isinstance(each, ComputePass))

    @property
    def scene_passes(self) -> tuple[ScenePass, ...]:
        return tuple(each for each in self.passes if isinstance(each, ScenePass))


def build_plan(schedules: Iterable[Schedule], scene: ScenePass | None = None, arrays: Arrays = ()) -> Plan:
    """All passes of ``schedules`` in order, then the scene. An array that several of them name is one array."""
    passes: list[Pass] = []
    known = dict(arrays)
    for each in schedules:
        passes.extend(each.passes)
        known.update(each.arrays)
    if scene is not None:
        passes.append(scene)
    return Plan(tuple(passes), tuple(known.items()))
