"""What is too large for memory is refused before it is allocated, where it is known how much there is."""

import sys

import pytest

from compute.kernel import FLOOR, ArraySpec
from compute.schedule import array_spec
from renderers import checks
from renderers.device import AllocationError, Device
from renderers.memory import ARRAY_WAY_OUT, check_memory, host_bytes_available, no_room, parse_meminfo
from renderers.plan import Plan

MEMINFO = "MemTotal:       24683656 kB\nMemFree:        22912332 kB\nMemAvailable:   24094420 kB\nBuffers:  1 kB\n"


def _arrays(*elements: int) -> tuple[tuple[str, ArraySpec], ...]:
    return tuple((f"f/x{i}", array_spec(f"f/x{i}", (count,), FLOOR)) for i, count in enumerate(elements))


@pytest.mark.parametrize("available", [4800, 4801, None])
def test_arrays_that_fit_together_or_whose_room_is_unknown_are_let_through(available: int | None) -> None:
    check_memory(_arrays(400, 400, 400), available)


def test_the_first_array_without_room_is_named_with_its_bytes_what_is_left_and_the_way_out() -> None:
    with pytest.raises(AllocationError) as refusal:
        check_memory(_arrays(400, 400, 400), 4799)
    assert str(refusal.value) == (
        "f/x2 of (400,): the device has no room for 1,600 bytes beside 3,200 for the arrays before it: "
        "4,799 are available; lower --elements or --objects"
    )


def test_an_array_in_several_buffers_counts_whole() -> None:
    check_memory(_arrays(100_000_000), 400_000_000)
    with pytest.raises(AllocationError, match=r"f/x0 of \(100000000,\): the device has no room for 400,000,000 bytes:"):
        check_memory(_arrays(100_000_000), 399_999_999)


def test_both_refusals_begin_and_end_alike() -> None:
    with pytest.raises(AllocationError) as early:
        check_memory(_arrays(400), 0)
    begin, end = str(no_room("f/x0 of (400,)", 1600, ARRAY_WAY_OUT)).split("; ")
    assert str(early.value).startswith(begin)
    assert str(early.value).endswith(end)


def test_what_linux_says_is_available_is_read_in_bytes() -> None:
    assert parse_meminfo(MEMINFO) == 24_094_420 * 1024
    assert parse_meminfo("MemTotal: 1 kB\n") is None


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_this_machine_says_what_it_has() -> None:
    assert (host_bytes_available() or 0) > 1 << 20


def test_a_software_device_refuses_a_plan_beyond_memory_before_it_allocates(
    device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not device.info.is_software:
        pytest.skip("memory of its own: only allocating tells")
    monkeypatch.setattr(checks, "host_bytes_available", lambda: 10_000)
    arrays = _arrays(1000, 2000)
    with pytest.raises(AllocationError, match=r"f/x1 of \(2000,\): .* beside 4,000 .* 10,000 are available; lower"):
        device.compile(Plan((), arrays))
    with pytest.raises(AllocationError, match="no room for 20,000 bytes"):
        device.allocate("large", array_spec("large", (5000,), FLOOR))
    one = device.allocate(*arrays[0])
    device.compile(Plan((), arrays[1:]), lent={}).release()
    one.release()


def test_arrays_that_are_lent_count_only_once(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    arrays = _arrays(1000, 2000)
    lent = device.allocate(*arrays[1])
    monkeypatch.setattr(checks, "host_bytes_available", lambda: 4000)
    device.compile(Plan((), arrays), lent={"f/x1": lent}).release()
    lent.release()
