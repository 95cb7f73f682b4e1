"""Scalars become the bytes that GLSL std140 and WGSL uniform blocks both read."""

import struct
from itertools import permutations

import pytest

from compute.kernel import ArgumentError, Scalar, ScalarParam, ScalarType
from compute.packing import block

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
    with pytest.raises(ArgumentError, match=rf"^offset: {type_} takes \d+ numbers, got \d+ \(.*\); pass "):
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
    assert str(refusal.value).startswith(f"gain: {value!r} is no {type_}; pass ")


def test_a_refusal_says_which_values_the_type_has() -> None:
    with pytest.raises(ArgumentError) as refusal:
        block([N]).pack([-1])
    assert str(refusal.value) == "n: -1 is no u32; pass a whole number from 0 to 4,294,967,295"


def test_infinities_and_nan_travel_as_arguments() -> None:
    """WGSL refuses them as constants."""
    packed = block([K, ScalarParam("v", "vec2f")]).pack([float("inf"), (float("-inf"), float("nan"))])
    assert packed.hex(" ", 4) == "0000807f 00000000 000080ff 0000c07f"


# In 32-bit words; n is 7, k 0.5, off (1, 2, 3), z -2.
_WORDS = {"n": "07000000", "k": "0000003f", "x": "0000803f", "y": "00000040", "w": "00004040", "z": "000000c0"}


@pytest.mark.parametrize(
    ("order", "words"),
    [
        ((N, K, OFF, Z), "n k . . x y w z"),
        ((OFF, Z, N, K), "x y w z n k . ."),
        ((OFF, N, K, Z), "x y w n k z . ."),
        ((N, OFF, K, Z), "n . . . x y w k z . . ."),
        ((K, Z, N, OFF), "k z n . x y w ."),
        ((N, K, Z, OFF), "n k z . x y w ."),
    ],
    ids=lambda value: "".join(param.name for param in value) if isinstance(value, tuple) else "",
)
def test_packed_bytes_are_these(order: tuple[ScalarParam, ...], words: str) -> None:
    packed = block(order).pack([VALUES[param] for param in order])
    assert packed.hex(" ", 4) == " ".join(_WORDS.get(word, "00000000") for word in words.split())


def test_twelve_floats_are_packed_without_gaps_and_three_vec3_are_not() -> None:
    """Elements of 12 bytes stand 16 apart: floats that are meant as vectors must be declared as vectors."""
    numbers = tuple(float(i) for i in range(12))
    floats = block([ScalarParam(f"s{i}") for i in range(12)])
    vectors = block([ScalarParam(f"v{i}", "vec3f") for i in range(4)])
    assert (floats.size, vectors.size) == (48, 64)
    assert floats.pack(numbers) == _f32(*numbers)
    gaps = [value for i in range(0, 12, 3) for value in (*numbers[i : i + 3], 0.0)]
    assert vectors.pack([numbers[i : i + 3] for i in range(0, 12, 3)]) == _f32(*gaps)
