"""The eager-looking front door: call a plain function on arrays, on one device, by one schedule."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from compute.kernel import How, KernelShape, Limits, Scalar
from compute.ops import DType
from compute.record import Spec, record
from compute.schedule import schedule as make_schedule
from renderers.device import Device
from renderers.eager import Eager
from renderers.plan import build_plan
from renderers.timers import SpanRecorder

Array = npt.NDArray[Any]
DTYPES: dict[str, DType] = {"float32": "f32", "int32": "i32", "uint32": "u32", "bool": "bool"}


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
    recorded = record(function, *(Spec(each.shape, DTYPES[each.dtype.name]) for each in given))
    plan = make_schedule(recorded, schedule, limits or device.info.limits, shape)
    work = device.compile(build_plan((plan,)))
    values: dict[str, Scalar] = {}
    spec = dict(plan.arrays)
    for node, each in zip(recorded.inputs, given, strict=True):
        if node.shape == ():
            values[node.name] = each.item()
        elif f"{recorded.name}/{node.name}" in spec:
            work.upload(f"{recorded.name}/{node.name}", each.astype(np.uint32) if node.dtype == "bool" else each)
    device.begin_frame(SpanRecorder(0))
    work.execute(values)
    device.end_frame()
    results = []
    for name, output in zip(plan.outputs, recorded.outputs, strict=True):
        result = work.read_back(name).reshape(spec[name].shape)
        results.append(result.astype(bool) if output.dtype == "bool" else result)
    work.release()
    return tuple(results)


def _run_eager(eager: Eager, function: Callable[..., Any], given: list[Array]) -> tuple[Array, ...]:
    with eager:
        result = function(*(eager.array(each) if each.shape else each[()] for each in given))
        outputs = result if isinstance(result, tuple) else (result,)
        return tuple(np.asarray(output) for output in outputs)


def as_argument(argument: npt.ArrayLike) -> Array:
    """``argument`` in a type that devices have."""
    array = np.asarray(argument)
    if array.dtype.name in DTYPES and not (array.dtype.name == "bool" and array.shape == ()):
        return array
    return array.astype(np.float32)
