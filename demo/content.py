"""What is drawn and computed: scene, workload and plan, made once and compiled per device. Used by bench and window."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from compute import reference
from compute.kernel import How, KernelShape, Limits, Scalar, Schedule
from compute.record import Recorded
from compute.schedule import array_spec, schedule
from compute.workloads.elementwise import WORKLOADS, Workload
from renderers.device import Device, Executable
from renderers.heights import heights
from renderers.materials import State
from renderers.plan import Plan, Submission, build_plan
from renderers.scene import SCENES, Order, Scene, wave_input
from renderers.witness import Witness, find_witness

_SLICE = 1 << 22  # elements checked at a time: bounds the float64 copies


@dataclass(frozen=True)
class Content:
    """One scene and one workload, within the limits that all its devices grant.

    The wave lifts the scene's solids itself; beside another workload a small one does, an element for each.
    """

    scene_name: str
    objects: int
    elements: int
    limits: Limits
    state: State = "none"
    order: Order = "sorted"
    workload_name: str = "wave"
    shape: KernelShape = KernelShape()

    @cached_property
    def scene(self) -> Scene:
        return SCENES[self.scene_name](self.objects, self.state, self.order)

    @property
    def workload(self) -> Workload:
        return WORKLOADS[self.workload_name]

    @property
    def output(self) -> str:
        """The array that the workload's result is in."""
        return f"{self.workload_name}/out"

    @property
    def lifts_itself(self) -> bool:
        return self.workload_name == "wave"

    @property
    def _wave_elements(self) -> int:
        return self.elements if self.lifts_itself else max(1, self.objects)

    @cached_property
    def recorded(self) -> Recorded:
        return self.workload.record(self.elements)

    @cached_property
    def _wave(self) -> Recorded:
        return WORKLOADS["wave"].record(self._wave_elements)

    @cached_property
    def inputs(self) -> dict[str, npt.NDArray[np.float32]]:
        """The workload's arrays by name, (elements,) each: the second runs the other way."""
        x = wave_input(self.scene, self.elements)
        return dict(zip(self.workload.arrays, (x, x[::-1].copy()), strict=False))

    def schedule(self, how: How) -> Schedule:
        """The workload's own kernels."""
        return schedule(self.recorded, how, self.limits, self.shape, self.workload_name)

    def plan(self, how: How) -> Plan:
        passes = [self.schedule(how)]
        if not self.lifts_itself:
            passes.append(schedule(self._wave, "fused", self.limits, self.shape, "wave"))
        source, gather = heights("wave/out", self._wave_elements, self.objects, self.limits)
        return build_plan((*passes, gather), self.scene.draw_pass(source), self.scene.arrays())

    def compile(self, device: Device, how: How, submission: Submission = Submission.IMMEDIATE_BIND) -> Executable:
        """The plan on ``device``, with its data uploaded."""
        work = device.compile(self.plan(how), submission)
        for name, data in self.scene.data().items():
            work.upload(name, data)
        for name, array in self.inputs.items():
            work.upload(f"{self.workload_name}/{name}", array)
        if not self.lifts_itself:
            work.upload("wave/x", wave_input(self.scene, self._wave_elements))
        return work

    def compile_blank(self, device: Device) -> Executable:
        """The scene pass without compute and draws: it leaves nothing of an earlier picture."""
        spec = array_spec("blank/heights", (self.objects,), self.limits)
        arrays = (*self.scene.arrays(), ("blank/heights", spec))
        return device.compile(build_plan((), self.scene.draw_pass("blank/heights"), arrays), Submission.NONE)

    def values_error(self, values: dict[str, Scalar], measured: npt.NDArray[np.float32], first: int = 0) -> float:
        """Largest error of output elements [first, first + len(measured)) against float64, as a part of its bound."""
        if self.workload.reduces:
            return reference.max_scaled_error(measured, *self._reduced(values))
        worst = 0.0
        for begin in range(0, len(measured), _SLICE):
            part = measured[begin : begin + _SLICE]
            arguments = self._arguments(values, slice(first + begin, first + begin + len(part)))
            (exact,), (bound,) = (f(self.recorded, arguments) for f in (reference.evaluate, reference.bounds))
            worst = max(worst, reference.max_scaled_error(part, exact, bound))
        return worst

    def difference(
        self, values: dict[str, Scalar], one: npt.NDArray[np.float32], other: npt.NDArray[np.float32]
    ) -> float:
        """Largest difference of two whole outputs, as a part of the error bound."""
        if self.workload.reduces:
            return reference.max_scaled_error(one, other.astype(np.float64), self._reduced(values)[1])
        worst = 0.0
        for begin in range(0, len(one), _SLICE):
            part = slice(begin, begin + _SLICE)
            (bound,) = reference.bounds(self.recorded, self._arguments(values, part))
            worst = max(worst, reference.max_scaled_error(one[part], other[part].astype(np.float64), bound))
        return worst

    def _reduced(self, values: dict[str, Scalar]) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """(exact, bound) of a result that is one number, slice after slice, so that memory stays bounded."""
        exact, bound = np.zeros(()), np.zeros(())
        for begin in range(0, self.elements, _SLICE):
            part = slice(begin, min(begin + _SLICE, self.elements))
            recorded, arguments = self.workload.record(part.stop - part.start), self._arguments(values, part)
            exact = exact + reference.evaluate(recorded, arguments)[0]
            bound = bound + reference.bounds(recorded, arguments)[0]
        return exact, bound

    def witness(self, values: dict[str, Scalar], size_px: tuple[int, int]) -> Witness | None:
        """A pixel that the frame with these values must show, in float64."""
        x = wave_input(self.scene, self._wave_elements)[: min(self._wave_elements, self.objects)]
        (exact,) = reference.evaluate(self._wave, {"x": x, "a": values["a"], "b": values["b"]})
        return find_witness(self.scene, values, np.resize(exact, self.objects), size_px)

    def _arguments(self, values: dict[str, Scalar], part: slice) -> dict[str, npt.ArrayLike]:
        arrays: dict[str, npt.ArrayLike] = {name: array[part] for name, array in self.inputs.items()}
        return arrays | {name: values[name] for name in self.workload.scalars}
