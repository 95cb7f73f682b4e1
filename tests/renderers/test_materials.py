"""What objects are made of: palettes that show how they are turned, finishes that are told apart, and what fails."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import combinations

import numpy as np
import pytest

from compute.kernel import FLOOR
from demo.content import Content
from demo.loop import run_frame
from renderers.camera import frame_values
from renderers.device import INTERFACES, BuildError, Device, DeviceOptions, Image, Interface, Offscreen
from renderers.interfaces import open_device
from renderers.materials import MATERIALS, PALETTE_SIZE, STATES, Palette, State, palette, texel
from renderers.meshes import load_mesh
from renderers.plan import Material, Plan, Submission
from renderers.witness import MAX_CHANNEL_ERROR

_SIZE_PX = (320, 180)
_PALETTES = [str(each.palette) for each in MATERIALS["texture"]]


@pytest.mark.parametrize("name", _PALETTES)
def test_a_palette_is_square_and_opaque(name: str) -> None:
    texels = palette(name)
    assert (texels.shape, texels.dtype) == ((PALETTE_SIZE, PALETTE_SIZE, 4), np.dtype(np.uint8))
    assert np.all(texels[:, :, 3] == 255)


def test_no_two_palettes_have_a_texel_in_common() -> None:
    """Else an object could be drawn with another's and not show it."""
    for one, other in combinations(_PALETTES, 2):
        assert np.all(np.any(palette(one) != palette(other), axis=2)), (one, other)


def test_every_state_has_materials_that_differ_in_what_it_is_called_after() -> None:
    assert MATERIALS["none"] == (Material("plain"),)
    assert len({each.palette for each in MATERIALS["texture"]}) == len(MATERIALS["texture"]) > 1
    assert len({each.finish for each in MATERIALS["texture"]}) == 1
    assert len({each.finish for each in MATERIALS["pipeline"]}) == len(MATERIALS["pipeline"]) > 1
    assert {each.palette for each in MATERIALS["pipeline"]} == {None}


@pytest.mark.parametrize("mesh", ["pillar", "crystal", "house", "cone"])
def test_float32_finds_the_texel_that_float64_does(mesh: str) -> None:
    """The shaders work in float32, where a normal just below 0 would be added up to the next texel."""
    for normal in np.unique(load_mesh(mesh)[0][:, 3:], axis=0):
        place = np.minimum((np.float32(4.0) * normal + np.float32(4.0)).astype(np.int32), PALETTE_SIZE - 1)
        assert texel(normal.astype(np.float64)) == (place[2], place[0]), normal


def test_a_texel_lies_within_the_palette_wherever_a_face_looks() -> None:
    ends = [texel(np.array([x, 0.0, z])) for x in (-1.0, 1.0) for z in (-1.0, 1.0)]
    last = PALETTE_SIZE - 1
    assert ends == [(0, 0), (last, 0), (0, last), (last, last)]


def _noise(name: str) -> Palette:
    """Every texel a colour of its own."""
    texels = np.random.default_rng(sum(name.encode())).integers(60, 200, (PALETTE_SIZE, PALETTE_SIZE, 4))
    return texels.astype(np.uint8)


@pytest.fixture(params=INTERFACES)
def fresh(request: pytest.FixtureRequest) -> Iterator[Device]:
    """A device that has no palette yet: they are kept for its life."""
    interface: Interface = request.param
    device = open_device(interface, Offscreen(_SIZE_PX), DeviceOptions(timers=False))
    yield device
    device.release()


def _upload_as(monkeypatch: pytest.MonkeyPatch, device: Device, changed: object) -> None:
    module = {"opengl": "renderers.opengl.draws", "webgpu": "renderers.webgpu.pipelines"}[device.info.interface]
    monkeypatch.setattr(f"{module}.palette", changed)


def _witness_errors(device: Device, objects: int = 40) -> list[int]:
    """At several times, of which each shows another face."""
    content = Content("field", objects, objects, FLOOR, "texture")
    work = content.compile(device, "fused")
    errors = []
    for time_s in np.linspace(0.5, 20.0, 8).tolist():
        values = frame_values(time_s, _SIZE_PX)
        witness = content.witness(values, _SIZE_PX)
        assert witness is not None
        run_frame(device, work, 0, lambda values=values: values)  # type: ignore[misc]
        errors.append(witness.error(work.image()))
    work.release()
    return errors


def test_a_face_reads_the_texel_that_float64_numpy_says(fresh: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    """With noise for a palette, any other texel is another colour."""
    _upload_as(monkeypatch, fresh, _noise)
    monkeypatch.setattr("renderers.witness.palette", _noise)
    for objects in (1, 4, 40):
        assert max(_witness_errors(fresh, objects)) <= MAX_CHANNEL_ERROR


def _mirrored(name: str) -> Palette:
    return np.ascontiguousarray(palette(name)[:, ::-1])


def _upside_down(name: str) -> Palette:
    return np.ascontiguousarray(palette(name)[::-1])


def _turned(name: str) -> Palette:
    return np.ascontiguousarray(palette(name).transpose(1, 0, 2))


def _next(name: str) -> Palette:
    return palette(_PALETTES[_PALETTES.index(name) - 1])


@pytest.mark.parametrize("changed", [_mirrored, _upside_down, _turned, _next])
def test_a_palette_that_is_turned_or_anothers_does_not_pass_the_witness(
    fresh: Device, monkeypatch: pytest.MonkeyPatch, changed: object
) -> None:
    _upload_as(monkeypatch, fresh, changed)
    assert max(_witness_errors(fresh)) > MAX_CHANNEL_ERROR


def _made_of(materials: tuple[Material, ...], state: State = "none") -> tuple[Content, Plan]:
    """40 objects, of these materials in place of those of ``state``."""
    content = Content("field", 40, 40, FLOOR, state)
    plan = content.plan("fused")
    scene = replace(content.scene.draw_pass("wave/out"), materials=materials)
    return content, replace(plan, passes=(*plan.compute_passes, scene))


def _picture(device: Device, content: Content, plan: Plan) -> Image:
    work = device.compile(plan, Submission.INSTANCED)
    for name, data in (content.scene.data() | {"wave/x": content.inputs["x"]}).items():
        work.upload(name, data)
    run_frame(device, work, 0, partial(frame_values, 2.0, device.size_px))
    image = work.image()
    work.release()
    return image


def test_no_two_materials_look_the_same(device: Device) -> None:
    materials = [material for state in STATES for material in MATERIALS[state]]
    images = [_picture(device, *_made_of((material,))) for material in materials]
    for (one, image), (other, other_image) in combinations(zip(materials, images, strict=True), 2):
        assert np.count_nonzero(np.any(image != other_image, axis=2)) > 100, (one, other)


@pytest.mark.parametrize("state", ["texture", "pipeline"])
def test_which_objects_are_of_which_material_shows(device: Device, state: State) -> None:
    one, *others = MATERIALS[state]
    right, wrong = (_picture(device, *_made_of(each, state)) for each in ((one, *others), (*others, one)))
    assert np.count_nonzero(np.any(right != wrong, axis=2)) > 100


def test_a_finish_that_does_not_compile_is_named_and_the_device_goes_on(device: Device) -> None:
    before = _picture(device, *_made_of(MATERIALS["none"]))
    _, broken = _made_of((Material("plain"), Material("brass")))
    for _ in range(2):
        with pytest.raises(BuildError, match=r"^field brass: "):
            device.compile(broken, Submission.INSTANCED)
    np.testing.assert_array_equal(_picture(device, *_made_of(MATERIALS["none"])), before)
