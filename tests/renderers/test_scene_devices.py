"""The scene on every device: the same picture, the right way up, and the one that float64 NumPy computes."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from compute.kernel import FLOOR, SCHEDULES, How, Scalar
from compute.reference import MAX_SCALED_ERROR
from compute.schedule import array_spec
from demo.content import Content
from renderers.camera import frame_values, look_at, perspective
from renderers.device import Device, Executable, Image
from renderers.plan import Submission, build_plan
from renderers.scene import field
from renderers.timers import SpanRecorder
from renderers.witness import MAX_CHANNEL_ERROR

Draw = Callable[[Device, Executable, dict[str, Scalar]], Image]


def draw(device: Device, work: Executable, values: dict[str, Scalar]) -> Image:
    device.begin_frame(SpanRecorder(0))
    work.execute(values)
    device.end_frame()
    return work.image()


def picture(device: Device, objects: int, values: dict[str, Scalar], how: How = "fused") -> Image:
    content = Content("field", objects, objects, FLOOR)
    work = content.compile(device, how)
    image = draw(device, work, values)
    work.release()
    return image


@pytest.mark.parametrize("how", SCHEDULES)
def test_both_interfaces_draw_the_same_picture_of_a_thousand_objects(opengl: Device, webgpu: Device, how: How) -> None:
    for time_s in (0.0, 2.0, 9.0):
        values = frame_values(time_s, opengl.size_px)
        one, other = (picture(device, 1000, values, how) for device in (opengl, webgpu))
        assert np.count_nonzero(np.any(one != other, axis=2)) == 0


def test_ten_thousand_objects_differ_in_at_most_ten_pixels(opengl: Device, webgpu: Device) -> None:
    values = frame_values(2.0, opengl.size_px)
    one, other = (picture(device, 10_000, values) for device in (opengl, webgpu))
    assert np.count_nonzero(np.any(one != other, axis=2)) <= 10


@pytest.mark.parametrize(("objects", "elements"), [(1, 1), (300, 300), (300, 7), (300, 100_000)])
def test_the_picture_shows_what_float64_numpy_computes(device: Device, objects: int, elements: int) -> None:
    """Heights come from element i mod elements; the colour is the object's own, so a shared record would show."""
    content = Content("field", objects, elements, device.info.limits)
    work = content.compile(device, "batched")
    for time_s in (0.5, 4.0, 15.0):
        values = frame_values(time_s, device.size_px)
        image = draw(device, work, values)
        witness = content.witness(values, device.size_px)
        assert witness is not None
        assert witness.error(image) <= MAX_CHANNEL_ERROR
        assert content.values_error(values, work.read_back(content.output)) <= MAX_SCALED_ERROR
    work.release()


def test_a_flipped_or_mirrored_picture_is_not_the_picture(device: Device) -> None:
    content = Content("field", 300, 300, device.info.limits)
    values = frame_values(2.0, device.size_px)
    witness = content.witness(values, device.size_px)
    image = picture(device, 300, values)
    assert witness is not None
    assert witness.error(image) <= MAX_CHANNEL_ERROR
    assert witness.error(image[::-1]) > MAX_CHANNEL_ERROR
    assert witness.error(image[:, ::-1]) > MAX_CHANNEL_ERROR


def test_the_top_row_comes_first(device: Device) -> None:
    """Seen from above the field, the upper rows are background and the lower ones are not."""
    image = picture(device, 1000, frame_values(1.5, device.size_px))
    background = image[0, 0]
    assert np.all(image[:5] == background)
    assert not np.all(image[-5:] == background)


@pytest.mark.parametrize("near", [2.0, 9.0, 12.0])
def test_the_near_plane_cuts_at_the_same_depth(opengl: Device, webgpu: Device, near: float) -> None:
    """Depth from 0 to 1 on one side and -1 to 1 on the other would cut at twice the distance."""
    view = look_at(np.array([0.0, 5.0, 13.0]), np.array([0.0, 0.0, 0.0]))
    values = frame_values(2.0, opengl.size_px)
    pictures = []
    for plane in (0.1, near):
        matrix = perspective(0.9, 16 / 9, plane, 80.0) @ view
        values["view_projection"] = tuple(matrix.T.ravel().tolist())
        one, other = (picture(device, 500, values) for device in (opengl, webgpu))
        np.testing.assert_array_equal(one, other)
        pictures.append(one)
    cut_away = np.any(pictures[0] != pictures[1], axis=2)
    assert cut_away.any() == (near > 3.0)


@pytest.mark.parametrize(("level", "stored"), [(0.0, 0), (0.25, 64), (0.5, 128), (1.0, 255)])
def test_a_level_is_stored_as_written_without_a_transfer_curve(device: Device, level: float, stored: int) -> None:
    scene = field(1)
    plain = scene.draw_pass("blank/heights")
    grey = replace(plain, clear=(level, level, level, 1.0))
    heights = ("blank/heights", array_spec("blank/heights", (1,), FLOOR))
    work = device.compile(build_plan((), grey, (*scene.arrays(), heights)), Submission.NONE)
    image = draw(device, work, frame_values(0.0, device.size_px))
    assert np.all(np.abs(image[:, :, :3].astype(int) - stored) <= 1)
    work.release()


def test_an_expensive_shader_leaves_the_picture_as_it_is(device: Device) -> None:
    cheap, dear = (picture(device, 50, frame_values(2.0, device.size_px, shader_cost=cost)) for cost in (0, 50))
    assert int(np.max(np.abs(cheap.astype(int) - dear.astype(int)))) <= 1


def test_a_picture_outside_a_frame_is_the_one_inside(device: Device) -> None:
    content = Content("field", 200, 200, device.info.limits)
    work = content.compile(device, "eager")
    other = content.compile(device, "fused")
    values = frame_values(3.0, device.size_px)
    inside = draw(device, work, values)
    draw(device, other, frame_values(5.0, device.size_px))
    np.testing.assert_array_equal(work.image(), inside)
    work.release()
    other.release()


def test_a_new_size_gives_a_picture_of_that_size(device: Device) -> None:
    device.resize((200, 100))
    assert picture(device, 100, frame_values(2.0, device.size_px)).shape == (100, 200, 4)


def test_a_missing_frame_value_is_named_and_the_next_frame_works(device: Device) -> None:
    content = Content("field", 20, 20, device.info.limits)
    work = content.compile(device, "fused")
    values = frame_values(1.0, device.size_px)
    device.begin_frame(SpanRecorder(0))
    with pytest.raises(ValueError, match="frame value 'time' is missing"):
        work.execute({name: value for name, value in values.items() if name != "time"})
    assert draw(device, work, values).any()
    work.release()
