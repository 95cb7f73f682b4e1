"""What a launcher with one fixed order of arguments cannot say. A counterfactual: ours packs them as declared."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import factorial

from compute.kernel import BufferParam, Param


@dataclass(frozen=True, slots=True)
class Misplaced:
    """A parameter that would have to stand elsewhere, counted from 0."""

    param: Param
    declared: int
    taken: int
    why: str


@dataclass(frozen=True, slots=True)
class FixedOrder:
    """A signature as a launcher that takes buffers first, then scalars, would have it.

    ``accepted``: the only order of these parameters that it takes; each kind keeps its own.
    """

    declared: tuple[Param, ...]
    accepted: tuple[Param, ...]
    misplaced: tuple[Misplaced, ...]

    @property
    def can_say(self) -> bool:
        return not self.misplaced

    @property
    def orders(self) -> tuple[int, int]:
        """Of these parameters: the orders that it can say, and those that there are."""
        buffers = sum(isinstance(param, BufferParam) for param in self.declared)
        return factorial(buffers) * factorial(len(self.declared) - buffers), factorial(len(self.declared))

    def explain(self) -> str:
        """For people: what is refused, what it would have to be, and how much that leaves unsaid."""
        said, all_of_them = self.orders
        share = f"of the {all_of_them:,} orders of these parameters it can say {said:,}"
        if self.can_say:
            return f"a launcher of buffers first can say {_names(self.declared)}; {share}"
        wrong = "; ".join(each.why for each in self.misplaced)
        return (
            f"a launcher of buffers first cannot say {_names(self.declared)}: it takes {_names(self.accepted)} "
            f"({wrong}); {share}. What can be said decides which kernels exist"
        )


def buffers_first(params: Sequence[Param]) -> FixedOrder:
    """``params`` put to a launcher that fixes the order: buffers, then scalars, as many launchers do."""
    accepted: tuple[Param, ...] = (
        *(param for param in params if isinstance(param, BufferParam)),
        *(param for param in params if not isinstance(param, BufferParam)),
    )
    misplaced = []
    for declared, param in enumerate(params):
        taken = accepted.index(param)
        if taken != declared:
            misplaced.append(Misplaced(param, declared, taken, _why(params, declared)))
    return FixedOrder(tuple(params), accepted, tuple(misplaced))


def _why(params: Sequence[Param], place: int) -> str:
    param = params[place]
    if isinstance(param, BufferParam):
        before = next(each for each in params[:place] if not isinstance(each, BufferParam))
        return f"the buffer {param.name} stands behind the scalar {before.name}"
    behind = next(each for each in params[place + 1 :] if isinstance(each, BufferParam))
    return f"the scalar {param.name} stands before the buffer {behind.name}"


def _names(params: Sequence[Param]) -> str:
    return f"({', '.join(param.name for param in params)})"
