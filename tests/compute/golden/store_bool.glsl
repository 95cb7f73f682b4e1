#version 430
layout(local_size_x = 256) in;
layout(std430, binding = 0) restrict writeonly buffer B0 { uvec4 p_out[]; };
layout(std430, binding = 1) restrict readonly buffer B1 { vec4 p_x[]; };
bvec4 nan(vec4 x) { return greaterThan(floatBitsToUint(x) & 0x7fffffffu, uvec4(0x7f800000u)); }
bvec4 both(bvec4 a, bvec4 b) { return bvec4(uvec4(a) & uvec4(b)); }
bvec4 less(vec4 a, vec4 b) { return both(lessThan(a, b), both(not(nan(a)), not(nan(b)))); }
void main() {
    uint group = gl_WorkGroupID.x + gl_WorkGroupID.y * gl_NumWorkGroups.x;
    uint first = (group * 256u + gl_LocalInvocationID.x) * 4u;
    uint end = min(first + 4u, uint(p_out.length()));
    for (uint i = first; i < end; ++i) {
        vec4 v0 = p_x[i];
        bvec4 v1 = less(vec4(0.0), v0);
        p_out[i] = uvec4(v1);
    }
}
