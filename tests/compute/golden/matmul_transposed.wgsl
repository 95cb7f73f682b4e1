@group(0) @binding(0) var<storage, read_write> p_out: array<f32>;
@group(0) @binding(1) var<storage, read> p_q: array<f32>;
@group(0) @binding(2) var<storage, read> p_k: array<f32>;
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) workgroups: vec3u,
        @builtin(local_invocation_id) invocation: vec3u) {
    let group = workgroup.x + workgroup.y * workgroups.x;
    let i = group * 256u + invocation.x;
    if (i < 15u) {
        var total = 0.0;
        for (var t = 0u; t < 4u; t++) {
            let left = i / 5u * 4u + t;
            let right = t * 5u + i % 5u;
            let v0 = p_q[left];
            let at0 = right / 5u + right % 5u * 4u;
            let v1 = p_k[at0];
            total += v0 * v1;
        }
        p_out[i] = total;
    }
}
