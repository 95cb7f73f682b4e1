"""The frame as data: an ordered tuple of passes over named arrays. No handles, no data: compares, hashes, prints."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum

from compute.kernel import Arrays, ComputePass, FrameValue, ScalarParam, Schedule


class Submission(Enum):
    """How draws reach the driver."""

    IMMEDIATE_BIND = "immediate-bind"  # one parameter change and one draw per object
    NONE = "none"  # everything of the frame except the draws


@dataclass(frozen=True, slots=True)
class DrawRange:
    """Consecutive objects that share one mesh. Index values are relative to ``base_vertex``."""

    first_index: int
    index_count: int
    base_vertex: int
    first_object: int
    object_count: int


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
    draws: tuple[DrawRange, ...]
    vertices: str
    indices: str
    objects: str
    heights: str
    clear: tuple[float, float, float, float]

    @property
    def value_arguments(self) -> tuple[tuple[ScalarParam, FrameValue], ...]:
        return tuple((param, FrameValue(param.name)) for param in self.values)

    def each_draw(self) -> Iterator[tuple[int, DrawRange]]:
        """(object, its range) in the order in which every submission draws them."""
        for draw in self.draws:
            for index in range(draw.first_object, draw.first_object + draw.object_count):
                yield index, draw


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
