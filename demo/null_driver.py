"""The same frames on a driver that renders nothing, in a child process: what describing them costs by itself.

Parent and child speak lines of JSON. Used by headless, for devices that say which environment makes their driver null.
"""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from typing import Any

from compute.kernel import Limits
from demo.bench import timed_frames
from demo.budget import Sample
from demo.configuration import Bench, Picture, Refusal, Remote, Variant, common_limits
from demo.content import Content
from demo.probe import child_environment
from demo.settings import Settings
from renderers.device import DeviceOptions, Executable, Interface, Offscreen, UnavailableError
from renderers.interfaces import open_device
from renderers.plan import Submission

_OURS = "interface-tax-null: "  # begins each line of the child's answers, among what drivers may print


class NullDriver:
    """A child that draws what it is told to and answers with its samples. Implements configuration.Remote."""

    def __init__(self, settings: Settings, bench: Bench, limits: Limits) -> None:
        """Raises UnavailableError where the driver has no such mode."""
        info = bench.device.info
        self._name = f"{info.interface} null driver"
        if info.null_driver is None:
            raise self._none(f"{info.title} has no mode that renders nothing")
        task = json.dumps({"interface": info.interface, "limits": asdict(limits), **_task(settings)})
        self._child = subprocess.Popen(
            [sys.executable, "-P", "-m", "demo.null_driver", task],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**child_environment(), **info.null_driver},
        )
        self.adapter: str = self._answer()["adapter"]
        if self.adapter == info.adapter:
            self.stop()
            raise self._none(f"{info.adapter} renders all the same")

    def run_block(self, variant: Variant, first: int, frames: int) -> list[Sample]:
        asked = {
            "how": variant.how,
            "submission": variant.submission.value,
            "picture": asdict(variant.picture),
            "first": first,
            "frames": frames,
        }
        assert self._child.stdin is not None
        try:
            print(json.dumps(asked), file=self._child.stdin, flush=True)
        except OSError as error:
            raise self._ended() from error
        return [Sample(**each) for each in self._answer()["samples"]]

    def stop(self) -> None:
        """Closing its input ends it."""
        self._child.kill()
        self._child.communicate()

    def _answer(self) -> dict[str, Any]:
        assert self._child.stdout is not None
        for line in self._child.stdout:
            if line.startswith(_OURS):
                answer: dict[str, Any] = json.loads(line.removeprefix(_OURS))
                return answer
        raise self._ended()

    def _ended(self) -> UnavailableError:
        self.stop()
        return self._none("its child process ended")

    def _none(self, why: str) -> UnavailableError:
        return UnavailableError(self._name, why, "leave out --null-driver")


@contextmanager
def null_drivers(
    settings: Settings, benches: Sequence[Bench]
) -> Iterator[tuple[dict[Interface, Remote], list[Refusal]]]:
    """One for each interface whose driver has such a mode, and why the others have none.

    Raises UnavailableError where none has.
    """
    limits = common_limits([bench.device for bench in benches])
    found: dict[Interface, Remote] = {}
    without = []
    with ExitStack() as stack:
        for bench in benches:
            interface = bench.device.info.interface
            try:
                driver = NullDriver(settings, bench, limits)
                stack.callback(driver.stop)
                found[interface] = driver
            except UnavailableError as error:
                without.append(Refusal(interface, "null driver", error.what))
        if not found:
            raise UnavailableError("null driver", "; ".join(each.reason for each in without), "leave out --null-driver")
        yield found, without


def _task(settings: Settings) -> dict[str, Any]:
    names = ("scene", "objects", "elements", "size_px", "warmup", "frames_in_flight", "shader_cost", "validation")
    return {name: getattr(settings, name) for name in names}


class _Undisturbed:
    """The parent is told when to stop, and stops the child."""

    def check(self) -> None: ...


class _Child:
    """Compiles each variant when it is first asked for."""

    def __init__(self, task: dict[str, Any]) -> None:
        interface: Interface = task.pop("interface")
        limits = task.pop("limits")
        self._limits = Limits(**{**limits, "workgroup_size": tuple(limits["workgroup_size"])})
        task["size_px"] = tuple(task["size_px"])
        self._settings = Settings((interface,), **task)
        # The stamps of a driver that does nothing say nothing.
        options = DeviceOptions(self._settings.frames_in_flight, timers=False, validation=self._settings.validation)
        device = open_device(interface, Offscreen(self._settings.size_px), options)
        self.bench = Bench(device, {}, None)
        self._works: dict[Variant, Executable] = {}

    def run(self, asked: dict[str, Any]) -> list[dict[str, Any]]:
        variant = Variant(asked["how"], Submission(asked["submission"]), Picture(**asked["picture"]))
        if variant not in self._works:
            self._works[variant] = self._compile(variant)
        samples = timed_frames(
            self._settings, self.bench, self._works[variant], asked["first"], asked["frames"], _Undisturbed()
        )
        return [asdict(each) for each in samples]

    def _compile(self, variant: Variant) -> Executable:
        settings, picture = self._settings, variant.picture
        elements = settings.elements_for(settings.objects)
        content = Content(settings.scene, settings.objects, elements, self._limits, picture.state, picture.order)
        return content.compile(self.bench.device, variant.how, variant.submission)


def main(task: str) -> None:
    """Child: says what it opened, then answers each line of its input, until the input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    child = _Child(json.loads(task))
    _say({"adapter": child.bench.device.info.adapter})
    for line in sys.stdin:
        _say({"samples": child.run(json.loads(line))})
    child.bench.device.release()


def _say(answer: dict[str, Any]) -> None:
    sys.stdout.write(_OURS + json.dumps(answer) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1])
