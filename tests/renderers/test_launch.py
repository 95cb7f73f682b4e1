"""Kernels that a person wrote, launched with arguments in any order; what does not fit is refused by name."""

from collections.abc import Callable
from itertools import permutations
from typing import Any

import numpy as np
import pytest

from compute.handwritten import Tile, handwritten
from compute.kernel import Access, ArgumentError, BufferParam, Kernel, LimitError, Param, ScalarParam
from renderers.device import BuildError, Device
from renderers.launch import launch

OUT, INP = BufferParam("out", Access.WRITE), BufferParam("inp", Access.READ)
N, K, OFF, Z = ScalarParam("n", "u32"), ScalarParam("k"), ScalarParam("off", "vec3f"), ScalarParam("z")
SIX: tuple[Param, ...] = (OUT, N, INP, K, OFF, Z)
_SUM = "out[i] = inp[i] * k + off.x + 2.0 * off.y + 4.0 * off.z - z;"
FIVE = np.arange(5, dtype=np.float32)


def _mixed(order: tuple[Param, ...] = SIX) -> Kernel:
    return handwritten("mixed", order, glsl=f"if (i < n) {_SUM}", wgsl=f"if (i < n) {{ {_SUM} }}")


def _fill(folds: bool = False, size: int = 64) -> Kernel:
    params = (ScalarParam("value"), OUT, N)
    body = "out[i] = value + f32(group & 1u);"
    return handwritten(
        "fill",
        params,
        glsl=f"if (i < n) {body.replace('f32', 'float')}",
        wgsl=f"if (i < n) {{ {body} }}",
        workgroup_size=(size, 1, 1),
        folds=folds,
    )


def test_all_720_orders_of_six_arguments_compute_the_same(device: Device) -> None:
    for order in permutations(SIX):
        out = np.full(5, -1.0, np.float32)
        values: dict[str, Any] = {"out": out, "n": 4, "inp": FIVE, "k": 2.0, "off": (10.0, 20.0, 30.0), "z": 0.5}
        (result,) = launch(device, _mixed(order), *(values[param.name] for param in order))
        assert result is out
        assert result.tolist() == [169.5, 171.5, 173.5, 175.5, -1.0], order


def test_every_scalar_type_reaches_the_kernel_as_it_was_given(device: Device) -> None:
    """A matrix is given column by column."""
    types = {"u": "u32", "v2": "vec2f", "s": "i32", "m": "mat4f", "v4": "vec4f", "h": "f32", "v3": "vec3f", "t": "f32"}
    params = (*(ScalarParam(name, each) for name, each in types.items()), OUT)  # type: ignore[arg-type]
    parts = ["{0}(u & 0xffffu)", "v2.y", "{0}(s)", "m[1].z", "v4.w", "h", "v3.z", "t", "m[3].x"]
    glsl = " ".join(f"out[{place}] = {part.format('float')};" for place, part in enumerate(parts))
    wgsl = " ".join(f"out[{place}] = {part.format('f32')};" for place, part in enumerate(parts))
    matrix = tuple(float(i) for i in range(16))
    arguments = (2**32 - 1, (1.0, 2.0), -(2**31), matrix, (1.0, 2.0, 3.0, 4.5), np.float32(0.1), [7.0, 8.0, 9.0], -0.5)
    out = np.zeros(9, np.float32)
    kernel = handwritten("types", params, glsl=glsl, wgsl=wgsl, workgroup_size=(1, 1, 1))
    launch(device, kernel, *arguments, out, workgroups=1)
    assert out.tolist() == [65535.0, 2.0, -(2.0**31), 6.0, 4.5, np.float32(0.1), 9.0, -0.5, 12.0]


def test_infinities_and_nan_reach_the_kernel(device: Device) -> None:
    kernel = handwritten("same", (K, OUT), glsl="out[i] = k;", wgsl="out[i] = k;", workgroup_size=(4, 1, 1))
    for value in (float("inf"), float("-inf"), float("nan")):
        (out,) = launch(device, kernel, value, np.zeros(4, np.float32))
        np.testing.assert_array_equal(out, np.float32(value))


def test_integers_and_arrays_of_any_shape_are_read_and_written_in_place(device: Device) -> None:
    params = (BufferParam("x", Access.READ_WRITE, "i32"), BufferParam("y", Access.READ, "u32"), N)
    kernel = handwritten("add", params, glsl="if (i < n) x[i] += int(y[i]);", wgsl="if (i < n) { x[i] += i32(y[i]); }")
    x = np.arange(24, dtype=np.int32).reshape(2, 3, 4)[:, ::2]  # with gaps, as a slice has
    y = np.full(16, 3, np.uint32)
    (result,) = launch(device, kernel, x, y, 16)
    assert result is x
    expected = np.arange(24, dtype=np.int32).reshape(2, 3, 4)
    expected[:, ::2] += 3
    np.testing.assert_array_equal(x.base, expected.reshape(-1))


def test_several_written_arrays_come_back_in_declared_order(device: Device) -> None:
    params = (BufferParam("b", Access.WRITE), K, BufferParam("a", Access.WRITE))
    kernel = handwritten("two", params, glsl="b[i] = k; a[i] = -k;", wgsl="b[i] = k; a[i] = -k;")
    b, a = launch(device, kernel, np.zeros(64, np.float32), 2.0, np.zeros(64, np.float32))
    assert (set(b), set(a)) == ({2.0}, {-2.0})


@pytest.mark.parametrize("count", [0, 1, 3, 257])
def test_any_number_of_elements_is_filled(device: Device, count: int) -> None:
    (out,) = launch(device, _fill(), 0.0, np.full(count, -1.0, np.float32), count)
    np.testing.assert_array_equal(out, np.arange(count) // 64 % 2)


def test_a_workgroup_shares_its_tile(device: Device) -> None:
    """Turned around within a workgroup: each invocation writes what another read."""
    kernel = handwritten(
        "turn",
        (BufferParam("x", Access.READ_WRITE),),
        glsl="t[invocation.x] = x[i]; barrier(); x[i] = t[63u - invocation.x];",
        wgsl="t[invocation.x] = x[i]; workgroupBarrier(); x[i] = t[63u - invocation.x];",
        tiles=(Tile("t", 64),),
    )
    (x,) = launch(device, kernel, np.arange(128, dtype=np.float32))
    np.testing.assert_array_equal(x, np.arange(128).reshape(2, 64)[:, ::-1].reshape(-1))


def test_workgroups_in_three_axes_are_counted_by_i(device: Device) -> None:
    kernel = handwritten("count", (OUT,), glsl="out[i] = float(i);", wgsl="out[i] = f32(i);", workgroup_size=(2, 2, 2))
    (out,) = launch(device, kernel, np.zeros(2 * 3 * 4 * 8, np.float32), workgroups=(2, 3, 4))
    np.testing.assert_array_equal(out, np.arange(out.size))


@pytest.mark.parametrize("beyond", [0, 1, 70_000])
def test_more_workgroups_than_an_axis_takes_are_folded_where_the_kernel_says_so(device: Device, beyond: int) -> None:
    count = device.info.limits.workgroups_per_axis + beyond
    (out,) = launch(device, _fill(folds=True, size=1), 0.0, np.full(count, -1.0, np.float32), count)
    np.testing.assert_array_equal(out, np.arange(count) % 2)


def test_more_workgroups_than_an_axis_takes_are_refused_where_it_does_not(device: Device) -> None:
    most = device.info.limits.workgroups_per_axis
    for workgroups in (most + 1, (most + 1, 1, 1), (1, 1, most + 1)):
        with pytest.raises(
            LimitError, match=rf"fill: .* workgroups exceed this device's {most:,} on an axis; .*more per"
        ):
            launch(device, _fill(), 0.0, FIVE.copy(), 5, workgroups=workgroups)


_READ_ONLY = FIVE.copy()
_READ_ONLY.flags.writeable = False
_SHARED = np.zeros(8, np.float32)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n": -1}, "mixed: n: -1 is no u32; pass a whole number from 0 to 4,294,967,295"),
        ({"n": 2**32}, "mixed: n: 4294967296 is no u32; pass a whole number from 0 to 4,294,967,295"),
        ({"n": 4.0}, "mixed: n: 4.0 is no u32; pass a whole number from 0 to 4,294,967,295"),
        ({"k": 1e39}, "mixed: k: 1e+39 is no f32; pass a number of float32, inf and nan included"),
        ({"k": None}, "mixed: k: None is no f32; pass a number of float32, inf and nan included"),
        ({"k": FIVE}, "mixed: k: f32 is a scalar, got an array of shape (5,); pass a number, or a tuple of numbers"),
        ({"k": "out"}, "mixed: k: f32 is a scalar, got 'out'; pass a number, or a tuple of numbers"),
        ({"off": (1.0, 2.0)}, "mixed: off: vec3f takes 3 numbers, got 2 ((1.0, 2.0)); pass three numbers of float32"),
        ({"off": 1.0}, "mixed: off: vec3f takes 3 numbers, got 1 (1.0); pass three numbers of float32"),
        ({"inp": 2.0}, "mixed: inp: read f32[] is a buffer, got 2.0 of float; pass a NumPy array of float32"),
        ({"inp": [2.0]}, "mixed: inp: read f32[] is a buffer, got [2.0] of list; pass a NumPy array of float32"),
        (
            {"inp": np.zeros(5)},
            "mixed: inp: read f32[] takes an array of float32, got float64; pass inp.astype(numpy.float32)",
        ),
        ({"out": _READ_ONLY}, "mixed: out: write f32[] is written, got a read-only array; pass out.copy()"),
        (
            {"out": _SHARED[:5], "inp": _SHARED[3:]},
            "mixed: out and inp are given the same memory, and out is written; declare one read_write parameter or",
        ),
    ],
    ids=lambda value: ", ".join(value) if isinstance(value, dict) else "",
)
def test_an_argument_that_does_not_fit_is_refused_by_name_rule_value_and_way_out(
    device: Device, change: dict[str, Any], message: str
) -> None:
    values: dict[str, Any] = {"out": FIVE.copy(), "n": 5, "inp": FIVE, "k": 1.0, "off": (0.0, 0.0, 0.0), "z": 0.0}
    with pytest.raises(ArgumentError) as refusal:
        launch(device, _mixed(), *(values | change).values())
    assert str(refusal.value).startswith(message)


def test_a_wrong_number_of_arguments_shows_the_signature(device: Device) -> None:
    for arguments in ((), (FIVE,) * 7):
        with pytest.raises(ArgumentError) as refusal:
            launch(device, _mixed(), *arguments)
        assert str(refusal.value) == (
            f"mixed: takes 6 arguments, got {len(arguments)}; pass one for each of "
            "(out: write f32[], n: u32, inp: read f32[], k: f32, off: vec3f, z: f32)"
        )


def test_arrays_that_are_only_read_may_be_the_same(device: Device) -> None:
    params = (OUT, BufferParam("a", Access.READ), BufferParam("b", Access.READ), N)
    body = "out[i] = a[i] * b[i];"
    kernel = handwritten("square", params, glsl=f"if (i < n) {body}", wgsl=f"if (i < n) {{ {body} }}")
    (out,) = launch(device, kernel, np.zeros(5, np.float32), FIVE, FIVE, 5)
    np.testing.assert_array_equal(out, FIVE * FIVE)


def test_a_kernel_that_writes_nothing_must_be_told_how_many(device: Device) -> None:
    kernel = handwritten("look", (INP,), glsl="", wgsl="")
    with pytest.raises(ArgumentError, match="look: writes no buffer that says how many invocations; pass workgroups"):
        launch(device, kernel, FIVE)
    assert launch(device, kernel, FIVE, workgroups=1) == ()
    for wrong in (-1, (1, -1, 1)):
        with pytest.raises(ArgumentError, match=r"look: workgroups takes .*from 0 on, got"):
            launch(device, kernel, FIVE, workgroups=wrong)


def _over_memory(device: Device) -> Kernel:
    """wgpu takes twice its limit without a word."""
    tiles = (Tile("t", device.info.limits.workgroup_bytes // 4 + 1),)
    return handwritten("wide", (OUT,), glsl="t[i] = 1.0;", wgsl="t[i] = 1.0;", tiles=tiles)


def _over_size(device: Device) -> Kernel:
    size = (device.info.limits.invocations_per_workgroup + 1, 1, 1)
    return handwritten("wide", (OUT,), glsl="", wgsl="", workgroup_size=size)


def _over_buffers(device: Device) -> Kernel:
    count = device.info.limits.storage_buffers_per_stage + 1
    return handwritten("wide", [BufferParam(f"b{i}", Access.WRITE) for i in range(count)], glsl="", wgsl="")


@pytest.mark.parametrize("kernel", [_over_memory, _over_size, _over_buffers])
def test_a_kernel_beyond_this_devices_limits_is_refused_before_it_runs(
    device: Device, kernel: Callable[[Device], Kernel]
) -> None:
    made = kernel(device)
    with pytest.raises(LimitError, match=r"wide: .* exceeds? this device's [\d,]+.*; (use smaller|lower|split)"):
        launch(device, made, *(FIVE.copy() for _ in made.params), workgroups=1)


def test_an_array_beyond_one_binding_is_refused_with_the_parameter(device: Device) -> None:
    """OpenGL binds it without an error. Of zeros that nobody touches, so that it costs no memory."""
    most = device.info.limits.storage_binding_bytes
    large = np.zeros(most // 4 + 1, np.float32)
    with pytest.raises(
        LimitError, match=rf"mixed: inp: [\d,]+ bytes exceed this device's {most:,} of one binding; pass"
    ):
        launch(device, _mixed(), FIVE.copy(), 5, large, 1.0, (0.0, 0.0, 0.0), 0.0)


def test_a_body_that_does_not_compile_is_refused_with_the_kernels_name(device: Device) -> None:
    kernel = handwritten("broken", (OUT,), glsl="out[i] = nothing;", wgsl="out[i] = nothing;")
    with pytest.raises(BuildError, match=r"(?s)broken: .*nothing"):
        launch(device, kernel, FIVE.copy())
    (out,) = launch(device, _fill(), 1.0, FIVE.copy(), 5)
    assert set(out) == {1.0}
