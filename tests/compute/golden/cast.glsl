#version 430
layout(local_size_x = 256) in;
layout(std430, binding = 0) restrict writeonly buffer B0 { ivec4 p_out[]; };
layout(std430, binding = 1) restrict readonly buffer B1 { vec4 p_x[]; };
bvec4 nan(vec4 x) { return greaterThan(floatBitsToUint(x) & 0x7fffffffu, uvec4(0x7f800000u)); }
ivec4 to_i32(vec4 x) { return ivec4(mix(clamp(x, -2147483648.0, 2147483520.0), vec4(0.0), nan(x))); }
void main() {
    uint group = gl_WorkGroupID.x + gl_WorkGroupID.y * gl_NumWorkGroups.x;
    uint first = (group * 256u + gl_LocalInvocationID.x) * 4u;
    uint end = min(first + 4u, uint(p_out.length()));
    for (uint i = first; i < end; ++i) {
        vec4 v0 = p_x[i];
        ivec4 v1 = to_i32(v0);
        p_out[i] = v1;
    }
}
