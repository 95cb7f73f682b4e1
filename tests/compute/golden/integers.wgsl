@group(0) @binding(0) var<storage, read_write> p_out: array<vec4i>;
@group(0) @binding(1) var<storage, read> p_i: array<vec4i>;
@group(0) @binding(2) var<storage, read> p_j: array<vec4i>;
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) workgroups: vec3u,
        @builtin(local_invocation_id) invocation: vec3u) {
    let group = workgroup.x + workgroup.y * workgroups.x;
    let first = (group * 256u + invocation.x) * 4u;
    let end = min(first + 4u, arrayLength(&p_out));
    for (var i = first; i < end; i++) {
        let v0 = p_i[i];
        let v1 = v0 * vec4i(3);
        let v2 = p_j[i];
        let v3 = v1 - v2;
        let v4 = min(v3, vec4i(-7));
        p_out[i] = v4;
    }
}
