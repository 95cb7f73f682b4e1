"""Eager is really eager: every op runs when it is called, so the function may look at values and go by them."""

import gc
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from wgpu.backends.wgpu_native import GPUQueue

from compute import reference
from compute.expr import RecordError
from compute.kernel import SCHEDULES, Limits
from compute.record import Spec, record
from renderers import checks
from renderers.device import AllocationError, Device
from renderers.eager import NAMES, Eager
from renderers.opengl import native
from renderers.run import run

SMALL = Limits(1024, 4096, 8, 256, (256, 256, 64), 16384, 65_535)  # 600 floats are three buffers


def _x(*shape: int) -> np.ndarray[Any, np.dtype[np.float32]]:
    return np.random.default_rng(5).uniform(-2.0, 2.0, shape).astype(np.float32)


def relu(x: Any, a: Any, b: Any) -> Any:
    return np.maximum(x * a + b, 0.0)


def softmax(x: Any) -> Any:
    e = np.exp(x - np.max(x, axis=1, keepdims=True))
    return e / np.sum(e, axis=1, keepdims=True)


def centred(x: Any) -> Any:
    middle = x - x.mean(axis=0)
    return middle / np.sqrt(np.mean(middle * middle) + 1e-5), middle.T


def turned(x: Any, y: Any) -> Any:
    return (x.T @ y).reshape(-1)[None, :] + x.sum()


def steps(x: Any) -> Any:
    return np.where(np.logical_and(x > 0.5, x < 1.5), x.astype(np.int32), -3)


def compared(x: Any, y: Any) -> Any:
    return x < y, np.logical_not(x >= y)


CASES: tuple[tuple[Callable[..., Any], tuple[Any, ...]], ...] = (
    (relu, (_x(1000), 0.7, -0.2)),
    (softmax, (_x(7, 33),)),
    (centred, (_x(9, 20),)),
    (turned, (_x(6, 5), _x(6, 4))),
    (compared, (_x(3, 10), _x(10))),
    (steps, (_x(300),)),
)


@pytest.mark.parametrize(("function", "arguments"), CASES, ids=lambda case: getattr(case, "__name__", ""))
def test_the_same_function_is_right_within_the_bounds_by_every_schedule(
    device: Device, function: Callable[..., Any], arguments: tuple[Any, ...]
) -> None:
    given = [np.asarray(each, np.float32) for each in arguments]
    recorded = record(function, *(Spec(each.shape, NAMES[each.dtype.name]) for each in given))
    named = {node.name: each for node, each in zip(recorded.inputs, given, strict=True)}
    exact, bounds = reference.evaluate(recorded, named), reference.bounds(recorded, named)
    for how in SCHEDULES:
        results = run(device, function, *arguments, schedule=how)
        for result, right, bound in zip(results, exact, bounds, strict=True):
            assert result.shape == right.shape
            assert result.dtype.kind == right.dtype.kind
            assert reference.max_scaled_error(result, right, bound) <= reference.MAX_SCALED_ERROR


def test_an_eager_array_in_several_buffers_is_computed_whole(device: Device) -> None:
    x = _x(600)
    (result,) = run(device, relu, x, 0.7, -0.2, schedule="eager", limits=SMALL)
    np.testing.assert_allclose(result, relu(x, np.float32(0.7), np.float32(-0.2)), rtol=1e-6, atol=1e-6)


def test_a_branch_goes_by_the_value(device: Device) -> None:
    def either(x: Any) -> Any:
        return x * 2.0 if np.max(x) > 1.0 else x - 1.0

    for top in (3.0, 0.5):
        x = np.array([0.0, top], np.float32)
        (result,) = run(device, either, x, schedule="eager")
        np.testing.assert_array_equal(result, either(x))
    for how in ("batched", "fused"):
        with pytest.raises(RecordError, match=r"a branch on array values cannot be recorded.* test_eager.py:\d+"):
            run(device, either, x, schedule=how)


def test_a_loop_runs_until_it_has_converged(device: Device) -> None:
    looked: list[float] = []

    def root(x: Any) -> Any:
        y = x
        while float(np.max(np.absolute(y * y - x))) > 1e-4:
            looked.append(float(y.max()))
            y = (y + x / y) * 0.5
        return y

    x = np.array([1.0, 2.0, 10.0, 50.0], np.float32)
    (result,) = run(device, root, x, schedule="eager")
    np.testing.assert_allclose(result, np.sqrt(x), rtol=1e-4)
    assert len(looked) > 3
    assert looked == sorted(looked, reverse=True)


def test_each_op_has_run_when_it_returns_by_a_kernel_and_a_submission_of_its_own(
    device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    submitted = _count_submissions(device, monkeypatch)
    with Eager(device) as eager:
        x = eager.array(_x(1000))
        product = x * 0.7
        assert (eager.kernels, len(submitted)) == (1, 1)
        total = product + -0.2
        assert (eager.kernels, len(submitted)) == (2, 2)
        np.maximum(total, 0.0)
        assert (eager.kernels, len(submitted)) == (3, 3)


def _count_submissions(device: Device, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """OpenGL has no submit; a flush is the nearest."""
    owner, name = (native, "flush") if device.info.interface == "opengl" else (GPUQueue, "submit")
    seen: list[int] = []
    real = getattr(owner, name)

    def counted(*arguments: Any) -> Any:
        seen.append(1)
        return real(*arguments)

    monkeypatch.setattr(owner, name, counted)
    return seen


@pytest.mark.parametrize(("function", "kernels"), [(relu, 3), (softmax, 5)])
def test_eager_runs_as_many_kernels_as_its_schedule_has(
    device: Device, function: Callable[..., Any], kernels: int
) -> None:
    with Eager(device) as eager:
        function(eager.array(_x(7, 33)), *([0.7, -0.2] if function is relu else []))
        assert eager.kernels == kernels


def test_views_run_nothing_and_are_seen_by_the_next_op(device: Device) -> None:
    x = _x(4, 6)
    with Eager(device) as eager:
        view = eager.array(x).T.reshape(3, 8)[:, None].transpose(2, 1, 0)
        assert (eager.kernels, eager.held_arrays) == (0, 1)
        expected = x.T.reshape(3, 8)[:, None].transpose(2, 1, 0)
        np.testing.assert_array_equal(np.asarray(view), expected)
        np.testing.assert_array_equal(np.asarray(view + view), expected + expected)
        assert eager.kernels == 1


def test_a_new_number_is_no_new_kernel(device: Device) -> None:
    with Eager(device) as eager:
        x = eager.array(_x(10))
        for step in range(20):
            x = x * (1.0 + step)
        assert len(eager._ops) == 1


@pytest.mark.parametrize("value", [float("inf"), float("-inf"), float("nan")])
def test_a_number_that_is_not_finite_may_come_of_an_earlier_op(device: Device, value: float) -> None:
    with Eager(device) as eager:
        x = eager.array(np.array([1.0, -2.0], np.float32))
        np.testing.assert_array_equal(np.asarray(x * value), np.asarray(x) * np.float32(value))
        np.testing.assert_array_equal(np.asarray(np.maximum(x, value)), np.maximum(np.asarray(x), np.float32(value)))


def test_an_error_is_raised_by_the_op_that_made_it_and_names_its_line(device: Device) -> None:
    with Eager(device) as eager:
        x, y = eager.array(_x(3)), eager.array(_x(4))
        line = 0
        with pytest.raises(RecordError, match=r"add: shapes \(3,\) and \(4,\) do not broadcast") as refusal:
            doubled = x * 2.0
            line = sys._getframe().f_lineno + 1
            x + y
        assert str(refusal.value).endswith(f"at test_eager.py:{line}")
        assert eager.kernels == 1
        np.testing.assert_array_equal(np.asarray(doubled), np.asarray(x) * 2)
        for unknown in (lambda: np.fft.fft(x), lambda: np.cbrt(x), lambda: x.astype(np.float64), lambda: x + _x(3)):
            with pytest.raises(RecordError, match=r"test_eager.py:\d+"):
                unknown()
        with pytest.raises(RecordError, match="add with out: not in the vocabulary"):
            x += 1.0


def test_an_op_without_room_raises_there_and_leaves_nothing_behind(
    device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Eager(device) as eager:
        x = eager.array(_x(1000))
        monkeypatch.setattr(checks, "host_bytes_available", lambda: 1000)
        if device.info.is_software:
            with pytest.raises(
                AllocationError, match=r"eager/add of \(1000,\): the device has no room for 4,000 bytes"
            ):
                x + 1.0
        assert eager.held_arrays == 1


def test_single_values_are_read_as_numbers_and_more_are_refused(device: Device) -> None:
    with Eager(device) as eager:
        x = eager.array(np.array([[2.0]], np.float32))
        n = eager.array(np.array(3, np.int32))
        assert (float(x), int(x), bool(x), bool(x < 1.0), int(n), list(range(n))) == (2.0, 2, True, False, 3, [0, 1, 2])
        assert (x.shape, x.ndim, x.size, len(x), x.dtype, (x > 1.0).dtype) == ((1, 1), 2, 1, 1, np.float32, np.bool_)
        assert repr(n) == "EagerArray(array(3, dtype=int32))"
        assert float(np.asarray(n, np.float64)) == 3.0
        with pytest.raises(ValueError, match=r"2 values where one is needed; reduce them to one, as np.max does"):
            bool(eager.array(_x(2)) > 0.0)
        with pytest.raises(TypeError, match="a float32 is no index; cast it with int"):
            range(x)
        with pytest.raises(ValueError, match="read back as a copy"):
            np.asarray(x, copy=False)


def test_arrays_of_two_owners_do_not_meet(device: Device) -> None:
    with Eager(device) as one, Eager(device) as other, pytest.raises(ValueError, match="arrays of two Eagers"):
        one.array(_x(3)) + other.array(_x(3))


def test_an_array_is_given_back_when_nothing_refers_to_it(device: Device) -> None:
    with Eager(device) as eager:
        x = eager.array(_x(100))
        turned = (x + 1.0).reshape(10, 10).T
        gc.collect()
        assert eager.held_arrays == 2
        del x
        assert eager.held_arrays == 1
        assert np.asarray(turned).shape == (10, 10)
        del turned
        assert eager.held_arrays == 0


def test_after_its_owner_gave_everything_back_an_array_says_so(device: Device) -> None:
    with Eager(device) as eager:
        x = eager.array(_x(100))
    with pytest.raises(ValueError, match="eager/array: was given back with its Eager; read it before"):
        np.asarray(x)
    with pytest.raises(ValueError, match="was released"):
        x + 1.0


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_two_hundred_runs_hold_no_more_than_one(device: Device) -> None:
    x = _x(100_000)
    before = 0
    with Eager(device) as eager:
        for round_ in range(220):
            if round_ == 20:
                before = _resident_bytes()
            result = relu(eager.array(x), 0.7, float(round_))
            assert eager.held_arrays <= 4
        device.finish()
        assert np.asarray(result).shape == x.shape
    assert _resident_bytes() - before < 32 << 20  # 200 times four arrays of 0.4 MB are 320 MB


def _resident_bytes() -> int:
    pages = Path("/proc/self/statm").read_text().split()[1]
    return int(pages) * 4096
