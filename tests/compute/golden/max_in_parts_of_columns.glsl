#version 430
layout(local_size_x = 256) in;
layout(std430, binding = 0) restrict writeonly buffer B0 { float p_t0[]; };
layout(std430, binding = 1) restrict readonly buffer B1 { float p_x[]; };
bool nan(float x) { return (floatBitsToUint(x) & 0x7fffffffu) > 0x7f800000u; }
float keep_nan(float result, float operand) { return nan(operand) ? operand : result; }
void main() {
    uint group = gl_WorkGroupID.x + gl_WorkGroupID.y * gl_NumWorkGroups.x;
    uint i = group * 256u + gl_LocalInvocationID.x;
    if (i < 6u) {
        uint block = i % 3u;
        uint part = i / 3u * 512u;
        uint behind = min(part + 512u, 1001u);
        uint start = block + part * 3u;
        uint last = block + behind * 3u;
        float v0 = p_x[start];
        float total = v0;
        for (uint j = start + 3u; j < last; j += 3u) {
            float v0 = p_x[j];
            total = keep_nan(keep_nan(max(total, v0), total), v0);
        }
        p_t0[i] = total;
    }
}
