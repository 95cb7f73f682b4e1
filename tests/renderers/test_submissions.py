"""Six ways to hand over one draw list: one picture, each object's own data, and new data wherever it is uploaded."""

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from compute.kernel import FLOOR, LimitError, Scalar
from demo.content import Content
from demo.loop import run_frame
from renderers.camera import frame_values
from renderers.device import Device, Executable, Image
from renderers.materials import STATES, State
from renderers.plan import Submission
from renderers.scene import ORDERS, Order
from renderers.timers import SpanRecorder
from renderers.webgpu.adapter import describe
from renderers.witness import MAX_CHANNEL_ERROR

_SIZE_PX = (640, 360)
_FEW = 12  # objects of all four meshes, each of them seen
_OUT_OF_SIGHT = 1_000.0


def submissions(device: Device) -> list[Submission]:
    """All that draw something, and that ``device`` supports."""
    supported = [each for each, reason in device.info.submissions.items() if reason is None]
    return [each for each in supported if each is not Submission.NONE]


def draw(device: Device, work: Executable, values: dict[str, Scalar]) -> Image:
    run_frame(device, work, 0, lambda: values)
    return work.image()


def pictures(device: Device, content: Content, values: dict[str, Scalar]) -> Iterator[tuple[str, Image]]:
    """One of each submission, with a name that says which."""
    for submission in submissions(device):
        work = content.compile(device, "fused", submission)
        yield f"{device.info.interface} {submission.value}", draw(device, work, values)
        work.release()


def pixels_that_differ(one: Image, other: Image) -> int:
    return int(np.count_nonzero(np.any(one != other, axis=2)))


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("state", STATES)
def test_every_submission_of_both_interfaces_draws_the_picture_that_float64_numpy_computes(
    opengl: Device, webgpu: Device, state: State, order: Order
) -> None:
    content = Content("field", 1_000, 1_000, FLOOR, state, order)
    values = frame_values(2.0, _SIZE_PX)
    witness = content.witness(values, _SIZE_PX)
    assert witness is not None
    first: Image | None = None
    for device in (opengl, webgpu):
        device.resize(_SIZE_PX)
        for name, image in pictures(device, content, values):
            first = image if first is None else first
            assert pixels_that_differ(image, first) == 0, name
            assert witness.error(image) <= MAX_CHANNEL_ERROR, name


@pytest.mark.parametrize("objects", [10_000, 50_000])
def test_of_many_objects_at_most_ten_pixels_differ(opengl: Device, webgpu: Device, objects: int) -> None:
    content = Content("field", objects, objects, FLOOR)
    values = frame_values(2.0, _SIZE_PX)
    witness = content.witness(values, _SIZE_PX)
    assert witness is not None
    first: Image | None = None
    for device in (opengl, webgpu):
        device.resize(_SIZE_PX)
        for name, image in pictures(device, content, values):
            first = image if first is None else first
            assert pixels_that_differ(image, first) <= 10, name
            assert witness.error(image) <= MAX_CHANNEL_ERROR, name


@pytest.mark.parametrize("state", STATES)
def test_the_order_of_the_draws_does_not_show(device: Device, state: State) -> None:
    """What changes of state cost is the difference of two orders, so both must draw the same objects."""
    values = frame_values(2.0, device.size_px)
    contents = [Content("field", 200, 200, FLOOR, state, order) for order in ORDERS]
    for (name, one), (_, other) in zip(*(pictures(device, each, values) for each in contents), strict=True):
        assert pixels_that_differ(one, other) == 0, name


Change = Callable[[npt.NDArray[np.float32], npt.NDArray[np.float32], int], None]


def _move_away(records: npt.NDArray[np.float32], x: npt.NDArray[np.float32], i: int) -> None:
    records[i, :2] = _OUT_OF_SIGHT


def _recolour(records: npt.NDArray[np.float32], x: npt.NDArray[np.float32], i: int) -> None:
    records[i, 4:7] = records[i, [6, 4, 5]]


def _raise(records: npt.NDArray[np.float32], x: npt.NDArray[np.float32], i: int) -> None:
    x[i] += 0.5


def _changed(device: Device, work: Executable, content: Content, change: Change) -> Iterator[Image]:
    """The picture with each object changed in turn, by data that is uploaded between frames."""
    for i in range(content.objects):
        records, x = content.scene.objects.copy(), content.inputs["x"].copy()
        change(records, x, i)
        work.upload("scene/objects", records)
        work.upload("wave/x", x)
        yield draw(device, work, frame_values(2.0, device.size_px))


@pytest.mark.parametrize("change", [_move_away, _recolour, _raise])
@pytest.mark.parametrize("order", ORDERS)
def test_each_object_shows_its_own_record_and_height(device: Device, order: Order, change: Change) -> None:
    """What is uploaded for one object changes the picture, whichever object it is, and everywhere in the same way.

    Where first_instance is ignored, in a direct or an indirect draw or in a bundle, every object shows the data of the
    first; where a uniform is written again before it was read, that of the last.
    """
    content = Content("field", _FEW, _FEW, FLOOR, "texture", order)
    first: list[Image] = []
    for submission in submissions(device):
        work = content.compile(device, "fused", submission)
        base = draw(device, work, frame_values(2.0, device.size_px))
        images = list(_changed(device, work, content, change))
        first = first or images
        assert all(pixels_that_differ(image, base) > 0 for image in images), submission
        assert [pixels_that_differ(*pair) for pair in zip(images, first, strict=True)] == [0] * _FEW, submission
        work.release()


def test_no_two_objects_share_a_pixel_of_their_own_colour(device: Device) -> None:
    """A shared record would change all objects at once."""
    content = Content("field", _FEW, _FEW, FLOOR)
    for submission in submissions(device):
        work = content.compile(device, "fused", submission)
        base = draw(device, work, frame_values(2.0, device.size_px))
        changed = [np.any(image != base, axis=2) for image in _changed(device, work, content, _recolour)]
        assert int(np.sum(changed, axis=0).max()) == 1, submission
        work.release()


def test_heights_and_turns_change_with_every_frame_in_every_submission(device: Device) -> None:
    content = Content("field", 100, 100, FLOOR)
    first: list[Image] = []
    for submission in submissions(device):
        work = content.compile(device, "fused", submission)
        images = [draw(device, work, frame_values(time_s, device.size_px)) for time_s in (1.0, 1.1, 9.0)]
        first = first or images
        assert all(pixels_that_differ(one, other) > 0 for one, other in pairwise(images)), submission
        assert [pixels_that_differ(*pair) for pair in zip(images, first, strict=True)] == [0, 0, 0], submission
        work.release()


def test_heights_alone_change_what_every_submission_draws(device: Device) -> None:
    """Camera and time stand still, and only the compute pass has another scalar to work with."""
    content = Content("field", 100, 100, FLOOR)
    values = frame_values(2.0, device.size_px)
    for submission in submissions(device):
        work = content.compile(device, "fused", submission)
        one, other = (draw(device, work, {**values, "b": b}) for b in (0.1, 0.3))
        assert pixels_that_differ(one, other) > 0, submission
        work.release()


def test_submissions_may_take_turns(device: Device) -> None:
    """What one leaves bound or set is nothing the next one relies on, nor is hurt by."""
    content = Content("field", 40, 40, FLOOR, "pipeline", "shuffled")
    works = [content.compile(device, "fused", each) for each in submissions(device)]
    values = [frame_values(time_s, device.size_px) for time_s in (1.0, 3.0)]
    turns = [[draw(device, work, each) for work in works] for each in (*values, *values)]
    for images, expected in zip(turns, (turns[0][0], turns[1][0]) * 2, strict=True):
        assert [pixels_that_differ(image, expected) for image in images] == [0] * len(works)
    for work in works:
        work.release()


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("objects", [0, 1])
def test_no_object_leaves_the_background_and_one_object_stands_before_it(
    device: Device, objects: int, state: State
) -> None:
    content = Content("field", objects, 1, FLOOR, state)
    background = content.compile_blank(device)
    values = frame_values(2.0, device.size_px)
    empty = draw(device, background, values)
    for name, image in pictures(device, content, values):
        assert (pixels_that_differ(image, empty) > 0) == (objects == 1), name
    background.release()


def test_none_draws_nothing(device: Device) -> None:
    content = Content("field", 100, 100, FLOOR)
    work = content.compile(device, "fused", Submission.NONE)
    image = draw(device, work, frame_values(2.0, device.size_px))
    assert np.all(image == image[0, 0])
    work.release()


def _after_one_another(webgpu: Any, works: tuple[Any, ...], values: dict[str, Scalar]) -> Image:
    """The draws of ``works`` in one render pass, each of which sets all state that it needs."""
    webgpu.begin_frame(SpanRecorder(0))
    for work in works:
        work.execute(values)  # its scalars, its heights, and a picture that the last pass clears
    frame = webgpu.open_frame(works[0])
    encoding = frame.encoder.begin_render_pass(
        color_attachments=[{"view": frame.colour, "load_op": "clear", "store_op": "store"}],
        depth_stencil_attachment={"view": frame.depth, "depth_load_op": "clear", "depth_store_op": "discard"}
        | {"depth_clear_value": 1.0},
    )
    for work in works:
        work._passes[-1].draw_into(encoding)
    encoding.end()
    webgpu.end_frame()
    image: Image = works[0].image()
    return image


def test_draws_before_and_after_a_bundle_are_drawn(webgpu: Device) -> None:
    """A pass caches the pipeline and the buffers it was told last; a bundle sets others, and leaves none behind."""
    one, other = Content("field", 40, 40, FLOOR, "pipeline"), Content("field", 55, 55, FLOOR, "texture", "shuffled")
    values = frame_values(2.0, webgpu.size_px)
    plain = [each.compile(webgpu, "fused", Submission.IMMEDIATE) for each in (one, other)]
    bundle, bundle_too = (each.compile(webgpu, "fused", Submission.RECORDED) for each in (one, other))
    both = _after_one_another(webgpu, (plain[0], plain[1]), values)
    for alone in plain:
        assert pixels_that_differ(both, draw(webgpu, alone, values)) > 0
    for works in [
        (bundle, plain[1]),
        (plain[0], bundle_too),
        (bundle, bundle_too),
        (plain[0], bundle, plain[1]),
        (bundle_too, plain[0], plain[1]),
    ]:
        assert pixels_that_differ(_after_one_another(webgpu, works, values), both) == 0
    for work in (*plain, bundle, bundle_too):
        work.release()


def test_an_adapter_that_ignores_the_first_instance_of_indirect_draws_refuses_them(
    webgpu: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: Any = webgpu

    class WithoutFeature:
        features = opened._device.features - {"indirect-first-instance"}

        def __getattr__(self, name: str) -> Any:
            return getattr(opened._device, name)

    monkeypatch.setattr(webgpu, "info", describe(WithoutFeature()))
    plan = Content("field", 5, 5, FLOOR).plan("fused")
    with pytest.raises(LimitError, match=r"^webgpu: indirect: .* no indirect-first-instance feature; use recorded"):
        webgpu.compile(plan, Submission.INDIRECT)
    webgpu.compile(plan, Submission.RECORDED).release()


def test_opengl_refuses_what_it_cannot_record_and_names_its_own_answer(opengl: Device) -> None:
    plan = Content("field", 5, 5, FLOOR).plan("fused")
    with pytest.raises(LimitError, match=r"^opengl: recorded: .*display lists.* use indirect$"):
        opengl.compile(plan, Submission.RECORDED)
    assert submissions(opengl) == [each for each in Submission if each.value not in ("recorded", "none")]


def test_what_is_stored_or_recorded_once_says_how_long_that_took(device: Device) -> None:
    """None is said where nothing is: every frame describes its draws anew."""
    plan = Content("field", 5, 5, FLOOR).plan("fused")
    stored = {}
    for submission in (*submissions(device), Submission.NONE):
        work = device.compile(plan, submission)
        stored[submission] = work.build.recording_ms is not None
        work.release()
    assert not stored[Submission.NONE]
    assert all(stored.get(each, True) for each in (Submission.INDIRECT, Submission.RECORDED))
