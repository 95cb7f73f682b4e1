"""The eager-looking front door: call a plain function on arrays, on one device, by one schedule."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from compute.kernel import How, KernelShape, Limits, Scalar
from compute.record import Spec, record
from compute.schedule import schedule as make_schedule
from renderers.device import Device
from renderers.eager import NAMES, Eager
from renderers.plan import build_plan

Array = npt.NDArray[Any]


def run(
    device: Device,
    function: Callable[..., Any],
    *arguments: npt.ArrayLike,
    schedule: How = "fused",
    limits: Limits | None = None,
    shape: KernelShape = KernelShape(),
) -> tuple[Array, ...]:
    """What ``function`` returns for ``arguments``, computed on ``device``; one array per output.

    Eager: every op runs when it is called, so that the function may branch on values. The others record it first.
    Arguments are float32, int32, uint32 or bool; other floats and Python's numbers become float32, those without a
    shape are scalars. ``limits`` default to the device's own. Raises RecordError, LimitError.
    """
    given = [as_argument(argument) for argument in arguments]
    if schedule == "eager":
        return _run_eager(Eager(device, limits, shape), function, given)
    specs = [Spec(each.shape, NAMES[each.dtype.name]) for each in given]
    prepared = Prepared(device, function, specs, schedule, limits, shape)
    try:
        return prepared(*given)
    finally:
        prepared.release()


class Prepared:
    """A function recorded, scheduled and compiled once, for arguments of these shapes and types; called many times.

    ``execute`` alone runs it on what was uploaded last: neither recorded, scheduled, nor compiled again.
    """

    def __init__(
        self,
        device: Device,
        function: Callable[..., Any],
        specs: Sequence[Spec],
        schedule: How = "fused",
        limits: Limits | None = None,
        shape: KernelShape = KernelShape(),
    ) -> None:
        """``limits`` default to the device's own. Raises RecordError, LimitError, AllocationError, BuildError."""
        self.recorded = record(function, *specs)
        self.schedule = make_schedule(self.recorded, schedule, limits or device.info.limits, shape)
        self._arrays = dict(self.schedule.arrays)
        self._work = device.compile(build_plan((self.schedule,)))

    def __call__(self, *arguments: npt.ArrayLike) -> tuple[Array, ...]:
        """Upload, execute, read back."""
        self.execute(self.upload(*arguments))
        return self.results()

    def upload(self, *arguments: npt.ArrayLike) -> dict[str, Scalar]:
        """Arrays go to the device; scalars are what ``execute`` takes."""
        values: dict[str, Scalar] = {}
        for node, argument in zip(self.recorded.inputs, map(as_argument, arguments), strict=True):
            name = f"{self.recorded.name}/{node.name}"
            if node.shape == ():
                values[node.name] = argument.item()
            elif name in self._arrays:
                self._work.upload(name, argument.astype(np.uint32) if node.dtype == "bool" else argument)
        return values

    def execute(self, values: Mapping[str, Scalar]) -> None:
        """One submission; does not wait for its end."""
        self._work.run_now(values)

    def results(self) -> tuple[Array, ...]:
        """What the function returned, one array per output. Blocks."""
        results = []
        for name, output in zip(self.schedule.outputs, self.recorded.outputs, strict=True):
            result = self._work.read_back(name).reshape(output.shape)
            results.append(result.astype(bool) if output.dtype == "bool" else result)
        return tuple(results)

    def release(self) -> None:
        self._work.release()


def _run_eager(eager: Eager, function: Callable[..., Any], given: list[Array]) -> tuple[Array, ...]:
    with eager, np.errstate(all="ignore"):  # ops on numbers alone are NumPy's, and as silent as on devices
        result = function(*(eager.array(each) if each.shape else each[()] for each in given))
        outputs = result if isinstance(result, tuple) else (result,)
        return tuple(np.asarray(output) for output in outputs)


def as_argument(argument: npt.ArrayLike) -> Array:
    """``argument`` in a type that devices have."""
    array = np.asarray(argument)
    if array.dtype.name in NAMES and not (array.dtype.name == "bool" and array.shape == ()):
        return array
    return array.astype(np.float32)
