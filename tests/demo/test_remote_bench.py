"""A child process that hangs or ends leaves the parent able to stop, and to keep what others measured."""

import os
import signal
import sys

import pytest

from compute.kernel import FLOOR, KernelShape
from demo.configuration import Variant
from demo.remote_bench import RemoteBench
from demo.settings import Settings
from renderers.device import Device, UnavailableError
from renderers.plan import Submission

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="stops a process, asks for its session")
_VARIANT = Variant("fused", Submission.IMMEDIATE)


class _AfterTwoAsked:
    """Somebody presses Ctrl-C while the child is at it."""

    def __init__(self) -> None:
        self.asked = 0

    def check(self) -> None:
        self.asked += 1
        if self.asked > 2:
            raise KeyboardInterrupt


@pytest.fixture
def remote(opengl: Device) -> RemoteBench:
    settings = Settings(("opengl",), objects=10, size_px=(64, 36))
    return RemoteBench("test", settings, "opengl", FLOOR, KernelShape(), {}, rendered=True)


def test_a_child_that_hangs_does_not_keep_the_parent_from_stopping(remote: RemoteBench) -> None:
    os.kill(remote._child.pid, signal.SIGSTOP)
    with pytest.raises(KeyboardInterrupt):
        remote.run_block(_VARIANT, 0, 3, _AfterTwoAsked())
    remote.stop()


def test_a_child_that_ended_is_named(remote: RemoteBench) -> None:
    assert len(remote.run_block(_VARIANT, 0, 3)) == 3
    os.kill(remote._child.pid, signal.SIGKILL)
    with pytest.raises(UnavailableError, match="test: its child process ended"):
        remote.run_block(_VARIANT, 0, 3)


def test_ctrl_c_is_not_the_childs_to_hear(remote: RemoteBench) -> None:
    assert os.getsid(remote._child.pid) != os.getsid(0)
    remote.stop()
