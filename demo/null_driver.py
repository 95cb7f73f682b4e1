"""The same frames on a driver that renders nothing: what describing them costs by itself.

In a child process, for devices that say which environment makes their driver null. Used by headless, and by benchmarks.
"""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager

from compute.kernel import KernelShape, Limits
from demo.configuration import Bench, Refusal, Remote, common_limits
from demo.remote_bench import RemoteBench
from demo.settings import Settings
from renderers.device import Interface, UnavailableError, kernel_shape

_WAY_OUT = "leave out --null-driver"


def open_null_driver(settings: Settings, bench: Bench, limits: Limits, shape: KernelShape) -> RemoteBench:
    """With the plan that has ``limits`` and ``shape``. Raises UnavailableError where the driver has no such mode."""
    info = bench.device.info
    subject = f"{info.interface} null driver"
    if info.null_driver is None:
        raise UnavailableError(subject, f"{info.title} has no mode that renders nothing", _WAY_OUT)
    remote = RemoteBench(subject, settings, info.interface, limits, shape, info.null_driver, rendered=False)
    if remote.adapter == info.adapter:
        remote.stop()
        raise UnavailableError(subject, f"{info.adapter} renders all the same", _WAY_OUT)
    return remote


@contextmanager
def null_drivers(
    settings: Settings, benches: Sequence[Bench]
) -> Iterator[tuple[dict[Interface, Remote], list[Refusal]]]:
    """One for each interface whose driver has such a mode, and why the others have none.

    Raises UnavailableError where none has.
    """
    limits = common_limits([bench.device for bench in benches])
    shape = kernel_shape(bench.device.info for bench in benches)
    found: dict[Interface, Remote] = {}
    without = []
    with ExitStack() as stack:
        for bench in benches:
            interface = bench.device.info.interface
            try:
                driver = open_null_driver(settings, bench, limits, shape)
                stack.callback(driver.stop)
                found[interface] = driver
            except UnavailableError as error:
                without.append(Refusal(interface, "null driver", error.what))
        if not found:
            raise UnavailableError("null driver", "; ".join(each.reason for each in without), _WAY_OUT)
        yield found, without
