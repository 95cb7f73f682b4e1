#version 430
layout(local_size_x = 256) in;
layout(std430, binding = 0) restrict writeonly buffer B0 { vec4 p_out[]; };
layout(std430, binding = 1) restrict readonly buffer B1 { uvec4 p_c[]; };
layout(std430, binding = 2) restrict readonly buffer B2 { vec4 p_x[]; };
vec4 pick(bvec4 c, vec4 a, vec4 b) { return mix(b, a, c); }
void main() {
    uint group = gl_WorkGroupID.x + gl_WorkGroupID.y * gl_NumWorkGroups.x;
    uint first = (group * 256u + gl_LocalInvocationID.x) * 4u;
    uint end = min(first + 4u, uint(p_out.length()));
    for (uint i = first; i < end; ++i) {
        bvec4 v0 = notEqual(p_c[i], uvec4(0u));
        vec4 v1 = p_x[i];
        vec4 v2 = pick(v0, v1, vec4(0.0));
        p_out[i] = v2;
    }
}
