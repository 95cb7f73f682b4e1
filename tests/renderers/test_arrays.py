"""Logical arrays over several chunks: what each chunk holds, what may be uploaded, what a read takes from where."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from compute.kernel import ArraySpec
from renderers.arrays import check_upload, chunk_reads, chunk_slices

# 10 elements in chunks of 4, 4 and 2, the last of them padded to 16 bytes.
SPEC = ArraySpec((2, 5), "f32", (("x[0]", 16), ("x[1]", 16), ("x[2]", 16)))


def test_chunks_hold_consecutive_elements_and_padding_belongs_to_none() -> None:
    assert chunk_slices(SPEC) == [slice(0, 4), slice(4, 8), slice(8, 10)]


@pytest.mark.parametrize("first", range(11))
@pytest.mark.parametrize("count", [None, 0, 1, 2, 4, 5, 9, 100])
def test_a_read_takes_exactly_the_elements_asked_for_from_whichever_chunks_hold_them(
    first: int, count: int | None
) -> None:
    flat = np.arange(10, dtype=np.float32)
    chunks = {name: flat[part] for (name, _), part in zip(SPEC.chunks, chunk_slices(SPEC), strict=True)}
    parts = [chunks[name].tobytes()[offset : offset + size] for name, offset, size in chunk_reads(SPEC, first, count)]
    expected = flat[first:] if count is None else flat[first : first + count]
    assert b"".join(parts) == expected.tobytes()


def test_a_read_touches_no_chunk_in_vain() -> None:
    assert chunk_reads(SPEC, 5, 2) == [("x[1]", 4, 8)]


def test_an_upload_is_flat_and_contiguous_in_c_order() -> None:
    data = np.arange(10, dtype=np.float32).reshape(5, 2).T
    flat = check_upload("x", SPEC, data)
    assert flat.flags.c_contiguous
    assert flat.tolist() == [0.0, 2.0, 4.0, 6.0, 8.0, 1.0, 3.0, 5.0, 7.0, 9.0]


@pytest.mark.parametrize(
    "data",
    [np.zeros((2, 5)), np.zeros((2, 5), np.int32), np.zeros(10, np.float32), np.zeros((5, 2), np.float32)],
    ids=["float64", "int32", "flat", "turned"],
)
def test_data_of_another_shape_or_type_is_refused_with_both(data: npt.NDArray[Any]) -> None:
    with pytest.raises(ValueError, match=r"^x: takes \(2, 5\) of float32, got ") as refusal:
        check_upload("x", SPEC, data)
    assert str(refusal.value).endswith(f"got {data.shape} of {data.dtype}")


def test_integers_are_taken_where_the_array_holds_integers() -> None:
    spec = ArraySpec((3,), "u32", (("i[0]", 16),))
    assert check_upload("i", spec, np.array([1, 2, 3], np.uint32)).tolist() == [1, 2, 3]
