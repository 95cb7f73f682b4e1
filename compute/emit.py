"""Kernel text: loops around the lines of ``body``, in GLSL and in WGSL. Called by ``schedule`` only.

A kernel works on four elements at a time where every array it reads is read in step with what it writes; where
something is broadcast, turned or reduced along an axis, one by one, with the index spelled out.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from compute.body import PLACE, Body, Memory, added, let, modulo, over, times
from compute.expr import Expr
from compute.helpers import LANGUAGES, Dialect, Language, declare
from compute.kernel import BufferParam, Kernel, KernelShape, Param
from compute.ops import DType
from compute.signature import declarations, identifier

_LANE = "_of_one"  # helpers that combine the four lanes of a total


@dataclass(frozen=True, slots=True)
class Assignment:
    """``array[i] = value``."""

    array: str
    value: Expr


@dataclass(frozen=True, slots=True)
class Description:
    """What a kernel's text says, in either language."""

    name: str
    params: tuple[Param, ...]
    assignments: tuple[Assignment, ...]
    memory: Memory
    shape: KernelShape


def map_kernel(kernel: Description) -> Kernel:
    """``assignments`` for every element, or every four."""
    return _kernel(kernel, _map)


def reduce_kernel(kernel: Description) -> Kernel:
    """Each element of the results combines its terms. All ``assignments`` are reductions along the same axes."""
    return _kernel(kernel, _reduce_by_four if kernel.memory.by_four else _reduce_one_by_one)


def matmul_kernel(kernel: Description) -> Kernel:
    """Each element of the one result sums a row times a column."""
    return _kernel(kernel, _matmul)


def _kernel(kernel: Description, text: Callable[[Description, Language], str]) -> Kernel:
    glsl, wgsl = (text(kernel, language) for language in LANGUAGES)
    return Kernel(kernel.name, kernel.params, glsl, wgsl, (kernel.shape.workgroup_size, 1, 1))


def _map(kernel: Description, language: Language) -> str:
    by_four, items = kernel.memory.by_four, kernel.shape.vectors_per_invocation
    body = Body(Dialect(language, 4 if by_four else 1), kernel.memory)
    stores = [_store(body, each, body.value(each.value, "i")) for each in kernel.assignments]
    first = kernel.assignments[0]
    end = _length(language, first.array) if by_four else f"{first.value.size}u"
    group, number = _invocation(kernel, body.dialect)
    main = [
        group,
        let(body.dialect, "uint", "first", times(number, items)),
        let(body.dialect, "uint", "end", f"min(first + {items}u, {end})"),
        *_for(language, "i", "first", "end", 1, [*body.lines, *stores]),
    ]
    return _text(kernel, body, main)


def _reduce_by_four(kernel: Description, language: Language) -> str:
    """Four terms at a time, their lanes combined at the end. As many results as the longest array read has parts."""
    body = Body(Dialect(language, 4), kernel.memory)
    terms = [body.value(each.value.sources[0], "j") for each in kernel.assignments]
    if kernel.memory.masked:
        terms = [body.masked(term, "j", each.value) for term, each in zip(terms, kernel.assignments, strict=True)]
    lanes = Body(Dialect(language, 1, _LANE), kernel.memory)
    vectors = kernel.assignments[0].value.axes[3] // 4
    length = _length(language, kernel.memory.loads[max(kernel.memory.loads, key=lambda node: node.size)])
    inside = [
        let(body.dialect, "uint", "start", times("i", vectors)),
        let(body.dialect, "uint", "last", f"min(start + {vectors}u, {length})"),
        *_totals(kernel, body, terms, 1),
        *(
            _store(lanes, each, _over_lanes(lanes, each.value, _total(kernel, number)), kernel.memory.placed)
            for number, each in enumerate(kernel.assignments)
        ),
    ]
    results = length if vectors == 1 else f"({length} + {vectors - 1}u) / {vectors}u"
    return _text(kernel, body, _one_result(kernel, body, results, inside), declare(lanes.dialect, lanes.used))


def _over_lanes(body: Body, reduction: Expr, total: str) -> str:
    result = f"{total}.x"
    for lane in "yzw":
        result = body.combined(reduction, result, f"{total}.{lane}")
    return result


def _reduce_one_by_one(kernel: Description, language: Language) -> str:
    """Result i combines every inner-th element of its block, or of its part of it."""
    outer, n, inner, terms = kernel.assignments[0].value.axes
    parts = -(-n // terms)
    body = Body(Dialect(language, 1), kernel.memory)
    values = [body.value(each.value.sources[0], "j") for each in kernel.assignments]
    block = times(over("i", parts * inner), n * inner) if outer > 1 else "0u"
    if parts == 1:
        places, first = [], added(block, modulo("i", inner) if outer > 1 else "i" if inner > 1 else "0u")
        last = f"start + {n * inner}u"
    else:
        part = f"{over('i', inner)} % {parts}u" if outer > 1 else over("i", inner)
        places = [
            let(body.dialect, "uint", "block", added(block, modulo("i", inner))),
            let(body.dialect, "uint", "part", times(part, terms)),
            let(body.dialect, "uint", "behind", f"min(part + {terms}u, {n}u)"),
        ]
        first, last = f"block + {times('part', inner)}", f"block + {times('behind', inner)}"
    inside = [
        *places,
        let(body.dialect, "uint", "start", first),
        let(body.dialect, "uint", "last", last),
        *_totals(kernel, body, values, inner),
        *(_store(body, each, _total(kernel, number)) for number, each in enumerate(kernel.assignments)),
    ]
    return _text(kernel, body, _one_result(kernel, body, f"{outer * parts * inner}u", inside))


def _totals(kernel: Description, body: Body, terms: Sequence[str], step: int) -> list[str]:
    """The loop over the terms from ``start`` to ``last``. A sum begins with 0, a maximum with its first term."""
    language, head, again = body.dialect.language, [], []
    sums = kernel.assignments[0].value.op == "sum"
    for number, (term, each) in enumerate(zip(terms, kernel.assignments, strict=True)):
        total, dtype = _total(kernel, number), each.value.dtype
        head.append(_variable(body.dialect, dtype, total, body.neutral(dtype) if sums else term))
        again.append(f"{total} += {term};" if sums else f"{total} = {body.combined(each.value, total, term)};")
    if sums:
        return [*head, *_for(language, "j", "start", "last", step, [*body.lines, *again])]
    start = [re.sub(r"\bj\b", "start", line) for line in [*body.lines, *head]]
    return [*start, *_for(language, "j", f"start + {step}u", "last", step, [*body.lines, *again])]


def _matmul(kernel: Description, language: Language) -> str:
    (assignment,) = kernel.assignments
    a, b = assignment.value.sources
    (rows, k), columns = a.shape[-2:], b.shape[-1]
    body = Body(Dialect(language, 1), kernel.memory)
    left, right = body.value(a, "left"), body.value(b, "right")
    several = a.size > rows * k
    row = added(times(over("i", rows * columns), k), "t") if several else "t"
    each_term = [
        let(body.dialect, "uint", "left", added(times(over("i", columns), k), "t")),
        let(body.dialect, "uint", "right", added(times(row, columns), modulo("i", columns))),
        *body.lines,
        f"total += {left} * {right};",
    ]
    inside = [
        _variable(body.dialect, "f32", "total", "0.0"),
        *_for(language, "t", "0u", f"{k}u", 1, each_term),
        _store(body, assignment, "total"),
    ]
    return _text(kernel, body, _one_result(kernel, body, f"{assignment.value.size}u", inside))


def _text(kernel: Description, body: Body, main: Sequence[str], more_helpers: str = "") -> str:
    language, size = body.dialect.language, kernel.shape.workgroup_size
    text = declarations(language, kernel.params, lambda param: _width(kernel, param))
    text += declare(body.dialect, body.used) + more_helpers
    lines = "\n".join(_indented(main))
    if language == "glsl":
        return f"#version 430\nlayout(local_size_x = {size}) in;\n{text}void main() {{\n{lines}\n}}\n"
    return (
        f"{text}@compute @workgroup_size({size})\n"
        "fn main(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) workgroups: vec3u,\n"
        f"        @builtin(local_invocation_id) invocation: vec3u) {{\n{lines}\n}}\n"
    )


def _width(kernel: Description, param: BufferParam) -> Literal[1, 4]:
    """How many elements of an array are seen at a time."""
    return 4 if kernel.memory.by_four and not param.single else 1


def _invocation(kernel: Description, dialect: Dialect) -> tuple[str, str]:
    """A line for the number of the workgroup, and the number of the invocation."""
    if dialect.language == "glsl":
        group, mine = "gl_WorkGroupID.x + gl_WorkGroupID.y * gl_NumWorkGroups.x", "gl_LocalInvocationID.x"
    else:
        group, mine = "workgroup.x + workgroup.y * workgroups.x", "invocation.x"
    return let(dialect, "uint", "group", group), f"group * {kernel.shape.workgroup_size}u + {mine}"


def _one_result(kernel: Description, body: Body, results: str, inside: Sequence[str]) -> list[str]:
    """An invocation for each result."""
    group, number = _invocation(kernel, body.dialect)
    return [group, let(body.dialect, "uint", "i", number), f"if (i < {results}) {{", *_indented(inside), "}"]


def _for(language: Language, name: str, start: str, end: str, step: int, inside: Sequence[str]) -> list[str]:
    declared, advance = (f"uint {name}", f"++{name}") if language == "glsl" else (f"var {name}", f"{name}++")
    if step != 1:
        advance = f"{name} += {step}u"
    return [f"for ({declared} = {start}; {name} < {end}; {advance}) {{", *_indented(inside), "}"]


def _variable(dialect: Dialect, dtype: DType, name: str, value: str) -> str:
    return f"{dialect.type(dtype) if dialect.language == 'glsl' else 'var'} {name} = {value};"


def _total(kernel: Description, number: int) -> str:
    return "total" if len(kernel.assignments) == 1 else f"total{number}"


def _store(body: Body, assignment: Assignment, value: str, placed: bool = False) -> str:
    index = f"scalars.{identifier(PLACE)} + i" if placed else "i"
    return f"{identifier(assignment.array)}[{index}] = {body.stored(value, assignment.value.dtype)};"


def _indented(lines: Sequence[str]) -> list[str]:
    return [f"    {line}" for line in lines]


def _length(language: Language, array: str) -> str:
    name = identifier(array)
    return f"uint({name}.length())" if language == "glsl" else f"arrayLength(&{name})"
