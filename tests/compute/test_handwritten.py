"""Kernels from bodies that a person wrote: declared once, said in two languages, refused before a driver sees them."""

import pytest

from compute.handwritten import Tile, handwritten
from compute.kernel import Access, ArgumentError, BufferParam, Kernel, Param, ScalarParam

OUT, INP = BufferParam("out", Access.WRITE), BufferParam("inp", Access.READ)
N, K = ScalarParam("n", "u32"), ScalarParam("k")


def _kernel(params: tuple[Param, ...] = (OUT, N, INP, K), glsl: str = "", wgsl: str = "") -> Kernel:
    return handwritten("scale", params, glsl=glsl, wgsl=wgsl)


def test_the_text_is_what_a_person_would_have_written() -> None:
    kernel = handwritten(
        "blend",
        (OUT, N, INP, K, ScalarParam("m", "mat4f")),
        glsl="tile[i] = 0.0;\nif (i < n) out[i] = inp[i] * k + m[0].x;",
        wgsl="tile[i] = 0.0;\nif (i < n) { out[i] = inp[i] * k + m[0].x; }",
        workgroup_size=(8, 4, 2),
        tiles=(Tile("tile", 64),),
    )
    assert kernel.workgroup_bytes == 256
    assert kernel.glsl == (
        """#version 430
layout(local_size_x = 8, local_size_y = 4, local_size_z = 2) in;
layout(std430, binding = 0) restrict writeonly buffer B0 { float p_out[]; };
layout(std430, binding = 1) restrict readonly buffer B1 { float p_inp[]; };
layout(std140, binding = 0) uniform Scalars { uint p_n; float p_k; mat4 p_m; } scalars;
shared float p_tile[64];
void main() {
    uvec3 workgroup = gl_WorkGroupID, workgroups = gl_NumWorkGroups, invocation = gl_LocalInvocationID;
    uint group = (workgroup.z * workgroups.y + workgroup.y) * workgroups.x + workgroup.x;
    uint i = group * 64u + gl_LocalInvocationIndex;
    p_tile[i] = 0.0;
    if (i < scalars.p_n) p_out[i] = p_inp[i] * scalars.p_k + scalars.p_m[0].x;
}
"""
    )
    assert kernel.wgsl == (
        """@group(0) @binding(0) var<storage, read_write> p_out: array<f32>;
@group(0) @binding(1) var<storage, read> p_inp: array<f32>;
struct Scalars { p_n: u32, p_k: f32, p_m: mat4x4f }
@group(0) @binding(2) var<uniform> scalars: Scalars;
var<workgroup> p_tile: array<f32, 64>;
@compute @workgroup_size(8, 4, 2)
fn main(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) workgroups: vec3u,
        @builtin(local_invocation_id) invocation: vec3u, @builtin(local_invocation_index) index: u32) {
    let group = (workgroup.z * workgroups.y + workgroup.y) * workgroups.x + workgroup.x;
    let i = group * 64u + index;
    p_tile[i] = 0.0;
    if (i < scalars.p_n) { p_out[i] = p_inp[i] * scalars.p_k + scalars.p_m[0].x; }
}
"""
    )


def test_a_members_name_is_not_a_parameters() -> None:
    kernel = _kernel((OUT, ScalarParam("x", "vec3f"), ScalarParam("z")), "out[i] = x.x + x.z + z + xz;")
    assert "p_out[i] = scalars.p_x.x + scalars.p_x.z + scalars.p_z + xz;" in kernel.glsl


def test_every_order_of_buffers_and_scalars_with_the_same_kinds_has_the_same_text() -> None:
    one, other = _kernel((OUT, INP, N, K)), _kernel((N, OUT, K, INP))
    assert (one.glsl, one.wgsl) == (other.glsl, other.wgsl)
    assert one.signature == "(out: write f32[], inp: read f32[], n: u32, k: f32)"


@pytest.mark.parametrize("body", ["inp[i] = 1.0;", "inp[i] += k;", "inp[f(i[0])]++;", "--inp[i];", "inp[i] <<= 1u;"])
def test_a_body_that_writes_what_is_only_read_is_refused(body: str) -> None:
    with pytest.raises(
        ArgumentError, match="scale: inp: declared read, but the GLSL body writes it; declare read_write"
    ):
        _kernel(glsl=body)


@pytest.mark.parametrize(
    "body", ["let x = out[i];", "out[i] += k;", "out[i]--;", "out[0] = out[1];", "if (out[i] == k) {}"]
)
def test_a_body_that_reads_what_is_only_written_is_refused_in_wgsl_too(body: str) -> None:
    with pytest.raises(ArgumentError, match="out: declared write, but the WGSL body reads it; declare read_write"):
        _kernel(wgsl=body)


@pytest.mark.parametrize(
    "body",
    [
        "out[u32(inp[i])] = inp[i];",
        "out[i] = inp[arrayLength(&out)];",
        "// out[i] + 1\nout[i] = 1.0; /* inp[i] = 2.0 */",
    ],
)
def test_a_body_that_keeps_to_its_declarations_is_taken(body: str) -> None:
    _kernel(wgsl=body)


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (("i",), "scale: i: every body knows this name already; call the parameter otherwise"),
        (("a b",), "scale: 'a b' is no name; use letters, digits and underscores"),
        (("a", "a"), "scale: a is declared 2 times; call one of them otherwise"),
    ],
)
def test_a_name_that_cannot_be_said_is_refused(names: tuple[str, ...], message: str) -> None:
    with pytest.raises(ArgumentError) as refusal:
        _kernel(tuple(ScalarParam(name) for name in names))
    assert str(refusal.value) == message
