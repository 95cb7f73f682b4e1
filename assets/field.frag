#version 430
// The face's shade in its material's finish, after `shader_cost` rounds of work that cannot be seen: less than half a
// step of 8 bits. FINISH is the name of one of the functions below: each makes a program of its own.

layout(std140, binding = 0) uniform Frame { mat4 view_projection; float time; uint shader_cost; } frame;
layout(binding = 0) uniform sampler2D palette;

flat in vec4 shade;
flat in ivec2 texel;
layout(location = 0) out vec4 pixel;

const vec3 BACKGROUND = vec3(0.043, 0.055, 0.094);

vec3 plain(vec3 c) { return c; }
vec3 painted(vec3 c) { return c * texelFetch(palette, texel, 0).rgb * 1.25; }
vec3 frost(vec3 c) { return c * 0.55 + vec3(0.20, 0.26, 0.32); }
vec3 ember(vec3 c) { return vec3(c.r * (2.0 - c.r), c.g * 0.62, c.b * 0.35); }
vec3 moss(vec3 c) { return vec3(c.r * 0.6, c.g * 0.7 + 0.14, c.b * 0.45); }
vec3 slate(vec3 c) { return vec3(c.r * 0.3 + c.g * 0.5 + c.b * 0.2); }

void main() {
    float busy = 0.0;
    for (uint i = 0u; i < frame.shader_cost; ++i) busy = fract(busy * 1.7 + 0.37);
    pixel = vec4(mix(FINISH(shade.rgb), BACKGROUND, shade.a) + busy / 65536.0, 1.0);
}
