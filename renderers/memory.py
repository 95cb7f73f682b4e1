"""What memory is left, and the refusal of what does not fit in it. Shared by the devices."""

import re
from collections.abc import Iterable
from pathlib import Path

from compute.kernel import ArraySpec
from renderers.device import AllocationError

ARRAY_WAY_OUT = "lower --elements or --objects"
_MEMINFO = Path("/proc/meminfo")


def check_memory(arrays: Iterable[tuple[str, ArraySpec]], available_bytes: int | None) -> None:
    """Raises AllocationError at the first of ``arrays`` for which nothing is left of ``available_bytes``.

    None: what is available is not known, and only allocating will tell.
    """
    if available_bytes is None:
        return
    taken = 0
    for name, spec in arrays:
        size = sum(chunk_bytes for _, chunk_bytes in spec.chunks)
        if taken + size > available_bytes:
            beside = f" beside {taken:,} for the arrays before it" if taken else ""
            found = f"{beside}: {available_bytes:,} are available"
            raise no_room(f"{name} of {spec.shape}", size, ARRAY_WAY_OUT, found)
        taken += size


def no_room(what: str, size: int, way_out: str, found: str = "") -> AllocationError:
    """The one message for what is too large, before it is allocated or after. ``found``: what is known besides."""
    return AllocationError(f"{what}: the device has no room for {size:,} bytes{found}; {way_out}")


def host_bytes_available() -> int | None:
    """What software adapters allocate from: bytes that this machine can give without swapping; None if unknown."""
    try:
        return parse_meminfo(_MEMINFO.read_text())
    except OSError:
        return None  # not Linux


def parse_meminfo(text: str) -> int | None:
    """Bytes of the line MemAvailable, which is in kB (proc(5))."""
    found = re.search(r"^MemAvailable:\s+(\d+) kB$", text, re.MULTILINE)
    return None if found is None else int(found[1]) * 1024
