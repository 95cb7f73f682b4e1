"""Scalar arguments packed in the order the kernel declares: one layout for GLSL std140 and WGSL uniform blocks."""

import struct
from collections.abc import Sequence
from dataclasses import dataclass

from compute.kernel import ArgumentError, Scalar, ScalarParam, ScalarType

# type: (alignment, bytes, struct codes). A scalar may sit behind a vec3, in its fourth lane.
_LAYOUT: dict[ScalarType, tuple[int, int, str]] = {
    "f32": (4, 4, "f"),
    "i32": (4, 4, "i"),
    "u32": (4, 4, "I"),
    "vec2f": (8, 8, "2f"),
    "vec3f": (16, 12, "3f"),
    "vec4f": (16, 16, "4f"),
    "mat4f": (16, 64, "16f"),
}
_REALS = "numbers of float32, inf and nan included"
_RULES: dict[ScalarType, str] = {
    "f32": "a number of float32, inf and nan included",
    "i32": "a whole number from -2,147,483,648 to 2,147,483,647",
    "u32": "a whole number from 0 to 4,294,967,295",
    "vec2f": f"two {_REALS}",
    "vec3f": f"three {_REALS}",
    "vec4f": f"four {_REALS}",
    "mat4f": f"sixteen {_REALS}, column by column",
}


@dataclass(frozen=True, slots=True)
class Block:
    """Layout of one uniform block. ``size`` is in bytes, a multiple of 16. ``counts``: numbers of each parameter."""

    params: tuple[ScalarParam, ...]
    counts: tuple[int, ...]
    size: int
    packer: struct.Struct

    def pack(self, values: Sequence[Scalar]) -> bytes:
        """The block's bytes. Raises ArgumentError that names the parameter, its type and the value it got."""
        if len(values) != len(self.params):
            names = ", ".join(param.name for param in self.params)
            raise ArgumentError(f"{len(self.params)} scalars expected ({names}), got {len(values)}; pass one for each")
        flat: list[float | int] = []
        for param, count, value in zip(self.params, self.counts, values, strict=True):
            flat += _numbers(param, count, value)
        try:
            return self.packer.pack(*flat)
        except (struct.error, OverflowError, TypeError):
            self._refuse(values)
            raise

    def _refuse(self, values: Sequence[Scalar]) -> None:
        """Which of the values it was: asked only when one does not fit, because frames pack many."""
        for param, count, value in zip(self.params, self.counts, values, strict=True):
            try:
                struct.pack(f"<{_LAYOUT[param.type][2]}", *_numbers(param, count, value))
            except (struct.error, OverflowError, TypeError) as error:
                raise ArgumentError(f"{param.name}: {value!r} is no {param.type}; pass {_RULES[param.type]}") from error


def block(params: Sequence[ScalarParam]) -> Block:
    """Lay ``params`` out in declared order."""
    codes, counts, offset = ["<"], [], 0
    for param in params:
        alignment, size, code = _LAYOUT[param.type]
        padding = -offset % alignment
        codes.append(f"{padding}x{code}")
        counts.append(int(code[:-1] or 1))
        offset += padding + size
    codes.append(f"{-offset % 16}x")
    packer = struct.Struct("".join(codes))
    return Block(tuple(params), tuple(counts), packer.size, packer)


def _numbers(param: ScalarParam, count: int, value: Scalar) -> Sequence[float | int]:
    numbers = value if isinstance(value, tuple) else (value,)
    if len(numbers) != count:
        raise ArgumentError(
            f"{param.name}: {param.type} takes {count} numbers, got {len(numbers)} ({value!r}); "
            f"pass {_RULES[param.type]}"
        )
    return numbers
