@group(0) @binding(0) var<storage, read_write> p_out: array<vec4f>;
@group(0) @binding(1) var<storage, read> p_c: array<vec4u>;
@group(0) @binding(2) var<storage, read> p_x: array<vec4f>;
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) workgroups: vec3u,
        @builtin(local_invocation_id) invocation: vec3u) {
    let group = workgroup.x + workgroup.y * workgroups.x;
    let first = (group * 256u + invocation.x) * 4u;
    let end = min(first + 4u, arrayLength(&p_out));
    for (var i = first; i < end; i++) {
        let v0 = p_c[i] != vec4u(0u);
        let v1 = p_x[i];
        let v2 = select(vec4f(0.0), v1, v0);
        p_out[i] = v2;
    }
}
