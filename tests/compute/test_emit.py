"""Kernel text in both languages. The golden files are what a reader sees first: change them on purpose only."""

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from compute.helpers import LANGUAGES, Language
from compute.kernel import How, Kernel, KernelShape
from compute.ops import OPS
from compute.record import Recorded, Spec, record
from compute.schedule import schedule
from compute.workloads.elementwise import record_wave, total, wave

GOLDEN = Path(__file__).parent / "golden"
ARRAY, INTS, TABLE = Spec((1_000,)), Spec((1_000,), "i32"), Spec((5, 6))


def _kernel(recorded: Recorded, how: How = "fused", number: int = 0, shape: KernelShape = KernelShape()) -> Kernel:
    passes = schedule(recorded, how, shape=shape).passes
    return [dispatch.kernel for each in passes for dispatch in each.dispatches][number]


def _softmax(x: Any) -> Any:
    e = np.exp(x - np.max(x, axis=1, keepdims=True))
    return e / np.sum(e, axis=1, keepdims=True)


GOLDEN_KERNELS: dict[str, Callable[[], Kernel]] = {
    "wave_fused": lambda: _kernel(record_wave(1_000)),
    "wave_eager_multiply": lambda: _kernel(record_wave(1_000), "eager"),
    "wave_in_place": lambda: _kernel(record(wave, Spec((1_000,), overwrite=True), Spec(), Spec())),
    "where_compare": lambda: _kernel(record(lambda x, y: np.where((x < y) & (x != 0.5), x, -y), ARRAY, ARRAY)),
    "clip": lambda: _kernel(record(lambda x, high: np.clip(x, -1.0, high), ARRAY, Spec())),
    "integers": lambda: _kernel(record(lambda i, j: np.minimum(i * 3 - j, -7), INTS, INTS)),
    "cast": lambda: _kernel(record(lambda x: x.astype(np.int32), ARRAY)),
    "store_bool": lambda: _kernel(record(lambda x: x > 0.0, ARRAY)),
    "load_bool": lambda: _kernel(record(lambda c, x: np.where(c, x, 0.0), Spec((1_000,), "bool"), ARRAY)),
    "broadcast_row": lambda: _kernel(record(lambda x, row: x * row, TABLE, Spec((6,)))),
    "broadcast_column": lambda: _kernel(record(lambda x, column: x + column, TABLE, Spec((5, 1)))),
    "transpose": lambda: _kernel(record(lambda x: x.T * 2.0, TABLE)),
    "softmax_sum": lambda: _kernel(record(_softmax, Spec((8, 64))), number=1),
    "sum_in_parts": lambda: _kernel(record(total, Spec((100_003,)), Spec(), Spec())),
    "max_in_parts_of_columns": lambda: _kernel(record(lambda x: np.max(x, axis=0), Spec((1_001, 3)))),
    "matmul": lambda: _kernel(record(lambda a, b: a @ b, Spec((3, 4)), Spec((4, 5)))),
    "matmul_transposed": lambda: _kernel(record(lambda q, k: q @ k.T, Spec((3, 4)), Spec((5, 4)))),
}


def _text(kernel: Kernel, language: Language) -> str:
    return kernel.glsl if language == "glsl" else kernel.wgsl


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", GOLDEN_KERNELS)
def test_the_text_of_a_kernel_is_the_golden_text(name: str, language: Language) -> None:
    """REWRITE_GOLDEN=1 writes what is emitted now: read the difference as a person would before you keep it."""
    text, file = _text(GOLDEN_KERNELS[name](), language), GOLDEN / f"{name}.{language}"
    if "REWRITE_GOLDEN" in os.environ:
        file.write_text(text)
    assert text == file.read_text()


def test_every_golden_file_belongs_to_a_kernel() -> None:
    expected = {f"{name}.{language}" for name in GOLDEN_KERNELS for language in LANGUAGES}
    assert {file.name for file in GOLDEN.iterdir()} == expected


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_text_does_not_depend_on_the_number_of_elements(language: Language) -> None:
    assert _text(_kernel(record_wave(7)), language) == _text(_kernel(record_wave(100_000_000)), language)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_shared_subexpression_is_computed_once(language: Language) -> None:
    def square(x: Any, a: Any) -> Any:
        y = x * a + 1.0
        return y * y

    text = _text(_kernel(record(square, ARRAY, Spec())), language)
    assert text.count("p_x[i]") == 1
    assert len(re.findall(r"v\d+ = v\d+ \+ ", text)) == 1


@pytest.mark.parametrize("language", LANGUAGES)
def test_buffers_are_numbered_in_declared_order_without_gaps(language: Language) -> None:
    kernel = _kernel(record(lambda x, a, y: (x * a, y * a), ARRAY, Spec(), ARRAY))
    pattern = r"binding = (\d)\) restrict" if language == "glsl" else r"@binding\((\d)\) var<storage"
    assert re.findall(pattern, _text(kernel, language)) == ["0", "1", "2", "3"]


def test_scalars_follow_the_last_buffer_in_wgsl_and_have_their_own_numbering_in_glsl() -> None:
    kernel = _kernel(record_wave(8))
    assert "@group(0) @binding(2) var<uniform>" in kernel.wgsl
    assert "layout(std140, binding = 0) uniform" in kernel.glsl


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_kernel_without_scalars_declares_no_uniform_block(language: Language) -> None:
    assert "uniform" not in _text(_kernel(record(lambda x: x + 1.0, ARRAY)), language)


@pytest.mark.parametrize("language", LANGUAGES)
def test_an_inputs_name_cannot_be_a_keyword(language: Language) -> None:
    text = _text(_kernel(record(eval("lambda uniform, var: uniform * var"), ARRAY, Spec())), language)
    assert "p_uniform[i]" in text
    assert "scalars.p_var" in text


@pytest.mark.parametrize("name", ["_x", "x__y", "größe"])
def test_any_python_name_becomes_a_name_that_glsl_takes(name: str) -> None:
    text = _kernel(record(eval(f"lambda {name}: -{name}"), ARRAY)).glsl
    assert text.isascii()
    assert "__" not in text  # GLSL reserves two underscores in a row


@pytest.mark.parametrize("op", OPS)
def test_every_op_has_a_text_for_both_languages_that_uses_each_operand(op: str) -> None:
    row, operands = OPS[op], ("one", "two", "three")
    for template in (row.glsl, row.wgsl):
        text = template.format(*operands)
        assert [name in text for name in operands] == [number < row.arity for number in range(3)]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("value", [1.0, -0.5, 1e-7, 3.0e38, 3])
def test_a_constant_is_written_as_a_float_that_reads_back_the_same(language: Language, value: float) -> None:
    kernel = _kernel(record(lambda x: x * value, ARRAY))
    (written,) = re.findall(r"\* vec4f?\(([^)]*)\)", _text(kernel, language))
    assert "." in written or "e" in written
    assert float(written) == pytest.approx(value, rel=1e-7)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_shape_decides_workgroup_size_and_vectors_per_invocation(language: Language) -> None:
    kernel = _kernel(record_wave(8), shape=KernelShape(workgroup_size=64, vectors_per_invocation=2))
    text = _text(kernel, language)
    assert kernel.workgroup_size == (64, 1, 1)
    assert ("local_size_x = 64" if language == "glsl" else "@workgroup_size(64)") in text
    assert "min(first + 2u, " in text


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_kernels_own_scalars_cannot_be_mistaken_for_an_arguments(language: Language) -> None:
    function = eval("lambda x, count, place: (x * count * place).sum()")
    text = _text(_kernel(record(function, Spec((1_003,)), Spec(), Spec())), language)
    assert all(f"scalars.{name}" in text for name in ("p_count", "p_place", "count"))


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("value", [-(2**31), -1, 2**31 - 1])
def test_an_integer_constant_is_written_so_that_it_fits_its_type(language: Language, value: int) -> None:
    text = _text(_kernel(record(lambda i: i + value, INTS)), language)
    (written,) = re.findall(r"v0 \+ i?vec4i?\((.*)\);", text)
    assert eval(written) == value


@pytest.mark.parametrize("language", LANGUAGES)
def test_an_array_called_like_a_vector_type_does_not_change_how_a_kernel_goes_through_it(language: Language) -> None:
    made = schedule(record(eval("lambda vec4: vec4.T + 1.0"), Spec((100, 90))), "fused")
    (dispatch,) = made.passes[0].dispatches
    assert "p_vec4[at0]" in _text(dispatch.kernel, language)
    assert dispatch.workgroups == (-(-9_000 // (256 * 4)), 1, 1)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_helper_is_declared_once_whatever_it_is_used_for(language: Language) -> None:
    def unequal(x: Any, i: Any) -> Any:
        return ~((x != 1.0) & (i != 1) | (x < 0.5) & (i < 1))

    text = _text(_kernel(record(unequal, ARRAY, INTS)), language)
    declared = re.findall(r"^fn (\w+)\(" if language == "wgsl" else r"^\w+ (\w+\([^)]*)\) \{ return", text, re.M)
    assert len(declared) == len(set(declared)) > 0
