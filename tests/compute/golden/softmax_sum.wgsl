@group(0) @binding(0) var<storage, read_write> p_t1: array<f32>;
@group(0) @binding(1) var<storage, read> p_x: array<f32>;
@group(0) @binding(2) var<storage, read> p_t0: array<f32>;
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) workgroups: vec3u,
        @builtin(local_invocation_id) invocation: vec3u) {
    let group = workgroup.x + workgroup.y * workgroups.x;
    let i = group * 256u + invocation.x;
    if (i < 8u) {
        let start = i * 64u;
        let last = start + 64u;
        var total = 0.0;
        for (var j = start; j < last; j++) {
            let at0 = j / 64u;
            let v0 = p_x[j];
            let v1 = p_t0[at0];
            let v2 = v0 - v1;
            let v3 = exp(v2);
            total += v3;
        }
        p_t1[i] = total;
    }
}
