"""The one module that reaches below wgpu-py's public API (0.32), and why each time:

- the instance must be restricted before anything else, or a surface made while a GL context is current aborts;
- ``queue.on_submitted_work_done_*`` raises TypeError, so a frame's end is waited for by its submission index;
- ``map_async`` submits once more and its promise cannot be asked without a running loop; a ring needs neither;
- acquiring and configuring abort on a lost device, so it is asked first whether it is still there;
- wgpu-py pretends that a surface without formats has some, and configuring that one aborts;
- wgpu-py configures a lost surface anew by itself, which aborts when the display is gone;
- the timestamp period and the present mode obtained are not exposed.
"""

import sys
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import wgpu
from wgpu.backends.wgpu_native import extras
from wgpu.backends.wgpu_native._api import libf
from wgpu.backends.wgpu_native._ffi import ffi, lib
from wgpu.backends.wgpu_native._mappings import enum_int2str

from renderers.device import BuildError, DeviceLostError

P = ParamSpec("P")
R = TypeVar("R")

_BACKENDS = {"darwin": ["Metal"], "win32": ["Vulkan", "DX12"]}


_made: list[bool] = []


def make_instance(validation: bool) -> None:
    """Only the platform's explicit interfaces: an instance that probes EGL takes moderngl's context away.

    There is one in a process, so the first call decides.
    """
    if not _made:
        flags = ["Default"] if validation else ["Empty"]
        extras.set_instance_extras(backends=_BACKENDS.get(sys.platform, ["Vulkan"]), flags=flags)
        _made.append(validation)


def instance_validates() -> bool:
    """Whether the process's instance was made with its default checks."""
    return all(_made)


@contextmanager
def building(name: str) -> Iterator[None]:
    """What does not compile or does not fit its pipeline raises BuildError with the compiler's message."""
    try:
        yield
    except wgpu.GPUError as error:
        if "is lost" in str(error):
            raise
        raise BuildError(f"{name}: {error}") from error


def timestamp_period(device: "wgpu.GPUDevice") -> float:
    """Nanoseconds per tick of this queue's timestamps (VkPhysicalDeviceLimits.timestampPeriod)."""
    return float(lib.wgpuQueueGetTimestampPeriod(device.queue._internal))


def submit(queue: "wgpu.GPUQueue", command_buffers: Sequence["wgpu.GPUCommandBuffer"]) -> int:
    """``queue.submit`` that also returns the submission's index."""
    handles = ffi.new("WGPUCommandBuffer[]", [each._internal for each in command_buffers])
    return int(libf.wgpuQueueSubmitForIndex(queue._internal, len(command_buffers), handles))


def wait_for(device: "wgpu.GPUDevice", submission: int) -> None:
    """Block until ``submission`` is done."""
    lib.wgpuDevicePoll(device._internal, True, ffi.new("WGPUSubmissionIndex *", submission))


def wait_idle(device: "wgpu.GPUDevice") -> None:
    """Block until everything submitted is done."""
    lib.wgpuDevicePoll(device._internal, True, ffi.NULL)


def poll(device: "wgpu.GPUDevice") -> None:
    """Deliver map callbacks that are due; never blocks."""
    lib.wgpuDevicePoll(device._internal, False, ffi.NULL)


def multi_draw(encoding: "wgpu.GPURenderPassEncoder", commands: "wgpu.GPUBuffer", offset: int, count: int) -> None:
    """``count`` indexed draws, read from ``commands`` at ``offset`` bytes. WebGPU itself has no such call."""
    extras.multi_draw_indexed_indirect(encoding, commands, offset=offset, count=count)


class Pulse:
    """Tells whether a device is still there, by a write of no bytes: the cheapest call that says so."""

    def __init__(self, device: "wgpu.GPUDevice") -> None:
        self._queue = device.queue
        self._buffer = device.create_buffer(label="pulse", size=4, usage=wgpu.BufferUsage.COPY_DST)
        self._nothing = ffi.new("char[1]")

    def check(self) -> None:
        """Raises GPUError when the device is lost."""
        libf.wgpuQueueWriteBuffer(self._queue._internal, self._buffer._internal, 0, self._nothing, 0)


def surface_formats(context: "wgpu.GPUCanvasContext", adapter: "wgpu.GPUAdapter") -> list[str]:
    """Formats that ``adapter`` can present on this surface; none when it cannot present there at all."""
    found = ffi.new("WGPUSurfaceCapabilities *")
    lib.wgpuSurfaceGetCapabilities(context._surface_id, adapter._internal, found)
    names = [enum_int2str["TextureFormat"].get(found.formats[i], "unknown") for i in range(found.formatCount)]
    lib.wgpuSurfaceCapabilitiesFreeMembers(found[0])
    return names


def check_before_configure(context: "wgpu.GPUCanvasContext", check: Callable[[], None]) -> None:
    """wgpu-py configures a lost surface anew by itself, in the middle of an acquire."""
    kind, weak = type(context), weakref.ref(context)  # a cycle would keep the surface longer than its window

    def checked() -> None:
        check()
        kind._configure_screen_real(weak())

    context._configure_screen_real = checked


def present_mode(context: "wgpu.GPUCanvasContext") -> str:
    """The present mode obtained: fifo, mailbox or immediate."""
    obtained = context._wgpu_config.presentMode
    names = ("Fifo", "FifoRelaxed", "Immediate", "Mailbox")
    return next((name.lower() for name in names if getattr(lib, f"WGPUPresentMode_{name}") == obtained), "unknown")


def names_loss(call: Callable[P, R]) -> Callable[P, R]:
    """Decorator: wgpu-py tells of a lost device only in the text of the next validation error."""

    @wraps(call)
    def checked(*arguments: P.args, **options: P.kwargs) -> R:
        try:
            return call(*arguments, **options)
        except wgpu.GPUError as error:
            if "is lost" in str(error):
                raise DeviceLostError("webgpu") from error
            raise

    return checked


@ffi.callback("void(WGPUMapAsyncStatus, WGPUStringView, void *, void *)")  # type: ignore[untyped-decorator]
def _mapped(status: int, message: Any, handle: Any, unused: Any) -> None:
    ffi.from_handle(handle).status = status


class MappedRead:
    """Reads a small MAP_READ buffer some frames after it was written, without a stall."""

    def __init__(self, buffer: "wgpu.GPUBuffer") -> None:
        self._buffer = buffer
        self._handle = ffi.new_handle(self)
        self.status: int | None = None

    def start(self) -> None:
        """Ask for the bytes; call after the submit that writes them."""
        self.status = None
        info = ffi.new("WGPUBufferMapCallbackInfo *")
        info.mode, info.callback = lib.WGPUCallbackMode_AllowProcessEvents, _mapped
        info.userdata1 = self._handle
        lib.wgpuBufferMapAsync(self._buffer._internal, lib.WGPUMapMode_Read, 0, self._buffer.size, info[0])

    @property
    def ready(self) -> bool:
        return self.status is not None

    def read(self) -> bytes:
        """The bytes; all zeros when the map failed. Only once per start: an unmapped range aborts."""
        status, self.status = self.status, None
        if status != lib.WGPUMapAsyncStatus_Success:
            return bytes(self._buffer.size)
        pointer = lib.wgpuBufferGetConstMappedRange(self._buffer._internal, 0, self._buffer.size)
        content = bytes(ffi.buffer(pointer, self._buffer.size))
        lib.wgpuBufferUnmap(self._buffer._internal)
        return content
