"""The eager-looking front door: call a plain function on arrays, on one device, by one schedule."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from compute.kernel import How, KernelShape, Limits, Scalar
from compute.record import Spec, record
from compute.schedule import schedule as make_schedule
from renderers.device import Device
from renderers.plan import build_plan
from renderers.timers import SpanRecorder

FloatArray = npt.NDArray[np.float32]


def run(
    device: Device,
    function: Callable[..., Any],
    *arguments: npt.ArrayLike,
    schedule: How = "fused",
    limits: Limits | None = None,
    shape: KernelShape = KernelShape(),
) -> tuple[FloatArray, ...]:
    """What ``function`` returns for ``arguments``, float32, computed on ``device``; one array per output.

    Arguments without a shape are scalars. ``limits`` default to the device's own. Raises RecordError, LimitError.
    """
    given = [np.asarray(argument, np.float32) for argument in arguments]
    recorded = record(function, *(Spec(each.shape) for each in given))
    plan = make_schedule(recorded, schedule, limits or device.info.limits, shape)
    work = device.compile(build_plan((plan,)))
    values: dict[str, Scalar] = {}
    for node, each in zip(recorded.inputs, given, strict=True):
        if node.shape == ():
            values[node.name] = float(each)
        elif f"{recorded.name}/{node.name}" in dict(plan.arrays):
            work.upload(f"{recorded.name}/{node.name}", each)
    device.begin_frame(SpanRecorder(0))
    work.execute(values)
    device.end_frame()
    spec = dict(plan.arrays)
    results = tuple(work.read_back(name).reshape(spec[name].shape) for name in plan.outputs)
    work.release()
    return results
