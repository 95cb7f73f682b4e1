@group(0) @binding(0) var<storage, read_write> p_t0: array<vec4f>;
@group(0) @binding(1) var<storage, read> p_x: array<vec4f>;
struct Scalars { p_a: f32 }
@group(0) @binding(2) var<uniform> scalars: Scalars;
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) workgroups: vec3u,
        @builtin(local_invocation_id) invocation: vec3u) {
    let group = workgroup.x + workgroup.y * workgroups.x;
    let first = (group * 256u + invocation.x) * 4u;
    let end = min(first + 4u, arrayLength(&p_t0));
    for (var i = first; i < end; i++) {
        let v0 = p_x[i];
        let v1 = v0 * vec4f(scalars.p_a);
        p_t0[i] = v1;
    }
}
