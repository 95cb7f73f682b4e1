@group(0) @binding(0) var<storage, read_write> p_t0: array<f32>;
@group(0) @binding(1) var<storage, read> p_x: array<f32>;
fn nan(x: f32) -> bool { return (bitcast<u32>(x) & u32(0x7fffffffu)) > u32(0x7f800000u); }
fn keep_nan(result: f32, operand: f32) -> f32 { return select(result, operand, nan(operand)); }
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) workgroups: vec3u,
        @builtin(local_invocation_id) invocation: vec3u) {
    let group = workgroup.x + workgroup.y * workgroups.x;
    let i = group * 256u + invocation.x;
    if (i < 6u) {
        let block = i % 3u;
        let part = i / 3u * 512u;
        let behind = min(part + 512u, 1001u);
        let start = block + part * 3u;
        let last = block + behind * 3u;
        let v0 = p_x[start];
        var total = v0;
        for (var j = start + 3u; j < last; j += 3u) {
            let v0 = p_x[j];
            total = keep_nan(keep_nan(max(total, v0), total), v0);
        }
        p_t0[i] = total;
    }
}
