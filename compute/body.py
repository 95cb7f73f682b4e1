"""The lines of a kernel that compute values from what is in memory, in GLSL or WGSL. Called by ``emit`` only."""

import math
import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field

from compute.expr import Expr, topological
from compute.helpers import LOGIC, NAMES, Dialect
from compute.ops import OPS, REDUCTIONS, DType
from compute.signature import identifier

# Scalars of a kernel's own: no argument of a function can be called so.
COUNT = ".count"  # how many elements a chunk holds, where its padding must not be read
PLACE = ".place"  # where in the array of results those of a chunk begin
_CALL = re.compile(rf"\b({'|'.join(NAMES)})\(")


@dataclass(frozen=True, slots=True)
class Memory:
    """What a kernel reads instead of computing it, node -> buffer parameter, and how it goes through it.

    ``by_four``: all is read in step, four elements at a time. ``masked``: some of the last four may be padding.
    ``placed``: results of a reduction are stored from ``PLACE`` on.
    """

    loads: Mapping[Expr, str]
    by_four: bool = False
    masked: bool = False
    placed: bool = False


def in_step(values: Sequence[Expr], leaves: Set[Expr]) -> bool:
    """Whether all of ``leaves`` that ``values`` need is read in step with them, or is a single element."""
    return all(
        node in leaves or (node.op != "transpose" and all(source.size in (1, node.size) for source in node.sources))
        for node in topological(values, leaves)
    )


@dataclass(slots=True)
class Body:
    """Lines that compute values: one local per op, load and index, so that what is shared is computed once."""

    dialect: Dialect
    memory: Memory
    lines: list[str] = field(default_factory=list)
    used: dict[tuple[str, DType], None] = field(default_factory=dict)
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
            if needs and not sources_done:
                waiting.append((node, at, True))
                waiting.extend((source, where, False) for source, where in reversed(needs))
            else:
                self._names[node, at] = self._named(node, at, [self._names[need] for need in needs])
        return self._names[root, index]

    def stored(self, value: str, dtype: DType) -> str:
        return f"{self.dialect.type('u32')}({value})" if dtype == "bool" else value

    def combined(self, reduction: Expr, one: str, other: str) -> str:
        return self._op(REDUCTIONS[reduction.op], reduction.dtype, [one, other], [True, True])

    def neutral(self, dtype: DType) -> str:
        """What a sum begins with."""
        return self._literal(0, dtype)

    def masked(self, value: str, index: str, reduction: Expr) -> str:
        """``value`` without the lanes behind the array's end: nothing for a sum, else the first lane once more."""
        vector, lanes = self.dialect.type(reduction.dtype), self.dialect.type("u32")
        other = self.neutral(reduction.dtype) if reduction.op == "sum" else f"{vector}({value}.x)"
        place, count = f"{lanes}(0u, 1u, 2u, 3u) + 4u * {index}", f"{lanes}(scalars.{identifier(COUNT)})"
        if self.dialect.language == "glsl":
            self.used["pick", reduction.dtype] = None
            return self._local(vector, f"pick(lessThan({place}, {count}), {value}, {other})")
        return self._local(vector, f"select({other}, {value}, {place} < {count})")

    def _needs(self, node: Expr, index: str) -> list[tuple[Expr, str]]:
        if node.op == "reshape":
            return [(node.sources[0], index)]
        if node.op == "transpose":
            return [(node.sources[0], self._index(_turned(node, index)))]
        return [(source, self._index(_spread(node, source, index))) for source in node.sources]

    def _named(self, node: Expr, index: str, operands: list[str]) -> str:
        if node in self.memory.loads:
            return self._load(node, index)
        if node.op in ("constant", "zeros"):
            return self._literal(node.value, node.dtype)
        if node.op == "input":
            value = f"scalars.{identifier(node.name)}"
            return f"{self.dialect.type(node.dtype)}({value})" if self.dialect.width == 4 else value
        if node.is_view:
            return operands[0]
        may_be_nan = [source.op != "constant" for source in node.sources]
        taken = node.sources[-1].dtype
        return self._local(self.dialect.type(node.dtype), self._op(node.op, taken, operands, may_be_nan))

    def _op(self, op: str, dtype: DType, operands: list[str], may_be_nan: list[bool]) -> str:
        row, dialect = OPS[op], self.dialect
        text = row.glsl if dialect.language == "glsl" else row.wgsl

        def call(found: re.Match[str]) -> str:
            taken: DType = "bool" if found[1] in LOGIC else dtype
            self.used[found[1], taken] = None
            return f"{dialect.called(found[1], taken)}("

        text = _CALL.sub(call, text).format(*operands)
        if row.keeps_nan and dtype == "f32":
            self.used["keep_nan", "f32"] = None
            for operand, may in zip(operands, may_be_nan, strict=True):
                text = f"{dialect.called('keep_nan', 'f32')}({text}, {operand})" if may else text
        return text

    def _load(self, node: Expr, index: str) -> str:
        array, dialect = identifier(self.memory.loads[node]), self.dialect
        kept: DType = "u32" if node.dtype == "bool" else node.dtype
        one_for_all = dialect.width == 4 and index == "0u"
        text = f"{dialect.type(kept)}({array}[0].x)" if one_for_all else f"{array}[{index}]"
        if node.dtype == "bool":
            vector = dialect.width == 4 and dialect.language == "glsl"
            zero = f"{dialect.type('u32')}(0u)" if dialect.width == 4 else "0u"
            text = f"notEqual({text}, {zero})" if vector else f"{text} != {zero}"
        return self._local(dialect.type(node.dtype), text)

    def _literal(self, value: float | int | bool, dtype: DType) -> str:
        text = {"f32": repr(float(value)), "bool": str(bool(value)).lower(), "u32": f"{value}u", "i32": str(value)}[
            dtype
        ]
        if dtype == "i32" and value == -(1 << 31):  # the number behind the sign is none
            text = "(-2147483647 - 1)"
        return f"{self.dialect.type(dtype)}({text})" if self.dialect.width == 4 else text

    def _local(self, type_name: str, text: str) -> str:
        name = f"v{len(self.lines) - len(self._indices)}"
        self.lines.append(let(self.dialect, type_name, name, text))
        return name

    def _index(self, text: str) -> str:
        """A local for an index that is more than a name."""
        if " " not in text:
            return text
        if text not in self._indices:
            name = f"at{len(self._indices)}"
            self.lines.append(let(self.dialect, "uint", name, text))
            self._indices[text] = name
        return self._indices[text]


def let(dialect: Dialect, type_name: str, name: str, value: str) -> str:
    return f"{type_name} {name} = {value};" if dialect.language == "glsl" else f"let {name} = {value};"


def over(text: str, number: int) -> str:
    return text if number == 1 else f"{text} / {number}u"


def modulo(text: str, number: int) -> str:
    return "0u" if number == 1 else f"{text} % {number}u"


def times(text: str, number: int) -> str:
    if number == 1 or text == "0u":
        return text
    return f"({text}) * {number}u" if re.search(r" [+-] ", text) else f"{text} * {number}u"


def added(*terms: str) -> str:
    return " + ".join(term for term in terms if term != "0u") or "0u"


def _spread(node: Expr, source: Expr, index: str) -> str:
    """The flat index in ``source`` of what is broadcast to ``index`` in ``node``: runs of full axes taken together."""
    if source.size == node.size:
        return index
    padded = (1,) * (node.ndim - source.ndim) + source.shape
    terms: list[str] = []
    axis, behind, stride = node.ndim - 1, 1, 1
    while axis >= 0:
        if padded[axis] == 1:
            behind *= node.shape[axis]
            axis -= 1
            continue
        run, start = 1, behind
        while axis >= 0 and padded[axis] != 1:
            run, behind, axis = run * node.shape[axis], behind * node.shape[axis], axis - 1
        outermost = math.prod(node.shape[: axis + 1]) == 1
        terms.append(_coordinate(index, start, None if outermost else run, stride))
        stride *= run
    return added(*reversed(terms))


def _turned(node: Expr, index: str) -> str:
    """The flat index in the source of a transpose."""
    source = node.sources[0].shape
    terms = []
    for place, axis in enumerate(node.axes):
        if node.shape[place] > 1:
            behind = math.prod(node.shape[place + 1 :])
            outermost = math.prod(node.shape[:place]) == 1
            size = None if outermost else node.shape[place]
            terms.append(_coordinate(index, behind, size, math.prod(source[axis + 1 :])))
    return added(*terms)


def _coordinate(index: str, behind: int, size: int | None, stride: int) -> str:
    text = over(index, behind)
    return times(text if size is None else f"{text} % {size}u", stride)
