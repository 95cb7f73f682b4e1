#version 430
layout(local_size_x = 256) in;
layout(std430, binding = 0) restrict writeonly buffer B0 { vec4 p_out[]; };
layout(std430, binding = 1) restrict readonly buffer B1 { vec4 p_x[]; };
layout(std430, binding = 2) restrict readonly buffer B2 { vec4 p_y[]; };
bvec4 nan(vec4 x) { return greaterThan(floatBitsToUint(x) & 0x7fffffffu, uvec4(0x7f800000u)); }
bvec4 both(bvec4 a, bvec4 b) { return bvec4(uvec4(a) & uvec4(b)); }
bvec4 neither(bvec4 a) { return not(a); }
bvec4 less(vec4 a, vec4 b) { return both(lessThan(a, b), both(not(nan(a)), not(nan(b)))); }
bvec4 same(vec4 a, vec4 b) { return both(equal(a, b), both(not(nan(a)), not(nan(b)))); }
vec4 pick(bvec4 c, vec4 a, vec4 b) { return mix(b, a, c); }
void main() {
    uint group = gl_WorkGroupID.x + gl_WorkGroupID.y * gl_NumWorkGroups.x;
    uint first = (group * 256u + gl_LocalInvocationID.x) * 4u;
    uint end = min(first + 4u, uint(p_out.length()));
    for (uint i = first; i < end; ++i) {
        vec4 v0 = p_x[i];
        vec4 v1 = p_y[i];
        bvec4 v2 = less(v0, v1);
        bvec4 v3 = neither(same(v0, vec4(0.5)));
        bvec4 v4 = both(v2, v3);
        vec4 v5 = -v1;
        vec4 v6 = pick(v4, v0, v5);
        p_out[i] = v6;
    }
}
