"""Elementwise kernels whose text is the benchmark's own: what the compiler would not write. Used by compute."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from compute.helpers import Dialect, Language, declare
from compute.kernel import (
    Access,
    Argument,
    BufferParam,
    ComputePass,
    Dispatch,
    FrameValue,
    How,
    Kernel,
    Limits,
    ScalarParam,
    Work,
)
from compute.schedule import array_spec, fold_workgroups
from renderers.plan import Plan

INPUT, OUTPUT = "own/x", "own/y"


@dataclass(frozen=True, slots=True)
class Cut:
    """``width`` floats at a time, ``items`` times an invocation."""

    width: Literal[1, 4]
    workgroup_size: int
    items: int


SCALAR = Cut(1, 64, 1)


@dataclass(frozen=True, slots=True)
class Op:
    """``y[i] = expression`` of ``v``, which is ``x[i]``; {t} is its type. ``keeps_nan``: as compute's maximum does."""

    name: str
    expression: str
    scalars: tuple[str, ...] = ()
    keeps_nan: bool = False


COPY = (Op("copy", "v"),)
RELU = (Op("relu", "max(v * scalars.a + scalars.b, {t}(0.0))", ("a", "b"), keeps_nan=True),)
RELU_BY_OP = (
    Op("multiply", "v * scalars.a", ("a",)),
    Op("add", "v + scalars.b", ("b",)),
    Op("maximum", "max(v, {t}(0.0))", keeps_nan=True),
)


def plain(ops: Sequence[Op]) -> tuple[Op, ...]:
    """The same without the care for NaN."""
    return tuple(Op(op.name, op.expression, op.scalars) for op in ops)


def plan(ops: Sequence[Op], elements: int, cut: Cut, limits: Limits, how: How = "batched") -> Plan:
    """``ops`` behind one another, a kernel each, from INPUT to OUTPUT."""
    names = [INPUT, *(f"own/t{i}" for i in range(len(ops) - 1)), OUTPUT]
    specs = {name: array_spec(name, (elements,), limits) for name in names}
    launches = []
    for op, source, target in zip(ops, names, names[1:], strict=False):
        kernel = _kernel(op, cut)
        scalars: list[Argument] = [FrameValue(name) for name in op.scalars]
        chunks = zip(specs[target].chunks, specs[source].chunks, strict=True)
        launches.append(tuple(_dispatch(kernel, (to[0], of[0], *scalars), to[1], cut, limits) for to, of in chunks))
    if how == "eager":
        passes = tuple(ComputePass(f"own/{i}", each, 1, submit_alone=True) for i, each in enumerate(launches))
    else:
        passes = (ComputePass("own", tuple(one for each in launches for one in each), len(ops)),)
    return Plan(passes, tuple(specs.items()))


def _dispatch(kernel: Kernel, arguments: tuple[Argument, ...], chunk_bytes: int, cut: Cut, limits: Limits) -> Dispatch:
    elements = chunk_bytes // 4
    workgroups = -(-elements // (cut.width * cut.items * cut.workgroup_size))
    folded = fold_workgroups(workgroups, limits.workgroups_per_axis)
    return Dispatch(kernel, arguments, folded, Work(elements, chunk_bytes, chunk_bytes))


def _kernel(op: Op, cut: Cut) -> Kernel:
    params = (BufferParam("y", Access.WRITE), BufferParam("x", Access.READ), *map(ScalarParam, op.scalars))
    return Kernel(op.name, params, _glsl(op, cut), _wgsl(op, cut), (cut.workgroup_size, 1, 1))


def _glsl(op: Op, cut: Cut) -> str:
    kind = Dialect("glsl", cut.width).type("f32")
    block = "".join(f" float {name};" for name in op.scalars)
    uniform = f"layout(std140, binding = 0) uniform Scalars {{{block} }} scalars;\n" if block else ""
    return (
        f"#version 430\nlayout(local_size_x = {cut.workgroup_size}) in;\n"
        f"layout(std430, binding = 0) restrict writeonly buffer B0 {{ {kind} y[]; }};\n"
        f"layout(std430, binding = 1) restrict readonly buffer B1 {{ {kind} x[]; }};\n"
        f"{uniform}{_helpers(op, 'glsl', cut)}void main() {{\n"
        "    uint group = gl_WorkGroupID.x + gl_WorkGroupID.y * gl_NumWorkGroups.x;\n"
        f"    uint first = (group * {cut.workgroup_size}u + gl_LocalInvocationID.x) * {cut.items}u;\n"
        f"{_loop(f'{kind} v', 'uint', 'uint(y.length())', _value(op, kind), cut)}}}\n"
    )


def _wgsl(op: Op, cut: Cut) -> str:
    kind = Dialect("wgsl", cut.width).type("f32")
    block = ", ".join(f"{name}: f32" for name in op.scalars)
    struct = f"struct Scalars {{ {block} }}\n@group(0) @binding(2) var<uniform> scalars: Scalars;\n" if block else ""
    return (
        f"@group(0) @binding(0) var<storage, read_write> y: array<{kind}>;\n"
        f"@group(0) @binding(1) var<storage, read> x: array<{kind}>;\n"
        f"{struct}{_helpers(op, 'wgsl', cut)}@compute @workgroup_size({cut.workgroup_size})\n"
        "fn main(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) workgroups: vec3u,\n"
        "        @builtin(local_invocation_id) invocation: vec3u) {\n"
        "    let group = workgroup.x + workgroup.y * workgroups.x;\n"
        f"    let first = (group * {cut.workgroup_size}u + invocation.x) * {cut.items}u;\n"
        f"{_loop('let v', 'var', 'arrayLength(&y)', _value(op, kind), cut)}}}\n"
    )


def _helpers(op: Op, language: Language, cut: Cut) -> str:
    return declare(Dialect(language, cut.width), [("keep_nan", "f32")]) if op.keeps_nan else ""


def _value(op: Op, kind: str) -> str:
    value = op.expression.format(t=kind)
    affine = value.removeprefix("max(").removesuffix(f", {kind}(0.0))")
    return f"keep_nan({value}, {affine})" if op.keeps_nan else value


def _loop(value: str, counter: str, length: str, expression: str, cut: Cut) -> str:
    """One item needs no loop: that is how a first kernel is written."""
    if cut.items == 1:
        return f"    if (first < {length}) {{ {value} = x[first]; y[first] = {expression}; }}\n"
    end = f"min(first + {cut.items}u, {length})"
    return f"    for ({counter} i = first; i < {end}; i++) {{ {value} = x[i]; y[i] = {expression}; }}\n"
