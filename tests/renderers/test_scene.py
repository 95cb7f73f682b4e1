"""Meshes, objects and the draw list, and the step from the wave's output to one height per object."""

from collections import Counter
from itertools import accumulate, pairwise

import numpy as np
import pytest

from compute.kernel import FLOOR, LimitError, Schedule
from renderers.commands import COMMAND_BYTES, object_commands, range_commands
from renderers.heights import heights
from renderers.materials import STATES, State
from renderers.meshes import load_mesh
from renderers.plan import Plan, Submission, build_plan
from renderers.scene import FIELD_HALF_EXTENT, MAX_OBJECTS, ORDERS, Order, Scene, field, wave_input

MESHES = ("pillar", "crystal", "house", "cone")
COUNTS = (1, 2, 3, 5, 1_000)


@pytest.mark.parametrize("name", MESHES)
def test_a_mesh_is_closed(name: str) -> None:
    """Every edge is walked once in each direction, by two triangles."""
    vertices, indices = load_mesh(name)
    corners = [tuple(vertices[i, :3].tolist()) for i in indices]
    edges = Counter((corners[i], corners[i + 1 if i % 3 < 2 else i - 2]) for i in range(len(corners)))
    assert all(edges[edge] == edges[edge[::-1]] == 1 for edge in edges)


@pytest.mark.parametrize("name", MESHES)
def test_a_mesh_faces_outward(name: str) -> None:
    """A closed surface encloses a positive volume exactly if its triangles are counter-clockwise from outside."""
    vertices, indices = load_mesh(name)
    a, b, c = vertices[indices, :3].astype(np.float64).reshape(-1, 3, 3).transpose(1, 0, 2)
    assert np.sum(a * np.cross(b, c)) / 6.0 > 0.1


@pytest.mark.parametrize("name", MESHES)
def test_a_face_is_flat_with_its_own_unit_normal_at_every_corner(name: str) -> None:
    vertices, indices = load_mesh(name)
    triangles = vertices[indices].astype(np.float64).reshape(-1, 3, 6)
    across = np.cross(triangles[:, 1, :3] - triangles[:, 0, :3], triangles[:, 2, :3] - triangles[:, 0, :3])
    across /= np.linalg.norm(across, axis=1, keepdims=True)
    np.testing.assert_allclose(triangles[:, :, 3:], np.repeat(across[:, None], 3, axis=1), atol=1e-5)


@pytest.mark.parametrize("name", MESHES)
def test_a_mesh_stands_on_the_ground_and_is_one_high(name: str) -> None:
    height = load_mesh(name)[0][:, 1]
    assert (height.min(), height.max()) == (0.0, 1.0)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("objects", [0, *COUNTS])
def test_the_draws_cover_every_object_once_and_in_order(objects: int, state: State, order: Order) -> None:
    draws = field(objects, state, order).draws
    drawn = [draw.first_object + i for draw in draws for i in range(draw.object_count)]
    assert drawn == list(range(objects))


@pytest.mark.parametrize("objects", COUNTS)
def test_each_mesh_that_is_used_has_one_draw_range_within_the_arrays(objects: int) -> None:
    scene = field(objects)
    assert len({draw.first_index for draw in scene.draws}) == len(scene.draws)
    for draw in scene.draws:
        chosen = scene.indices[draw.first_index : draw.first_index + draw.index_count]
        assert draw.object_count >= 1
        assert len(chosen) == draw.index_count
        assert int(chosen.max()) + draw.base_vertex < len(scene.vertices)


@pytest.mark.parametrize("objects", COUNTS)
def test_a_scene_has_one_finite_record_and_phase_an_object(objects: int) -> None:
    scene = field(objects)
    assert scene.objects.shape == (objects, 8)
    assert scene.phases.shape == (objects,)
    assert np.isfinite(scene.objects).all()
    assert np.abs(scene.phases).max() <= 1.0


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("objects", [0, *COUNTS])
def test_sorted_draws_change_state_as_rarely_as_they_can(objects: int, state: State) -> None:
    scene = field(objects, state).draw_pass("heights")
    materials = len(scene.materials)
    assert len(scene.draws) <= materials * len(MESHES)
    assert len(scene.state_runs) <= materials
    if objects == 1_000:
        assert (len(scene.draws), len(scene.state_runs)) == (materials * len(MESHES), materials)


@pytest.mark.parametrize("state", STATES)
def test_shuffled_draws_change_state_with_almost_every_object(state: State) -> None:
    scene = field(1_000, state, "shuffled").draw_pass("heights")
    materials = len(scene.materials)
    assert len(scene.draws) > 600
    assert len(scene.state_runs) > 600 or materials == 1


def _drawn(scene: Scene) -> Counter[tuple[object, ...]]:
    """Every object as it is drawn: its mesh, its material, its record and its phase."""
    listed = [draw for draw in scene.draws for _ in range(draw.object_count)]
    rows = zip(listed, scene.objects.tolist(), scene.phases.tolist(), strict=True)
    return Counter((draw.first_index, draw.material, *record, phase) for draw, record, phase in rows)


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("objects", [0, *COUNTS])
def test_shuffled_is_the_same_objects(objects: int, state: State) -> None:
    assert _drawn(field(objects, state, "shuffled")) == _drawn(field(objects, state))


@pytest.mark.parametrize("state", STATES)
def test_a_state_changes_nothing_about_the_objects_but_their_material(state: State) -> None:
    plain, other = (sorted(field(100, each).objects.tolist()) for each in ("none", state))
    assert plain == other


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("objects", [0, *COUNTS])
def test_state_runs_partition_the_draws_and_neighbours_differ(objects: int, state: State, order: Order) -> None:
    scene = field(objects, state, order).draw_pass("heights")
    runs = scene.state_runs
    assert tuple(draw for run in runs for draw in run.draws) == scene.draws
    assert all({draw.material for draw in run.draws} == {run.material} for run in runs)
    assert all(one.material != other.material for one, other in pairwise(runs))
    assert [run.first_range for run in runs] == [0, *accumulate(len(run.draws) for run in runs)][:-1]
    assert [run.first_object for run in runs] == [0, *accumulate(run.object_count for run in runs)][:-1]
    assert sum(run.object_count for run in runs) == scene.object_count == objects


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("objects", [0, *COUNTS])
def test_stored_commands_are_the_draw_list(objects: int, state: State, order: Order) -> None:
    """Command i draws object i, with the mesh of the range that holds it."""
    scene = field(objects, state, order).draw_pass("heights")
    ranged, each = range_commands(scene.draws), object_commands(scene)
    assert (ranged.shape, each.shape) == ((len(scene.draws), 5), (objects, 5))
    assert ranged.nbytes == COMMAND_BYTES * len(scene.draws)
    expected = [
        [draw.index_count, 1, draw.first_index, draw.base_vertex, draw.first_object + i]
        for draw in scene.draws
        for i in range(draw.object_count)
    ]
    assert each.tolist() == expected
    for draw, command in zip(scene.draws, ranged.tolist(), strict=True):
        assert command == [*expected[draw.first_object][:1], draw.object_count, *expected[draw.first_object][2:]]


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("state", STATES)
def test_each_submission_executes_as_many_draws_as_it_describes(state: State, order: Order) -> None:
    scene = field(40, state, order).draw_pass("heights")
    draws = {each: scene.draws_by(each) for each in Submission}
    assert draws.pop(Submission.NONE) == 0
    assert draws.pop(Submission.INSTANCED) == len(scene.draws)
    assert set(draws.values()) == {40}


def test_objects_stand_on_the_field_and_apart() -> None:
    place = field(1_000).objects[:, :2]
    assert np.abs(place).max() <= FIELD_HALF_EXTENT
    assert len(np.unique(place, axis=0)) == 1_000


def test_the_same_number_of_objects_is_the_same_scene() -> None:
    one, other = field.__wrapped__(100), field.__wrapped__(100)
    assert one.draws == other.draws
    np.testing.assert_array_equal(one.objects, other.objects)
    np.testing.assert_array_equal(one.phases, other.phases)


def test_the_arrays_of_a_scene_hold_its_data() -> None:
    scene = field(5)
    data = scene.data()
    for name, spec in scene.arrays():
        ((_, size),) = spec.chunks
        assert spec.shape == data[name].shape
        assert size % 16 == 0
        assert data[name].nbytes <= size < data[name].nbytes + 16


@pytest.mark.parametrize("objects", [-1, MAX_OBJECTS + 1])
def test_a_number_of_objects_out_of_range_is_refused_with_the_range(objects: int) -> None:
    with pytest.raises(LimitError, match=f"objects: must be 0 to 1,000,000, got {objects:,}"):
        field(objects)


@pytest.mark.parametrize("elements", [1, 99, 100, 101, 1_000])
def test_the_waves_input_repeats_the_phases_or_cuts_them(elements: int) -> None:
    scene = field(100)
    x = wave_input(scene, elements)
    assert (x.shape, x.dtype) == ((elements,), np.dtype(np.float32))
    np.testing.assert_array_equal(x, scene.phases[np.arange(elements) % 100])


@pytest.mark.parametrize("elements", [100, 101, 100_000_000])
def test_with_an_element_for_every_object_the_output_itself_is_the_heights(elements: int) -> None:
    source, made = heights("wave/out", elements, 100, FLOOR)
    assert source == "wave/out"
    assert made == Schedule((), (), ("wave/out",))


def test_with_fewer_elements_than_objects_one_kernel_gathers_them() -> None:
    source, made = heights("wave/out", 99, 1_000, FLOOR)
    ((dispatch,),) = (each.dispatches for each in made.passes)
    assert made.outputs == (source,) != ("wave/out",)
    assert dispatch.arguments == (f"{source}[0]", "wave/out[0]", 1_000, 99)
    assert dict(made.arrays)[source].shape == (1_000,)
    assert made.passes[0].memory_bytes == 8 * 1_000


@pytest.mark.parametrize("objects", [2, 256, 257, MAX_OBJECTS])
def test_the_gathers_workgroups_cover_every_object(objects: int) -> None:
    _, made = heights("wave/out", 1, objects, FLOOR)
    (dispatch,) = made.passes[0].dispatches
    x, y, z = dispatch.workgroups
    assert objects <= x * y * z * dispatch.kernel.workgroup_size[0] < objects + 256


def test_a_plan_compares_and_hashes_by_value() -> None:
    def plan() -> Plan:
        scene = field.__wrapped__(10)
        return build_plan((), scene.draw_pass("heights"), scene.arrays())

    assert plan() == plan()
    assert hash(plan()) == hash(plan())
    assert plan().scene_passes == plan().passes
