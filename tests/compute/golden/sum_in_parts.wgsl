@group(0) @binding(0) var<storage, read_write> p_t0: array<f32>;
@group(0) @binding(1) var<storage, read> p_x: array<vec4f>;
struct Scalars { p_a: f32, p_b: f32, count: u32 }
@group(0) @binding(2) var<uniform> scalars: Scalars;
fn nan(x: vec4f) -> vec4<bool> { return (bitcast<vec4u>(x) & vec4u(0x7fffffffu)) > vec4u(0x7f800000u); }
fn keep_nan(result: vec4f, operand: vec4f) -> vec4f { return select(result, operand, nan(operand)); }
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) workgroups: vec3u,
        @builtin(local_invocation_id) invocation: vec3u) {
    let group = workgroup.x + workgroup.y * workgroups.x;
    let i = group * 256u + invocation.x;
    if (i < (arrayLength(&p_x) + 15u) / 16u) {
        let start = i * 16u;
        let last = min(start + 16u, arrayLength(&p_x));
        var total = vec4f(0.0);
        for (var j = start; j < last; j++) {
            let v0 = p_x[j];
            let v1 = v0 * vec4f(scalars.p_a);
            let v2 = v1 + vec4f(scalars.p_b);
            let v3 = keep_nan(max(v2, vec4f(0.0)), v2);
            let v4 = select(vec4f(0.0), v3, vec4u(0u, 1u, 2u, 3u) + 4u * j < vec4u(scalars.count));
            total += v4;
        }
        p_t0[i] = total.x + total.y + total.z + total.w;
    }
}
