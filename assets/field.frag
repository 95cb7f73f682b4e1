#version 430
// The face's shade, after `shader_cost` rounds of work that cannot be seen: less than half a step of 8 bits.

layout(std140, binding = 0) uniform Frame { mat4 view_projection; float time; uint shader_cost; } frame;

flat in vec3 shade;
layout(location = 0) out vec4 pixel;

void main() {
    float busy = 0.0;
    for (uint i = 0u; i < frame.shader_cost; ++i) busy = fract(busy * 1.7 + 0.37);
    pixel = vec4(shade + busy / 65536.0, 1.0);
}
