#version 430
layout(local_size_x = 256) in;
layout(std430, binding = 0) restrict writeonly buffer B0 { float p_out[]; };
layout(std430, binding = 1) restrict readonly buffer B1 { float p_a[]; };
layout(std430, binding = 2) restrict readonly buffer B2 { float p_b[]; };
void main() {
    uint group = gl_WorkGroupID.x + gl_WorkGroupID.y * gl_NumWorkGroups.x;
    uint i = group * 256u + gl_LocalInvocationID.x;
    if (i < 15u) {
        float total = 0.0;
        for (uint t = 0u; t < 4u; ++t) {
            uint left = i / 5u * 4u + t;
            uint right = t * 5u + i % 5u;
            float v0 = p_a[left];
            float v1 = p_b[right];
            total += v0 * v1;
        }
        p_out[i] = total;
    }
}
