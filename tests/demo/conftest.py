"""X servers of a test's own, which it may kill."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from renderers.device import INTERFACES, Interface


@dataclass(frozen=True, slots=True)
class Display:
    """A running Xvfb."""

    server: "subprocess.Popen[bytes]"
    number: int

    @property
    def environment(self) -> dict[str, str]:
        return {**os.environ, "DISPLAY": f":{self.number}"}


def need(program: str) -> None:
    """Fail where every device is required, else skip, unless ``program`` is installed."""
    if shutil.which(program) is None:
        message = f"no {program}: install it (Debian, Ubuntu: apt install {program.lower()})"
        pytest.fail(message) if "INTERFACE_TAX_REQUIRE_DEVICES" in os.environ else pytest.skip(message)


@pytest.fixture(params=INTERFACES, scope="module")
def interface(request: pytest.FixtureRequest) -> Interface:
    """The one that a window begins with."""
    chosen: Interface = request.param
    return chosen


@pytest.fixture
def own_display() -> Iterator[Display]:
    """An X server that nobody else looks at, 24-bit colour."""
    need("Xvfb")
    ours, theirs = os.pipe()
    command = ["Xvfb", "-displayfd", str(theirs), "-screen", "0", "1280x800x24", "-nolisten", "tcp"]
    server = subprocess.Popen(command, pass_fds=(theirs,), stderr=subprocess.DEVNULL)
    os.close(theirs)
    with os.fdopen(ours) as answer:
        number = int(answer.readline())
    yield Display(server, number)
    server.kill()
    server.wait()


@pytest.fixture
def xdotool(own_display: Display) -> Display:
    """A display whose keys and mouse a test drives with xdotool."""
    need("xdotool")
    return own_display
