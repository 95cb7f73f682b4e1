@group(0) @binding(0) var<storage, read_write> p_out: array<vec4f>;
@group(0) @binding(1) var<storage, read> p_x: array<vec4f>;
@group(0) @binding(2) var<storage, read> p_y: array<vec4f>;
fn nan(x: vec4f) -> vec4<bool> { return (bitcast<vec4u>(x) & vec4u(0x7fffffffu)) > vec4u(0x7f800000u); }
fn less(a: vec4f, b: vec4f) -> vec4<bool> { return (a < b) & !nan(a) & !nan(b); }
fn same(a: vec4f, b: vec4f) -> vec4<bool> { return (a == b) & !nan(a) & !nan(b); }
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) workgroups: vec3u,
        @builtin(local_invocation_id) invocation: vec3u) {
    let group = workgroup.x + workgroup.y * workgroups.x;
    let first = (group * 256u + invocation.x) * 4u;
    let end = min(first + 4u, arrayLength(&p_out));
    for (var i = first; i < end; i++) {
        let v0 = p_x[i];
        let v1 = p_y[i];
        let v2 = less(v0, v1);
        let v3 = !same(v0, vec4f(0.5));
        let v4 = v2 & v3;
        let v5 = -v1;
        let v6 = select(v5, v0, v4);
        p_out[i] = v6;
    }
}
