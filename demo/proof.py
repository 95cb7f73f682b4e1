"""Proof that the work was done: values and a pixel against float64, and equality of all configurations."""

from collections.abc import Sequence
from dataclasses import astuple, dataclass

import numpy as np
import numpy.typing as npt

from compute.kernel import Scalar
from compute.reference import MAX_SCALED_ERROR
from demo.content import Content
from demo.settings import CheckError
from renderers.device import Executable, Image
from renderers.witness import MAX_CHANNEL_ERROR, Witness

MAX_DIFFERING_SHARE = 0.005  # of the pixels: rasterisers may differ at edges, and only there
_PROBE_ELEMENTS = 1 << 14  # read back at each probe of a large output


@dataclass(frozen=True, slots=True)
class Equivalence:
    """Worst over all configurations against the first, at one fixed time. Images top row first, as displayed."""

    image_max_abs: int
    image_pixels_differing: int
    image_pixels: int
    values_max_scaled_error: float

    @classmethod
    def worst(cls, found: Sequence["Equivalence"]) -> "Equivalence":
        """Of several pictures, the worst of each figure."""
        return cls(*(max(figures) for figures in zip(*map(astuple, found), strict=True)))


@dataclass(slots=True)
class Proof:
    """What a configuration's blocks have proven so far."""

    pixels_checked: int = 0
    pixel_max_error: int = 0
    values_max_scaled_error: float = 0.0


def check_block(
    name: str, content: Content, work: Executable, values: dict[str, Scalar], witness: Witness | None, proof: Proof
) -> None:
    """The last frame's picture and values must be the ones that ``values`` ask for. Raises CheckError."""
    check_values(name, content, work, values, proof)
    if not work.counters.draws:
        _check_blank(name, work.image())
    elif witness is None:
        _check_not_blank(name, work.image())
    else:
        error = witness.error(work.image())
        proof.pixels_checked += 1
        proof.pixel_max_error = max(proof.pixel_max_error, error)
        if error > MAX_CHANNEL_ERROR:
            raise CheckError(
                f"{name}: pixel ({witness.x}, {witness.y}) is off by {error} of 255, {MAX_CHANNEL_ERROR} allowed; "
                "the timed frames did not draw this picture"
            )


def picture_failure(name: str, first: Image, image: Image) -> str | None:
    """Why ``image`` is no picture of the same scene as ``first``; None where only edges differ."""
    differing, pixels = int(np.count_nonzero(_distance(first, image))), first.shape[0] * first.shape[1]
    if differing <= MAX_DIFFERING_SHARE * pixels:
        return None
    return (
        f"{name}: {differing:,} of {pixels:,} pixels differ from the first configuration's picture, "
        f"{MAX_DIFFERING_SHARE:.1%} allowed; the two do not draw the same"
    )


def _distance(one: Image, other: Image) -> npt.NDArray[np.int16]:
    """Largest channel difference of each pixel."""
    distance: npt.NDArray[np.int16] = np.abs(one.astype(np.int16) - other.astype(np.int16)).max(axis=2)
    return distance


def _check_blank(name: str, image: Image) -> None:
    if not np.all(image == image[0, 0]):
        raise CheckError(f"{name}: something is in a picture that nothing was drawn into")


def _check_not_blank(name: str, image: Image) -> None:
    """Where no face is as large as a pixel, no colour can be predicted; but something was drawn."""
    if np.all(image == image[0, 0]):
        raise CheckError(f"{name}: the picture is one colour; the timed frames did not draw")


def check_values(name: str, content: Content, work: Executable, values: dict[str, Scalar], proof: Proof) -> None:
    """First, middle and last elements of the workload's output against float64."""
    last = 0 if content.workload.reduces else max(0, content.elements - _PROBE_ELEMENTS)
    for first in sorted({0, last // 2, last}):
        measured = work.read_back(content.output, first, _PROBE_ELEMENTS)
        error = content.values_error(values, measured, first)
        proof.values_max_scaled_error = max(proof.values_max_scaled_error, error)
        if error > MAX_SCALED_ERROR:
            raise CheckError(
                f"{name}: {content.output} from element {first} is off by {error:.2g} times its error bound; "
                f"the timed frames did not compute this"
            )


def compare(images: Sequence[Image], scaled_differences: Sequence[float]) -> Equivalence:
    """All images against the first, with the differences of values that were found."""
    distances = [_distance(images[0], image) for image in images]
    return Equivalence(
        image_max_abs=max(int(distance.max()) for distance in distances),
        image_pixels_differing=max(int(np.count_nonzero(distance)) for distance in distances),
        image_pixels=distances[0].size,
        values_max_scaled_error=max(scaled_differences, default=0.0),
    )
