@group(0) @binding(0) var<storage, read_write> p_out: array<vec4f>;
@group(0) @binding(1) var<storage, read> p_x: array<vec4f>;
struct Scalars { p_high: f32 }
@group(0) @binding(2) var<uniform> scalars: Scalars;
fn nan(x: vec4f) -> vec4<bool> { return (bitcast<vec4u>(x) & vec4u(0x7fffffffu)) > vec4u(0x7f800000u); }
fn keep_nan(result: vec4f, operand: vec4f) -> vec4f { return select(result, operand, nan(operand)); }
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) workgroups: vec3u,
        @builtin(local_invocation_id) invocation: vec3u) {
    let group = workgroup.x + workgroup.y * workgroups.x;
    let first = (group * 256u + invocation.x) * 4u;
    let end = min(first + 4u, arrayLength(&p_out));
    for (var i = first; i < end; i++) {
        let v0 = p_x[i];
        let v1 = keep_nan(keep_nan(min(max(v0, vec4f(-1.0)), vec4f(scalars.p_high)), v0), vec4f(scalars.p_high));
        p_out[i] = v1;
    }
}
