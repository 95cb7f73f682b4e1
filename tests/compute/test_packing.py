"""Scalars become the bytes that GLSL std140 and WGSL uniform blocks both read."""

import struct
from itertools import permutations

import pytest

from compute.kernel import Scalar, ScalarParam, ScalarType
from compute.packing import ArgumentError, block

N, K, OFF, Z = (
    ScalarParam("n", "u32"),
    ScalarParam("k"),
    ScalarParam("off", "vec3f"),
    ScalarParam("z"),
)
VALUES: dict[ScalarParam, Scalar] = {N: 7, K: 0.5, OFF: (1.0, 2.0, 3.0), Z: -2.0}


def _f32(*values: float) -> bytes:
    return struct.pack(f"<{len(values)}f", *values)


def test_a_scalar_stands_in_the_tail_of_a_vec3() -> None:
    assert block([OFF, Z]).pack([(1.0, 2.0, 3.0), -2.0]) == _f32(1.0, 2.0, 3.0, -2.0)


def test_a_vec3_behind_a_scalar_starts_at_16_bytes() -> None:
    assert block([Z, OFF]).pack([-2.0, (1.0, 2.0, 3.0)]) == _f32(-2.0, 0, 0, 0, 1.0, 2.0, 3.0, 0)


def test_a_vec2_starts_at_a_multiple_of_8_bytes() -> None:
    params = [K, ScalarParam("v", "vec2f"), Z]
    assert block(params).pack([0.5, (1.0, 2.0), -2.0]) == _f32(0.5, 0, 1.0, 2.0, -2.0, 0, 0, 0)


def test_a_matrix_is_64_bytes_at_a_multiple_of_16() -> None:
    numbers = tuple(float(i) for i in range(16))
    assert block([K, ScalarParam("m", "mat4f")]).pack([0.5, numbers]) == _f32(0.5, 0, 0, 0, *numbers)


def test_integers_keep_their_bits() -> None:
    params = [ScalarParam("u", "u32"), ScalarParam("i", "i32")]
    assert block(params).pack([2**32 - 1, -(2**31)]) == struct.pack("<Iixxxxxxxx", 2**32 - 1, -(2**31))


@pytest.mark.parametrize("order", list(permutations((N, K, OFF, Z))), ids=lambda order: "".join(p.name for p in order))
def test_every_order_of_the_same_scalars_places_each_where_its_alignment_says(order: tuple[ScalarParam, ...]) -> None:
    packed, offset = block(order).pack([VALUES[param] for param in order]), 0
    for param in order:
        if param is OFF:
            offset += -offset % 16
            assert packed[offset : offset + 12] == _f32(1.0, 2.0, 3.0)
            offset += 12
        else:
            code = "<I" if param is N else "<f"
            assert struct.unpack_from(code, packed, offset) == (VALUES[param],)
            offset += 4
    assert len(packed) == offset + -offset % 16


@pytest.mark.parametrize(("scalars", "size"), [(0, 0), (1, 16), (4, 16), (5, 32), (9, 48)])
def test_a_block_is_rounded_to_16_bytes(scalars: int, size: int) -> None:
    layout = block([ScalarParam(f"s{i}") for i in range(scalars)])
    assert layout.size == len(layout.pack([0.0] * scalars)) == size


@pytest.mark.parametrize("values", [[], [1], [1, 2.0, 3.0]])
def test_a_wrong_number_of_arguments_is_refused_with_the_names(values: list[Scalar]) -> None:
    with pytest.raises(ArgumentError, match=rf"2 scalars expected \(n, k\), got {len(values)}"):
        block([N, K]).pack(values)


@pytest.mark.parametrize(
    ("type_", "value"),
    [("vec3f", (1.0, 2.0)), ("vec2f", (1.0, 2.0, 3.0)), ("vec4f", 1.0), ("f32", (1.0, 2.0)), ("mat4f", (0.0,) * 15)],
)
def test_a_wrong_number_of_components_is_refused_with_the_parameter(type_: ScalarType, value: Scalar) -> None:
    with pytest.raises(ArgumentError, match=rf"^offset: {type_} takes \d+ numbers, got \d+$"):
        block([ScalarParam("offset", type_)]).pack([value])


@pytest.mark.parametrize(
    ("type_", "value"),
    [("u32", -1), ("u32", 2**32), ("u32", 1.5), ("i32", 2**31), ("i32", 0.0), ("f32", 1e39), ("f32", "1"),
     ("vec2f", (0.0, 1e39)), ("vec2f", (0.0, None))],
)  # fmt: skip
def test_a_value_out_of_its_types_range_is_refused_with_parameter_type_and_value(
    type_: ScalarType, value: Scalar
) -> None:
    with pytest.raises(ArgumentError) as refusal:
        block([ScalarParam("gain", type_)]).pack([value])
    assert str(refusal.value).startswith(f"gain: {value!r} is no {type_}")
