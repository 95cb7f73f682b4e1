"""Memory barriers from declared access: which bits each step of a plan needs before it runs. Pure.

A shader's writes are incoherent in OpenGL: a later use sees them only behind glMemoryBarrier with the bit of
*that* use, and a write waits for earlier reads only behind the storage bit. Missing barriers go unnoticed on software
drivers, so they are derived here and never written by hand.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import IntFlag

from compute.kernel import ArraySpec, Dispatch
from renderers.plan import Plan, ScenePass


class Barrier(IntFlag):
    """Values of glMemoryBarrier's bits (OpenGL 4.3, section 7.12.2)."""

    NONE = 0
    VERTEX_ATTRIB_ARRAY = 0x1
    ELEMENT_ARRAY = 0x2
    COMMAND = 0x40
    BUFFER_UPDATE = 0x200
    SHADER_STORAGE = 0x2000


Step = Dispatch | ScenePass


@dataclass(frozen=True, slots=True)
class _Use:
    buffer: str
    bit: Barrier
    writes: bool = False


@dataclass(slots=True)
class _History:
    """Written buffers with the uses they are visible to by now, and buffers read since the last storage barrier."""

    visible: dict[str, Barrier] = field(default_factory=dict)
    read: set[str] = field(default_factory=set)

    def needs(self, uses: list[_Use]) -> Barrier:
        """The bits that order ``uses`` behind earlier ones; one barrier serves every buffer."""
        bits = Barrier.NONE
        for use in uses:
            if use.buffer in self.visible and use.bit not in self.visible[use.buffer]:
                bits |= use.bit
            if use.writes and use.buffer in self.read:
                bits |= Barrier.SHADER_STORAGE
        for buffer in self.visible:
            self.visible[buffer] |= bits
        if Barrier.SHADER_STORAGE in bits:
            self.read.clear()
        return bits

    def add(self, uses: list[_Use]) -> None:
        self.visible.update({use.buffer: Barrier.NONE for use in uses if use.writes})
        self.read.update(use.buffer for use in uses if not use.writes)


def steps(plan: Plan) -> Iterator[Step]:
    """Every dispatch and scene pass, in order."""
    for each in plan.passes:
        if isinstance(each, ScenePass):
            yield each
        else:
            yield from each.dispatches


def barriers(plan: Plan, lent: frozenset[str] = frozenset()) -> tuple[Barrier, ...]:
    """Bits before each step of a *steady* frame: what the frame before it left behind is counted.

    ``lent``: arrays that others may have read and written since.
    """
    arrays = dict(plan.arrays)
    history = _History()
    needed: list[Barrier] = []
    others = [chunk for name in lent for chunk, _ in arrays[name].chunks]
    for _ in range(2):
        needed = []
        history.add([_Use(chunk, Barrier.NONE, writes) for chunk in others for writes in (True, False)])
        for step in steps(plan):
            uses = _uses(step, arrays)
            needed.append(history.needs(uses))
            history.add(uses)
    return tuple(needed)


def _uses(step: Step, arrays: dict[str, ArraySpec]) -> list[_Use]:
    if isinstance(step, Dispatch):
        pairs = step.buffer_arguments()
        return [_Use(name, Barrier.SHADER_STORAGE, param.access.writes) for param, name in pairs]
    roles = {
        step.vertices: Barrier.VERTEX_ATTRIB_ARRAY,
        step.heights: Barrier.VERTEX_ATTRIB_ARRAY,
        step.indices: Barrier.ELEMENT_ARRAY,
    }
    return [_Use(chunk, bit) for array, bit in roles.items() for chunk, _ in arrays[array].chunks]
