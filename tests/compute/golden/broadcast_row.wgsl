@group(0) @binding(0) var<storage, read_write> p_out: array<f32>;
@group(0) @binding(1) var<storage, read> p_x: array<f32>;
@group(0) @binding(2) var<storage, read> p_row: array<f32>;
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) workgroups: vec3u,
        @builtin(local_invocation_id) invocation: vec3u) {
    let group = workgroup.x + workgroup.y * workgroups.x;
    let first = (group * 256u + invocation.x) * 4u;
    let end = min(first + 4u, 30u);
    for (var i = first; i < end; i++) {
        let at0 = i % 6u;
        let v0 = p_x[i];
        let v1 = p_row[at0];
        let v2 = v0 * v1;
        p_out[i] = v2;
    }
}
