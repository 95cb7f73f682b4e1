#version 430
layout(local_size_x = 256) in;
layout(std430, binding = 0) restrict writeonly buffer B0 { ivec4 p_out[]; };
layout(std430, binding = 1) restrict readonly buffer B1 { ivec4 p_i[]; };
layout(std430, binding = 2) restrict readonly buffer B2 { ivec4 p_j[]; };
void main() {
    uint group = gl_WorkGroupID.x + gl_WorkGroupID.y * gl_NumWorkGroups.x;
    uint first = (group * 256u + gl_LocalInvocationID.x) * 4u;
    uint end = min(first + 4u, uint(p_out.length()));
    for (uint i = first; i < end; ++i) {
        ivec4 v0 = p_i[i];
        ivec4 v1 = v0 * ivec4(3);
        ivec4 v2 = p_j[i];
        ivec4 v3 = v1 - v2;
        ivec4 v4 = min(v3, ivec4(-7));
        p_out[i] = v4;
    }
}
