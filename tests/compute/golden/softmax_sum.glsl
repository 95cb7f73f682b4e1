#version 430
layout(local_size_x = 256) in;
layout(std430, binding = 0) restrict writeonly buffer B0 { float p_t1[]; };
layout(std430, binding = 1) restrict readonly buffer B1 { float p_x[]; };
layout(std430, binding = 2) restrict readonly buffer B2 { float p_t0[]; };
void main() {
    uint group = gl_WorkGroupID.x + gl_WorkGroupID.y * gl_NumWorkGroups.x;
    uint i = group * 256u + gl_LocalInvocationID.x;
    if (i < 8u) {
        uint start = i * 64u;
        uint last = start + 64u;
        float total = 0.0;
        for (uint j = start; j < last; ++j) {
            uint at0 = j / 64u;
            float v0 = p_x[j];
            float v1 = p_t0[at0];
            float v2 = v0 - v1;
            float v3 = exp(v2);
            total += v3;
        }
        p_t1[i] = total;
    }
}
