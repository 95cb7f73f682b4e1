"""Every uniform block of a plan in one buffer: packed once a frame, uploaded with one call. Shared by the devices."""

from collections.abc import Mapping
from dataclasses import dataclass

from compute.kernel import ArgumentError, Dispatch, FrameValue, Scalar, ScalarParam
from compute.packing import Block, block
from renderers.plan import Plan, ScenePass

# What WebGPU's floor asks of a uniform offset; every OpenGL driver's own alignment divides it.
BLOCK_ALIGNMENT_BYTES = 256
RECORD_BYTES = 32  # of an object: two vec4, place and colour

_ScalarArguments = tuple[tuple[ScalarParam, FrameValue | Scalar], ...]


@dataclass(frozen=True, slots=True)
class BlockRange:
    offset: int
    size: int


@dataclass(frozen=True, slots=True)
class _Slot:
    block: Block
    arguments: tuple[FrameValue | Scalar, ...]
    offset: int


class FrameBlocks:
    """Each dispatch and scene pass has its own range, so that no write of a frame can overtake another's."""

    def __init__(self, plan: Plan) -> None:
        self._slots: list[_Slot] = []
        self._ranges: dict[Dispatch | ScenePass, BlockRange] = {}
        self.size = 0
        for each in plan.passes:
            if isinstance(each, ScenePass):
                self._add(each, each.value_arguments)
            else:
                for dispatch in each.dispatches:
                    self._add(dispatch, dispatch.scalar_arguments())

    def range_of(self, user: Dispatch | ScenePass) -> BlockRange | None:
        """Where the block of ``user`` lies, in bytes; None when it takes no scalars."""
        return self._ranges.get(user)

    def pack(self, values: Mapping[str, Scalar]) -> bytes:
        """All blocks with this frame's values. Raises ArgumentError for a value that is missing or does not fit."""
        packed = bytearray(self.size)
        for slot in self._slots:
            scalars = [_resolve(argument, values) for argument in slot.arguments]
            packed[slot.offset : slot.offset + slot.block.size] = slot.block.pack(scalars)
        return bytes(packed)

    def _add(self, user: Dispatch | ScenePass, arguments: _ScalarArguments) -> None:
        if not arguments or user in self._ranges:
            return
        layout = block([param for param, _ in arguments])
        self._slots.append(_Slot(layout, tuple(argument for _, argument in arguments), self.size))
        self._ranges[user] = BlockRange(self.size, layout.size)
        self.size += -(-layout.size // BLOCK_ALIGNMENT_BYTES) * BLOCK_ALIGNMENT_BYTES


def _resolve(argument: FrameValue | Scalar, values: Mapping[str, Scalar]) -> Scalar:
    if not isinstance(argument, FrameValue):
        return argument
    if argument.name not in values:
        raise ArgumentError(f"frame value {argument.name!r} is missing; execute() got {', '.join(sorted(values))}")
    return values[argument.name]
