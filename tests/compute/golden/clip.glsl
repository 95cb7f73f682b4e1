#version 430
layout(local_size_x = 256) in;
layout(std430, binding = 0) restrict writeonly buffer B0 { vec4 p_out[]; };
layout(std430, binding = 1) restrict readonly buffer B1 { vec4 p_x[]; };
layout(std140, binding = 0) uniform Scalars { float p_high; } scalars;
bvec4 nan(vec4 x) { return greaterThan(floatBitsToUint(x) & 0x7fffffffu, uvec4(0x7f800000u)); }
vec4 keep_nan(vec4 result, vec4 operand) { return mix(result, operand, nan(operand)); }
void main() {
    uint group = gl_WorkGroupID.x + gl_WorkGroupID.y * gl_NumWorkGroups.x;
    uint first = (group * 256u + gl_LocalInvocationID.x) * 4u;
    uint end = min(first + 4u, uint(p_out.length()));
    for (uint i = first; i < end; ++i) {
        vec4 v0 = p_x[i];
        vec4 v1 = keep_nan(keep_nan(min(max(v0, vec4(-1.0)), vec4(scalars.p_high)), v0), vec4(scalars.p_high));
        p_out[i] = v1;
    }
}
