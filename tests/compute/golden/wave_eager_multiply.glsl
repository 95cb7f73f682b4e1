#version 430
layout(local_size_x = 256) in;
layout(std430, binding = 0) restrict writeonly buffer B0 { vec4 p_t0[]; };
layout(std430, binding = 1) restrict readonly buffer B1 { vec4 p_x[]; };
layout(std140, binding = 0) uniform Scalars { float p_a; } scalars;
void main() {
    uint group = gl_WorkGroupID.x + gl_WorkGroupID.y * gl_NumWorkGroups.x;
    uint first = (group * 256u + gl_LocalInvocationID.x) * 4u;
    uint end = min(first + 4u, uint(p_t0.length()));
    for (uint i = first; i < end; ++i) {
        vec4 v0 = p_x[i];
        vec4 v1 = v0 * vec4(scalars.p_a);
        p_t0[i] = v1;
    }
}
