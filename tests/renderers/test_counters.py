"""Counters are exact: they equal what a profiler sees our code call on the bindings in one steady frame."""

import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

import moderngl
import pytest
import wgpu

from compute.kernel import FLOOR, SCHEDULES, How
from demo.content import Content
from demo.loop import run_frame
from renderers.camera import frame_values
from renderers.device import INTERFACES, Device, DeviceOptions, Executable, Interface, Offscreen
from renderers.interfaces import open_device
from renderers.opengl.barriers import Barrier

_BINDINGS = tuple(str(Path(module.__file__ or "").parent) for module in (moderngl, wgpu))
_OURS = str(Path(__file__).parents[2] / "renderers")
_SIZE_PX = (64, 36)
_NOT_WORK = {"make_current", "completed", "ready", "_offscreen"}  # callers: pacing, and choosing the target
_NATIVE = {"flush", "submit"}  # one call on the binding each, through ctypes or cffi, which a profiler cannot see


@contextmanager
def binding_calls() -> Iterator[Counter[str]]:
    """Names of the functions of moderngl and wgpu that a file of renderers/ calls."""
    seen: Counter[str] = Counter()

    def profile(frame: FrameType, event: str, argument: Any) -> None:
        caller = frame.f_back
        if event != "call" or caller is None or not caller.f_code.co_filename.startswith(_OURS):
            return
        if frame.f_code.co_name == "__del__":
            return  # the garbage collector called, not we
        name, file = frame.f_code.co_name, frame.f_code.co_filename
        native = file.endswith("native.py") and name in _NATIVE
        bound = file.startswith(_BINDINGS) or Path(file).name == "_moderngl.py"
        if (
            (native or bound)
            and caller.f_code.co_name not in _NOT_WORK
            and not caller.f_code.co_filename.endswith("native.py")
        ):
            seen[name] += 1

    sys.setprofile(profile)
    try:
        yield seen
    finally:
        sys.setprofile(None)


@pytest.fixture(params=INTERFACES)
def untimed(request: pytest.FixtureRequest) -> Iterator[Device]:
    """A device without GPU timers: their calls are not the frame's."""
    interface: Interface = request.param
    device = open_device(interface, Offscreen(_SIZE_PX), DeviceOptions(timers=False))
    yield device
    device.release()


def _steady(device: Device, how: How, objects: int, elements: int) -> Executable:
    work = Content("field", objects, elements, FLOOR).compile(device, how)
    for index in range(3):
        run_frame(device, work, index, partial(frame_values, index / 60.0, _SIZE_PX))
    return work


@pytest.mark.parametrize("how", SCHEDULES)
@pytest.mark.parametrize(("objects", "elements"), [(1, 1), (40, 40), (40, 3)])
def test_api_calls_are_what_a_profiler_sees(untimed: Device, how: How, objects: int, elements: int) -> None:
    work = _steady(untimed, how, objects, elements)
    with binding_calls() as seen:
        run_frame(untimed, work, 3, partial(frame_values, 3 / 60.0, _SIZE_PX))
    assert sum(seen.values()) == work.counters.api_calls, seen


@pytest.mark.parametrize("how", SCHEDULES)
def test_a_steady_frame_creates_nothing(untimed: Device, how: How) -> None:
    work = _steady(untimed, how, 40, 40)
    with binding_calls() as seen:
        for index in range(3, 6):
            run_frame(untimed, work, index, partial(frame_values, index / 60.0, _SIZE_PX))
    transient = {"create_command_encoder"}  # a command buffer is used up by its submit
    created = {name for name in seen if name.startswith("create_") or name in ("buffer", "texture", "vertex_array")}
    assert created <= transient
    assert work.counters.objects_created == 0


@pytest.mark.parametrize(
    ("how", "kernels", "bytes_an_element", "submissions"),
    [("eager", 3, 24, 4), ("batched", 3, 24, 1), ("fused", 1, 8, 1)],
)
def test_kernels_bytes_and_submissions_are_the_schedules(
    untimed: Device, how: How, kernels: int, bytes_an_element: int, submissions: int
) -> None:
    work = _steady(untimed, how, 10, 1000)
    counters = work.counters
    assert counters.draws == 10
    assert counters.dispatches == kernels
    assert counters.memory_bytes == 1000 * bytes_an_element
    assert counters.submissions == (submissions if untimed.info.interface == "webgpu" else None)


@pytest.mark.parametrize("how", SCHEDULES)
def test_barriers_carry_the_bits_of_the_later_use(how: How, monkeypatch: pytest.MonkeyPatch) -> None:
    """Software drivers give right answers without them, so the calls themselves are looked at."""
    device = open_device("opengl", Offscreen(_SIZE_PX), DeviceOptions(timers=False))
    work = _steady(device, how, 5, 5)
    log: list[str] = []
    barrier, run, draw = (
        moderngl.Context.memory_barrier,
        moderngl.ComputeShader.run,
        moderngl.VertexArray.render_indirect,
    )

    def logged_barrier(self: Any, bits: int) -> None:
        log.append(Barrier(bits).name or "")
        barrier(self, bits)

    def logged_run(self: Any, *workgroups: int) -> None:
        log.append("dispatch")
        run(self, *workgroups)

    def logged_draw(self: Any, *arguments: Any, **options: Any) -> None:
        log.append("draw")
        draw(self, *arguments, **options)

    monkeypatch.setattr(moderngl.Context, "memory_barrier", logged_barrier)
    monkeypatch.setattr(moderngl.ComputeShader, "run", logged_run)
    monkeypatch.setattr(moderngl.VertexArray, "render_indirect", logged_draw)
    run_frame(device, work, 3, partial(frame_values, 0.0, _SIZE_PX))
    storage, vertex = "SHADER_STORAGE", "VERTEX_ATTRIB_ARRAY"
    draws = [vertex, *["draw"] * 5]
    chain = ["dispatch", storage, "dispatch", storage, "dispatch"]
    steady = {"eager": chain, "batched": chain, "fused": ["dispatch"]}[how]
    assert _without_frame_start(log) == [*steady, *draws]
    assert work.counters.barriers == sum(entry in (storage, vertex) for entry in log)
    device.release()


def _without_frame_start(log: list[str]) -> list[str]:
    """The barrier before the first kernel orders it behind the frame before."""
    return log[1:] if log[0] == "SHADER_STORAGE" else log
