#version 430
layout(local_size_x = 256) in;
layout(std430, binding = 0) restrict writeonly buffer B0 { float p_out[]; };
layout(std430, binding = 1) restrict readonly buffer B1 { float p_x[]; };
layout(std430, binding = 2) restrict readonly buffer B2 { float p_column[]; };
void main() {
    uint group = gl_WorkGroupID.x + gl_WorkGroupID.y * gl_NumWorkGroups.x;
    uint first = (group * 256u + gl_LocalInvocationID.x) * 4u;
    uint end = min(first + 4u, 30u);
    for (uint i = first; i < end; ++i) {
        uint at0 = i / 6u;
        float v0 = p_x[i];
        float v1 = p_column[at0];
        float v2 = v0 + v1;
        p_out[i] = v2;
    }
}
