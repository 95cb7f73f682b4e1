"""What a device and an executable promise. One implementation per interface; construction stays outside."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal, Protocol

import numpy as np
import numpy.typing as npt

from compute.kernel import ArraySpec, KernelShape, LimitError, Limits, Scalar
from renderers.plan import Plan, Submission

Array = npt.NDArray[Any]
Image = npt.NDArray[np.uint8]  # (height, width, 4), top row first
Interface = Literal["opengl", "webgpu"]
INTERFACES: tuple[Interface, ...] = ("opengl", "webgpu")
SpanKind = Literal["update", "encode", "submit", "wait", "overlay"]
PassKind = Literal["compute", "draw"]
MAX_FRAMES_IN_FLIGHT = 3
MAX_OBJECTS = 1_000_000  # of a scene


class UnavailableError(RuntimeError):
    """This machine lacks something that ``subject`` (an interface, a window) needs: what, and how to get it."""

    def __init__(self, subject: str, what: str, next_step: str) -> None:
        super().__init__(f"{subject}: {what}; {next_step}")
        self.subject, self.what, self.next_step = subject, what, next_step


class AllocationError(MemoryError):
    """The device has no room for an array of the plan. The message names it, its bytes and the way out."""


class DeviceLostError(RuntimeError):
    """The device is gone: driver reset, adapter removed. Everything on it is lost; open it again."""

    def __init__(self, interface: "Interface") -> None:
        super().__init__(f"{interface}: the device was lost; open it again")
        self.interface = interface


class BuildError(ValueError):
    """A shader or kernel does not compile on this device. The message is the compiler's."""


@dataclass(frozen=True, slots=True)
class Offscreen:
    """Draw into an image of this size; no window, no display."""

    size_px: tuple[int, int]


class WindowTarget(Protocol):
    """Implemented by demo/window.py; renderers never import pyglet.window."""

    @property
    def size_px(self) -> tuple[int, int]: ...
    def surface_args(self) -> Mapping[str, object]:
        """What wgpu-py's ``get_canvas_context`` needs to find the native window."""
        ...

    def check_display(self) -> None:
        """Does not return when the window system is gone: configuring a surface then aborts."""
        ...

    def make_current(self) -> None: ...
    def swap(self) -> None: ...
    def set_swap_interval(self, on: bool) -> None: ...


Target = Offscreen | WindowTarget


@dataclass(frozen=True, slots=True)
class DeviceOptions:
    """``adapter``: part of the name of the adapter to use; None takes the interface's own choice.

    ``validation`` False: the driver's checks are left out where they can be; ``DeviceInfo.validation`` says how far.
    """

    frames_in_flight: int = 2
    vsync: bool = False
    timers: bool = True
    adapter: str | None = None
    validation: bool = True


@dataclass(frozen=True, slots=True)
class CpuSpan:
    """On ``time.perf_counter_ns``. ``thread_ns``: this thread's CPU time; None where its clock is too coarse."""

    kind: SpanKind
    label: str
    begin_ns: int
    end_ns: int
    thread_ns: int | None


@dataclass(frozen=True, slots=True)
class GpuSpan:
    """One timed pass, on the device's own clock."""

    label: str
    kind: PassKind
    begin_ns: int
    end_ns: int


class FrameClock(Protocol):
    """One per frame, made by the loop; loop, device and overlay all book their spans here."""

    @property
    def index(self) -> int: ...
    def span(self, kind: SpanKind, label: str = "") -> AbstractContextManager[None]: ...


@dataclass(frozen=True, slots=True)
class GpuTimes:
    """Spans of one frame, or the reason why there are none."""

    index: int
    spans: tuple[GpuSpan, ...] | None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Counters:
    """Exact figures of one steady frame. ``None``: the interface has no such thing.

    ``api_calls``: calls our code makes on the Python binding, without overlay, timers and pacing.
    ``objects_created``: buffers, textures, pipelines, bind groups, vertex arrays.
    """

    api_calls: int
    draws: int
    dispatches: int
    submissions: int | None
    barriers: int | None
    bytes_uploaded: int
    memory_bytes: int
    objects_created: int = 0


@dataclass(frozen=True, slots=True)
class Build:
    """What making an executable took, once. ``compile_ms``: wall time of all of it, ``pipelines`` new ones included.

    ``recording_ms``: thread time of storing or recording the draws, which steady frames then need not describe; None
    where nothing is stored.
    """

    compile_ms: float
    pipelines: int
    recording_ms: float | None


@dataclass(frozen=True, slots=True)
class DeviceInfo:
    """``submissions``: None for supported, else why not. ``timestamps``: None for present, else why not.

    ``object_bytes``: the most that any submission keeps of an object in one buffer. ``validation``: what is checked
    while frames are measured. ``null_driver``: the environment that makes this driver render nothing in a child
    process; None where it has no such mode.
    """

    interface: Interface
    title: str
    adapter: str
    driver: str
    is_software: bool
    limits: Limits
    submissions: Mapping[Submission, str | None]
    timestamps: str | None
    ns_per_tick: float
    period_source: str
    object_bytes: int
    validation: str
    null_driver: Mapping[str, str] | None

    @property
    def most_objects(self) -> int:
        """That one scene may have here: what a buffer holds, and what a scene is made for."""
        return min(MAX_OBJECTS, self.limits.buffer_bytes // self.object_bytes)


def kernel_shape(infos: Iterable[DeviceInfo]) -> KernelShape:
    """What elementwise kernels are cut into, alike on all of these devices, so that their plans are the same.

    On CPU cores an invocation is a loop, and four vectors each are best; on a GPU neighbours should read neighbours.
    """
    software = all(info.is_software for info in infos)
    return KernelShape(vectors_per_invocation=4 if software else 1)


def check_submission(info: DeviceInfo, submission: Submission) -> None:
    """Raises LimitError with the reason for a submission that the device refuses."""
    reason = info.submissions[submission]
    if reason is not None:
        raise LimitError(f"{info.interface}: {submission.value}: {reason}")


class DeviceArray(Protocol):
    """One logical array in a device's memory, owned by whoever allocated it and lent to executables."""

    @property
    def name(self) -> str: ...
    @property
    def spec(self) -> ArraySpec: ...
    @property
    def is_released(self) -> bool: ...
    def upload(self, data: Array) -> None: ...
    def read_back(self, first: int = 0, count: int | None = None) -> Array:
        """Elements [first, first + count), flat. Blocks; never inside a timed frame."""
        ...

    def release(self) -> None:
        """What was submitted may still use it: the device defers. Executables that it is lent to must not run again."""
        ...


class Executable(Protocol):
    """A plan made concrete on one device: pipelines built, buffers allocated, nothing left to decide."""

    @property
    def plan(self) -> Plan: ...
    @property
    def counters(self) -> Counters: ...
    @property
    def build(self) -> Build: ...
    def execute(self, values: Mapping[str, Scalar]) -> None:
        """Encode one frame's passes, and submit only lone ones; never waits by design."""
        ...

    def run_now(self, values: Mapping[str, Scalar]) -> None:
        """Submit a plan without scenes at once, outside any frame: no timers, no pacing; lone passes each by itself."""
        ...

    def upload(self, array: str, data: Array) -> None: ...
    def read_back(self, array: str, first: int = 0, count: int | None = None) -> Array:
        """Elements [first, first + count) of a logical array, flat. Blocks; never inside a timed frame."""
        ...

    def warm_up(self, values: Mapping[str, Scalar]) -> None:
        """Draw once offscreen, outside any frame: first-use costs are paid before anyone looks."""
        ...

    def image(self) -> Image:
        """What the last ``execute`` drew: offscreen, as it stands; behind a window, drawn again offscreen."""
        ...

    def release(self) -> None:
        """Frames in flight may still use it: the device defers."""
        ...


class Device(Protocol):
    """Any call may raise DeviceLostError."""

    @property
    def info(self) -> DeviceInfo: ...
    @property
    def size_px(self) -> tuple[int, int]: ...
    @property
    def present_mode(self) -> str: ...
    def allocate(self, name: str, spec: ArraySpec) -> DeviceArray:
        """An array that outlives executables. Its content is undefined until it is written. Raises AllocationError."""
        ...

    def compile(
        self,
        plan: Plan,
        submission: Submission = Submission.NONE,
        lent: Mapping[str, DeviceArray] = MappingProxyType({}),
    ) -> Executable:
        """Make ``plan`` concrete; pipelines are cached per device.

        ``lent``: arrays of the plan, by name, that are there already: used, and left to their owner.
        Raises LimitError (also for a submission that ``info`` refuses), AllocationError, BuildError.
        """
        ...

    def begin_frame(self, clock: FrameClock) -> bool:
        """Wait for a frame slot and acquire an image: the only waits before work. False: this frame is skipped."""
        ...

    def end_frame(self, overlay: object | None = None) -> None:
        """ONE submit of all that is still open and the overlay (ImGui's draw data); present; then start read-backs."""
        ...

    def finish(self) -> str:
        """Block until the device is idle; say which wait was used."""
        ...

    def completed_frames(self) -> Iterator[GpuTimes]:
        """GPU times that have arrived, oldest first; never blocks."""
        ...

    def resize(self, size_px: tuple[int, int]) -> None:
        """Only between frames."""
        ...

    def set_vsync(self, on: bool) -> str:
        """The present mode obtained."""
        ...

    def set_frames_in_flight(self, count: int) -> None:
        """1 to MAX_FRAMES_IN_FLIGHT; waits until the device is idle."""
        ...

    def suspend(self) -> None:
        """Give up all that belongs to the native window, before it is made anew; then ``resume``."""
        ...

    def resume(self) -> None: ...
    def release(self) -> None: ...
