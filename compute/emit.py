"""Kernel text: a loop around an expression, in GLSL and in WGSL. Called by ``schedule`` only.

A kernel works on four elements at a time where every array it reads is read in step with what it writes; where
something is broadcast, turned or reduced along an axis, one by one, with the index spelled out.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from compute.expr import Expr
from compute.helpers import LANGUAGES, NAMES, Dialect, Language, declare
from compute.kernel import Access, BufferParam, Kernel, KernelShape, Param, ScalarParam
from compute.ops import OPS, REDUCTIONS, DType

COUNT = "count"  # the scalar that says how many elements a chunk holds, where its padding must not be read
_LANE = "_of_one"  # helpers that combine the four lanes of a total
_CALL = re.compile(rf"\b({'|'.join(NAMES)})\(")
_IN_BLOCK = {"f32": "float", "i32": "int", "u32": "uint", "vec2f": "vec2", "vec3f": "vec3", "vec4f": "vec4"}


@dataclass(frozen=True, slots=True)
class Assignment:
    """``array[i] = value``."""

    array: str
    value: Expr


@dataclass(frozen=True, slots=True)
class Memory:
    """What a kernel reads instead of computing it: node -> buffer parameter."""

    loads: Mapping[Expr, str]
    masked: bool = False  # the last four elements may be padding


class _OneByOneError(Exception):
    """An array is not read in step with what is written."""


def map_kernel(
    name: str, params: tuple[Param, ...], assignments: Sequence[Assignment], memory: Memory, shape: KernelShape
) -> Kernel:
    """``assignments`` for every element, or every four."""
    return _kernel(name, params, assignments, memory, shape, _map_text)


def reduce_kernel(
    name: str, params: tuple[Param, ...], assignments: Sequence[Assignment], memory: Memory, shape: KernelShape
) -> Kernel:
    """Each element of the results combines its terms. All ``assignments`` are reductions along the same axes."""
    return _kernel(name, params, assignments, memory, shape, _reduce_text)


def matmul_kernel(
    name: str, params: tuple[Param, ...], assignments: Sequence[Assignment], memory: Memory, shape: KernelShape
) -> Kernel:
    """Each element of the one result sums a row times a column."""
    return _kernel(name, params, assignments, memory, shape, _matmul_text)


def in_step(values: Sequence[Expr], loads: Mapping[Expr, str]) -> bool:
    """Whether everything in ``loads`` that ``values`` need is read in step with them, or is a single element."""
    try:
        for value in values:
            _Body(Dialect("glsl", 4), Memory(loads)).value(value, "i")
    except _OneByOneError:
        return False
    return True


def sources_in_step(reductions: Sequence[Expr], loads: Mapping[Expr, str]) -> bool:
    """Whether the terms of these reductions can be read four at a time: all of an array, along one axis."""
    outer, _, inner, terms = reductions[0].axes
    return outer == inner == 1 and terms % 4 == 0 and in_step([each.sources[0] for each in reductions], loads)


_Text = Callable[[Language, Sequence[Param], Sequence[Assignment], Memory, KernelShape], str]


def _kernel(
    name: str,
    params: tuple[Param, ...],
    assignments: Sequence[Assignment],
    memory: Memory,
    shape: KernelShape,
    text: _Text,
) -> Kernel:
    glsl, wgsl = (text(language, params, assignments, memory, shape) for language in LANGUAGES)
    return Kernel(name, params, glsl, wgsl, (shape.workgroup_size, 1, 1))


def _map_text(
    language: Language, params: Sequence[Param], assignments: Sequence[Assignment], memory: Memory, shape: KernelShape
) -> str:
    vector = in_step([each.value for each in assignments], memory.loads)
    body = _Body(Dialect(language, 4 if vector else 1), memory)
    stores = [body.store(each.array, "i", body.value(each.value, "i"), each.value.dtype) for each in assignments]
    output = _identifier(assignments[0].array)
    end = _length(language, output) if vector else f"{assignments[0].value.size}u"
    loop = _for(language, "i", "first", "end", "1u", [*body.lines, *stores])
    span = _span(language, shape.workgroup_size, shape.vectors_per_invocation, end)
    return _whole(body, params, shape.workgroup_size, [*span, *loop], vector)


def _reduce_text(
    language: Language, params: Sequence[Param], assignments: Sequence[Assignment], memory: Memory, shape: KernelShape
) -> str:
    if sources_in_step([each.value for each in assignments], memory.loads):
        return _reduce_whole(language, params, assignments, memory, shape)
    return _reduce_axis(language, params, assignments, memory, shape)


def _reduce_whole(
    language: Language, params: Sequence[Param], assignments: Sequence[Assignment], memory: Memory, shape: KernelShape
) -> str:
    """Four terms at a time, their lanes combined at the end."""
    vectors = assignments[0].value.axes[3] // 4
    body = _Body(Dialect(language, 4), memory)
    terms = [body.value(each.value.sources[0], "j") for each in assignments]
    terms = [body.masked(term, "j", each.value) for term, each in zip(terms, assignments, strict=True)]
    head, again, lanes = [], [], []
    for number, (term, each) in enumerate(zip(terms, assignments, strict=True)):
        total, dtype = f"total{number}", each.value.dtype
        head.append(body.variable(dtype, total, term))
        again.append(f"{total} = {body.combined(each.value, total, term)};")
        one = _Body(Dialect(language, 1, _LANE), memory, used=body.used_scalar)
        result = f"{total}.x"
        for lane in "yzw":
            result = one.combined(each.value, result, f"{total}.{lane}")
        lanes.append(f"{_identifier(each.array)}[i] = {result};")
    first = _let(language, "uint", "start", f"i * {vectors}u")
    last = _let(language, "uint", "last", f"min(start + {vectors}u, {_vectors(language, params, memory)})")
    # The first term is read before the loop, so that no op needs a neutral element.
    start = [re.sub(r"\bj\b", "start", line) for line in [*body.lines, *head]]
    loop = _for(language, "j", "start + 1u", "last", "1u", [*body.lines, *again])
    inside = [first, last, "if (start < last) {", *_indented([*start, *loop, *lanes]), "}"]
    span = _span(language, shape.workgroup_size, 1, _length(language, _identifier(assignments[0].array)))
    return _whole(body, params, shape.workgroup_size, [*span, *_for(language, "i", "first", "end", "1u", inside)], True)


def _reduce_axis(
    language: Language, params: Sequence[Param], assignments: Sequence[Assignment], memory: Memory, shape: KernelShape
) -> str:
    """One by one: result i combines every inner-th element of its part."""
    outer, n, inner, terms = assignments[0].value.axes
    parts = -(-n // terms)
    body = _Body(Dialect(language, 1), memory)
    values = [body.value(each.value.sources[0], "j") for each in assignments]
    head, again, stores = [], [], []
    for number, (value, each) in enumerate(zip(values, assignments, strict=True)):
        total = f"total{number}"
        head.append(body.variable(each.value.dtype, total, value))
        again.append(f"{total} = {body.combined(each.value, total, value)};")
        stores.append(body.store(each.array, "i", total, each.value.dtype))
    block = _times(_over("i", parts * inner), n * inner)
    if inner > 1:
        block = f"{block} + i % {inner}u"
    places = [_let(language, "uint", "block", block)]
    if parts == 1:
        places += [_let(language, "uint", "start", "block"), _let(language, "uint", "last", f"block + {n * inner}u")]
    else:
        last = _times(f"min(part + {terms}u, {n}u)", inner)
        places += [
            _let(language, "uint", "part", _times(f"{_over('i', inner)} % {parts}u", terms)),
            _let(language, "uint", "start", f"block + {_times('part', inner)}"),
            _let(language, "uint", "last", f"block + {last}"),
        ]
    start = [re.sub(r"\bj\b", "start", line) for line in [*body.lines, *head]]
    loop = _for(language, "j", f"start + {inner}u", "last", f"{inner}u", [*body.lines, *again])
    span = _span(language, shape.workgroup_size, 1, f"{outer * parts * inner}u")
    inside = [*places, *start, *loop, *stores]
    return _whole(
        body, params, shape.workgroup_size, [*span, *_for(language, "i", "first", "end", "1u", inside)], False
    )


def _matmul_text(
    language: Language, params: Sequence[Param], assignments: Sequence[Assignment], memory: Memory, shape: KernelShape
) -> str:
    (assignment,) = assignments
    a, b = assignment.value.sources
    rows, k = a.shape[-2:]
    columns = b.shape[-1]
    body = _Body(Dialect(language, 1), memory)
    left, right = body.value(a, "left"), body.value(b, "right")
    inner = [
        _let(language, "uint", "left", f"i / {columns}u * {k}u + t"),
        _let(language, "uint", "right", f"(i / {rows * columns}u * {k}u + t) * {columns}u + i % {columns}u"),
        *body.lines,
        f"total += {left} * {right};",
    ]
    inside = [
        body.variable("f32", "total", "0.0"),
        *_for(language, "t", "0u", f"{k}u", "1u", inner),
        body.store(assignment.array, "i", "total", "f32"),
    ]
    span = _span(language, shape.workgroup_size, 1, f"{assignment.value.size}u")
    return _whole(
        body, params, shape.workgroup_size, [*span, *_for(language, "i", "first", "end", "1u", inside)], False
    )


@dataclass(slots=True)
class _Body:
    """Lines that compute values: one local per op, load and index, so that what is shared is computed once."""

    dialect: Dialect
    memory: Memory
    lines: list[str] = field(default_factory=list)
    used: dict[tuple[str, DType], None] = field(default_factory=dict)
    used_scalar: dict[tuple[str, DType], None] = field(default_factory=dict)
    _names: dict[tuple[Expr, str], str] = field(default_factory=dict)
    _indices: dict[str, str] = field(default_factory=dict)

    def value(self, root: Expr, index: str) -> str:
        """The name of ``root``'s element (or four) number ``index``, a flat index of its own shape."""
        waiting = [(root, index, False)]
        while waiting:
            node, at, sources_done = waiting.pop()
            if (node, at) in self._names:
                continue
            needs = [] if node in self.memory.loads else self._needs(node, at)
            if not sources_done and needs:
                waiting.append((node, at, True))
                waiting.extend((source, where, False) for source, where in reversed(needs))
            else:
                self._names[node, at] = self._named(node, at, [self._names[need] for need in needs])
        return self._names[root, index]

    def variable(self, dtype: DType, name: str, value: str) -> str:
        declared = f"{self.dialect.type(dtype)} {name}" if self.dialect.language == "glsl" else f"var {name}"
        if self.dialect.language == "wgsl":
            declared += f": {self.dialect.type(dtype)}"
        return f"{declared} = {value};"

    def store(self, array: str, index: str, value: str, dtype: DType) -> str:
        if dtype == "bool":
            unsigned = self.dialect.type("u32")
            value = f"{unsigned}({value})"
        return f"{_identifier(array)}[{index}] = {value};"

    def combined(self, reduction: Expr, one: str, other: str) -> str:
        return self._op(REDUCTIONS[reduction.op], reduction.dtype, [one, other], [True, True])

    def masked(self, value: str, index: str, reduction: Expr) -> str:
        """``value`` without the lanes behind the array's end: nothing for a sum, else the first lane once more."""
        if not self.memory.masked:
            return value
        neutral = (
            self._literal(0, reduction.dtype)
            if reduction.op == "sum"
            else f"{self.dialect.type(reduction.dtype)}({value}.x)"
        )
        lanes = f"{self.dialect.type('u32')}(0u, 1u, 2u, 3u)"
        place = f"{self.dialect.type('u32')}(4u * {index}) + {lanes}"
        limit = f"{self.dialect.type('u32')}(scalars.{_identifier(COUNT)})"
        if self.dialect.language == "glsl":
            self.used["pick", reduction.dtype] = None
            text = f"pick(lessThan({place}, {limit}), {value}, {neutral})"
        else:
            text = f"select({neutral}, {value}, ({place}) < {limit})"
        return self._local(self.dialect.type(reduction.dtype), text)

    def _needs(self, node: Expr, index: str) -> list[tuple[Expr, str]]:
        if node.op == "reshape":
            return [(node.sources[0], index)]
        if node.op == "transpose":
            return [(node.sources[0], self._turned(node, index))]
        return [(source, self._spread(node, source, index)) for source in node.sources]

    def _named(self, node: Expr, index: str, operands: list[str]) -> str:
        if node in self.memory.loads:
            return self._load(node, index)
        if node.op == "constant":
            return self._literal(node.value, node.dtype)
        if node.op == "input":
            value = f"scalars.{_identifier(node.name)}"
            return f"{self.dialect.type(node.dtype)}({value})" if self.dialect.width == 4 else value
        if node.is_view:
            return operands[0]
        constants = [source.op != "constant" for source in node.sources]
        taken = node.sources[-1].dtype
        return self._local(self.dialect.type(node.dtype), self._op(node.op, taken, operands, constants))

    def _op(self, op: str, dtype: DType, operands: list[str], may_be_nan: list[bool]) -> str:
        row, dialect = OPS[op], self.dialect
        text = row.glsl if dialect.language == "glsl" else row.wgsl

        def call(found: re.Match[str]) -> str:
            self.used[found[1], dtype] = None
            return f"{dialect.called(found[1], dtype)}("

        text = _CALL.sub(call, text).format(*operands)
        if row.keeps_nan and dtype == "f32":
            for operand, may in zip(operands, may_be_nan, strict=True):
                if may:
                    self.used["keep_nan", "f32"] = None
                    text = f"{dialect.called('keep_nan', 'f32')}({text}, {operand})"
        return text

    def _load(self, node: Expr, index: str) -> str:
        array, dialect = _identifier(self.memory.loads[node]), self.dialect
        stored: DType = "u32" if node.dtype == "bool" else node.dtype
        one_for_all = dialect.width == 4 and index == "0u"
        text = f"{dialect.type(stored)}({array}[0].x)" if one_for_all else f"{array}[{index}]"
        if node.dtype == "bool":
            zero = f"{dialect.type('u32')}(0u)"
            vector = f"notEqual({text}, {zero})" if dialect.language == "glsl" else f"({text} != {zero})"
            text = vector if dialect.width == 4 else f"({text} != 0u)"
        return self._local(dialect.type(node.dtype), text)

    def _literal(self, value: float | int | bool, dtype: DType) -> str:
        if dtype == "i32" and value == -(1 << 31):
            text = "(-2147483647 - 1)"
        else:
            text = {"f32": repr(value), "bool": str(value).lower(), "u32": f"{value}u", "i32": str(value)}[dtype]
            if dtype == "f32" and isinstance(value, int):
                text = f"{value}.0"
        return (
            f"{self.dialect.type(dtype)}({text})"
            if self.dialect.width == 4 or (dtype == "f32" and self._is_wgsl)
            else text
        )

    @property
    def _is_wgsl(self) -> bool:
        return self.dialect.language == "wgsl"

    def _local(self, type_name: str, text: str) -> str:
        name = f"v{len(self.lines)}"
        declared = "let" if self.dialect.language == "wgsl" else type_name
        self.lines.append(f"{declared} {name} = {text};")
        return name

    def _index(self, text: str) -> str:
        """A local for an index that is more than a name."""
        if text not in self._indices:
            self._indices[text] = text if re.fullmatch(r"\w+", text) else self._local("uint", text)
        return self._indices[text]

    def _spread(self, node: Expr, source: Expr, index: str) -> str:
        """The flat index in ``source`` of what is broadcast to ``index`` in ``node``."""
        if source.size == node.size:
            return index
        if source.size == 1:
            return "0u"
        if self.dialect.width == 4:
            raise _OneByOneError
        return self._index(_spread_text(node.shape, source.shape, index))

    def _turned(self, node: Expr, index: str) -> str:
        if self.dialect.width == 4:
            raise _OneByOneError
        return self._index(_turned_text(node, index))


def _spread_text(shape: tuple[int, ...], source: tuple[int, ...], index: str) -> str:
    """Axes that the source has in full, runs of them taken together."""
    padded = (1,) * (len(shape) - len(source)) + source
    terms: list[str] = []
    axis, behind, stride = len(shape) - 1, 1, 1
    while axis >= 0:
        if padded[axis] == 1:
            behind *= shape[axis]
            axis -= 1
            continue
        run, start = 1, behind
        while axis >= 0 and padded[axis] != 1:
            run, behind, axis = run * shape[axis], behind * shape[axis], axis - 1
        outermost = math.prod(shape[: axis + 1]) == 1
        terms.append(_coordinate(index, start, None if outermost else run, stride))
        stride *= run
    return " + ".join(reversed(terms))


def _turned_text(node: Expr, index: str) -> str:
    source = node.sources[0].shape
    strides = [math.prod(source[axis + 1 :]) for axis in range(len(source))]
    terms = []
    for place, axis in enumerate(node.axes):
        if node.shape[place] > 1:
            behind = math.prod(node.shape[place + 1 :])
            outermost = math.prod(node.shape[:place]) == 1
            terms.append(_coordinate(index, behind, None if outermost else node.shape[place], strides[axis]))
    return " + ".join(terms) or "0u"


def _over(text: str, number: int) -> str:
    return text if number == 1 else f"{text} / {number}u"


def _times(text: str, number: int) -> str:
    if number == 1:
        return text
    return f"({text}) * {number}u" if re.search(r" [%+/-] ", text) else f"{text} * {number}u"


def _coordinate(index: str, behind: int, size: int | None, stride: int) -> str:
    text = _over(index, behind)
    return _times(text if size is None else f"{text} % {size}u", stride)


def _whole(body: _Body, params: Sequence[Param], size: int, main: Sequence[str], vector: bool) -> str:
    language = body.dialect.language
    helpers = declare(body.dialect, body.used)
    if body.used_scalar:
        helpers += declare(Dialect(language, 1, _LANE), body.used_scalar)
    parts = [_declare_buffers(language, params, body, vector), _declare_scalars(language, params)]
    text = "".join(f"{part}\n" for part in parts if part) + helpers
    lines = "\n".join(_indented(main))
    if language == "glsl":
        return f"#version 430\nlayout(local_size_x = {size}) in;\n{text}void main() {{\n{lines}\n}}\n"
    return (
        f"{text}@compute @workgroup_size({size})\n"
        "fn main(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) workgroups: vec3u,\n"
        f"        @builtin(local_invocation_id) invocation: vec3u) {{\n{lines}\n}}\n"
    )


def _span(language: Language, size: int, items: int, end: str) -> list[str]:
    """Which elements are this invocation's."""
    if language == "glsl":
        group, mine = "gl_WorkGroupID.x + gl_WorkGroupID.y * gl_NumWorkGroups.x", "gl_LocalInvocationID.x"
    else:
        group, mine = "workgroup.x + workgroup.y * workgroups.x", "invocation.x"
    number = f"group * {size}u + {mine}"
    return [
        _let(language, "uint", "group", group),
        _let(language, "uint", "first", number if items == 1 else f"({number}) * {items}u"),
        _let(language, "uint", "end", f"min(first + {items}u, {end})"),
    ]


def _for(language: Language, name: str, start: str, end: str, step: str, inside: Sequence[str]) -> list[str]:
    declared = f"uint {name}" if language == "glsl" else f"var {name}"
    advance = f"++{name}" if language == "glsl" else f"{name}++"
    if step != "1u":
        advance = f"{name} += {step}"
    return [f"for ({declared} = {start}; {name} < {end}; {advance}) {{", *_indented(inside), "}"]


def _let(language: Language, type_name: str, name: str, value: str) -> str:
    return f"{type_name} {name} = {value};" if language == "glsl" else f"let {name} = {value};"


def _indented(lines: Sequence[str]) -> list[str]:
    return [f"    {line}" for line in lines]


def _length(language: Language, array: str) -> str:
    return f"uint({array}.length())" if language == "glsl" else f"arrayLength(&{array})"


def _vectors(language: Language, params: Sequence[Param], memory: Memory) -> str:
    """How many times four terms there are: as many as the first array has that is read in step."""
    full = next(param.name for param in params if isinstance(param, BufferParam) and param.access is Access.READ)
    sizes = {name: node.size for node, name in memory.loads.items()}
    full = max(sizes, key=lambda name: sizes[name]) if sizes else full
    return _length(language, _identifier(full))


def _declare_buffers(language: Language, params: Sequence[Param], body: _Body, vector: bool) -> str:
    """Storage buffers in declared order: arrays of four where they are read or written four at a time."""
    buffers = [param for param in params if isinstance(param, BufferParam)]
    return "\n".join(_buffer(language, binding, param, vector) for binding, param in enumerate(buffers))


def _declare_scalars(language: Language, params: Sequence[Param]) -> str:
    """The uniform block: binding 0 of GLSL's own uniform numbering, the binding behind the buffers in WGSL."""
    scalars = [param for param in params if isinstance(param, ScalarParam)]
    if not scalars:
        return ""
    if language == "glsl":
        members = " ".join(f"{_IN_BLOCK[param.type]} {_identifier(param.name)};" for param in scalars)
        return f"layout(std140, binding = 0) uniform Scalars {{ {members} }} scalars;"
    members = ", ".join(f"{_identifier(param.name)}: {param.type}" for param in scalars)
    binding = len(params) - len(scalars)
    return f"struct Scalars {{ {members} }}\n@group(0) @binding({binding}) var<uniform> scalars: Scalars;"


def _buffer(language: Language, binding: int, param: BufferParam, vector: bool) -> str:
    name = _identifier(param.name)
    dialect = Dialect(language, 4 if vector and not param.single else 1)
    element = dialect.type(param.element)
    if language == "glsl":
        access = {Access.READ: "readonly ", Access.WRITE: "writeonly ", Access.READ_WRITE: ""}[param.access]
        return f"layout(std430, binding = {binding}) restrict {access}buffer B{binding} {{ {element} {name}[]; }};"
    access = "read_write" if param.access.writes else "read"
    return f"@group(0) @binding({binding}) var<storage, {access}> {name}: array<{element}>;"


def _identifier(name: str) -> str:
    """Any Python name as one that no keyword collides with: ASCII, and never the two underscores GLSL reserves."""
    return "p_" + re.sub(r"^_|_(?=_)|[^0-9A-Za-z_]", lambda odd: f"x{ord(odd[0]):x}x", name)
