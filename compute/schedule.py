"""Recorded ops and how to run them -> passes over named arrays. Pure values; a device executes them.

eager: a kernel and a submission per op. batched: the same kernels in one submission. fused: as few kernels as the
maths allows (see fuse.py).
"""

from compute.fuse import program
from compute.kernel import FLOOR, ComputePass, Dispatch, How, KernelShape, Limits, Schedule
from compute.launch import fold_workgroups, launch
from compute.places import Places, array_spec
from compute.record import Recorded

__all__ = ["array_spec", "fold_workgroups", "schedule"]


def schedule(
    recorded: Recorded,
    how: How,
    limits: Limits = FLOOR,
    shape: KernelShape = KernelShape(),
    label: str | None = None,
) -> Schedule:
    """Cut ``recorded`` into kernels, arrays and passes within ``limits``.

    Array and pass names begin with ``label`` (default: the function's name). Raises LimitError.
    """
    label = label or recorded.name
    whole = program(recorded.outputs, how, limits.storage_buffers_per_stage)
    places = Places(recorded, whole, label, limits)
    launches = [launch(step, places, limits, shape) for step in whole.steps]
    return Schedule(
        _passes(label, how, [(each.note.name, each.dispatches) for each in launches]),
        tuple((f"{label}/{name}", spec) for name, spec in places.arrays.items()),
        tuple(f"{label}/{places.names[output]}" for output in whole.outputs),
        tuple(each.note for each in launches),
    )


def _passes(label: str, how: How, launches: list[tuple[str, tuple[Dispatch, ...]]]) -> tuple[ComputePass, ...]:
    """A label names one pass: the second launch of the same op is counted in its own."""
    if how != "eager":
        together = tuple(dispatch for _, dispatches in launches for dispatch in dispatches)
        return (ComputePass(f"{label}/{how}", together, len(launches)),)
    passes: list[ComputePass] = []
    repeats: dict[str, int] = {}
    for name, dispatches in launches:
        repeats[name] = repeats.get(name, 0) + 1
        unique = f"{label}/{name}" if repeats[name] == 1 else f"{label}/{name} {repeats[name]}"
        passes.append(ComputePass(unique, dispatches, 1, submit_alone=True))
    return tuple(passes)
