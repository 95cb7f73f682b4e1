"""A kernel from bodies that a person wrote: declarations come from the signature, and its names are used as they are.

    saxpy = handwritten(
        "saxpy",
        (BufferParam("y", Access.READ_WRITE), ScalarParam("a"), BufferParam("x", Access.READ), ScalarParam("n", "u32")),
        glsl="if (i < n) y[i] += a * x[i];",
        wgsl="if (i < n) { y[i] += a * x[i]; }",
    )

Beside its parameters a body knows ``i``, the number of its invocation; ``group``, of its workgroup; and the vectors
``invocation`` (in its workgroup), ``workgroup`` and ``workgroups`` (how many). Buffers end at the next 16 bytes: a
body that must know how many elements there are takes that as an argument.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import dedent, indent

from compute.helpers import LANGUAGES, Dialect, Language
from compute.kernel import ArgumentError, BufferParam, Element, Kernel, Param
from compute.signature import declarations, identifier, place

ELEMENT_BYTES = 4
_KNOWN = ("i", "group", "invocation", "workgroup", "workgroups", "scalars")
_SPOKEN = {"glsl": "GLSL", "wgsl": "WGSL"}
_ASSIGNED = re.compile(r"\s*(=(?!=)|\+\+|--|(?:[-+*/%&|^]|<<|>>)=)")
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Tile:
    """Memory that a workgroup shares: ``elements`` of one type, by its name in the body."""

    name: str
    elements: int
    element: Element = "f32"


def handwritten(
    name: str,
    params: Sequence[Param],
    *,
    glsl: str,
    wgsl: str,
    workgroup_size: tuple[int, int, int] = (64, 1, 1),
    tiles: Sequence[Tile] = (),
    folds: bool = False,
) -> Kernel:
    """A kernel with ``params`` in this order, and the statements ``glsl`` and ``wgsl`` as its two bodies.

    ``folds``: the body counts by ``i`` and minds its bounds, so that a launch may be spread over two axes.
    Raises ArgumentError for names that cannot be said, and for a body that reads or writes what it did not declare.
    """
    _check_names(name, [*(param.name for param in params), *(tile.name for tile in tiles)])
    bodies = {"glsl": dedent(glsl).strip("\n"), "wgsl": dedent(wgsl).strip("\n")}
    for language in LANGUAGES:
        _check_access(name, language, params, bodies[language])
    texts = {each: _text(each, params, tiles, workgroup_size, bodies[each]) for each in LANGUAGES}
    workgroup_bytes = ELEMENT_BYTES * sum(tile.elements for tile in tiles)
    return Kernel(name, tuple(params), texts["glsl"], texts["wgsl"], workgroup_size, workgroup_bytes, folds)


def _check_names(kernel: str, names: Sequence[str]) -> None:
    for name in names:
        if name in _KNOWN:
            raise ArgumentError(f"{kernel}: {name}: every body knows this name already; call the parameter otherwise")
        if not name.isidentifier():
            raise ArgumentError(f"{kernel}: {name!r} is no name; use letters, digits and underscores")
        if names.count(name) > 1:
            raise ArgumentError(f"{kernel}: {name} is declared {names.count(name)} times; call one of them otherwise")


def _check_access(kernel: str, language: Language, params: Sequence[Param], body: str) -> None:
    """Drivers differ: GLSL refuses to read what is only written, WGSL does not."""
    for param in params:
        if not isinstance(param, BufferParam):
            continue
        reads, writes = _uses(_COMMENT.sub(" ", body), param.name)
        done = "writes" if writes and not param.access.writes else "reads" if reads and not param.access.reads else None
        if done is not None:
            raise ArgumentError(
                f"{kernel}: {param.name}: declared {param.access.value}, but the {_SPOKEN[language]} body {done} it; "
                "declare read_write"
            )


def _uses(body: str, name: str) -> tuple[bool, bool]:
    """Whether elements of the buffer are (read, written). Its length is neither."""
    reads = writes = False
    for found in re.finditer(rf"(\+\+|--)?{_word(name)}\s*\[", body):
        assigned = _ASSIGNED.match(body, _closing(body, found.end()))
        steps = found[1] is not None
        writes |= assigned is not None or steps
        reads |= assigned is None or assigned[1] != "=" or steps
    return reads, writes


def _closing(body: str, start: int) -> int:
    """Behind the bracket that closes the one before ``start``."""
    depth = 1
    for at in range(start, len(body)):
        depth += {"[": 1, "]": -1}.get(body[at], 0)
        if depth == 0:
            return at + 1
    return len(body)


def _word(name: str) -> str:
    """``name`` by itself: no member of something, no part of another name."""
    return rf"(?<![\w.]){re.escape(name)}(?!\w)"


def _text(
    language: Language, params: Sequence[Param], tiles: Sequence[Tile], size: tuple[int, int, int], body: str
) -> str:
    said = {param.name: place(param) for param in params} | {tile.name: identifier(tile.name) for tile in tiles}
    if said:
        body = re.sub("|".join(map(_word, said)), lambda found: said[found[0]], body)
    head = declarations(language, params) + "".join(f"{_tile(language, tile)}\n" for tile in tiles)
    main = indent("\n".join([*_numbers(language, size), body]), "    ")
    if language == "glsl":
        x, y, z = size
        layout = f"layout(local_size_x = {x}, local_size_y = {y}, local_size_z = {z}) in;"
        return f"#version 430\n{layout}\n{head}void main() {{\n{main}\n}}\n"
    return (
        f"{head}@compute @workgroup_size({', '.join(map(str, size))})\n"
        "fn main(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) workgroups: vec3u,\n"
        "        @builtin(local_invocation_id) invocation: vec3u, @builtin(local_invocation_index) index: u32) {\n"
        f"{main}\n}}\n"
    )


def _numbers(language: Language, size: tuple[int, int, int]) -> list[str]:
    """What every body knows."""
    group, invocations = "(workgroup.z * workgroups.y + workgroup.y) * workgroups.x + workgroup.x", size[0] * size[1]
    invocations *= size[2]
    if language == "wgsl":
        return [f"let group = {group};", f"let i = group * {invocations}u + index;"]
    return [
        "uvec3 workgroup = gl_WorkGroupID, workgroups = gl_NumWorkGroups, invocation = gl_LocalInvocationID;",
        f"uint group = {group};",
        f"uint i = group * {invocations}u + gl_LocalInvocationIndex;",
    ]


def _tile(language: Language, tile: Tile) -> str:
    name, element = identifier(tile.name), Dialect(language, 1).type(tile.element)
    if language == "glsl":
        return f"shared {element} {name}[{tile.elements}];"
    return f"var<workgroup> {name}: array<{element}, {tile.elements}>;"
