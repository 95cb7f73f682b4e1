"""Open an interface in a child process first: a driver that aborts kills the child, not the run. Used by cli."""

import json
import subprocess
import sys
from dataclasses import dataclass
from typing import Any

from renderers.device import DeviceOptions, Interface, Offscreen, UnavailableError, open_device

_TIMEOUT_S = 60.0


@dataclass(frozen=True, slots=True)
class Found:
    """What a child process found behind an interface."""

    interface: Interface
    title: str
    adapter: str
    driver: str
    is_software: bool


class Probe:
    """A child that opens ``interface`` and says what it found; started at once, so that probes overlap."""

    def __init__(self, interface: Interface, adapter: str | None) -> None:
        self._interface = interface
        command = [sys.executable, "-m", "demo.probe", interface, *([adapter] if adapter else [])]
        self._child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def result(self) -> Found:
        """Waits for the child. Raises UnavailableError: its own reason, or how it died."""
        try:
            output, errors = self._child.communicate(timeout=_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self._child.kill()
            raise self._died(f"opening it did not end within {_TIMEOUT_S:.0f} s") from None
        lines = output.strip().splitlines()
        if self._child.returncode != 0 or not lines:
            last = errors.strip().splitlines()[-1:] or ["no message"]
            raise self._died(f"opening it ended a child process with {_how(self._child.returncode)}: {last[0]}")
        answer: dict[str, Any] = json.loads(lines[-1])
        if "what" in answer:
            raise UnavailableError(self._interface, answer["what"], answer["next_step"])
        return Found(self._interface, **answer)

    def _died(self, what: str) -> UnavailableError:
        return UnavailableError(self._interface, what, "update this driver, or name the other interface")


def _how(code: int) -> str:
    return f"signal {-code}" if code < 0 else f"exit code {code}"


def main(arguments: list[str]) -> None:
    """Child: print one line of JSON, found or not."""
    interface: Interface = "opengl" if arguments[0] == "opengl" else "webgpu"
    options = DeviceOptions(timers=False, adapter=arguments[1] if len(arguments) > 1 else None)
    try:
        info = open_device(interface, Offscreen((16, 16)), options).info
    except UnavailableError as error:
        answer: dict[str, Any] = {"what": error.what, "next_step": error.next_step}
    else:
        answer = {name: getattr(info, name) for name in ("title", "adapter", "driver", "is_software")}
    sys.stdout.write(json.dumps(answer) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
