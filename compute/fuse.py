"""Recorded ops -> kernels to be, and why each is one of its own. Knows no text, arrays or limits. Feeds schedule."""

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Literal

from compute.expr import FEW_RESULTS, Expr, topological
from compute.kernel import How

Kind = Literal["map", "reduce", "matmul"]
_FIRST_PART, _PART = 64, 512  # terms that one invocation combines, where a reduction is done in parts


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """One kernel to be: what it writes; all else that it needs is computed in it, up to what is in memory."""

    kind: Kind
    writes: tuple[Expr, ...]
    why: str


@dataclass(frozen=True, slots=True)
class Program:
    """Steps in the order in which they run. ``outputs``: the function's results, each written by a step.

    ``stored``: what later steps read from memory; all else is computed where it is used.
    """

    steps: tuple[Step, ...]
    outputs: tuple[Expr, ...]
    stored: frozenset[Expr]


def program(outputs: Sequence[Expr], how: How, buffers: int) -> Program:
    """eager, batched: a step per op. fused: as few as the maths and ``buffers``, the most of one kernel, allow."""
    lowered = _in_parts(outputs)
    nodes = topological(lowered)
    if how == "fused":
        stored = _stored(nodes)
        return Program(tuple(_fused(nodes, stored, lowered, buffers)), lowered, frozenset(stored))
    steps = tuple(_one_per_op(nodes, lowered, how))
    return Program(steps, lowered, frozenset(node for step in steps for node in step.writes))


def _in_parts(outputs: Sequence[Expr]) -> tuple[Expr, ...]:
    """The same results, with each long reduction to few results cut into parts that are reduced again."""
    changed: dict[Expr, Expr] = {}
    for node in topological(outputs):
        sources = tuple(changed[source] for source in node.sources)
        same = all(one is other for one, other in zip(sources, node.sources, strict=True))
        mine = node if same else replace(node, sources=sources)
        changed[node] = _parts(mine) if mine.is_reduction else mine
    return tuple(changed[output] for output in outputs)


def _parts(reduction: Expr) -> Expr:
    outer, n, inner, terms = reduction.axes
    if outer * inner >= FEW_RESULTS or n <= _PART or terms < n:
        return reduction
    part = _FIRST_PART if n > _FIRST_PART * _PART else _PART
    shape = (outer, -(-n // part), inner)
    first = replace(reduction, shape=shape, axes=(outer, n, inner, part))
    rest = Expr(reduction.op, reduction.shape, (first,), dtype=reduction.dtype, axes=(outer, shape[1], inner, shape[1]))
    return _parts(rest)


def _one_per_op(nodes: Iterable[Expr], outputs: Sequence[Expr], how: How) -> list[Step]:
    """Views cost nothing, and what is made of scalars only is computed where it is used: neither is a step."""
    steps, results, uniform = [], set(outputs), set[Expr]()
    for node in nodes:
        if node.shape == () and not _is_whole(node) and uniform.issuperset(node.sources):
            uniform.add(node)
        stored = node.is_op and not node.is_view and node not in uniform
        if stored or node in results:
            steps.append(Step(_kind(node), (node,), f"{how}: a kernel per op"))
    return steps


def _fused(nodes: Sequence[Expr], stored: Mapping[Expr, str], outputs: Sequence[Expr], buffers: int) -> list[Step]:
    """Elementwise ops go wherever they are used; only what must be complete before it is used is stored."""
    level: dict[Expr, int] = {}  # kernels that must have run before
    for node in nodes:
        level[node] = max((level[source] + (source in stored) for source in node.sources), default=0)
    groups: dict[tuple[object, ...], list[Expr]] = {}
    for node in stored:
        key = (node.op, node.axes, level[node]) if node.is_reduction else (_kind(node), id(node))
        groups.setdefault(key, []).append(node)
    kept = {node for node in nodes if node in stored or (node.op == "input" and node.shape != ())}
    fitting = [part for group in groups.values() for part in _split(group, kept, buffers)]
    steps = [Step(_kind(part[0]), tuple(part), stored[part[0]]) for part in fitting]
    steps.sort(key=lambda step: level[step.writes[0]])  # stable: reductions of one level stay in their order
    results: dict[tuple[int, ...], list[Expr]] = {}
    for output in dict.fromkeys(outputs):
        if output not in stored:
            results.setdefault(output.shape, []).append(output)
    for shape, group in results.items():
        for part in _split(group, kept, buffers):
            steps.append(Step("map", tuple(part), f"results of shape {shape}"))
    return steps


def reads(written: Iterable[Expr], kept: Set[Expr]) -> tuple[Expr, ...]:
    """What a kernel that writes ``written`` reads of ``kept``, which is in memory, each once, in order of use."""
    behind = topological((source for node in written for source in node.sources), leaves=kept)
    return tuple(node for node in behind if node in kept)


def _split(group: Sequence[Expr], kept: Set[Expr], buffers: int) -> list[list[Expr]]:
    """``group`` in parts, as many together as one kernel has buffers for; what needs more alone stands alone."""
    parts: list[list[Expr]] = []
    used: set[Expr] = set()
    for node in group:
        mine = {node, *reads((node,), kept)}
        if not parts or len(used | mine) > buffers:
            parts.append([])
            used = set()
        parts[-1].append(node)
        used |= mine
    return parts


def _stored(nodes: Sequence[Expr]) -> dict[Expr, str]:
    """What a fused program keeps in memory besides its results, and why."""
    read_by_matmul = {operand for node in nodes if node.op == "matmul" for operand in _operands(node)}
    whys = {node: _why_stored(node, read_by_matmul) for node in nodes}
    return {node: why for node, why in whys.items() if why is not None}


def _is_whole(node: Expr) -> bool:
    """Not computed element by element from its sources."""
    return node.is_reduction or node.op in ("matmul", "zeros")


def _why_stored(node: Expr, read_by_matmul: Set[Expr]) -> str | None:
    if node.is_reduction:
        _, n, _, terms = node.axes
        if terms < n:
            return f"{node.op} in parts of {terms}: enough to do at once"
        return f"{node.op}: all {n:,} terms must be there before the result is used"
    if node.op == "matmul":
        return f"matmul: each result takes a row and a column of {node.sources[0].shape[-1]:,}"
    if node.op == "zeros":
        return "zeros: a sum of no terms"
    if node.is_op and node in read_by_matmul:
        return "matmul reads each element many times"
    return None


def _operands(matmul: Expr) -> tuple[Expr, ...]:
    """What it reads, behind views, which cost nothing."""
    found = []
    for source in matmul.sources:
        while source.is_view:
            (source,) = source.sources
        found.append(source)
    return tuple(found)


def _kind(node: Expr) -> Kind:
    return "reduce" if node.is_reduction else "matmul" if node.op == "matmul" else "map"
