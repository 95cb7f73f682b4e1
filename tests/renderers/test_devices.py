"""What every device promises beside pictures and values: pacing, timers, lost contexts, memory."""

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import moderngl
import pytest

from compute.kernel import FLOOR
from demo.content import Content
from demo.loop import run_frame
from renderers.camera import frame_values
from renderers.device import (
    INTERFACES,
    AllocationError,
    BuildError,
    Device,
    DeviceOptions,
    Executable,
    GpuTimes,
    Interface,
    Offscreen,
    UnavailableError,
)
from renderers.interfaces import open_device
from renderers.opengl.window_config import no_error_asked
from renderers.plan import Material, Submission
from renderers.timers import RING_SLOTS
from renderers.trust import judge_device

_ROOT = Path(__file__).parents[2]


@pytest.fixture
def work(device: Device) -> Iterator[Executable]:
    executable = Content("field", 5, 5, FLOOR).compile(device, "fused")
    yield executable
    executable.release()


def _frame(device: Device, work: Executable, index: int) -> None:
    run_frame(device, work, index, partial(frame_values, index / 60.0, device.size_px))


def test_a_thousand_frames_that_nothing_displays_do_not_stall_and_bring_their_times(
    device: Device, work: Executable
) -> None:
    times: list[GpuTimes] = []
    for index in range(1000):
        _frame(device, work, index)
        times.extend(device.completed_frames())
        assert index - len(times) <= RING_SLOTS + 1
    device.finish()
    times.extend(device.completed_frames())
    assert sorted(each.index for each in times) == list(range(1000))
    assert all((each.spans is None) == (each.reason is not None) for each in times)


def test_gpu_spans_carry_the_labels_of_the_plan(device: Device, work: Executable) -> None:
    for index in range(8):
        _frame(device, work, index)
        device.finish()
    timed = [each for each in device.completed_frames() if each.spans is not None]
    assert timed
    assert [span.label for span in timed[-1].spans or ()] == [each.label for each in work.plan.passes]


def test_the_first_reading_of_a_gl_timer_is_not_believed() -> None:
    device = open_device("opengl", Offscreen((64, 36)))
    work = Content("field", 5, 5, FLOOR).compile(device, "fused")
    _frame(device, work, 0)
    device.finish()
    first = next(device.completed_frames())
    assert first.spans is None
    assert "first reading" in (first.reason or "")
    device.release()


def test_a_timer_is_believed_or_says_why_not(device: Device) -> None:
    trust = judge_device(device)
    assert set(trust) == {"compute", "draw"}
    assert all(each.reason for each in trust.values())


def test_without_timers_there_are_no_times_and_no_harm(device: Device) -> None:
    untimed = open_device(device.info.interface, Offscreen((64, 36)), DeviceOptions(timers=False))
    work = Content("field", 5, 5, FLOOR).compile(untimed, "eager")
    for index in range(5):
        _frame(untimed, work, index)
    untimed.finish()
    assert list(untimed.completed_frames()) == []
    untimed.release()


@pytest.mark.parametrize("in_flight", [1, 2, 3])
def test_no_more_frames_are_in_flight_than_asked_for(device: Device, in_flight: int) -> None:
    own = open_device(device.info.interface, Offscreen((64, 36)), DeviceOptions(frames_in_flight=in_flight))
    work = Content("field", 5, 5, FLOOR).compile(own, "fused")
    for index in range(10):
        _frame(own, work, index)
        waiting = own._fences if own.info.interface == "opengl" else own._in_flight  # type: ignore[attr-defined]
        assert len(waiting) <= in_flight
    own.release()


def test_finishing_says_which_wait_was_used(device: Device) -> None:
    assert device.finish() in ("glFinish", "wgpuDevicePoll(wait)")


def test_executing_outside_a_frame_is_refused(device: Device, work: Executable) -> None:
    with pytest.raises(RuntimeError, match="call begin_frame first"):
        work.execute(frame_values(0.0, device.size_px))
    with pytest.raises(RuntimeError, match="call begin_frame first"):
        device.end_frame()


def test_an_adapter_that_does_not_exist_is_refused_with_those_that_do(device: Device) -> None:
    with pytest.raises(UnavailableError, match="no adapter is called 'voodoo'") as refused:
        open_device(device.info.interface, Offscreen((64, 36)), DeviceOptions(adapter="voodoo"))
    assert device.info.adapter.split()[0] in str(refused.value)


def test_part_of_an_adapters_name_chooses_it(device: Device) -> None:
    part = device.info.adapter.split()[0].upper()
    own = open_device(device.info.interface, Offscreen((64, 36)), DeviceOptions(adapter=part))
    assert own.info.adapter == device.info.adapter
    own.release()


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_building_and_releasing_two_hundred_times_returns_the_memory(device: Device) -> None:
    content = Content("field", 200, 200_000, FLOOR)
    before = 0
    for round_ in range(220):
        if round_ == 20:
            before = _resident_bytes()
        executable = content.compile(device, ("eager", "batched", "fused")[round_ % 3])
        _frame(device, executable, round_)
        executable.image()
        executable.release()
        device.finish()
    assert _resident_bytes() - before < 16 << 20  # one plan's buffers alone are 3 MB: 200 leaked ones are 600


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_what_a_failed_compile_allocated_is_gone_before_the_next(device: Device) -> None:
    """Else whoever asks for too many objects and then for fewer finds no room for those either."""
    plan = Content("field", 5, 5_000_000, FLOOR).plan("fused")
    scene = replace(plan.scene_passes[0], materials=(Material("brass"),))
    broken = replace(plan, passes=(*plan.compute_passes, scene))
    before = 0
    for round_ in range(6):
        with pytest.raises(BuildError):
            device.compile(broken, Submission.INSTANCED)
        device.finish()
        before = before or _resident_bytes()
        assert _resident_bytes() - before < 30 << 20, f"after {round_} more"  # one plan's buffers are 40 MB


def test_where_an_array_finds_no_room_those_before_it_are_given_back(
    opengl: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = Content("field", 5, 5, FLOOR).plan("batched")
    made: list[Any] = []
    real = moderngl.Context.buffer

    def buffer(context: Any, *arguments: Any, **options: Any) -> Any:
        if len(made) == 3:
            raise moderngl.Error("out of memory")
        made.append(real(context, *arguments, **options))
        return made[-1]

    monkeypatch.setattr(moderngl.Context, "buffer", buffer)
    with pytest.raises(AllocationError, match=r"no room for [\d,]+ bytes; lower --elements or --objects"):
        opengl.compile(plan, Submission.IMMEDIATE)
    assert [type(each.mglo).__name__ for each in made] == ["InvalidObject"] * 3


def _resident_bytes() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


_THEFT = """
import sys
import wgpu
wgpu.gpu.enumerate_adapters_sync()  # an instance that may probe everything, EGL included
from compute.kernel import FLOOR
from compute.reference import MAX_SCALED_ERROR
from demo.content import Content
from demo.loop import run_frame
from renderers.camera import frame_values
from renderers.device import Offscreen
from renderers.interfaces import open_device

size = (160, 90)
device = open_device("opengl", Offscreen(size))
content = Content("field", 50, 50, FLOOR)
work = None
def steal():
    from ctypes import CDLL, c_void_p
    egl = CDLL("libEGL.so.1")
    egl.eglGetCurrentDisplay.restype = c_void_p
    display = c_void_p(egl.eglGetCurrentDisplay())
    assert egl.eglMakeCurrent(display, None, None, None), "nobody took the context"
    wgpu.gpu.request_adapter_sync()
steal(); work = content.compile(device, "fused")
steal(); work.upload("wave/x", content.inputs['x'])
values = frame_values(2.0, size)
steal(); run_frame(device, work, 0, lambda: values)
steal(); y = work.read_back('wave/out')
steal(); image = work.image()
steal(); device.finish(); steal(); list(device.completed_frames())
witness = content.witness(values, size)
assert witness.error(image) <= 2, (witness, image[witness.y, witness.x])
assert content.values_error(values, y) <= MAX_SCALED_ERROR
steal(); work.release()
print("drawn")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="EGL")
def test_a_context_taken_away_before_every_call_is_taken_back(opengl: Device) -> None:
    """OpenGL without a current context draws nothing, reads garbage, reports no error, and looks very fast."""
    child = subprocess.run([sys.executable, "-c", _THEFT], cwd=_ROOT, capture_output=True, text=True, timeout=120)
    assert child.stdout.strip().splitlines()[-1:] == ["drawn"], child.stderr


_UNCHECKED = """
import os
from hashlib import sha256
from compute.kernel import FLOOR
from demo.content import Content
from demo.loop import run_frame
from renderers.camera import frame_values
from renderers.device import INTERFACES, DeviceOptions, Offscreen
from renderers.interfaces import open_device
from renderers.opengl.window_config import no_error_asked
from renderers.plan import Material, Submission

for interface in INTERFACES:
    device = open_device(interface, Offscreen((160, 90)), DeviceOptions(validation=False))
    assert "MESA_NO_ERROR" not in os.environ
    work = Content("field", 50, 50, FLOOR, "texture").compile(device, "fused", Submission.INDIRECT)
    run_frame(device, work, 0, lambda: frame_values(2.0, (160, 90)))
    print(sha256(work.image().tobytes()).hexdigest(), device.info.validation)
    device.release()
"""


@pytest.mark.parametrize("before", [None, "0"])
@pytest.mark.parametrize("wanted", [True, False])
def test_mesa_is_asked_for_no_checks_only_while_a_context_is_made(
    wanted: bool, before: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MESA_NO_ERROR", raising=False)
    if before is not None:
        monkeypatch.setenv("MESA_NO_ERROR", before)
    with pytest.raises(UnavailableError), no_error_asked(wanted):
        assert os.environ.get("MESA_NO_ERROR") == ("1" if wanted else before)
        raise UnavailableError("opengl", "no context", "install a driver")
    assert os.environ.get("MESA_NO_ERROR") == before


def test_without_validation_the_picture_is_the_same_and_what_is_left_out_is_said(
    opengl: Device, webgpu: Device
) -> None:
    """In a process of its own: wgpu has one instance in each."""
    expected = []
    for device in (opengl, webgpu):
        device.resize((160, 90))
        work = Content("field", 50, 50, FLOOR, "texture").compile(device, "fused", Submission.INDIRECT)
        run_frame(device, work, 0, partial(frame_values, 2.0, device.size_px))
        expected.append(sha256(work.image().tobytes()).hexdigest())
        work.release()
    child = subprocess.run([sys.executable, "-c", _UNCHECKED], cwd=_ROOT, capture_output=True, text=True, timeout=120)
    pictures, said = zip(*(line.split(" ", 1) for line in child.stdout.splitlines()), strict=True)
    assert list(pictures) == expected, child.stderr
    if "Mesa" in opengl.info.driver:
        assert said[0] == "no checks: a no-error context"
    assert said[1].endswith("checks of indirect draws left out")
    assert opengl.info.validation == "errors are checked and kept by the driver"
    assert webgpu.info.validation == "wgpu-core checks every call, and indirect draws on the GPU"


@pytest.mark.parametrize("interface", INTERFACES)
def test_an_interface_whose_libraries_do_not_load_is_unavailable_by_name(
    interface: Interface, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both bindings load native libraries while they are imported, and fail there with errors of their own."""
    monkeypatch.setitem(sys.modules, f"renderers.{interface}.device", None)
    with pytest.raises(UnavailableError, match=f"^{interface}: its libraries do not load: .*; install them"):
        open_device(interface, Offscreen((64, 36)))
