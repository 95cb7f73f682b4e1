"""Whether a device's GPU timer is believed, per kind of work: one, two and four times the work, against wall time.

A slope cancels what every frame costs anyway. A timer that does not grow with the work is shown as n/a with its
reason, never as a fast GPU: llvmpipe's OpenGL stamps are wrong by up to 10^7, lavapipe's agree to a few percent.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from compute.kernel import (
    Access,
    ArraySpec,
    BufferParam,
    ComputePass,
    Dispatch,
    FrameValue,
    Kernel,
    Scalar,
    ScalarParam,
    Schedule,
    Work,
)
from renderers.camera import frame_values
from renderers.device import Device, Executable, GpuTimes, PassKind
from renderers.plan import Submission, build_plan
from renderers.scene import field
from renderers.timers import SpanRecorder

WORK_FACTORS = (1, 2, 4)
SLOPE_BOUNDS = (0.6, 1.25)  # GPU ms per wall ms; above 1 only by noise
LARGEST_LEAK = 0.25  # of the other pass's work
_REPEATS, _PIPELINED_FRAMES = 5, 12
_ENOUGH_MS = 4.0  # of work at factor 1, above what an empty frame costs
_MAX_ROUNDS = 1 << 22
_LANES, _OBJECTS = 16_384, 64
ROUNDS: dict[PassKind, str] = {"compute": "rounds", "draw": "shader_cost"}  # the frame value that is the work


@dataclass(frozen=True, slots=True)
class Trust:
    trusted: bool
    reason: str


def judge(wall_ms: Sequence[float], gpu_ms: Sequence[float | None], reasons: Sequence[str] = ()) -> Trust:
    """Compare growth from 1x over 2x to 4x the work, ms each. ``reasons``: why readings are missing."""
    if any(reading is None for reading in gpu_ms):
        return Trust(False, f"no reading: {'; '.join(sorted(set(reasons))) or 'none arrived'}")
    gpu = [reading for reading in gpu_ms if reading is not None]
    if not wall_ms[0] < wall_ms[1] < wall_ms[2]:
        grown = ", ".join(f"{ms:.2f}" for ms in wall_ms)
        return Trust(False, f"cannot tell: 1x, 2x, 4x the work took {grown} ms of wall time")
    slopes = [(gpu[i] - gpu[0]) / (wall_ms[i] - wall_ms[0]) for i in (1, 2)]
    grown = ", ".join(f"{ms:.3g}" for ms in gpu)
    evidence = f"1x, 2x, 4x the work: timer {grown} ms, wall {', '.join(f'{ms:.3g}' for ms in wall_ms)} ms"
    low, high = SLOPE_BOUNDS
    if all(low <= slope <= high for slope in slopes):
        return Trust(True, evidence)
    return Trust(False, f"untrusted: {evidence}")


def judge_device(device: Device) -> dict[PassKind, Trust]:
    """Run a frame with a compute and a draw pass at three amounts of each. Takes under a second a kind.

    A timer must also keep the two apart: what only the other pass has to do must not show in this one's reading.
    Both passes are always there: on lavapipe stamps of compute passes are right until the first draw, and wrong
    ever after, so a kernel measured by itself would be believed and every real frame would be wrong.
    """
    if device.info.timestamps is not None:
        return dict.fromkeys(ROUNDS, Trust(False, f"no timer: {device.info.timestamps}"))
    work = _mixed_work(device)
    trust = {kind: _judge(device, work, kind) for kind in ROUNDS}
    others: dict[PassKind, PassKind] = {"compute": "draw", "draw": "compute"}
    for kind, other in others.items():
        leak = _leak(device, work, kind, other) if trust[kind].trusted else None
        trust[kind] = trust[kind] if leak is None else Trust(False, f"untrusted: {leak}")
    work.release()
    return trust


def _judge(device: Device, work: Executable, kind: PassKind) -> Trust:
    idle = _idle_values(device)

    def frame(rounds: int) -> tuple[float, GpuTimes | None]:
        return _timed_frame(device, work, {**idle, ROUNDS[kind]: rounds})

    rounds = _enough_rounds(frame)
    walls: dict[int, list[float]] = {factor: [] for factor in WORK_FACTORS}
    readings: dict[int, list[float]] = {factor: [] for factor in WORK_FACTORS}
    reasons: list[str] = []
    for _ in range(_REPEATS):
        for factor in WORK_FACTORS:
            wall_ms, times = frame(rounds * factor)
            walls[factor].append(wall_ms)
            if times is not None and times.spans is not None:
                readings[factor].append(_kind_ms(times, kind))
            elif times is not None and times.reason is not None:
                reasons.append(times.reason)
    # The least disturbed run of each amount: noise only ever adds.
    gpu = [min(readings[factor]) if readings[factor] else None for factor in WORK_FACTORS]
    return judge([min(walls[factor]) for factor in WORK_FACTORS], gpu, reasons)


def _leak(device: Device, work: Executable, kind: PassKind, other: PassKind) -> str | None:
    """What is wrong when a pass reads longer only because the other pass has work."""
    idle = _idle_values(device)
    rounds = _enough_rounds(lambda rounds: _timed_frame(device, work, {**idle, ROUNDS[other]: rounds}))
    alone = _pipelined_ms(device, work, idle, kind)
    behind = _pipelined_ms(device, work, {**idle, ROUNDS[other]: rounds}, kind)
    if behind - alone <= LARGEST_LEAK * _ENOUGH_MS:
        return None
    return (
        f"a {kind} pass reads {alone:.2f} ms, and {behind:.2f} ms when only the {other} pass "
        f"got {_ENOUGH_MS:.0f} ms more to do"
    )


def _pipelined_ms(device: Device, work: Executable, values: Mapping[str, Scalar], kind: PassKind) -> float:
    """Median reading of the passes of ``kind`` in frames that follow each other without a wait, as real ones do."""
    readings: list[float] = []
    for index in range(_PIPELINED_FRAMES):
        if device.begin_frame(SpanRecorder(index)):
            work.execute(values)
            device.end_frame()
        readings += [_kind_ms(times, kind) for times in device.completed_frames() if times.spans is not None]
    device.finish()
    readings += [_kind_ms(times, kind) for times in device.completed_frames() if times.spans is not None]
    return sorted(readings)[len(readings) // 2] if readings else 0.0


def _kind_ms(times: GpuTimes, kind: PassKind) -> float:
    return sum(span.end_ns - span.begin_ns for span in times.spans or () if span.kind == kind) / 1e6


def _idle_values(device: Device) -> dict[str, Scalar]:
    return {**frame_values(0.0, device.size_px), **dict.fromkeys(ROUNDS.values(), 0)}


def _enough_rounds(frame: Callable[[int], tuple[float, GpuTimes | None]]) -> int:
    """How much work outweighs an empty frame by _ENOUGH_MS."""
    frame(0)
    empty_ms = min(frame(0)[0] for _ in range(3))
    rounds = 16
    while frame(rounds)[0] - empty_ms < _ENOUGH_MS and rounds < _MAX_ROUNDS:
        rounds *= 2
    return rounds


def _timed_frame(device: Device, work: Executable, values: Mapping[str, Scalar]) -> tuple[float, GpuTimes | None]:
    """Wall ms of one frame up to an idle device, and its GPU times."""
    clock = SpanRecorder(0)
    device.finish()
    begin = time.perf_counter_ns()
    if device.begin_frame(clock):
        work.execute(values)
        device.end_frame()
    device.finish()
    wall_ms = (time.perf_counter_ns() - begin) / 1e6
    completed = list(device.completed_frames())
    return wall_ms, completed[-1] if completed else None


def _mixed_work(device: Device) -> Executable:
    """A kernel and a fragment shader that both repeat themselves as often as they are told."""
    scene = field(_OBJECTS)
    dispatch = Dispatch(_SPIN, ("trust/out[0]", FrameValue("rounds")), (_LANES // 64, 1, 1), Work(0, 0, 4 * _LANES))
    arrays = (
        ("trust/out", ArraySpec((_LANES,), "f32", (("trust/out[0]", 4 * _LANES),))),
        ("trust/heights", ArraySpec((_OBJECTS,), "f32", (("trust/heights[0]", 4 * _OBJECTS),))),
    )
    spin = Schedule((ComputePass("trust", (dispatch,), 1),), arrays, ("trust/out",))
    work = device.compile(build_plan((spin,), scene.draw_pass("trust/heights"), scene.arrays()), Submission.INSTANCED)
    for name, data in scene.data().items():
        work.upload(name, data)
    work.upload("trust/heights", np.full(_OBJECTS, 0.5, np.float32))
    return work


_SPIN = Kernel(
    "spin",
    (BufferParam("result", Access.WRITE), ScalarParam("rounds", "u32")),
    glsl="""#version 430
layout(local_size_x = 64) in;
layout(std430, binding = 0) restrict writeonly buffer B0 { float result[]; };
layout(std140, binding = 0) uniform Scalars { uint rounds; } scalars;
void main() {
    float busy = float(gl_GlobalInvocationID.x) * 0.001;
    for (uint i = 0u; i < scalars.rounds; ++i) busy = fract(busy * 1.7 + 0.37);
    result[gl_GlobalInvocationID.x] = busy;
}
""",
    wgsl="""@group(0) @binding(0) var<storage, read_write> result: array<f32>;
struct Scalars { rounds: u32 }
@group(0) @binding(1) var<uniform> scalars: Scalars;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) invocation: vec3u) {
    var busy = f32(invocation.x) * 0.001;
    for (var i = 0u; i < scalars.rounds; i++) { busy = fract(busy * 1.7 + 0.37); }
    result[invocation.x] = busy;
}
""",
    workgroup_size=(64, 1, 1),
)
