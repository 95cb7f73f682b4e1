"""Arrays that outlive executables: lent to several, owned by none of them."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from compute.kernel import FLOOR, Access, BufferParam, ComputePass, Dispatch, Kernel, Limits, Work
from compute.record import Spec, record
from compute.schedule import array_spec, schedule
from renderers.device import Device, DeviceArray, Interface
from renderers.opengl.barriers import Barrier, barriers
from renderers.plan import Plan, build_plan
from renderers.timers import SpanRecorder

SMALL = Limits(1024, 4096, 8, 256, (256, 256, 64), 16384, 65_535)  # 600 floats are three buffers
COUNT = 600


def _add_one(x: Any) -> Any:
    return x + 1.0


def _plan(function: Callable[..., Any], limits: Limits = FLOOR) -> Plan:
    return build_plan((schedule(record(function, Spec((COUNT,))), "fused", limits, label="f"),))


def _array(device: Device, limits: Limits = FLOOR) -> DeviceArray:
    return device.allocate("mine", array_spec("mine", (COUNT,), limits))


@pytest.mark.parametrize("limits", [FLOOR, SMALL], ids=["one buffer", "three buffers"])
def test_what_one_executable_writes_the_next_one_reads(device: Device, limits: Limits) -> None:
    one, other = _array(device, limits), _array(device, limits)
    data = np.arange(COUNT, dtype=np.float32)
    one.upload(data)
    for _ in range(5):
        for source, target in ((one, other), (other, one)):
            work = device.compile(_plan(_add_one, limits), lent={"f/x": source, "f/out": target})
            work.run_now({})
            work.release()
    np.testing.assert_array_equal(one.read_back(), data + 10)
    np.testing.assert_array_equal(one.read_back(250, 20), data[250:270] + 10)
    one.release()
    other.release()


def test_an_executable_leaves_what_it_was_lent_to_its_owner(device: Device) -> None:
    mine = _array(device)
    mine.upload(np.ones(COUNT, np.float32))
    work = device.compile(_plan(_add_one), lent={"f/x": mine})
    work.run_now({})
    assert set(work.read_back("f/out")) == {2.0}
    work.release()
    assert not mine.is_released
    assert set(mine.read_back()) == {1.0}
    mine.release()


def test_an_array_that_cannot_stand_for_the_plans_is_refused_by_name(device: Device) -> None:
    short = device.allocate("short", array_spec("short", (8,), FLOOR))
    whole = device.allocate("whole", array_spec("whole", (COUNT,), FLOOR, "i32"))
    gone = _array(device)
    gone.release()
    plan = _plan(_add_one)
    for lent, message in (
        ({"f/y": short}, "f/y: the plan has no such array; it has f/x, f/out"),
        ({"f/x": short}, r"f/x: takes f32 in chunks of \(2400,\) bytes, got short: f32 in \(32,\)"),
        ({"f/x": whole}, "got whole: i32"),
        ({"f/x": gone}, "f/x: mine was released; keep it until the plan has run"),
    ):
        with pytest.raises(ValueError, match=message):
            device.compile(plan, lent=lent)
    short.release()
    whole.release()


def test_an_array_of_one_interface_is_refused_by_the_other(opengl: Device, webgpu: Device) -> None:
    devices: dict[Interface, Device] = {"opengl": opengl, "webgpu": webgpu}
    for device, other in (("opengl", "webgpu"), ("webgpu", "opengl")):
        foreign = _array(devices[other])  # type: ignore[index]
        with pytest.raises(ValueError, match="mine is an array of another interface; allocate it on this device"):
            devices[device].compile(_plan(_add_one), lent={"f/x": foreign})  # type: ignore[index]
        foreign.release()


@pytest.mark.parametrize("access", list(Access))
def test_a_kernel_waits_for_what_others_may_have_done_to_a_lent_array(access: Access) -> None:
    kernel = Kernel("k", (BufferParam("x", access),), "", "", (64, 1, 1))
    launch = Dispatch(kernel, ("x[0]",), (1, 1, 1), Work(0, 0, 0))
    plan = Plan((ComputePass("k", (launch, launch), 2),), (("x", array_spec("x", (8,), FLOOR)),))
    assert barriers(plan, frozenset({"x"}))[0] == Barrier.SHADER_STORAGE
    alone = barriers(plan)[0]
    assert alone == (Barrier.SHADER_STORAGE if access.writes else Barrier.NONE)


def test_work_outside_a_frame_leaves_an_open_frame_as_it_is(device: Device) -> None:
    one, other = device.compile(_plan(_add_one)), device.compile(_plan(_add_one))
    for work in (one, other):
        work.upload("f/x", np.zeros(COUNT, np.float32))
    device.begin_frame(SpanRecorder(0))
    other.run_now({})
    one.execute({})
    device.end_frame()
    assert set(one.read_back("f/out")) == set(other.read_back("f/out")) == {1.0}
    one.release()
    other.release()
