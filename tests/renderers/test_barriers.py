"""Barriers follow from declared access. Software drivers hide a missing one, so the bits themselves are asserted."""

from collections.abc import Sequence

import pytest

from compute.kernel import (
    SCHEDULES,
    Access,
    ArraySpec,
    BufferParam,
    ComputePass,
    Dispatch,
    How,
    Kernel,
    Schedule,
    Work,
)
from compute.schedule import schedule
from compute.workloads.elementwise import record_wave
from renderers.opengl.barriers import Barrier, barriers, steps
from renderers.plan import Plan, build_plan
from renderers.scene import field

STORAGE, VERTEX, INDEX = Barrier.SHADER_STORAGE, Barrier.VERTEX_ATTRIB_ARRAY, Barrier.ELEMENT_ARRAY
NONE = Barrier.NONE


def _dispatch(**uses: Access) -> Dispatch:
    """A dispatch that uses the buffer ``x[0]`` of each array ``x`` as told."""
    params = tuple(BufferParam(name, access) for name, access in uses.items())
    kernel = Kernel("_".join(uses), params, "", "", (64, 1, 1))
    return Dispatch(kernel, tuple(f"{name}[0]" for name in uses), (1, 1, 1), Work(0, 0, 0))


def _plan(dispatches: Sequence[Dispatch], heights: str | None = None) -> Plan:
    """One pass of ``dispatches``, then a scene that reads ``heights``."""
    spec = ArraySpec((4,), "f32", ((f"{heights}[0]", 16),))
    made = Schedule((ComputePass("compute", tuple(dispatches), 1),), ((str(heights), spec),), ())
    scene = field(4)
    return build_plan((made,), scene.draw_pass(heights) if heights else None, scene.arrays())


WRITE_X, READ_X = _dispatch(x=Access.WRITE), _dispatch(y=Access.WRITE, x=Access.READ)


def test_a_kernel_that_reads_what_another_wrote_waits_for_storage() -> None:
    assert barriers(_plan([WRITE_X, READ_X]))[1] == STORAGE


def test_a_scene_that_reads_what_a_kernel_wrote_waits_for_vertex_attributes_only() -> None:
    assert barriers(_plan([WRITE_X], heights="x"))[1] == VERTEX


@pytest.mark.parametrize("role", ["scene/indices", "scene/vertices"])
def test_each_role_in_the_scene_waits_with_its_own_bit(role: str) -> None:
    write = _dispatch(**{role: Access.WRITE})
    assert barriers(_plan([write], heights="x"))[1] == (INDEX if role == "scene/indices" else VERTEX)


def test_kernels_that_only_read_need_no_barrier() -> None:
    read = _dispatch(x=Access.READ)
    assert barriers(_plan([read, read])) == (NONE, NONE)


def test_a_scene_that_no_kernel_writes_for_needs_no_barrier() -> None:
    assert barriers(_plan([_dispatch(y=Access.WRITE)], heights="x"))[1] == NONE


def test_a_kernel_that_touches_other_buffers_needs_no_barrier() -> None:
    write_y = _dispatch(y=Access.WRITE)
    assert barriers(_plan([write_y, _dispatch(z=Access.READ)]))[1] == NONE


def test_one_barrier_serves_every_later_use_of_its_kind() -> None:
    read = _dispatch(x=Access.READ)
    assert barriers(_plan([WRITE_X, read, read]))[1:] == (STORAGE, NONE)


def test_one_barrier_serves_every_buffer_written_before_it() -> None:
    write_y = _dispatch(y=Access.WRITE)
    read_x, read_y = _dispatch(x=Access.READ), _dispatch(y=Access.READ)
    assert barriers(_plan([WRITE_X, write_y, read_x, read_y]))[2:] == (STORAGE, NONE)


def test_a_barrier_for_storage_does_not_serve_the_vertex_stage() -> None:
    assert barriers(_plan([WRITE_X, READ_X], heights="x"))[1:] == (STORAGE, VERTEX)


def test_a_buffer_written_again_needs_a_barrier_again() -> None:
    assert barriers(_plan([WRITE_X, READ_X, WRITE_X, READ_X]))[3] == STORAGE


def test_a_buffer_read_and_written_in_place_waits_for_itself() -> None:
    in_place = _dispatch(x=Access.READ_WRITE)
    assert barriers(_plan([in_place] * 3)) == (STORAGE,) * 3


def test_a_buffer_is_not_written_while_an_earlier_kernel_may_still_read_it() -> None:
    # Only behind this bit do writes wait for all accesses before them, vertex fetches included.
    assert barriers(_plan([READ_X, WRITE_X]))[1] == STORAGE


def test_a_buffer_is_not_written_while_the_last_frames_scene_may_still_read_it() -> None:
    write_after_use = [_dispatch(y=Access.READ), WRITE_X, _dispatch(z=Access.WRITE, x=Access.READ)]
    bits = barriers(_plan(write_after_use, heights="x"))
    assert STORAGE in bits[0] | bits[1]


def test_a_steady_frame_waits_for_what_the_frame_before_it_wrote() -> None:
    assert barriers(_plan([WRITE_X]))[0] == STORAGE
    assert barriers(_plan([_dispatch(x=Access.READ), WRITE_X]))[0] == STORAGE


@pytest.mark.parametrize(
    ("how", "needed"),
    [
        # Nothing before the first op: the barrier before the last one has already served what it writes.
        ("eager", (NONE, STORAGE, STORAGE, VERTEX)),
        ("batched", (NONE, STORAGE, STORAGE, VERTEX)),
        ("fused", (STORAGE, VERTEX)),
    ],
)
def test_every_schedule_of_the_wave_has_its_barriers(how: How, needed: tuple[Barrier, ...]) -> None:
    scene = field(4)
    plan = build_plan((schedule(record_wave(4), how),), scene.draw_pass("wave/out"), scene.arrays())
    assert barriers(plan) == needed


@pytest.mark.parametrize("how", SCHEDULES)
def test_there_is_one_entry_for_each_dispatch_and_scene_pass(how: How) -> None:
    plan = build_plan((schedule(record_wave(100_000_000), how),))
    assert len(barriers(plan)) == len(list(steps(plan))) == sum(len(each.dispatches) for each in plan.compute_passes)
