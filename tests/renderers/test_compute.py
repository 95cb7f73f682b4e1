"""Kernels on every device against float64 NumPy: values, chunks, folding, argument order."""

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
from compute.ops import OPS
from compute.record import Spec, record
from compute.workloads.elementwise import wave
from renderers.device import Device
from renderers.plan import build_plan
from renderers.run import run
from renderers.timers import SpanRecorder


def _x(count: int) -> np.ndarray[Any, np.dtype[np.float32]]:
    return np.random.default_rng(3).uniform(-2.0, 2.0, count).astype(np.float32)


def _assert_wave(result: Any, x: Any, a: float, b: float) -> None:
    recorded = record(wave, Spec(x.shape), Spec(), Spec())
    arguments = {"x": x, "a": a, "b": b}
    (exact,), (scale,) = reference.evaluate(recorded, arguments), reference.bounds(recorded, arguments)
    assert reference.max_scaled_error(result, exact, scale) <= reference.MAX_SCALED_ERROR


@pytest.mark.parametrize("how", SCHEDULES)
@pytest.mark.parametrize("count", [1, 3, 4, 5, 1000, 4096, 4097, 100_003])
def test_every_schedule_computes_the_wave_for_any_number_of_elements(device: Device, how: How, count: int) -> None:
    x = _x(count)
    (result,) = run(device, wave, x, 0.7, -0.2, schedule=how)
    assert result.shape == (count,)
    _assert_wave(result, x, 0.7, -0.2)


@pytest.mark.parametrize("how", SCHEDULES)
def test_an_array_in_several_buffers_is_computed_whole(device: Device, how: How) -> None:
    small = FLOOR.common(type(FLOOR)(1024, 4096, 8, 256, (256, 256, 64), 16384, 65_535))
    x = _x(1000)
    (result,) = run(device, wave, x, -1.5, 0.3, schedule=how, limits=small)
    _assert_wave(result, x, -1.5, 0.3)


@pytest.mark.parametrize("beyond", [0, 1, 70_000])
def test_more_workgroups_than_one_axis_takes_reach_every_element(device: Device, beyond: int) -> None:
    shape = KernelShape(workgroup_size=1, vectors_per_invocation=1)
    x = _x(65_535 * shape.elements_per_workgroup + beyond)
    (result,) = run(device, wave, x, 1.1, 0.1, shape=shape)
    _assert_wave(result, x, 1.1, 0.1)


@pytest.mark.parametrize("name", sorted(OPS))
def test_every_op_of_the_table_agrees_with_numpy(device: Device, name: str) -> None:
    ufunc = OPS[name].ufunc
    one, other = _x(257), _x(514)[257:]
    operands = (one, other)[: ufunc.nin]

    def unary(x: Any) -> Any:
        return ufunc(x)

    def binary(x: Any, y: Any) -> Any:
        return ufunc(x, y)

    (result,) = run(device, unary if ufunc.nin == 1 else binary, *operands)
    np.testing.assert_array_equal(result, ufunc(*operands))


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
