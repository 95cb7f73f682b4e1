#version 430
layout(local_size_x = 256) in;
layout(std430, binding = 0) restrict writeonly buffer B0 { float p_t0[]; };
layout(std430, binding = 1) restrict readonly buffer B1 { vec4 p_x[]; };
layout(std140, binding = 0) uniform Scalars { float p_a; float p_b; uint count; } scalars;
bvec4 nan(vec4 x) { return greaterThan(floatBitsToUint(x) & 0x7fffffffu, uvec4(0x7f800000u)); }
vec4 keep_nan(vec4 result, vec4 operand) { return mix(result, operand, nan(operand)); }
vec4 pick(bvec4 c, vec4 a, vec4 b) { return mix(b, a, c); }
void main() {
    uint group = gl_WorkGroupID.x + gl_WorkGroupID.y * gl_NumWorkGroups.x;
    uint i = group * 256u + gl_LocalInvocationID.x;
    if (i < (uint(p_x.length()) + 15u) / 16u) {
        uint start = i * 16u;
        uint last = min(start + 16u, uint(p_x.length()));
        vec4 total = vec4(0.0);
        for (uint j = start; j < last; ++j) {
            vec4 v0 = p_x[j];
            vec4 v1 = v0 * vec4(scalars.p_a);
            vec4 v2 = v1 + vec4(scalars.p_b);
            vec4 v3 = keep_nan(max(v2, vec4(0.0)), v2);
            vec4 v4 = pick(lessThan(uvec4(0u, 1u, 2u, 3u) + 4u * j, uvec4(scalars.count)), v3, vec4(0.0));
            total += v4;
        }
        p_t0[i] = total.x + total.y + total.z + total.w;
    }
}
