#version 430
// One solid of the field. Faces are flat: everything that light does is computed here, once per corner.
// Colours leave this stage as displayed (gamma 2.0 by sqrt, bit-equal everywhere); the target stores them unchanged.

layout(std140, binding = 0) uniform Frame { mat4 view_projection; float time; uint shader_cost; } frame;

// The object's own values: x, z, yaw, scale; r, g, b, spin.
#ifdef BOUND_RECORD
uniform vec4 record[2];
#define place record[0]
#define colour record[1]
#else
layout(location = 3) in vec4 place;
layout(location = 4) in vec4 colour;
#endif

layout(location = 0) in vec3 position;
layout(location = 1) in vec3 normal;
layout(location = 2) in float height;  // one per object: what the compute pass wrote

flat out vec4 shade;  // the lit face, and how far it has faded into the background
flat out ivec2 texel;

const vec3 SUN = vec3(-0.48, 0.64, 0.6);
const vec3 GLOW = vec3(1.0, 0.62, 0.22);

// Spelled out: the order in which compilers add up a matrix product differs, and a last bit decides an edge pixel.
vec4 project(vec3 p) {
    mat4 m = frame.view_projection;
    return m[0] * p.x + m[1] * p.y + m[2] * p.z + m[3];
}

void main() {
    float angle = place.z + colour.w * frame.time;
    float c = cos(angle);
    float s = sin(angle);
    float scale = place.w;
    vec3 size = vec3(scale, 0.9 * scale + 1.6 * height, scale);

    vec3 p = position * size;
    vec3 world = vec3(c * p.x + s * p.z + place.x, p.y, c * p.z - s * p.x + place.y);
    gl_Position = project(world);
#ifdef DEPTH_FROM_MINUS_ONE
    gl_Position.z = 2.0 * gl_Position.z - gl_Position.w;
#endif

    vec3 n = normalize(normal / size);
    n = vec3(c * n.x + s * n.z, n.y, c * n.z - s * n.x);
    float light = 0.12 + 0.12 * n.y + 0.95 * max(dot(n, SUN), 0.0);
    vec3 lit = colour.rgb * light + GLOW * (0.32 * height * height);

    float distance = project(vec3(place.x, 0.0, place.y)).w;
    float far = clamp((distance - 13.0) / 16.0, 0.0, 1.0);
    shade = vec4(sqrt(clamp(lit, 0.0, 1.0)), far * far);
    texel = min(ivec2(4.0 * normal.xz + 4.0), ivec2(7));
}
