"""Recorded ops -> kernels to be, and why each is one of its own. Knows no text, arrays or limits. Feeds schedule."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from compute.expr import FEW_RESULTS, Expr, topological
from compute.kernel import How

Kind = Literal["map", "reduce", "matmul"]
_FIRST_PART, _PART = 64, 512  # terms that one invocation combines, where a reduction is done in parts


@dataclass(frozen=True, slots=True)
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


def program(outputs: Sequence[Expr], how: How) -> Program:
    """eager, batched: a step per op. fused: as few as the maths allows."""
    lowered = _in_parts(outputs)
    nodes = topological(lowered)
    if how == "fused":
        stored = {node: why for node in nodes if (why := _why_stored(node, nodes)) is not None}
        return Program(tuple(_fused(stored, lowered)), lowered, frozenset(stored))
    steps = tuple(_one_per_op(nodes, lowered, how))
    return Program(steps, lowered, frozenset(node for step in steps for node in step.writes))


def is_uniform(node: Expr) -> bool:
    """Made of scalar arguments and constants only: computed where it is used, never stored."""
    return all(each.shape == () and not each.is_reduction and each.op != "matmul" for each in topological((node,)))


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
    steps, results = [], set(outputs)
    for node in nodes:
        stored = node.is_op and not node.is_view and not is_uniform(node)
        if stored or node in results:
            steps.append(Step(_kind(node), (node,), f"{how}: a kernel per op"))
    return steps


def _fused(stored: Mapping[Expr, str], outputs: Sequence[Expr]) -> list[Step]:
    """Elementwise ops go wherever they are used; only what must be complete before it is used is stored."""
    level: dict[Expr, int] = {}
    groups: dict[tuple[object, ...], list[Expr]] = {}
    for node in stored:
        level[node] = _level(node, level)
        key = (node.op, node.axes, level[node]) if node.is_reduction else (_kind(node), id(node))
        groups.setdefault(key, []).append(node)
    steps = [Step(_kind(group[0]), tuple(group), stored[group[0]]) for group in groups.values()]
    steps.sort(key=lambda step: level[step.writes[0]])  # stable: reductions of one level stay in their order
    results: dict[tuple[int, ...], list[Expr]] = {}
    for output in dict.fromkeys(outputs):
        if output not in stored:
            results.setdefault(output.shape, []).append(output)
    return steps + [Step("map", tuple(group), f"results of shape {shape}") for shape, group in results.items()]


def _why_stored(node: Expr, nodes: Sequence[Expr]) -> str | None:
    """Why a fused program keeps this node in memory; None where it does not, or only as a result."""
    if node.is_reduction:
        _, n, _, terms = node.axes
        if terms < n:
            return f"{node.op} in parts of {terms}: enough to do at once"
        return f"{node.op}: all {n:,} terms must be there before the result is used"
    if node.op == "matmul":
        return f"matmul: each result takes a row and a column of {node.sources[0].shape[-1]:,}"
    operands = {operand for each in nodes if each.op == "matmul" for operand in _operands(each)}
    if node.is_op and not node.is_view and node in operands:
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


def _level(node: Expr, level: Mapping[Expr, int]) -> int:
    """Kernels that must have run before."""
    behind = topological(node.sources, leaves=level)
    return 1 + max((level[each] for each in behind if each in level), default=-1)


def _kind(node: Expr) -> Kind:
    return "reduce" if node.is_reduction else "matmul" if node.op == "matmul" else "map"
