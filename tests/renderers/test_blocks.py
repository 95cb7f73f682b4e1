"""Every dispatch and scene pass has uniform bytes of its own, so that no write of a frame overtakes another."""

import struct

import pytest

from compute.kernel import (
    Argument,
    ArgumentError,
    ComputePass,
    Dispatch,
    FrameValue,
    Kernel,
    Scalar,
    ScalarParam,
    ScalarType,
    Work,
)
from renderers.blocks import BLOCK_ALIGNMENT_BYTES, FrameBlocks
from renderers.camera import frame_values
from renderers.plan import Plan
from renderers.scene import field


def _dispatch(*arguments: Argument, types: tuple[ScalarType, ...] = ("f32",)) -> Dispatch:
    params = tuple(ScalarParam(f"s{i}", type_) for i, type_ in enumerate(types))
    return Dispatch(Kernel("scale", params, "", "", (1, 1, 1)), arguments, (1, 1, 1), Work(0, 0, 0))


def _blocks(*dispatches: Dispatch) -> FrameBlocks:
    return FrameBlocks(Plan((ComputePass("compute", dispatches, len(dispatches)),), ()))


def _bytes_of(blocks: FrameBlocks, dispatch: Dispatch, values: dict[str, Scalar]) -> bytes:
    part = blocks.range_of(dispatch)
    assert part is not None
    return blocks.pack(values)[part.offset : part.offset + part.size]


def test_two_launches_of_one_kernel_keep_their_own_arguments() -> None:
    one, two = _dispatch(1.0), _dispatch(2.0)
    blocks = _blocks(one, two)
    assert [struct.unpack_from("<f", _bytes_of(blocks, each, {})) for each in (one, two)] == [(1.0,), (2.0,)]


def test_every_range_starts_at_its_own_256_bytes() -> None:
    dispatches = [_dispatch(float(i)) for i in range(5)]
    blocks = _blocks(*dispatches)
    ranges = [blocks.range_of(each) for each in dispatches]
    assert [each and (each.offset, each.size) for each in ranges] == [(256 * i, 16) for i in range(5)]
    assert blocks.size == len(blocks.pack({})) == 5 * BLOCK_ALIGNMENT_BYTES


def test_a_block_larger_than_the_alignment_does_not_reach_into_the_next() -> None:
    large = _dispatch(*[(float(i),) * 16 for i in range(5)], types=("mat4f",) * 5)
    small = _dispatch(7.0)
    part = _blocks(large, small).range_of(small)
    assert part is not None
    assert part.offset == 2 * BLOCK_ALIGNMENT_BYTES


def test_values_of_the_frame_are_filled_in_anew_each_time() -> None:
    dispatch = _dispatch(FrameValue("time"))
    blocks = _blocks(dispatch)
    for time in (0.5, 0.25):
        assert struct.unpack_from("<f", _bytes_of(blocks, dispatch, {"time": time})) == (time,)


def test_what_takes_no_scalars_has_no_range() -> None:
    dispatch = _dispatch(types=())
    blocks = _blocks(dispatch)
    assert blocks.range_of(dispatch) is None
    assert (blocks.size, blocks.pack({})) == (0, b"")


def test_a_value_that_is_missing_is_refused_by_name_with_what_came() -> None:
    blocks = _blocks(_dispatch(FrameValue("gain")))
    with pytest.raises(ArgumentError, match=r"frame value 'gain' is missing; execute\(\) got a, b"):
        blocks.pack({"b": 1.0, "a": 2.0})


def test_a_value_that_does_not_fit_is_refused_with_the_parameter() -> None:
    blocks = _blocks(_dispatch(FrameValue("gain")))
    with pytest.raises(ArgumentError, match="s0: f32 takes 1 numbers, got 2"):
        blocks.pack({"gain": (1.0, 2.0)})


def test_a_scene_pass_has_the_values_that_all_its_objects_share() -> None:
    scene = field(3).draw_pass("heights")
    blocks = FrameBlocks(Plan((scene,), ()))
    values = frame_values(1.5, (640, 360), shader_cost=9)
    part = blocks.range_of(scene)
    assert part is not None
    numbers = struct.unpack_from("<16ffI", blocks.pack(values), part.offset)
    assert numbers[:16] == pytest.approx(values["view_projection"], rel=1e-6)
    assert numbers[16:] == (1.5, 9)
