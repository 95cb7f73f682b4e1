"""A kernel's parameters declared in GLSL and in WGSL: one signature, two texts. Feeds the texts of kernels."""

import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import Literal

from compute.helpers import Dialect, Language
from compute.kernel import Access, BufferParam, Param, ScalarParam, ScalarType

_IN_BLOCK: dict[Language, dict[ScalarType, str]] = {
    "glsl": {
        "f32": "float", "i32": "int", "u32": "uint",
        "vec2f": "vec2", "vec3f": "vec3", "vec4f": "vec4", "mat4f": "mat4",
    },
    "wgsl": {
        "f32": "f32", "i32": "i32", "u32": "u32",
        "vec2f": "vec2f", "vec3f": "vec3f", "vec4f": "vec4f", "mat4f": "mat4x4f",
    },
}  # fmt: skip


def one_by_one(param: BufferParam) -> Literal[1, 4]:
    """The width of a kernel that sees every element by itself."""
    return 1


def declarations(
    language: Language, params: Sequence[Param], width: Callable[[BufferParam], Literal[1, 4]] = one_by_one
) -> str:
    """Storage buffers in declared order, then the uniform block. ``width``: how many elements are seen at a time."""
    buffers = [param for param in params if isinstance(param, BufferParam)]
    lines = [_buffer(language, binding, param, width(param)) for binding, param in enumerate(buffers)]
    scalars = [param for param in params if isinstance(param, ScalarParam)]
    if scalars:
        lines += _block(language, len(buffers), scalars)
    return "".join(f"{line}\n" for line in lines)


@cache
def identifier(name: str) -> str:
    """Any Python name as one that no keyword collides with: ASCII, and never the two underscores GLSL reserves.

    What begins with a dot is a kernel's own, and keeps its name.
    """
    if name.startswith("."):
        return name[1:]
    return "p_" + re.sub(r"^_|_(?=_)|[^0-9A-Za-z_]", lambda odd: f"x{ord(odd[0]):x}x", name)


def place(param: Param) -> str:
    """How a text says ``param``."""
    return identifier(param.name) if isinstance(param, BufferParam) else f"scalars.{identifier(param.name)}"


def _buffer(language: Language, binding: int, param: BufferParam, width: Literal[1, 4]) -> str:
    name, element = identifier(param.name), Dialect(language, width).type(param.element)
    if language == "glsl":
        access = {Access.READ: "readonly ", Access.WRITE: "writeonly ", Access.READ_WRITE: ""}[param.access]
        return f"layout(std430, binding = {binding}) restrict {access}buffer B{binding} {{ {element} {name}[]; }};"
    access = "read_write" if param.access.writes else "read"
    return f"@group(0) @binding({binding}) var<storage, {access}> {name}: array<{element}>;"


def _block(language: Language, binding: int, scalars: Sequence[ScalarParam]) -> list[str]:
    """Binding 0 of GLSL's own uniform numbering, the binding behind the buffers in WGSL."""
    types = _IN_BLOCK[language]
    if language == "glsl":
        members = " ".join(f"{types[param.type]} {identifier(param.name)};" for param in scalars)
        return [f"layout(std140, binding = 0) uniform Scalars {{ {members} }} scalars;"]
    members = ", ".join(f"{identifier(param.name)}: {types[param.type]}" for param in scalars)
    return [
        f"struct Scalars {{ {members} }}",
        f"@group(0) @binding({binding}) var<uniform> scalars: Scalars;",
    ]
