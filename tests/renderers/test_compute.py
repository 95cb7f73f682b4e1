"""Kernels on every device against float64 NumPy: values, chunks, folding, argument order."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from compute import reference
from compute.kernel import (
    FLOOR,
    SCHEDULES,
    Access,
    ArraySpec,
    BufferParam,
    ComputePass,
    Dispatch,
    FrameValue,
    How,
    Kernel,
    KernelShape,
    ScalarParam,
    Schedule,
    Work,
)
from compute.record import Spec, record
from compute.schedule import schedule
from compute.workloads.elementwise import total, wave
from compute.workloads.layers import gelu, layernorm, softmax
from renderers.device import Device
from renderers.eager import NAMES
from renderers.plan import build_plan
from renderers.run import as_argument, run
from renderers.timers import SpanRecorder
from tests.compute.expressions import EXAMPLES


def _x(count: int) -> np.ndarray[Any, np.dtype[np.float32]]:
    return np.random.default_rng(3).uniform(-2.0, 2.0, count).astype(np.float32)


def _attention(q: Any, k: Any, v: Any) -> Any:
    return softmax(q @ k.T * 0.125) @ v


def _extremes(x: Any) -> Any:
    return np.max(x), np.min(x), np.mean(x)


def _assert_right(device: Device, function: Callable[..., Any], *arguments: Any, **options: Any) -> tuple[Any, ...]:
    """What ``function`` gives on the device is what the interpreter says, within its bounds."""
    given = [as_argument(each) for each in arguments]
    recorded = record(function, *(Spec(each.shape, NAMES[each.dtype.name]) for each in given))
    named = {node.name: each for node, each in zip(recorded.inputs, given, strict=True)}
    exact, bounds = reference.evaluate(recorded, named), reference.bounds(recorded, named)
    results = run(device, function, *arguments, **options)
    for mine, right, bound in zip(results, exact, bounds, strict=True):
        assert mine.shape == right.shape
        assert reference.max_scaled_error(mine, right, bound) <= reference.MAX_SCALED_ERROR
    return results


@pytest.mark.parametrize("how", SCHEDULES)
@pytest.mark.parametrize("count", [0, 1, 3, 4, 5, 257, 4096, 4097, 100_003])
def test_every_schedule_computes_the_wave_for_any_number_of_elements(device: Device, how: How, count: int) -> None:
    _assert_right(device, wave, _x(count), 0.7, -0.2, schedule=how)


@pytest.mark.parametrize("how", SCHEDULES)
@pytest.mark.parametrize("count", [0, 1, 3, 4, 5, 257, 512, 513, 1_027, 32_768, 32_769, 100_003, 2_100_000])
def test_every_schedule_sums_any_number_of_elements(device: Device, how: How, count: int) -> None:
    _assert_right(device, total, _x(count), 0.7, -0.2, schedule=how)


@pytest.mark.parametrize("how", SCHEDULES)
@pytest.mark.parametrize(
    ("function", "shapes"),
    [
        (softmax, [(10, 37)]),
        (layernorm, [(8, 64), (64,), (64,)]),
        (gelu, [(1000,)]),
        (_attention, [(33, 16), (20, 16), (20, 8)]),
        (_extremes, [(100_001,)]),
        (lambda a, b: (a + 1.0) @ b, [(3, 4, 5), (3, 5, 2)]),
        (lambda a, b: a @ b, [(3, 0), (0, 2)]),
        (lambda x: np.max(x, axis=0), [(100_001, 2)]),
        (lambda x: np.sum(np.transpose(x, (2, 0, 1)), axis=1), [(4, 5, 6)]),
    ],
)
def test_every_schedule_computes_what_the_interpreter_says(
    device: Device, how: How, function: Callable[..., Any], shapes: list[tuple[int, ...]]
) -> None:
    random = np.random.default_rng(5)
    arguments = [random.uniform(-2.0, 2.0, shape).astype(np.float32) for shape in shapes]
    _assert_right(device, function, *arguments, schedule=how)


def test_scalars_alone_are_computed_too(device: Device) -> None:
    (result,) = _assert_right(device, lambda a, b: a * b + 1.0, 2.0, 3.0)
    assert result.shape == ()


SMALL = FLOOR.common(type(FLOOR)(2048, 4096, 8, 256, (256, 256, 64), 16384, 65_535))  # 512 elements a chunk


@pytest.mark.parametrize("how", SCHEDULES)
@pytest.mark.parametrize("count", [512, 513, 1_000, 1_536])
def test_an_array_in_several_buffers_is_computed_whole(device: Device, how: How, count: int) -> None:
    _assert_right(device, wave, _x(count), -1.5, 0.3, schedule=how, limits=SMALL)
    _assert_right(device, lambda x, y: (x * y, x > y), _x(count), _x(count)[::-1], schedule=how, limits=SMALL)


@pytest.mark.parametrize("how", SCHEDULES)
@pytest.mark.parametrize("count", [513, 514, 1_000, 1_024, 30_001, 32_767])
def test_an_array_in_several_buffers_is_reduced_whole(device: Device, how: How, count: int) -> None:
    _assert_right(device, total, _x(count), -1.5, 0.3, schedule=how, limits=SMALL)
    _assert_right(device, _extremes, _x(count) + np.float32(3.0), schedule=how, limits=SMALL)
    _assert_right(device, _extremes, _x(count) - np.float32(3.0), schedule=how, limits=SMALL)


def test_a_table_in_several_buffers_is_reduced_whole(device: Device) -> None:
    _assert_right(device, lambda x: np.sum(x * x), _x(3_000).reshape(50, 60), limits=SMALL)


@pytest.mark.parametrize("beyond", [-1, 0, 1, 70_000])
def test_more_workgroups_than_one_axis_takes_reach_every_element(device: Device, beyond: int) -> None:
    shape = KernelShape(workgroup_size=1, vectors_per_invocation=1)
    _assert_right(device, wave, _x(65_535 * shape.elements_per_workgroup + beyond), 1.1, 0.1, shape=shape)


@pytest.mark.parametrize("beyond", [-1, 0, 1])
def test_more_results_than_one_axis_takes_are_all_reduced(device: Device, beyond: int) -> None:
    shape = KernelShape(workgroup_size=1, vectors_per_invocation=1)
    _assert_right(device, lambda x: np.sum(x, axis=1), _x(3 * (65_535 + beyond)).reshape(-1, 3), shape=shape)


@pytest.mark.parametrize("how", SCHEDULES)
def test_an_argument_is_overwritten_where_it_is_allowed_and_else_kept(device: Device, how: How) -> None:
    x = _x(1_000)
    for overwrite in (True, False):
        recorded = record(lambda x: np.max(x) - x * 2.0, Spec((1_000,), overwrite=overwrite))
        made = schedule(recorded, how, device.info.limits, label="f")
        work = device.compile(build_plan((made,)))
        work.upload("f/x", x)
        device.begin_frame(SpanRecorder(0))
        work.execute({})
        device.end_frame()
        np.testing.assert_allclose(work.read_back(made.outputs[0]), x.max() - x * np.float32(2.0), atol=1e-6)
        assert np.array_equal(work.read_back("f/x"), x) != overwrite
        work.release()


def test_a_sum_goes_through_several_chunks(device: Device) -> None:
    """``make fuzz``: 100 million floats, which take 800 MB."""
    x = np.random.default_rng(7).uniform(-1.0, 1.0, 100_000_000 if EXAMPLES else 36_000_000).astype(np.float32)
    (result,) = run(device, lambda x: np.sum(x * 0.5), x)
    assert abs(float(result) - 0.5 * float(np.sum(x, dtype=np.float64))) < 1.0


def test_several_outputs_and_shared_subexpressions_come_from_one_kernel(device: Device) -> None:
    def both(x: Any, a: Any) -> Any:
        shared = x * a
        return shared + 1.0, np.minimum(shared, 0.5)

    x = _x(1000)
    plus, least = run(device, both, x, 2.0)
    np.testing.assert_array_equal(plus, x * np.float32(2.0) + np.float32(1.0))
    np.testing.assert_array_equal(least, np.minimum(x * np.float32(2.0), np.float32(0.5)))


def test_two_launches_of_one_kernel_in_a_frame_keep_their_own_scalars(device: Device) -> None:
    """A write to a shared block would land before the submit, and both launches would see the second value."""
    kernel = _fill_kernel()
    names = ("first", "second")
    dispatches = tuple(Dispatch(kernel, (f"{name}[0]", FrameValue(name)), (1, 1, 1), Work(0, 0, 256)) for name in names)
    arrays = tuple((name, ArraySpec((64,), "f32", ((f"{name}[0]", 256),))) for name in names)
    work = device.compile(build_plan((Schedule((ComputePass("fill", dispatches, 2),), arrays, names),)))
    device.begin_frame(SpanRecorder(0))
    work.execute({"first": 1.0, "second": 2.0})
    device.end_frame()
    assert set(work.read_back("first")) == {1.0}
    assert set(work.read_back("second")) == {2.0}
    work.release()


def test_scalars_of_every_width_reach_the_kernel_in_declared_order(device: Device) -> None:
    """A scalar sits in the tail of a vec3, buffers and scalars are mixed: one packer serves both languages."""
    kernel = _mixed_kernel()
    arguments = ("out[0]", 60, "in[0]", 2.0, (10.0, 20.0, 30.0), 0.5)
    dispatch = Dispatch(kernel, arguments, (1, 1, 1), Work(0, 256, 256))
    arrays = tuple((name, ArraySpec((64,), "f32", ((f"{name}[0]", 256),))) for name in ("out", "in"))
    work = device.compile(build_plan((Schedule((ComputePass("mixed", (dispatch,), 1),), arrays, ("out",)),)))
    x = _x(64)
    work.upload("in", x)
    work.upload("out", np.zeros(64, np.float32))
    device.begin_frame(SpanRecorder(0))
    work.execute({})
    device.end_frame()
    expected = x * np.float32(2.0) + np.float32(60.5)
    expected[60:] = 0.0
    np.testing.assert_allclose(work.read_back("out"), expected, rtol=1e-6)
    work.release()


def test_reading_part_of_an_array_crosses_its_buffers(device: Device) -> None:
    spec = ArraySpec((100,), "f32", (("parts[0]", 256), ("parts[1]", 160)))
    kernel = _fill_kernel()
    dispatch = Dispatch(kernel, ("other[0]", 1.0), (1, 1, 1), Work(0, 0, 256))
    other = ("other", ArraySpec((64,), "f32", (("other[0]", 256),)))
    plan = build_plan((Schedule((ComputePass("fill", (dispatch,), 1),), (("parts", spec), other), ()),))
    work = device.compile(plan)
    data = np.arange(100, dtype=np.float32)
    work.upload("parts", data)
    np.testing.assert_array_equal(work.read_back("parts"), data)
    np.testing.assert_array_equal(work.read_back("parts", 60, 10), data[60:70])
    np.testing.assert_array_equal(work.read_back("parts", 96, 10), data[96:])
    work.release()


def test_an_upload_of_the_wrong_shape_names_the_array_and_both_shapes(device: Device) -> None:
    spec = ArraySpec((8,), "f32", (("eight[0]", 32),))
    work = device.compile(build_plan((Schedule((), (("eight", spec),), ()),)))
    with pytest.raises(ValueError, match=r"eight: takes \(8,\) of float32, got \(9,\)"):
        work.upload("eight", np.zeros(9, np.float32))
    work.release()


def _fill_kernel() -> Kernel:
    return Kernel(
        "fill",
        (BufferParam("result", Access.WRITE), ScalarParam("value")),
        glsl="""#version 430
layout(local_size_x = 64) in;
layout(std430, binding = 0) restrict writeonly buffer B0 { float result[]; };
layout(std140, binding = 0) uniform Scalars { float value; } scalars;
void main() { result[gl_GlobalInvocationID.x] = scalars.value; }
""",
        wgsl="""@group(0) @binding(0) var<storage, read_write> result: array<f32>;
struct Scalars { value: f32 }
@group(0) @binding(1) var<uniform> scalars: Scalars;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) { result[id.x] = scalars.value; }
""",
        workgroup_size=(64, 1, 1),
    )


def _mixed_kernel() -> Kernel:
    return Kernel(
        "mixed",
        (
            BufferParam("result", Access.WRITE),
            ScalarParam("n", "u32"),
            BufferParam("source", Access.READ),
            ScalarParam("k"),
            ScalarParam("off", "vec3f"),
            ScalarParam("z"),
        ),
        glsl="""#version 430
layout(local_size_x = 64) in;
layout(std430, binding = 0) restrict writeonly buffer B0 { float result[]; };
layout(std430, binding = 1) restrict readonly buffer B1 { float source[]; };
layout(std140, binding = 0) uniform Scalars { uint n; float k; vec3 off; float z; } s;
void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i < s.n) result[i] = source[i] * s.k + s.off.x + s.off.y + s.off.z + s.z;
}
""",
        wgsl="""@group(0) @binding(0) var<storage, read_write> result: array<f32>;
@group(0) @binding(1) var<storage, read> source: array<f32>;
struct Scalars { n: u32, k: f32, off: vec3f, z: f32 }
@group(0) @binding(2) var<uniform> s: Scalars;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
    if (id.x < s.n) { result[id.x] = source[id.x] * s.k + s.off.x + s.off.y + s.off.z + s.z; }
}
""",
        workgroup_size=(64, 1, 1),
    )
