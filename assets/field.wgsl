// One solid of the field. Faces are flat: everything that light does is computed once per corner.
// Colours leave the vertex stage as displayed (gamma 2.0 by sqrt, bit-equal everywhere); the target stores them unchanged.

struct Frame { view_projection: mat4x4f, time: f32, shader_cost: u32 }
struct Record { place: vec4f, colour: vec4f }  // x, z, yaw, scale; r, g, b, spin

@group(0) @binding(0) var<uniform> frame: Frame;
@group(1) @binding(0) var<uniform> record: Record;

struct Corner {
    @builtin(position) position: vec4f,
    @location(0) @interpolate(flat) shade: vec3f,
}

const BACKGROUND = vec3f(0.043, 0.055, 0.094);
const SUN = vec3f(-0.48, 0.64, 0.6);
const GLOW = vec3f(1.0, 0.62, 0.22);

// Spelled out: the order in which compilers add up a matrix product differs, and a last bit decides an edge pixel.
fn project(p: vec3f) -> vec4f {
    let m = frame.view_projection;
    return m[0] * p.x + m[1] * p.y + m[2] * p.z + m[3];
}

@vertex
fn vertex_main(
    @location(0) position: vec3f,
    @location(1) normal: vec3f,
    @location(2) height: f32,  // one per object: what the compute pass wrote
) -> Corner {
    let angle = record.place.z + record.colour.w * frame.time;
    let c = cos(angle);
    let s = sin(angle);
    let scale = record.place.w;
    let size = vec3f(scale, 0.9 * scale + 1.6 * height, scale);

    let p = position * size;
    let world = vec3f(c * p.x + s * p.z + record.place.x, p.y, c * p.z - s * p.x + record.place.y);

    var n = normalize(normal / size);
    n = vec3f(c * n.x + s * n.z, n.y, c * n.z - s * n.x);
    let light = 0.12 + 0.12 * n.y + 0.95 * max(dot(n, SUN), 0.0);
    let lit = record.colour.rgb * light + GLOW * (0.32 * height * height);

    let distance = project(vec3f(record.place.x, 0.0, record.place.y)).w;
    let far = clamp((distance - 13.0) / 16.0, 0.0, 1.0);
    let shade = mix(sqrt(clamp(lit, vec3f(0.0), vec3f(1.0))), BACKGROUND, far * far);
    return Corner(project(world), shade);
}

// The face's shade, after `shader_cost` rounds of work that cannot be seen: less than half a step of 8 bits.
@fragment
fn fragment_main(@location(0) @interpolate(flat) shade: vec3f) -> @location(0) vec4f {
    var busy = 0.0;
    for (var i = 0u; i < frame.shader_cost; i++) { busy = fract(busy * 1.7 + 0.37); }
    return vec4f(shade + busy / 65536.0, 1.0);
}
