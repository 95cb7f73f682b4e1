// One solid of the field. Faces are flat: everything that light does is computed once per corner.
// Colours leave the vertex stage as displayed (gamma 2.0 by sqrt, bit-equal everywhere); the target stores them unchanged.

struct Frame { view_projection: mat4x4f, time: f32, shader_cost: u32 }
struct Record { place: vec4f, colour: vec4f }  // the object's own values: x, z, yaw, scale; r, g, b, spin

@group(0) @binding(0) var<uniform> frame: Frame;
@group(0) @binding(1) var palette: texture_2d<f32>;
@group(1) @binding(0) var<uniform> record: Record;

struct Corner {
    @builtin(position) position: vec4f,
    @location(0) @interpolate(flat) shade: vec4f,  // the lit face, and how far it has faded into the background
    @location(1) @interpolate(flat) texel: vec2i,
}

const BACKGROUND = vec3f(0.043, 0.055, 0.094);
const SUN = vec3f(-0.48, 0.64, 0.6);
const GLOW = vec3f(1.0, 0.62, 0.22);

// Spelled out: the order in which compilers add up a matrix product differs, and a last bit decides an edge pixel.
fn project(p: vec3f) -> vec4f {
    let m = frame.view_projection;
    return m[0] * p.x + m[1] * p.y + m[2] * p.z + m[3];
}

fn corner(position: vec3f, normal: vec3f, height: f32, place: vec4f, colour: vec4f) -> Corner {
    let angle = place.z + colour.w * frame.time;
    let c = cos(angle);
    let s = sin(angle);
    let scale = place.w;
    let size = vec3f(scale, 0.9 * scale + 1.6 * height, scale);

    let p = position * size;
    let world = vec3f(c * p.x + s * p.z + place.x, p.y, c * p.z - s * p.x + place.y);

    var n = normalize(normal / size);
    n = vec3f(c * n.x + s * n.z, n.y, c * n.z - s * n.x);
    let light = 0.12 + 0.12 * n.y + 0.95 * max(dot(n, SUN), 0.0);
    let lit = colour.rgb * light + GLOW * (0.32 * height * height);

    let distance = project(vec3f(place.x, 0.0, place.y)).w;
    let far = clamp((distance - 13.0) / 16.0, 0.0, 1.0);
    let shade = vec4f(sqrt(clamp(lit, vec3f(0.0), vec3f(1.0))), far * far);
    return Corner(project(world), shade, min(vec2i(4.0 * normal.xz + 4.0), vec2i(7)));
}

// height: one per object, what the compute pass wrote.

@vertex
fn bound_record(@location(0) position: vec3f, @location(1) normal: vec3f, @location(2) height: f32) -> Corner {
    return corner(position, normal, height, record.place, record.colour);
}

@vertex
fn instance_record(
    @location(0) position: vec3f,
    @location(1) normal: vec3f,
    @location(2) height: f32,
    @location(3) place: vec4f,
    @location(4) colour: vec4f,
) -> Corner {
    return corner(position, normal, height, place, colour);
}

// The face's shade in its material's finish, after `shader_cost` rounds of work that cannot be seen: less than half a
// step of 8 bits. Each entry point makes a pipeline of its own.

fn finished(colour: vec3f, far: f32) -> vec4f {
    var busy = 0.0;
    for (var i = 0u; i < frame.shader_cost; i++) { busy = fract(busy * 1.7 + 0.37); }
    return vec4f(mix(colour, BACKGROUND, far) + busy / 65536.0, 1.0);
}

@fragment
fn plain(face: Corner) -> @location(0) vec4f {
    return finished(face.shade.rgb, face.shade.a);
}

@fragment
fn painted(face: Corner) -> @location(0) vec4f {
    return finished(face.shade.rgb * textureLoad(palette, face.texel, 0).rgb * 1.25, face.shade.a);
}

@fragment
fn frost(face: Corner) -> @location(0) vec4f {
    return finished(face.shade.rgb * 0.55 + vec3f(0.20, 0.26, 0.32), face.shade.a);
}

@fragment
fn ember(face: Corner) -> @location(0) vec4f {
    let c = face.shade;
    return finished(vec3f(c.r * (2.0 - c.r), c.g * 0.62, c.b * 0.35), c.a);
}

@fragment
fn moss(face: Corner) -> @location(0) vec4f {
    let c = face.shade;
    return finished(vec3f(c.r * 0.6, c.g * 0.7 + 0.14, c.b * 0.45), c.a);
}

@fragment
fn slate(face: Corner) -> @location(0) vec4f {
    let c = face.shade;
    return finished(vec3f(c.r * 0.3 + c.g * 0.5 + c.b * 0.2), c.a);
}
