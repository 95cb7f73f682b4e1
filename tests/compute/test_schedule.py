"""Recorded ops and how to run them become kernels, passes and arrays. Plain values; no device and no data."""

import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest

from compute.kernel import (
    FLOOR,
    SCHEDULES,
    Dispatch,
    FrameValue,
    How,
    KernelShape,
    LimitError,
    Schedule,
)
from compute.record import Recorded, Spec, record
from compute.schedule import array_spec, fold_workgroups, schedule
from compute.workloads.elementwise import record_wave
from renderers.plan import build_plan

ELEMENTS = 1_000
FLOOR_ELEMENTS = FLOOR.storage_binding_bytes // 4  # float32 values that one binding holds
ARRAY = Spec((ELEMENTS,))


def _wave(how: How, elements: int = ELEMENTS) -> Schedule:
    return schedule(record_wave(elements), how)


def _kernels(made: Schedule) -> int:
    return sum(each.kernels for each in made.passes)


def _bytes(made: Schedule) -> int:
    return sum(each.memory_bytes for each in made.passes)


def _dispatches(made: Schedule) -> list[Dispatch]:
    return [dispatch for each in made.passes for dispatch in each.dispatches]


def _two(x: Any, a: Any) -> Any:
    scaled = x * a
    return scaled + 1.0, scaled - 1.0


@pytest.mark.parametrize(
    ("how", "kernels", "passes", "bytes_an_element"), [("eager", 3, 3, 24), ("batched", 3, 1, 24), ("fused", 1, 1, 8)]
)
def test_each_schedule_of_the_wave_has_its_kernels_passes_and_described_bytes(
    how: How, kernels: int, passes: int, bytes_an_element: int
) -> None:
    made = _wave(how)
    assert _kernels(made) == kernels
    assert len(made.passes) == passes
    assert _bytes(made) == bytes_an_element * ELEMENTS


@pytest.mark.parametrize("how", SCHEDULES)
def test_only_eager_passes_are_submitted_alone(how: How) -> None:
    assert all(each.submit_alone == (how == "eager") for each in _wave(how).passes)


def test_batched_runs_the_very_dispatches_of_eager_in_one_pass() -> None:
    assert _dispatches(_wave("batched")) == _dispatches(_wave("eager"))


@pytest.mark.parametrize("how", SCHEDULES)
def test_every_schedule_describes_the_same_arithmetic(how: How) -> None:
    assert sum(dispatch.work.flops for dispatch in _dispatches(_wave(how))) == 3 * ELEMENTS


@pytest.mark.parametrize("how", SCHEDULES)
def test_input_and_output_keep_their_names_in_every_schedule(how: How) -> None:
    made = _wave(how)
    assert made.outputs == ("wave/out",)
    assert {"wave/x", "wave/out"} <= dict(made.arrays).keys()


def test_fused_keeps_no_intermediate_in_memory() -> None:
    assert dict(_wave("fused").arrays).keys() == {"wave/x", "wave/out"}
    assert dict(_wave("eager").arrays).keys() == {"wave/x", "wave/out", "wave/t0", "wave/t1"}


def test_a_label_takes_the_place_of_the_functions_name() -> None:
    made = schedule(record_wave(ELEMENTS), "fused", label="again")
    assert made.outputs == ("again/out",)
    assert [each.label for each in made.passes] == ["again/fused"]


def test_arguments_follow_the_order_that_the_kernel_declares() -> None:
    (dispatch,) = _dispatches(_wave("fused"))
    assert dispatch.arguments == ("wave/out[0]", "wave/x[0]", FrameValue("a"), FrameValue("b"))
    assert [param.name for param in dispatch.kernel.params] == ["out", "x", "a", "b"]


@pytest.mark.parametrize("how", SCHEDULES)
def test_equal_input_gives_equal_and_hashable_plans(how: How) -> None:
    one, other = (build_plan((_wave(how),)) for _ in range(2))
    assert one == other
    assert hash(one) == hash(other)


def test_different_schedules_give_different_plans() -> None:
    assert len({build_plan((_wave(how),)) for how in SCHEDULES}) == len(SCHEDULES)


def test_passes_of_the_same_op_are_told_apart_by_their_labels() -> None:
    made = schedule(record(lambda x, a: x * a * a, ARRAY, Spec()), "eager")
    assert len({each.label for each in made.passes}) == len(made.passes)


@pytest.mark.parametrize(("how", "kernels"), [("eager", 3), ("batched", 3), ("fused", 1)])
def test_a_subexpression_shared_by_two_results_is_computed_once(how: How, kernels: int) -> None:
    made = schedule(record(_two, ARRAY, Spec()), how)
    assert _kernels(made) == kernels
    assert sum(dispatch.work.flops for dispatch in _dispatches(made)) == 3 * ELEMENTS


@pytest.mark.parametrize("how", SCHEDULES)
def test_several_results_are_several_outputs_in_their_order(how: How) -> None:
    assert schedule(record(_two, ARRAY, Spec()), how).outputs == ("_two/out0", "_two/out1")


def test_fused_reads_once_and_writes_every_result() -> None:
    (dispatch,) = _dispatches(schedule(record(_two, ARRAY, Spec()), "fused"))
    assert (dispatch.work.bytes_read, dispatch.work.bytes_written) == (4 * ELEMENTS, 8 * ELEMENTS)


@pytest.mark.parametrize("how", SCHEDULES)
def test_a_result_that_another_result_uses_is_an_output_too(how: How) -> None:
    def both(x: Any) -> Any:
        y = x * 2.0
        return y, y + 1.0

    made = schedule(record(both, ARRAY), how)
    assert dict(made.arrays).keys() == {"both/x", "both/out0", "both/out1"}


@pytest.mark.parametrize("how", SCHEDULES)
def test_no_kernel_gets_one_buffer_twice_when_a_result_is_returned_twice(how: How) -> None:
    def same(x: Any) -> Any:
        y = x * 2.0
        return y, y

    for dispatch in _dispatches(schedule(record(same, ARRAY), how)):
        buffers = [name for _, name in dispatch.buffer_arguments()]
        assert len(buffers) == len(set(buffers))


@pytest.mark.parametrize("how", SCHEDULES)
@pytest.mark.parametrize("name", ["out", "t0"])
def test_a_parameter_named_like_an_intermediate_keeps_its_own_buffer(how: How, name: str) -> None:
    function = eval(f"lambda {name}: -({name} * 2.0)")
    for dispatch in _dispatches(schedule(record(function, ARRAY), how)):
        buffers = [buffer for _, buffer in dispatch.buffer_arguments()]
        assert len(buffers) == len(set(buffers))


def _calls(action: Callable[[], object]) -> int:
    """Python calls that ``action`` makes: a cost that does not depend on the machine."""
    calls = 0

    def count(frame: object, event: str, argument: object) -> None:
        nonlocal calls
        calls += event == "call"

    sys.setprofile(count)
    try:
        action()
    finally:
        sys.setprofile(None)
    return calls


def _doubled(times: int) -> Recorded:
    """As many nodes as ``times``, and two to that power paths through them."""

    def chain(x: Any) -> Any:
        for _ in range(times):
            x = x + x
        return x

    return record(chain, ARRAY)


def _layers(times: int) -> Recorded:
    """Kernels of every kind behind one another, with views between them."""

    def network(x: Any) -> Any:
        for _ in range(times):
            x = np.tanh(x @ x.T - np.max(x, axis=1, keepdims=True))
        return x

    return record(network, Spec((8, 8)))


@pytest.mark.parametrize("how", SCHEDULES)
@pytest.mark.parametrize("function", [_doubled, _layers])
def test_the_cost_of_scheduling_grows_with_the_nodes_and_not_with_their_square_or_the_paths(
    how: How, function: Callable[[int], Recorded]
) -> None:
    few, many = (_calls(partial(schedule, function(times), how)) for times in (20, 80))
    assert many < 5 * few


@pytest.mark.parametrize("how", SCHEDULES)
def test_a_chain_longer_than_the_interpreters_stack_is_scheduled(how: How) -> None:
    length = sys.getrecursionlimit() + 100
    made = schedule(_doubled(length), how)
    assert sum(dispatch.work.flops for dispatch in _dispatches(made)) == length * ELEMENTS


@pytest.mark.parametrize(
    ("elements", "chunks"),
    [
        (1, [16]),
        (FLOOR_ELEMENTS - 1, [128 << 20]),
        (FLOOR_ELEMENTS, [128 << 20]),
        (FLOOR_ELEMENTS + 1, [128 << 20, 16]),
        (2 * FLOOR_ELEMENTS, [128 << 20, 128 << 20]),
        (100_000_000, [128 << 20, 128 << 20, 400_000_000 - (256 << 20)]),
    ],
)
def test_an_array_is_cut_into_chunks_that_one_binding_holds(elements: int, chunks: list[int]) -> None:
    assert [size for _, size in array_spec("x", (elements,), FLOOR).chunks] == chunks


def test_chunks_have_names_of_their_own() -> None:
    names = [name for name, _ in array_spec("x", (100_000_000,), FLOOR).chunks]
    assert names == ["x[0]", "x[1]", "x[2]"]


def test_a_chunk_fits_a_buffer_where_that_is_the_smaller_limit() -> None:
    spec = array_spec("x", (1_000,), replace(FLOOR, buffer_bytes=1_000))
    assert [size for _, size in spec.chunks] == [768, 768, 768, 768, 768, 160]


def test_the_shape_does_not_change_the_chunks() -> None:
    assert array_spec("x", (30, 50), FLOOR).chunks == array_spec("x", (1_500,), FLOOR).chunks


@pytest.mark.parametrize("how", SCHEDULES)
@pytest.mark.parametrize("elements", [FLOOR_ELEMENTS, FLOOR_ELEMENTS + 1, 100_000_000])
def test_every_chunk_gets_a_dispatch_and_every_element_is_counted_once(how: How, elements: int) -> None:
    made, chunks = _wave(how, elements), len(array_spec("x", (elements,), FLOOR).chunks)
    assert len(_dispatches(made)) == chunks * _kernels(made)
    assert _bytes(made) == elements * (8 if how == "fused" else 24)


def test_a_dispatch_reads_and_writes_chunks_of_the_same_number() -> None:
    for index, dispatch in enumerate(_dispatches(_wave("fused", 100_000_000))):
        assert [name for _, name in dispatch.buffer_arguments()] == [f"wave/out[{index}]", f"wave/x[{index}]"]


def test_kernels_are_counted_as_described_however_many_chunks_they_run_on() -> None:
    assert [each.kernels for each in _wave("eager", 100_000_000).passes] == [1, 1, 1]


def _total(x: Any, a: Any) -> Any:
    return np.sum(x * a)


def test_each_chunk_of_a_sum_writes_its_own_range_of_the_partial_sums() -> None:
    made = schedule(record(_total, Spec((100_000_000,)), Spec()), "fused")
    first = [dispatch for dispatch in _dispatches(made) if "multiply" in dispatch.kernel.name]
    chunk, last = FLOOR_ELEMENTS, 100_000_000 - 2 * FLOOR_ELEMENTS
    assert [dispatch.arguments for dispatch in first] == [
        ("_total/t0[0]", f"_total/x[{number}]", FrameValue("a"), number * chunk // 64) for number in range(3)
    ]
    assert [dispatch.work.bytes_read for dispatch in first] == [4 * chunk, 4 * chunk, 4 * last]
    assert [dispatch.work.bytes_written for dispatch in first] == [chunk // 16, chunk // 16, last // 16]


def test_the_last_chunk_of_a_sum_says_how_many_of_its_elements_count() -> None:
    made = schedule(record(_total, Spec((FLOOR_ELEMENTS + 1,)), Spec()), "fused")
    first = [dispatch for dispatch in _dispatches(made) if "multiply" in dispatch.kernel.name]
    assert [dispatch.arguments[-2:] for dispatch in first] == [(FLOOR_ELEMENTS, 0), (1, FLOOR_ELEMENTS // 64)]


def test_a_maximum_a_minimum_and_a_mean_go_through_several_chunks_as_a_sum_does() -> None:
    made = schedule(record(lambda x: (np.max(x), np.min(x), np.mean(x)), Spec((100_000_000,))), "fused")
    assert sum(name.endswith("x[2]") for each in _dispatches(made) for _, name in each.buffer_arguments()) == 3


@pytest.mark.parametrize(
    ("op", "function"),
    [
        ("sum", lambda x: np.sum(x, axis=0)),
        ("max", lambda x: np.max(x, axis=1)),
        ("add", lambda x: x.T + 1.0),
        ("multiply", lambda x: x * x.reshape(100_000_000)[:, None].reshape(1, -1).reshape(10_000, 10_000).T),
        ("matmul", lambda x: x @ x.T),
    ],
)
def test_what_reads_an_array_of_several_chunks_out_of_step_is_refused_with_its_size_and_the_way_out(
    op: str, function: Callable[..., Any]
) -> None:
    says = rf"x: 400,000,000 bytes are several buffers here, and {op} does not go through it in step; make it smaller"
    with pytest.raises(LimitError, match=says):
        schedule(record(function, Spec((10_000, 10_000))), "fused")


@pytest.mark.parametrize("count", [1, 65_534, 65_535, 65_536, 65_537, 131_070, 131_071, 1_000_003, 65_535**2])
def test_folded_workgroups_cover_the_count_within_the_limit_and_waste_less_than_a_row(count: int) -> None:
    x, y, z = fold_workgroups(count, 65_535)
    assert z == 1
    assert max(x, y) <= 65_535
    assert count <= x * y < count + y


def test_up_to_the_limit_nothing_is_folded() -> None:
    assert fold_workgroups(65_535, 65_535) == (65_535, 1, 1)


def test_more_workgroups_than_two_axes_hold_are_refused() -> None:
    with pytest.raises(LimitError, match="65536 workgroups exceed 255 x 255; do more per invocation"):
        fold_workgroups(65_536, 255)


def test_a_shape_with_many_workgroups_is_folded_over_the_whole_array() -> None:
    shape = KernelShape(workgroup_size=64, vectors_per_invocation=1)
    (dispatch,) = _dispatches(schedule(record_wave(FLOOR_ELEMENTS), "fused", shape=shape))
    x, y, _ = dispatch.workgroups
    assert y > 1
    assert x * y * shape.elements_per_workgroup >= FLOOR_ELEMENTS


def _sums(count: int) -> Callable[..., Any]:
    """A function of one array with ``count`` results: ``count`` + 1 buffers when fused."""
    return lambda x: tuple(x + float(i) for i in range(count))


def test_as_many_buffers_as_the_limit_are_taken() -> None:
    (dispatch,) = _dispatches(schedule(record(_sums(7), ARRAY), "fused"))
    assert len(dispatch.kernel.buffers) == FLOOR.storage_buffers_per_stage


@pytest.mark.parametrize(("results", "kernels"), [(7, 1), (8, 2), (14, 2), (15, 3)])
def test_results_that_are_too_many_for_one_kernel_come_from_several(results: int, kernels: int) -> None:
    assert _kernels(schedule(record(_sums(results), ARRAY), "fused")) == kernels


def test_results_that_read_different_arrays_come_from_several_kernels_where_one_has_too_few_buffers() -> None:
    made = schedule(record(lambda a, b, c, d, e, f: (a + b, c + d, e + f), *[ARRAY] * 6), "fused")
    assert [note.reads for note in made.notes] == [("a", "b", "c", "d"), ("e", "f")]


def test_reductions_that_are_too_many_for_one_kernel_come_from_several() -> None:
    made = schedule(record(lambda x: tuple(np.sum(x * float(i + 1)) for i in range(9)), ARRAY), "fused")
    assert [len(note.writes) for note in made.notes] == [7, 2, 4, 4, 1]


def _sum_of_eight(a: Any, b: Any, c: Any, d: Any, e: Any, f: Any, g: Any, h: Any) -> Any:
    return a + b + c + d + e + f + g + h


def test_a_result_that_takes_too_many_buffers_is_refused_with_the_count_the_limit_and_the_way_out() -> None:
    with pytest.raises(LimitError, match=r"add: 9 buffers .* exceed this device's 8 per stage; split the function"):
        schedule(record(_sum_of_eight, *[ARRAY] * 8), "fused")


def test_what_is_too_much_for_one_kernel_still_runs_op_by_op() -> None:
    assert len(_dispatches(schedule(record(_sum_of_eight, *[ARRAY] * 8), "batched"))) == 7


def test_a_workgroup_larger_than_the_limit_is_refused_with_both_numbers() -> None:
    with pytest.raises(LimitError, match=r"257 invocations exceeds this device's 256; lower workgroup_size"):
        schedule(record_wave(ELEMENTS), "fused", shape=KernelShape(workgroup_size=257))


def test_a_workgroup_longer_than_its_axis_allows_is_refused_with_that_limit() -> None:
    narrow = replace(FLOOR, workgroup_size=(128, 128, 64))
    with pytest.raises(LimitError, match=r"a workgroup of \(256, 1, 1\) exceeds this device's \(128, 128, 64\)"):
        schedule(record_wave(ELEMENTS), "fused", narrow)


def test_limits_common_to_two_devices_are_the_smaller_of_each() -> None:
    one = replace(FLOOR, buffer_bytes=1 << 20, workgroup_size=(1024, 64, 64))
    other = replace(FLOOR, storage_buffers_per_stage=16)
    assert one.common(other) == other.common(one) == replace(FLOOR, buffer_bytes=1 << 20, workgroup_size=(256, 64, 64))
