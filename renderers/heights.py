"""From the wave's output to one height per object. Stands between the workload and the scene in the plan."""

from compute.kernel import (
    Access,
    BufferParam,
    ComputePass,
    Dispatch,
    Kernel,
    Limits,
    ScalarParam,
    Schedule,
    Work,
)
from compute.schedule import array_spec, fold_workgroups

_GATHER_SIZE = 256
GATHER = Kernel(
    "gather",
    (
        BufferParam("heights", Access.WRITE),
        BufferParam("source", Access.READ),
        ScalarParam("objects", "u32"),
        ScalarParam("elements", "u32"),
    ),
    glsl=f"""#version 430
layout(local_size_x = {_GATHER_SIZE}) in;
layout(std430, binding = 0) restrict writeonly buffer B0 {{ float heights[]; }};
layout(std430, binding = 1) restrict readonly buffer B1 {{ float source[]; }};
layout(std140, binding = 0) uniform Scalars {{ uint objects; uint elements; }} scalars;
void main() {{
    uint group = gl_WorkGroupID.x + gl_WorkGroupID.y * gl_NumWorkGroups.x;
    uint i = group * {_GATHER_SIZE}u + gl_LocalInvocationID.x;
    if (i < scalars.objects) heights[i] = source[i % scalars.elements];
}}
""",
    wgsl=f"""@group(0) @binding(0) var<storage, read_write> heights: array<f32>;
@group(0) @binding(1) var<storage, read> source: array<f32>;
struct Scalars {{ objects: u32, elements: u32 }}
@group(0) @binding(2) var<uniform> scalars: Scalars;
@compute @workgroup_size({_GATHER_SIZE})
fn main(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) workgroups: vec3u,
        @builtin(local_invocation_id) invocation: vec3u) {{
    let i = (workgroup.x + workgroup.y * workgroups.x) * {_GATHER_SIZE}u + invocation.x;
    if (i < scalars.objects) {{ heights[i] = source[i % scalars.elements]; }}
}}
""",
    workgroup_size=(_GATHER_SIZE, 1, 1),
)


def heights(source: str, elements: int, objects: int, limits: Limits) -> tuple[str, Schedule]:
    """The array whose element i is object i's height, and what must run to fill it.

    With at least as many elements as objects that is ``source`` itself; else element i mod elements, gathered.
    """
    if objects <= elements:
        return source, Schedule((), (), (source,))
    name = "scene/heights"
    spec = array_spec(name, (objects,), limits)
    workgroups = fold_workgroups(-(-objects // _GATHER_SIZE), limits.workgroups_per_axis)
    arguments = (spec.chunks[0][0], f"{source}[0]", objects, elements)
    gather = Dispatch(GATHER, arguments, workgroups, Work(0, 4 * objects, 4 * objects))
    return name, Schedule((ComputePass(name, (gather,), 1),), ((name, spec),), (name,))
