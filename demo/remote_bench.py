"""The same frames in a child process, where what is decided once for a process can be decided otherwise.

A driver reads its environment as it loads, and wgpu has one instance. Parent and child speak lines of JSON. Used by
null_driver, and by benchmarks.
"""

import contextlib
import json
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from compute.kernel import KernelShape, Limits
from demo.bench import block_of, run_block, timed_frames
from demo.budget import Sample
from demo.configuration import Bench, Configuration, Picture, Variant
from demo.content import Content
from demo.probe import child_environment
from demo.progress import Check
from demo.settings import CheckError, Settings
from renderers.device import DeviceOptions, Executable, Interface, Offscreen, UnavailableError
from renderers.interfaces import open_device
from renderers.plan import Submission

_OURS = "interface-tax-remote: "  # begins each line of the child's answers, among what drivers may print
_ASK_EVERY_S = 0.1  # whether to stop, while the child is at it
_NAMES = (
    "scene",
    "workload",
    "objects",
    "elements",
    "size_px",
    "warmup",
    "frames_in_flight",
    "shader_cost",
    "validation",
)


class _Undisturbed:
    """Of what nobody interrupts: the child, which its parent stops."""

    def check(self) -> None: ...


UNDISTURBED = _Undisturbed()


class RemoteBench:
    """A child that draws what it is told to and answers with its samples. Implements configuration.Remote.

    ``rendered``: its driver draws, so every block is proven. ``adapter``: what the child opened.
    """

    def __init__(
        self,
        subject: str,
        settings: Settings,
        interface: Interface,
        limits: Limits,
        shape: KernelShape,
        environment: Mapping[str, str],
        rendered: bool,
    ) -> None:
        """Raises UnavailableError where the child ends at once."""
        self._subject = subject
        task = {"interface": interface, "limits": asdict(limits), "shape": asdict(shape), "rendered": rendered}
        task |= {name: getattr(settings, name) for name in _NAMES}
        self._child = subprocess.Popen(
            [sys.executable, "-P", "-m", "demo.remote_bench", json.dumps(task)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**child_environment(), **environment},
            start_new_session=True,  # Ctrl-C is the parent's to hear
        )
        self._lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()
        self.adapter: str = self._answer()["adapter"]

    def run_block(self, variant: Variant, first: int, frames: int, interrupt: Check = UNDISTURBED) -> list[Sample]:
        """Raises CheckError for frames that did not do their work, UnavailableError where the child ended.

        ``interrupt`` is asked while the child is at it.
        """
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
        answer = self._answer(interrupt)
        if answer["failure"] is not None:
            raise CheckError(f"{self._subject}: {answer['failure']}")
        return [Sample(**each) for each in answer["samples"]]

    def stop(self) -> None:
        """Whatever it is doing."""
        self._child.kill()
        self._child.wait()
        self._listener.join()
        for pipe in (self._child.stdin, self._child.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):  # what it no longer reads
                    pipe.close()

    def _listen(self) -> None:
        """In a thread of its own: a read from a pipe cannot be interrupted, and the child may hang."""
        assert self._child.stdout is not None
        for line in self._child.stdout:
            if line.startswith(_OURS):
                self._lines.put(line.removeprefix(_OURS))
        self._lines.put(None)

    def _answer(self, interrupt: Check = UNDISTURBED) -> dict[str, Any]:
        while True:
            interrupt.check()
            with contextlib.suppress(queue.Empty):
                line = self._lines.get(timeout=_ASK_EVERY_S)
                if line is None:
                    raise self._ended()
                answer: dict[str, Any] = json.loads(line)
                return answer

    def _ended(self) -> UnavailableError:
        self.stop()
        return UnavailableError(self._subject, "its child process ended", "what it printed says why; leave it out")


class _Child:
    """Compiles each variant when it is first asked for."""

    def __init__(self, task: dict[str, Any]) -> None:
        interface: Interface = task.pop("interface")
        limits = task.pop("limits")
        self._rendered: bool = task.pop("rendered")
        self._shape = KernelShape(**task.pop("shape"))
        self._limits = Limits(**{**limits, "workgroup_size": tuple(limits["workgroup_size"])})
        task["size_px"] = tuple(task["size_px"])
        self._settings = Settings((interface,), **task)
        # What is measured here is CPU time, and the stamps of a driver that does nothing say nothing.
        options = DeviceOptions(self._settings.frames_in_flight, timers=False, validation=self._settings.validation)
        self.bench = Bench(open_device(interface, Offscreen(self._settings.size_px), options), {}, None)
        self._blank: Executable | None = None
        self._configurations: dict[Variant, Configuration] = {}

    def run(self, asked: dict[str, Any]) -> dict[str, Any]:
        variant = Variant(asked["how"], Submission(asked["submission"]), Picture(**asked["picture"]))
        if variant not in self._configurations:
            self._configurations[variant] = self._compile(variant)
        configuration = self._configurations[variant]
        samples = self._samples(configuration, asked["first"], asked["frames"])
        return {"samples": [asdict(each) for each in samples], "failure": configuration.failure}

    def _samples(self, configuration: Configuration, first: int, frames: int) -> list[Sample]:
        settings, content = self._settings, configuration.content
        if not self._rendered:
            return timed_frames(settings, self.bench, configuration.work, first, frames, UNDISTURBED)
        self._blank = self._blank or content.compile_blank(self.bench.device)
        block = block_of(settings, {configuration.variant.picture: content}, first, frames)
        run_block(settings, configuration, self._blank, block, UNDISTURBED)
        return [] if configuration.failure is not None else configuration.blocks.pop()

    def _compile(self, variant: Variant) -> Configuration:
        settings, picture = self._settings, variant.picture
        elements = settings.elements_for(settings.objects)
        content = Content(
            settings.scene,
            settings.objects,
            elements,
            self._limits,
            picture.state,
            picture.order,
            settings.workload,
            self._shape,
        )
        work = content.compile(self.bench.device, variant.how, variant.submission)
        return Configuration(self.bench, variant, content, work)


def main(task: str) -> None:
    """Child: says what it opened, then answers each line of its input, until the input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    child = _Child(json.loads(task))
    _say({"adapter": child.bench.device.info.adapter})
    for line in sys.stdin:
        _say(child.run(json.loads(line)))
    child.bench.device.release()


def _say(answer: dict[str, Any]) -> None:
    sys.stdout.write(_OURS + json.dumps(answer) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1])
