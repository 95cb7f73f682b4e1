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
from wgpu.backends.wgpu_native import GPUQueue

from compute.kernel import FLOOR, SCHEDULES, How
from demo.content import Content
from demo.loop import run_frame
from renderers.blocks import BLOCK_ALIGNMENT_BYTES
from renderers.camera import frame_values
from renderers.device import INTERFACES, Counters, Device, DeviceOptions, Executable, Interface, Offscreen
from renderers.interfaces import open_device
from renderers.materials import STATES, State
from renderers.opengl.barriers import Barrier
from renderers.plan import Submission
from renderers.scene import ORDERS, Order

_BINDINGS = tuple(str(Path(module.__file__ or "").parent) for module in (moderngl, wgpu))
_OURS = str(Path(__file__).parents[2] / "renderers")
_SIZE_PX = (64, 36)
_NOT_WORK = {"make_current", "completed", "ready", "_offscreen"}  # callers: pacing, and choosing the target
_NATIVE = {"flush", "multi_draw", "submit"}  # one call each, through ctypes or cffi: unseen by a profiler
_MAKES = ("buffer", "compute_shader", "framebuffer", "program", "sampler", "texture", "vertex_array")


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


def _steady(
    device: Device,
    how: How,
    objects: int,
    elements: int,
    submission: Submission = Submission.IMMEDIATE_BIND,
    state: State = "none",
    order: Order = "sorted",
) -> Executable:
    work = Content("field", objects, elements, FLOOR, state, order).compile(device, how, submission)
    for index in range(3):
        run_frame(device, work, index, partial(frame_values, index / 60.0, _SIZE_PX))
    return work


def _supported(device: Device) -> list[Submission]:
    return [each for each, reason in device.info.submissions.items() if reason is None]


@pytest.mark.parametrize("how", SCHEDULES)
@pytest.mark.parametrize(("objects", "elements"), [(1, 1), (40, 40), (40, 3)])
def test_api_calls_are_what_a_profiler_sees(untimed: Device, how: How, objects: int, elements: int) -> None:
    work = _steady(untimed, how, objects, elements)
    with binding_calls() as seen:
        run_frame(untimed, work, 3, partial(frame_values, 3 / 60.0, _SIZE_PX))
    assert sum(seen.values()) == work.counters.api_calls, seen


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("state", STATES)
def test_api_calls_of_every_submission_are_what_a_profiler_sees(untimed: Device, state: State, order: Order) -> None:
    for submission in _supported(untimed):
        work = _steady(untimed, "fused", 40, 40, submission, state, order)
        with binding_calls() as seen:
            run_frame(untimed, work, 3, partial(frame_values, 3 / 60.0, _SIZE_PX))
        assert sum(seen.values()) == work.counters.api_calls, (submission, seen)
        assert work.counters.draws == work.plan.scene_passes[0].draws_by(submission)
        work.release()


@pytest.mark.parametrize("how", SCHEDULES)
def test_a_steady_frame_creates_nothing(untimed: Device, how: How) -> None:
    transient = {"create_command_encoder"}  # a command buffer is used up by its submit
    for submission in _supported(untimed):
        work = _steady(untimed, how, 40, 40, submission, "texture", "shuffled")
        with binding_calls() as seen:
            for index in range(3, 6):
                run_frame(untimed, work, index, partial(frame_values, index / 60.0, _SIZE_PX))
        created = {name for name in seen if name.startswith("create_") or name in _MAKES}
        assert created <= transient, submission
        assert work.counters.objects_created == 0
        work.release()


def _counters(device: Device, objects: int, submission: Submission, state: State, order: Order) -> Counters:
    work = Content("field", objects, objects, FLOOR, state, order).compile(device, "fused", submission)
    work.release()
    return work.counters


@pytest.mark.parametrize("state", STATES)
def test_immediate_submissions_make_calls_for_every_object_and_the_others_for_none(
    untimed: Device, state: State
) -> None:
    """Beside the state of each run: sorted, there are as many runs whatever the number of objects."""
    an_object = {Submission.IMMEDIATE_BIND: 2, Submission.IMMEDIATE: 1}
    for submission in _supported(untimed):
        few, many = (_counters(untimed, objects, submission, state, "sorted").api_calls for objects in (100, 1_000))
        assert many - few == 900 * an_object.get(submission, 0), submission


def test_calls_that_are_stored_or_recorded_do_not_depend_on_the_order_while_no_state_changes(untimed: Device) -> None:
    for submission in {*_supported(untimed)} - {Submission.INSTANCED}:
        one, other = (_counters(untimed, 100, submission, "none", order).api_calls for order in ORDERS)
        assert one == other, submission


@pytest.mark.parametrize("state", ["texture", "pipeline"])
def test_only_a_bundle_hides_changes_of_state(untimed: Device, state: State) -> None:
    """Of the others, only where moderngl's vertex arrays carry their program is a change no call of its own."""
    for submission in {*_supported(untimed)} - {Submission.NONE}:
        one, other = (_counters(untimed, 100, submission, state, order).api_calls for order in ORDERS)
        carried = state == "pipeline" and untimed.info.interface == "opengl"
        one_by_one = submission in (Submission.IMMEDIATE, Submission.IMMEDIATE_BIND)
        hidden = submission is Submission.RECORDED or (carried and one_by_one)
        assert (other == one) if hidden else (other > one), submission


@pytest.mark.parametrize("objects", [1, 40, 400])
def test_no_data_of_an_object_passes_through_python_in_a_steady_frame(
    untimed: Device, monkeypatch: pytest.MonkeyPatch, objects: int
) -> None:
    """Except where each draw's record is a uniform, which OpenGL copies as the call is made."""
    written: list[int] = []

    def log(kind: type[Any], name: str, position: int) -> None:
        real = getattr(kind, name)

        def logged(self: Any, *arguments: Any, **options: Any) -> None:
            written.append(memoryview(arguments[position]).nbytes)
            real(self, *arguments, **options)

        monkeypatch.setattr(kind, name, logged)

    log(moderngl.Buffer, "write", 0)
    log(moderngl.Uniform, "write", 0)
    log(GPUQueue, "write_buffer", 2)
    for submission in _supported(untimed):
        work = _steady(untimed, "fused", objects, objects, submission)
        written.clear()
        run_frame(untimed, work, 3, partial(frame_values, 3 / 60.0, _SIZE_PX))
        copies = submission is Submission.IMMEDIATE_BIND and untimed.info.interface == "opengl"
        expected = 2 * BLOCK_ALIGNMENT_BYTES + (32 * objects if copies else 0)
        assert sum(written) == work.counters.bytes_uploaded == expected, submission
        work.release()


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
@pytest.mark.parametrize(
    ("submission", "calls"),
    [
        (Submission.IMMEDIATE_BIND, 12),
        (Submission.IMMEDIATE, 12),
        (Submission.INSTANCED, 4),
        (Submission.INDIRECT, 1),
        (Submission.NONE, 0),
    ],
)
def test_barriers_carry_the_bits_of_the_later_use(
    submission: Submission, calls: int, how: How, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Software drivers give right answers without them, so the calls themselves are looked at."""
    device = open_device("opengl", Offscreen(_SIZE_PX), DeviceOptions(timers=False))
    work = _steady(device, how, 12, 12, submission)
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
    draws = [vertex, *["draw"] * calls] if calls else []
    chain = ["dispatch", storage, "dispatch", storage, "dispatch"]
    steady = {"eager": chain, "batched": chain, "fused": ["dispatch"]}[how]
    assert _without_frame_start(log) == [*steady, *draws]
    assert work.counters.barriers == sum(entry in (storage, vertex) for entry in log)
    device.release()


def _without_frame_start(log: list[str]) -> list[str]:
    """The barrier before the first kernel orders it behind the frame before."""
    return log[1:] if log[0] == "SHADER_STORAGE" else log
