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
    """Layout of one uniform block. ``size`` is in bytes, a multiple of 16."""

    params: tuple[ScalarParam, ...]
    size: int
    packer: struct.Struct

    def pack(self, values: Sequence[Scalar]) -> bytes:
        """The block's bytes. Raises ArgumentError that names the parameter, its type and the value it got."""
        if len(values) != len(self.params):
            names = ", ".join(param.name for param in self.params)
            raise ArgumentError(f"{len(self.params)} scalars expected ({names}), got {len(values)}; pass one for each")
        flat: list[float | int] = []
        for param, value in zip(self.params, values, strict=True):
            flat.extend(_components(param, value))
        return self.packer.pack(*flat)


def block(params: Sequence[ScalarParam]) -> Block:
    """Lay ``params`` out in declared order."""
    codes, offset = ["<"], 0
    for param in params:
        alignment, size, code = _LAYOUT[param.type]
        padding = -offset % alignment
        codes.append(f"{padding}x{code}")
        offset += padding + size
    codes.append(f"{-offset % 16}x")
    packer = struct.Struct("".join(codes))
    return Block(tuple(params), packer.size, packer)


def _components(param: ScalarParam, value: Scalar) -> Sequence[float | int]:
    code = _LAYOUT[param.type][2]
    count = int(code[:-1] or 1)
    numbers = value if isinstance(value, tuple) else (value,)
    if len(numbers) != count:
        raise ArgumentError(
            f"{param.name}: {param.type} takes {count} numbers, got {len(numbers)} ({value!r}); "
            f"pass {_RULES[param.type]}"
        )
    try:
        struct.pack(f"<{code}", *numbers)
    except (struct.error, OverflowError, TypeError) as error:
        raise ArgumentError(f"{param.name}: {value!r} is no {param.type}; pass {_RULES[param.type]}") from error
    return numbers
