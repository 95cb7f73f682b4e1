"""Kernel text in both languages. The golden files are what a reader sees first: change them on purpose only."""

import re
from pathlib import Path
from typing import Any

import pytest

from compute.emit import Language
from compute.kernel import Kernel, KernelShape
from compute.ops import OPS
from compute.record import Recorded, Spec, record
from compute.schedule import schedule
from compute.workloads.elementwise import record_wave

GOLDEN = Path(__file__).parent / "golden"
LANGUAGES: tuple[Language, ...] = ("glsl", "wgsl")
ARRAY = Spec((8,))


def _fused(recorded: Recorded, shape: KernelShape = KernelShape()) -> Kernel:
    return schedule(recorded, "fused", shape=shape).passes[0].dispatches[0].kernel


def _text(kernel: Kernel, language: Language) -> str:
    return kernel.glsl if language == "glsl" else kernel.wgsl


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_fused_wave_is_the_golden_text(language: Language) -> None:
    assert _text(_fused(record_wave(1_000)), language) == (GOLDEN / f"wave_fused.{language}").read_text()


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_text_does_not_depend_on_the_number_of_elements(language: Language) -> None:
    assert _text(_fused(record_wave(7)), language) == _text(_fused(record_wave(100_000_000)), language)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_shared_subexpression_is_computed_once(language: Language) -> None:
    def square(x: Any, a: Any) -> Any:
        y = x * a + 1.0
        return y * y

    text = _text(_fused(record(square, ARRAY, Spec())), language)
    assert text.count("p_x[i]") == 1
    assert len(re.findall(r"v\d+ = \(v\d+ \+ ", text)) == 1


@pytest.mark.parametrize("language", LANGUAGES)
def test_buffers_are_numbered_in_declared_order_without_gaps(language: Language) -> None:
    kernel = _fused(record(lambda x, a, y: (x * a, y * a), ARRAY, Spec(), ARRAY))
    pattern = r"binding = (\d)\) restrict" if language == "glsl" else r"@binding\((\d)\) var<storage"
    assert re.findall(pattern, _text(kernel, language)) == ["0", "1", "2", "3"]


def test_scalars_follow_the_last_buffer_in_wgsl_and_have_their_own_numbering_in_glsl() -> None:
    kernel = _fused(record_wave(8))
    assert "@group(0) @binding(2) var<uniform>" in kernel.wgsl
    assert "layout(std140, binding = 0) uniform" in kernel.glsl


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_kernel_without_scalars_declares_no_uniform_block(language: Language) -> None:
    assert "uniform" not in _text(_fused(record(lambda x: x + 1.0, ARRAY)), language)


@pytest.mark.parametrize("language", LANGUAGES)
def test_an_inputs_name_cannot_be_a_keyword(language: Language) -> None:
    text = _text(_fused(record(eval("lambda uniform, var: uniform * var"), ARRAY, Spec())), language)
    assert "p_uniform[i]" in text
    assert "scalars.p_var" in text


@pytest.mark.parametrize("name", ["_x", "x__y", "größe"])
def test_any_python_name_becomes_a_name_that_glsl_takes(name: str) -> None:
    text = _fused(record(eval(f"lambda {name}: -{name}"), ARRAY)).glsl
    assert text.isascii()
    assert "__" not in text  # GLSL reserves two underscores in a row


@pytest.mark.parametrize("op", OPS)
def test_every_op_has_a_text_for_both_languages_that_uses_each_operand(op: str) -> None:
    row = OPS[op]
    for template in (row.glsl, row.wgsl):
        text = template.format("left", "right")
        assert [name in text for name in ("left", "right")] == [True, row.ufunc.nin == 2]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("value", [1.0, -0.5, 1e-7, 3.0e38, 3])
def test_a_constant_is_written_as_a_float_that_reads_back_the_same(language: Language, value: float) -> None:
    kernel = _fused(record(lambda x: x * value, ARRAY))
    (written,) = re.findall(r"\* vec4f?\(([^)]*)\)", _text(kernel, language))
    assert "." in written or "e" in written
    assert float(written) == pytest.approx(value, rel=1e-7)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_shape_decides_workgroup_size_and_vectors_per_invocation(language: Language) -> None:
    kernel = _fused(record_wave(8), KernelShape(workgroup_size=64, vectors_per_invocation=2))
    text = _text(kernel, language)
    assert kernel.workgroup_size == (64, 1, 1)
    assert ("local_size_x = 64" if language == "glsl" else "@workgroup_size(64)") in text
    assert "min(first + 2u, " in text
