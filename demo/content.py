"""What is drawn and computed: scene, workload and plan, made once and compiled per device. Used by bench and window."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from compute import reference
from compute.kernel import How, Limits, Scalar
from compute.record import Recorded
from compute.schedule import array_spec, schedule
from compute.workloads.elementwise import record_wave
from renderers.device import Device, Executable
from renderers.heights import heights
from renderers.materials import State
from renderers.plan import Plan, Submission, build_plan
from renderers.scene import SCENES, Order, Scene, wave_input
from renderers.witness import Witness, find_witness

OUTPUT = "wave/out"
_SLICE = 1 << 22  # elements checked at a time: bounds the float64 copies


@dataclass(frozen=True)
class Content:
    """One scene driven by the wave workload, within the limits that all its devices grant."""

    scene_name: str
    objects: int
    elements: int
    limits: Limits
    state: State = "none"
    order: Order = "sorted"

    @cached_property
    def scene(self) -> Scene:
        return SCENES[self.scene_name](self.objects, self.state, self.order)

    @cached_property
    def recorded(self) -> Recorded:
        return record_wave(self.elements)

    @cached_property
    def x(self) -> npt.NDArray[np.float32]:
        return wave_input(self.scene, self.elements)

    def plan(self, how: How) -> Plan:
        wave = schedule(self.recorded, how, self.limits)
        source, gather = heights(OUTPUT, self.elements, self.objects, self.limits)
        return build_plan((wave, gather), self.scene.draw_pass(source), self.scene.arrays())

    def compile(self, device: Device, how: How, submission: Submission = Submission.IMMEDIATE_BIND) -> Executable:
        """The plan on ``device``, with its data uploaded."""
        work = device.compile(self.plan(how), submission)
        for name, data in self.scene.data().items():
            work.upload(name, data)
        work.upload("wave/x", self.x)
        return work

    def compile_blank(self, device: Device) -> Executable:
        """The scene pass without compute and draws: it leaves nothing of an earlier picture."""
        spec = array_spec("blank/heights", (self.objects,), self.limits)
        arrays = (*self.scene.arrays(), ("blank/heights", spec))
        return device.compile(build_plan((), self.scene.draw_pass("blank/heights"), arrays), Submission.NONE)

    def values_error(self, values: dict[str, Scalar], measured: npt.NDArray[np.float32], first: int = 0) -> float:
        """Largest scaled error of output elements [first, first + len(measured)) against float64."""
        worst = 0.0
        for begin in range(0, len(measured), _SLICE):
            part = measured[begin : begin + _SLICE]
            arguments = self._arguments(values, slice(first + begin, first + begin + len(part)))
            (exact,), (scale,) = (f(self.recorded, arguments) for f in (reference.evaluate, reference.error_scale))
            worst = max(worst, reference.max_scaled_error(part, exact, scale))
        return worst

    def difference(
        self, values: dict[str, Scalar], one: npt.NDArray[np.float32], other: npt.NDArray[np.float32]
    ) -> float:
        """Largest scaled difference of two whole outputs."""
        worst = 0.0
        for begin in range(0, len(one), _SLICE):
            part = slice(begin, begin + _SLICE)
            (scale,) = reference.error_scale(self.recorded, self._arguments(values, part))
            worst = max(worst, reference.max_scaled_error(one[part], other[part].astype(np.float64), scale))
        return worst

    def witness(self, values: dict[str, Scalar], size_px: tuple[int, int]) -> Witness | None:
        """A pixel that the frame with these values must show, in float64."""
        used = self._arguments(values, slice(0, min(self.elements, self.objects)))
        (exact,) = reference.evaluate(self.recorded, used)
        return find_witness(self.scene, values, np.resize(exact, self.objects), size_px)

    def _arguments(self, values: dict[str, Scalar], part: slice) -> dict[str, npt.ArrayLike]:
        return {"x": self.x[part], "a": values["a"], "b": values["b"]}
