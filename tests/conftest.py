"""Devices for the tests: each opened once, and every test that leaves a pending error behind fails."""

import logging
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

import pytest

from renderers.device import INTERFACES, Device, DeviceOptions, Interface, Offscreen, UnavailableError
from renderers.interfaces import open_device

SIZE_PX = (320, 180)
_REQUIRED = "INTERFACE_TAX_REQUIRE_DEVICES" in os.environ

os.environ.setdefault("XDG_RUNTIME_DIR", tempfile.gettempdir())


@pytest.fixture(scope="session")
def opened() -> Iterator[dict[Interface, Device]]:
    devices: dict[Interface, Device] = {}
    yield devices
    for device in devices.values():
        device.release()


@pytest.fixture(params=INTERFACES)
def device(request: pytest.FixtureRequest, opened: dict[Interface, Device]) -> Iterator[Device]:
    """Every interface in turn, offscreen, timers on."""
    yield from _clean(_open(request.param, opened), request.param)


@pytest.fixture
def opengl(opened: dict[Interface, Device]) -> Iterator[Device]:
    yield from _clean(_open("opengl", opened), "opengl")


@pytest.fixture
def webgpu(opened: dict[Interface, Device]) -> Iterator[Device]:
    yield from _clean(_open("webgpu", opened), "webgpu")


@pytest.fixture(scope="session")
def display() -> str:
    """The X server that pytest-xvfb starts. Without one the test is skipped, or fails where devices are required."""
    name = os.environ.get("DISPLAY")
    if name is None:
        message = "no X server: install xvfb (Debian, Ubuntu: apt install xvfb)"
        pytest.fail(message) if _REQUIRED else pytest.skip(message)
    return str(name)


def _open(interface: Interface, opened: dict[Interface, Device]) -> Device:
    if interface not in opened:
        try:
            opened[interface] = open_device(interface, Offscreen(SIZE_PX), DeviceOptions())
        except UnavailableError as error:
            if _REQUIRED:
                pytest.fail(str(error))
            pytest.skip(str(error))
    return opened[interface]


def _clean(device: Device, interface: Interface) -> Iterator[Device]:
    """No pending GL error and no message of wgpu before or after the test."""
    messages: list[str] = []
    with _listening(messages) if interface == "webgpu" else nullcontext():
        assert pending_error(interface, device) is None
        device.resize(SIZE_PX)
        yield device
        device.finish()
        list(device.completed_frames())
        assert pending_error(interface, device) is None
    assert messages == []


@contextmanager
def _listening(messages: list[str]) -> Iterator[None]:
    """Only once wgpu is imported: it insists on making its logger itself."""
    handler = logging.Handler(logging.WARNING)
    handler.emit = lambda record: messages.append(record.getMessage())  # type: ignore[method-assign]
    logger = logging.getLogger("wgpu")
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)


def pending_error(interface: Interface, device: Device) -> str | None:
    """OpenGL keeps its errors until somebody asks; wgpu-py raises or logs them."""
    if interface != "opengl":
        return None
    from renderers.opengl import native

    device.finish()  # makes the context current
    return native.error()
