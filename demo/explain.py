"""The explain command: a workload's kernels by each schedule, and why there is not one only. Opens no device."""

from collections.abc import Iterator, Sequence

from compute.kernel import FLOOR, Access, BufferParam, How, ScalarParam
from compute.launchers import buffers_first
from compute.schedule import schedule
from compute.workloads.elementwise import WORKLOADS

# What somebody may want to say: arrays and scalars as they belong together.
_SIGNATURE = (
    BufferParam("out", Access.WRITE),
    ScalarParam("n", "u32"),
    BufferParam("inp", Access.READ),
    ScalarParam("k"),
    ScalarParam("off", "vec3f"),
    ScalarParam("z"),
)


def explain_lines(workload_name: str, elements: int, schedules: Sequence[How]) -> Iterator[str]:
    """Within the portable floor's limits, as the window runs it."""
    workload = WORKLOADS[workload_name]
    recorded = workload.record(elements)
    yield f"{workload_name}: {(workload.function.__doc__ or '').partition(chr(10))[0]}"
    yield f"{elements:,} elements; arrays {', '.join(workload.arrays)}; scalars {', '.join(workload.scalars) or 'none'}"
    for how in schedules:
        yield ""
        yield f"{how}:"
        yield from schedule(recorded, how, FLOOR, label=workload_name).explain().splitlines()
    yield ""
    yield f"arguments: in any order, as a kernel declares them; {buffers_first(_SIGNATURE).explain()}"
    yield "bytes: as described, every kernel's reads and writes as if nothing were cached; not measured traffic"
