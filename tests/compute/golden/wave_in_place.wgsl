@group(0) @binding(0) var<storage, read_write> p_x: array<vec4f>;
struct Scalars { p_a: f32, p_b: f32 }
@group(0) @binding(1) var<uniform> scalars: Scalars;
fn nan(x: vec4f) -> vec4<bool> { return (bitcast<vec4u>(x) & vec4u(0x7fffffffu)) > vec4u(0x7f800000u); }
fn keep_nan(result: vec4f, operand: vec4f) -> vec4f { return select(result, operand, nan(operand)); }
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) workgroups: vec3u,
        @builtin(local_invocation_id) invocation: vec3u) {
    let group = workgroup.x + workgroup.y * workgroups.x;
    let first = (group * 256u + invocation.x) * 4u;
    let end = min(first + 4u, arrayLength(&p_x));
    for (var i = first; i < end; i++) {
        let v0 = p_x[i];
        let v1 = v0 * vec4f(scalars.p_a);
        let v2 = v1 + vec4f(scalars.p_b);
        let v3 = keep_nan(max(v2, vec4f(0.0)), v2);
        p_x[i] = v3;
    }
}
