#version 430
layout(local_size_x = 256) in;
layout(std430, binding = 0) restrict writeonly buffer B0 { float p_out[]; };
layout(std430, binding = 1) restrict readonly buffer B1 { float p_x[]; };
void main() {
    uint group = gl_WorkGroupID.x + gl_WorkGroupID.y * gl_NumWorkGroups.x;
    uint first = (group * 256u + gl_LocalInvocationID.x) * 4u;
    uint end = min(first + 4u, 30u);
    for (uint i = first; i < end; ++i) {
        uint at0 = i / 5u + i % 5u * 6u;
        float v0 = p_x[at0];
        float v1 = v0 * 2.0;
        p_out[i] = v1;
    }
}
