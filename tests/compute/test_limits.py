"""A launch beyond a device's limits is refused with both numbers and the way out, whatever the driver would notice."""

from dataclasses import replace

import pytest

from compute.handwritten import Tile, handwritten
from compute.kernel import FLOOR, Access, ArgumentError, BufferParam, Dispatch, Kernel, LimitError, ScalarParam, Work
from compute.limits import check_dispatch, check_kernel


def _kernel(buffers: int = 1, size: tuple[int, int, int] = (64, 1, 1), tile: int = 1) -> Kernel:
    params = tuple(BufferParam(f"b{i}", Access.READ) for i in range(buffers))
    return handwritten("k", params, glsl="", wgsl="", workgroup_size=size, tiles=(Tile("t", tile),))


def test_everything_at_its_limit_is_let_through() -> None:
    check_kernel(_kernel(8, (4, 1, 64), 4096), FLOOR)
    check_kernel(_kernel(8, (256, 1, 1), 4096), FLOOR)


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (_kernel(9), r"k: 9 buffers \(b0, .*, b8\) exceed this device's 8 per stage; split the function"),
        (
            _kernel(size=(257, 1, 1)),
            "k: a workgroup of 257 invocations exceeds this device's 256; lower workgroup_size",
        ),
        (_kernel(size=(16, 16, 2)), "k: a workgroup of 512 invocations exceeds this device's 256"),
        (_kernel(size=(1, 1, 65)), r"k: a workgroup of \(1, 1, 65\) exceeds this device's \(256, 256, 64\); lower"),
        (_kernel(tile=4097), "k: 16,388 bytes of workgroup memory exceed this device's 16,384; use smaller tiles"),
    ],
    ids=["buffers", "invocations", "product", "axis", "memory"],
)
def test_a_kernel_beyond_a_limit_is_refused(kernel: Kernel, message: str) -> None:
    with pytest.raises(LimitError, match=message):
        check_kernel(kernel, FLOOR)


@pytest.mark.parametrize("axis", range(3))
def test_workgroups_beyond_an_axis_are_refused_on_every_axis(axis: int) -> None:
    most = tuple(65_535 if i == axis else 1 for i in range(3))
    launch = Dispatch(_kernel(), ("x",), most, Work(0, 0, 0))  # type: ignore[arg-type]
    check_dispatch(launch, {}, FLOOR)
    beyond = replace(launch, workgroups=tuple(count + (count > 1) for count in most))  # type: ignore[arg-type]
    with pytest.raises(LimitError, match=r"k: \(.*65536.*\) workgroups exceed this device's 65,535 on an axis; spread"):
        check_dispatch(beyond, {}, FLOOR)


def test_a_buffer_beyond_one_binding_is_refused_by_the_parameters_name() -> None:
    launch = Dispatch(_kernel(), ("x",), (1, 1, 1), Work(0, 0, 0))
    check_dispatch(launch, {"x": 134_217_728}, FLOOR)
    with pytest.raises(LimitError, match="k: b0: 134,217,732 bytes exceed this device's 134,217,728 of one binding"):
        check_dispatch(launch, {"x": 134_217_732}, FLOOR)


def test_a_dispatch_with_too_few_or_too_many_arguments_shows_the_signature() -> None:
    for arguments in ((), ("x", 1.0)):
        with pytest.raises(
            ArgumentError, match=r"k: takes 1 arguments, got \d; pass one for each of \(b0: read f32\[\]\)"
        ):
            Dispatch(_kernel(), arguments, (1, 1, 1), Work(0, 0, 0))


def test_a_dispatch_with_a_buffer_for_a_scalar_or_the_reverse_is_refused() -> None:
    """Else the argument would be left out, and all behind it would move up."""
    kernel = handwritten("k", (BufferParam("b", Access.READ), ScalarParam("s")), glsl="", wgsl="")
    with pytest.raises(
        ArgumentError, match=r"k: b: read f32\[\] takes the name of a buffer, got 1.0; pass arguments in"
    ):
        Dispatch(kernel, (1.0, 1.0), (1, 1, 1), Work(0, 0, 0))
    with pytest.raises(ArgumentError, match="k: s: f32 takes a number or a frame value, got 'y'; pass arguments in"):
        Dispatch(kernel, ("x", "y"), (1, 1, 1), Work(0, 0, 0))
