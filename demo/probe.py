"""Open an interface in a child process first: a driver that aborts kills the child, not the run.

When told to, the child also judges the GPU timer offscreen, where its frames disturb nobody. Used by headless, stage
and cli.
"""

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from renderers.device import DeviceOptions, Interface, Offscreen, PassKind, UnavailableError
from renderers.interfaces import open_device
from renderers.trust import Trust, judge_device

_TIMEOUT_S = 60.0
_OURS = "interface-tax-probe: "  # begins each line of the child's answer


@dataclass(frozen=True, slots=True)
class Found:
    """What a child process found behind an interface."""

    interface: Interface
    title: str
    adapter: str
    driver: str
    is_software: bool


class Probe:
    """A child that opens ``interface``; started at once, so that probes overlap with each other and with start-up."""

    def __init__(self, interface: Interface, adapter: str | None) -> None:
        self._interface = interface
        # Files, not pipes: the parent asks for the answer when it likes, and nobody blocks on a full pipe.
        self._folder = tempfile.TemporaryDirectory(prefix="interface-tax-")
        self._output, self._errors = (Path(self._folder.name) / name for name in ("output", "errors"))
        self._verdicts: dict[PassKind, Trust] | None = None
        task = json.dumps({"interface": interface, "adapter": adapter})
        command = [sys.executable, "-P", "-m", "demo.probe", task]  # -P: not what lies in the working directory
        with self._output.open("w") as output, self._errors.open("w") as errors:
            self._child = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=output, stderr=errors, env=child_environment()
            )

    def found(self) -> Found:
        """Wait until the child has opened the interface. Raises UnavailableError: its own reason, or how it died."""
        deadline = time.monotonic() + _TIMEOUT_S
        while not (lines := _answers(self._output)) and self._child.poll() is None:
            if time.monotonic() > deadline:
                self._child.kill()
                raise self._died(f"opening it did not end within {_TIMEOUT_S:.0f} s")
            time.sleep(0.01)
        lines = lines or _answers(self._output)
        if not lines:
            last = (_lines(self._errors) or ["no message"])[-1]
            raise self._died(f"opening it ended a child process with {_how(self._child.returncode)}: {last}")
        answer: dict[str, Any] = json.loads(lines[0])
        if "what" in answer:
            raise UnavailableError(self._interface, answer["what"], answer["next_step"])
        return Found(self._interface, **answer)

    def judge(self) -> None:
        """Let the child find out about the GPU timer; it takes a second or two of a core."""
        if self._child.stdin is not None and not self._child.stdin.closed:
            with contextlib.suppress(OSError):  # it has ended already, which ``trust`` will tell
                self._child.stdin.close()

    def trust(self) -> dict[PassKind, Trust] | None:
        """What the child found out about the GPU timer; None while it is not told to or still at it. Never blocks."""
        if self._verdicts is None and self._child.poll() is not None:
            self._verdicts = self._read_verdicts()
        return self._verdicts

    def wait_for_trust(self) -> dict[PassKind, Trust]:
        """``judge``, and block until it is done: nothing else may be measured meanwhile."""
        self.judge()
        try:
            self._child.wait(_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.wait()
        trust = self.trust()
        assert trust is not None
        return trust

    def stop(self) -> None:
        """Whatever it is still doing."""
        self._child.kill()
        self.judge()
        self._child.wait()
        self._folder.cleanup()

    def _read_verdicts(self) -> dict[PassKind, Trust]:
        lines = _answers(self._output)
        if len(lines) > 1:
            return {kind: Trust(**verdict) for kind, verdict in json.loads(lines[1]).items()}
        unknown = Trust(False, f"judging it ended a child process with {_how(self._child.returncode)}")
        return {"compute": unknown, "draw": unknown}

    def _died(self, what: str) -> UnavailableError:
        return UnavailableError(self._interface, what, "update this driver, or name the other interface")


def child_environment() -> dict[str, str]:
    """The child imports the package that this process runs, wherever it lies."""
    package = str(Path(__file__).resolve().parents[1])
    known = os.environ.get("PYTHONPATH")
    return {**os.environ, "PYTHONPATH": package if known is None else os.pathsep.join((package, known))}


def _answers(file: Path) -> list[str]:
    """What the child itself has said so far, among what drivers may print."""
    return [line.removeprefix(_OURS) for line in _lines(file) if line.startswith(_OURS)]


def _lines(file: Path) -> list[str]:
    """Complete lines so far; none where somebody tidied the temporary folder away."""
    try:
        text = file.read_text(errors="replace")
    except OSError:
        return []
    return [line.strip() for line in text.splitlines(keepends=True) if line.endswith("\n")]


def _how(code: int) -> str:
    return f"signal {-code}" if code < 0 else f"exit code {code}"


def main(task: str) -> None:
    """Child: a line of JSON about the interface, found or not; once its input ends, one about the GPU timer."""
    asked: dict[str, Any] = json.loads(task)
    options = DeviceOptions(adapter=asked["adapter"])
    try:
        device = open_device(asked["interface"], Offscreen((160, 90)), options)
    except UnavailableError as error:
        _say({"what": error.what, "next_step": error.next_step})
        return
    _say({name: getattr(device.info, name) for name in ("title", "adapter", "driver", "is_software")})
    sys.stdin.read()
    _say({kind: asdict(verdict) for kind, verdict in judge_device(device).items()})
    device.release()


def _say(answer: dict[str, Any]) -> None:
    sys.stdout.write(_OURS + json.dumps(answer) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1])
