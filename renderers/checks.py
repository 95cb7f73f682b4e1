"""What a device refuses before it touches its driver: the same rules and words on every interface."""

from compute.kernel import Arrays
from compute.limits import check_dispatch
from renderers.device import DeviceInfo, check_submission
from renderers.memory import check_memory, host_bytes_available
from renderers.plan import Plan, Submission


def check_compile(info: DeviceInfo, plan: Plan, submission: Submission, lent: frozenset[str]) -> None:
    """``lent``: arrays that are there already. Raises LimitError, AllocationError."""
    check_submission(info, submission)
    chunk_bytes = dict(chunk for _, spec in plan.arrays for chunk in spec.chunks)
    for compute_pass in plan.compute_passes:
        for dispatch in compute_pass.dispatches:
            check_dispatch(dispatch, chunk_bytes, info.limits)
    check_allocation(info, tuple(each for each in plan.arrays if each[0] not in lent))


def check_allocation(info: DeviceInfo, arrays: Arrays) -> None:
    """Software adapters allocate from the host's memory, where too much ends the process instead of raising."""
    if arrays and info.is_software:
        check_memory(arrays, host_bytes_available())
