"""Kernel text: one elementwise loop around an expression, in GLSL and in WGSL. Called by ``schedule`` only."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from compute.expr import Expr, topological
from compute.kernel import Access, BufferParam, Kernel, KernelShape, Param, ScalarParam
from compute.ops import OPS

Language = Literal["glsl", "wgsl"]

_GLSL = """#version 430
layout(local_size_x = {size}) in;
{buffers}
{scalars}
void main() {{
    uint group = gl_WorkGroupID.x + gl_WorkGroupID.y * gl_NumWorkGroups.x;
    uint first = (group * {size}u + gl_LocalInvocationID.x) * {vectors}u;
    uint end = min(first + {vectors}u, uint({count}.length()));
    for (uint i = first; i < end; ++i) {{
{body}
    }}
}}
"""

_WGSL = """{buffers}
{scalars}
@compute @workgroup_size({size})
fn main(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) workgroups: vec3u,
        @builtin(local_invocation_id) invocation: vec3u) {{
    let group = workgroup.x + workgroup.y * workgroups.x;
    let first = (group * {size}u + invocation.x) * {vectors}u;
    let end = min(first + {vectors}u, arrayLength(&{count}));
    for (var i = first; i < end; i++) {{
{body}
    }}
}}
"""

_SCALAR_NAMES = {"f32": "float", "i32": "int", "u32": "uint", "vec2f": "vec2", "vec3f": "vec3", "vec4f": "vec4"}


@dataclass(frozen=True, slots=True)
class Assignment:
    """``array[i] = value``. Nodes in ``loads`` are read from the array they name instead of being computed."""

    array: str
    value: Expr


def elementwise(
    name: str,
    params: tuple[Param, ...],
    assignments: Sequence[Assignment],
    loads: Mapping[Expr, str],
    shape: KernelShape,
) -> Kernel:
    """A kernel that runs ``assignments`` for every 4-float vector. ``loads``: node -> buffer parameter."""
    texts: dict[Language, str] = {}
    templates: dict[Language, str] = {"glsl": _GLSL, "wgsl": _WGSL}
    for language, template in templates.items():
        texts[language] = template.format(
            size=shape.workgroup_size,
            vectors=shape.vectors_per_invocation,
            count=_identifier(assignments[0].array),
            buffers=_declare_buffers(language, params),
            scalars=_declare_scalars(language, params),
            body=_body(language, assignments, loads),
        )
    return Kernel(name, params, texts["glsl"], texts["wgsl"], (shape.workgroup_size, 1, 1))


def _declare_buffers(language: Language, params: Sequence[Param]) -> str:
    """Storage buffers as arrays of 4-float vectors, numbered in declared order."""
    buffers = [param for param in params if isinstance(param, BufferParam)]
    return "\n".join(_buffer(language, binding, param) for binding, param in enumerate(buffers))


def _declare_scalars(language: Language, params: Sequence[Param]) -> str:
    """The uniform block: binding 0 of GLSL's own uniform numbering, the binding behind the buffers in WGSL."""
    scalars = [param for param in params if isinstance(param, ScalarParam)]
    if not scalars:
        return ""
    if language == "glsl":
        members = " ".join(f"{_SCALAR_NAMES[param.type]} {_identifier(param.name)};" for param in scalars)
        return f"layout(std140, binding = 0) uniform Scalars {{ {members} }} scalars;"
    members = ", ".join(f"{_identifier(param.name)}: {param.type}" for param in scalars)
    binding = len(params) - len(scalars)
    return f"struct Scalars {{ {members} }}\n@group(0) @binding({binding}) var<uniform> scalars: Scalars;"


def _buffer(language: Language, binding: int, param: BufferParam) -> str:
    name = _identifier(param.name)
    if language == "glsl":
        access = {Access.READ: "readonly ", Access.WRITE: "writeonly ", Access.READ_WRITE: ""}[param.access]
        return f"layout(std430, binding = {binding}) restrict {access}buffer B{binding} {{ vec4 {name}[]; }};"
    access = "read_write" if param.access.writes else "read"
    return f"@group(0) @binding({binding}) var<storage, {access}> {name}: array<vec4f>;"


def _body(language: Language, assignments: Sequence[Assignment], loads: Mapping[Expr, str]) -> str:
    """One local per op and per load, so that a shared subexpression is computed once."""
    declare, vector = ("vec4", "vec4") if language == "glsl" else ("let", "vec4f")
    lines: list[str] = []
    names: dict[Expr, str] = {}
    for node in topological((each.value for each in assignments), leaves=loads):
        if node in loads:
            text = f"{_identifier(loads[node])}[i]"
        elif node.op == "constant":
            names[node] = f"{vector}({node.value!r})"
            continue
        elif node.op == "input":
            names[node] = f"{vector}(scalars.{_identifier(node.name)})"
            continue
        else:
            row = OPS[node.op]
            template = row.glsl if language == "glsl" else row.wgsl
            text = template.format(*(names[source] for source in node.sources))
        names[node] = f"v{len(lines)}"
        lines.append(f"{declare} {names[node]} = {text};")
    lines += [f"{_identifier(each.array)}[i] = {names[each.value]};" for each in assignments]
    return "\n".join(f"        {line}" for line in lines)


def _identifier(name: str) -> str:
    """Any Python name as one that no keyword collides with: ASCII, and never the two underscores GLSL reserves."""
    return "p_" + re.sub(r"^_|_(?=_)|[^0-9A-Za-z_]", lambda odd: f"x{ord(odd[0]):x}x", name)
