"""Where in memory what a program keeps lives: names, arrays cut into chunks, what takes another's place."""

import math
from collections.abc import Sequence

from compute.body import in_step
from compute.expr import Expr
from compute.fuse import Program, Step, reads
from compute.kernel import ArraySpec, Element, Limits
from compute.ops import DType
from compute.record import Recorded

ELEMENT_BYTES = 4
ELEMENTS: dict[DType, Element] = {"f32": "f32", "i32": "i32", "u32": "u32", "bool": "u32"}
_CHUNK_ALIGNMENT = 256  # bytes: every interface can bind a chunk, and a chunk is whole vectors


def array_spec(name: str, shape: tuple[int, ...], limits: Limits, element: Element = "f32") -> ArraySpec:
    """An array cut into buffers that fit one binding and one buffer of ``limits``; an empty one still has a buffer."""
    most = min(limits.storage_binding_bytes, limits.buffer_bytes) // _CHUNK_ALIGNMENT * _CHUNK_ALIGNMENT
    total = max(16, -(-math.prod(shape) * ELEMENT_BYTES // 16) * 16)
    chunks = tuple((f"{name}[{i}]", min(most, total - start)) for i, start in enumerate(range(0, total, most)))
    return ArraySpec(shape, element, chunks)


class Places:
    """The name and the array of every node that is in memory, and what each step reads there, in order of use."""

    def __init__(self, recorded: Recorded, whole: Program, label: str, limits: Limits) -> None:
        self.names = {node: node.name for node in recorded.inputs if node.shape != ()}
        kept = {*self.names, *whole.stored}
        self.reads = {step: reads(step.writes, kept) for step in whole.steps}
        taken = {node.name for node in recorded.inputs}
        results = dict.fromkeys(whole.outputs)
        wanted = ["out"] if len(results) == 1 else [f"out{index}" for index in range(len(results))]
        self.names.update({node: _free(name, taken) for node, name in zip(results, wanted, strict=True)})
        written = [node for step in whole.steps for node in step.writes if node not in results]
        self.names.update({node: _free(f"t{index}", taken) for index, node in enumerate(written)})
        self._overwrite(recorded.overwrites, whole.steps)
        used = {node for step in whole.steps for node in (*step.writes, *self.reads[step])}
        self.arrays: dict[str, ArraySpec] = {}
        for node, name in self.names.items():
            if node in used and name not in self.arrays:
                self.arrays[name] = array_spec(f"{label}/{name}", node.shape, limits, ELEMENTS[node.dtype])

    def chunks(self, node: Expr) -> tuple[tuple[str, int], ...]:
        return self.arrays[self.names[node]].chunks

    def _overwrite(self, allowed: frozenset[str], steps: Sequence[Step]) -> None:
        """A result takes the place of an argument that may be overwritten, and that no later kernel reads."""
        last_reader = {node: step for step in steps for node in self.reads[step] if node.name in allowed}
        for step in steps if last_reader else ():
            free = {node: None for node in self.reads[step] if last_reader.get(node) is step}
            if not free or step.kind != "map" or not in_step(step.writes, frozenset(self.reads[step])):
                continue
            for result in step.writes:
                same = (node for node in free if (node.shape, node.dtype) == (result.shape, result.dtype))
                taken = next(same, None)
                if taken is not None:
                    self.names[result] = self.names[taken]
                    del free[taken]


def _free(name: str, taken: set[str]) -> str:
    """``name``, or with as many x behind it as it takes: a parameter may be called out or t0."""
    while name in taken:
        name += "x"
    taken.add(name)
    return name
