"""One convention for every interface: clip depth 0 at the near plane, 1 at the far one, y up, x to the right."""

import numpy as np
import numpy.typing as npt
import pytest

from renderers.camera import frame_values, look_at, perspective, view_projection

NEAR, FAR = 0.1, 80.0
EYE, TARGET = np.array([3.0, 4.0, 5.0]), np.array([0.0, 1.0, -1.0])


def _project(matrix: npt.NDArray[np.float64], *point: float) -> npt.NDArray[np.float64]:
    clip = matrix @ np.array([*point, 1.0])
    return np.asarray(clip[:3] / clip[3])


@pytest.mark.parametrize(("distance", "depth"), [(NEAR, 0.0), (FAR, 1.0)])
def test_the_near_plane_has_depth_0_and_the_far_plane_1(distance: float, depth: float) -> None:
    matrix = perspective(np.radians(60.0), 1.5, NEAR, FAR)
    assert _project(matrix, 0.0, 0.0, -distance)[2] == pytest.approx(depth, abs=1e-9)


def test_depth_grows_with_distance() -> None:
    matrix = perspective(np.radians(60.0), 1.5, NEAR, FAR)
    depths = [_project(matrix, 0.0, 0.0, -distance)[2] for distance in (0.1, 0.2, 1.0, 10.0, 79.0, 80.0)]
    assert depths == sorted(set(depths))


def test_x_runs_to_the_right_and_y_up() -> None:
    x, y, _ = _project(perspective(np.radians(60.0), 1.0, NEAR, FAR), 1.0, 2.0, -5.0)
    assert 0.0 < x < y


def test_the_field_of_view_is_the_height_of_the_picture() -> None:
    matrix = perspective(np.radians(90.0), 2.0, NEAR, FAR)
    assert _project(matrix, 6.0, 3.0, -3.0)[:2] == pytest.approx([1.0, 1.0])


def test_the_camera_sees_its_target_straight_ahead_at_its_distance() -> None:
    seen = look_at(EYE, TARGET) @ np.array([*TARGET, 1.0])
    assert seen == pytest.approx([0.0, 0.0, -np.linalg.norm(EYE - TARGET), 1.0])


def test_the_camera_stands_at_the_origin_of_its_own_space() -> None:
    assert look_at(EYE, TARGET) @ np.array([*EYE, 1.0]) == pytest.approx([0.0, 0.0, 0.0, 1.0])


def test_the_view_turns_and_does_not_mirror_or_stretch() -> None:
    turn = look_at(EYE, TARGET)[:3, :3]
    np.testing.assert_allclose(turn @ turn.T, np.eye(3), atol=1e-12)
    assert np.linalg.det(turn) == pytest.approx(1.0)


def test_what_is_higher_in_the_world_is_higher_in_the_picture() -> None:
    matrix = view_projection(0.0, 16 / 9)
    assert _project(matrix, 0.0, 1.0, 0.0)[1] > _project(matrix, 0.0, 0.0, 0.0)[1]


@pytest.mark.parametrize("time_s", [0.0, 2.0, 10.0, 1_000.0])
def test_the_middle_of_the_field_is_always_in_the_picture(time_s: float) -> None:
    x, y, depth = _project(view_projection(time_s, 16 / 9), 0.0, 0.0, 0.0)
    assert max(abs(x), abs(y)) < 1.0
    assert 0.0 < depth < 1.0


def test_the_matrix_travels_column_by_column() -> None:
    values = frame_values(2.0, (640, 360))
    columns = np.asarray(values["view_projection"]).reshape(4, 4).T
    np.testing.assert_array_equal(columns, view_projection(2.0, 640 / 360))


def test_a_frames_values_depend_on_nothing_but_its_time_and_size() -> None:
    assert frame_values(2.0, (640, 360)) == frame_values(2.0, (640, 360))
    assert frame_values(2.0, (640, 360)) != frame_values(2.5, (640, 360))
