"""Kernels, launches and arrays as frozen values. Made by ``schedule``; executed by a device."""

import math
from dataclasses import dataclass
from enum import Enum
from typing import Literal

Scalar = float | int | tuple[float, ...]
ScalarType = Literal["f32", "i32", "u32", "vec2f", "vec3f", "vec4f", "mat4f"]
Element = Literal["f32", "i32", "u32"]
How = Literal["eager", "batched", "fused"]
SCHEDULES: tuple[How, ...] = ("eager", "batched", "fused")


class LimitError(ValueError):
    """Something described is larger than the device can take. The message names both numbers and the way out."""


class ArgumentError(ValueError):
    """An argument does not fit the parameter it stands for. The message names both, and the way out."""


class Access(Enum):
    READ = "read"
    WRITE = "write"
    READ_WRITE = "read_write"

    @property
    def reads(self) -> bool:
        return self is not Access.WRITE

    @property
    def writes(self) -> bool:
        return self is not Access.READ


@dataclass(frozen=True, slots=True)
class BufferParam:
    """``single``: seen one by one, although the kernel sees others four at a time."""

    name: str
    access: Access
    element: Element = "f32"
    single: bool = False

    def __str__(self) -> str:
        return f"{self.name}: {self.access.value} {self.element}[]"


@dataclass(frozen=True, slots=True)
class ScalarParam:
    name: str
    type: ScalarType = "f32"

    def __str__(self) -> str:
        return f"{self.name}: {self.type}"


Param = BufferParam | ScalarParam


@dataclass(frozen=True, slots=True)
class Work:
    """What one dispatch is described to do, counted as if nothing were cached."""

    flops: int
    bytes_read: int
    bytes_written: int

    @property
    def bytes(self) -> int:
        return self.bytes_read + self.bytes_written

    def __add__(self, other: "Work") -> "Work":
        return Work(
            self.flops + other.flops, self.bytes_read + other.bytes_read, self.bytes_written + other.bytes_written
        )


@dataclass(frozen=True, slots=True)
class Kernel:
    """One compute entry point in both languages. Declared order of ``params`` is binding and packing order:
    buffers are numbered in it, skipping scalars; scalars form one block, in it, behind the last buffer.

    ``folds``: its invocations count over all axes and mind their bounds, so that more workgroups than one axis takes
    may be spread over two.
    """

    name: str
    params: tuple[Param, ...]
    glsl: str
    wgsl: str
    workgroup_size: tuple[int, int, int]
    workgroup_bytes: int = 0
    folds: bool = False

    @property
    def signature(self) -> str:
        """The parameters as declared: ``(out: write f32[], n: u32)``."""
        return f"({', '.join(map(str, self.params))})"

    @property
    def buffers(self) -> tuple[BufferParam, ...]:
        return tuple(param for param in self.params if isinstance(param, BufferParam))

    @property
    def scalars(self) -> tuple[ScalarParam, ...]:
        return tuple(param for param in self.params if isinstance(param, ScalarParam))


@dataclass(frozen=True, slots=True)
class FrameValue:
    """A scalar whose value comes anew with every ``Executable.execute``: time, camera, a slider."""

    name: str


Argument = str | FrameValue | Scalar  # str: a physical buffer


@dataclass(frozen=True, slots=True)
class Dispatch:
    """One launch. ``arguments`` stand in the order the kernel declares, buffers and scalars freely mixed.

    Raises ArgumentError for another number of them, or a buffer where a scalar is declared and the reverse.
    """

    kernel: Kernel
    arguments: tuple[Argument, ...]
    workgroups: tuple[int, int, int]
    work: Work

    def __post_init__(self) -> None:
        kernel = self.kernel
        check_count(kernel, self.arguments)
        for param, argument in zip(kernel.params, self.arguments, strict=True):
            if isinstance(param, BufferParam) != isinstance(argument, str):
                taken = "the name of a buffer" if isinstance(param, BufferParam) else "a number or a frame value"
                raise ArgumentError(
                    f"{kernel.name}: {param} takes {taken}, got {argument!r}; "
                    f"pass arguments in declared order: {kernel.signature}"
                )

    def buffer_arguments(self) -> tuple[tuple[BufferParam, str], ...]:
        """Buffer parameters with the physical buffer each one gets, in declared order."""
        pairs = zip(self.kernel.params, self.arguments, strict=True)
        return tuple((p, a) for p, a in pairs if isinstance(p, BufferParam) and isinstance(a, str))

    def scalar_arguments(self) -> tuple[tuple[ScalarParam, FrameValue | Scalar], ...]:
        """Scalar parameters with the argument each one gets, in declared order."""
        pairs = zip(self.kernel.params, self.arguments, strict=True)
        return tuple((p, a) for p, a in pairs if isinstance(p, ScalarParam) and not isinstance(a, str))


def check_count(kernel: Kernel, arguments: tuple[object, ...]) -> None:
    """Raises ArgumentError with the signature for too few or too many."""
    if len(arguments) != len(kernel.params):
        raise ArgumentError(
            f"{kernel.name}: takes {len(kernel.params)} arguments, got {len(arguments)}; pass one for each of "
            f"{kernel.signature}"
        )


@dataclass(frozen=True, slots=True)
class ComputePass:
    """Dispatches timed as one unit. ``submit_alone``: handed to the driver by itself, as an eager framework does.

    ``kernels`` counts launches as described; an array in several chunks needs each of them once a chunk.
    """

    label: str
    dispatches: tuple[Dispatch, ...]
    kernels: int
    submit_alone: bool = False

    @property
    def memory_bytes(self) -> int:
        """Described bytes: read and written by the kernels as if nothing were cached."""
        return sum(dispatch.work.bytes for dispatch in self.dispatches)


@dataclass(frozen=True, slots=True)
class ArraySpec:
    """One logical array. ``chunks``: its physical buffers in order, (name, bytes), each within the limits.

    A chunk is a whole number of 16-byte vectors; elements behind the logical end are padding.
    """

    shape: tuple[int, ...]
    element: Element
    chunks: tuple[tuple[str, int], ...]

    @property
    def size(self) -> int:
        return math.prod(self.shape)


Arrays = tuple[tuple[str, ArraySpec], ...]


@dataclass(frozen=True, slots=True)
class KernelNote:
    """One kernel as described, for people: what it reads and writes, and why it is one of its own."""

    name: str
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    work: Work
    why: str


@dataclass(frozen=True, slots=True)
class Schedule:
    """Recorded ops made into passes over named arrays; what ``f`` returned is in ``outputs``."""

    passes: tuple[ComputePass, ...]
    arrays: Arrays
    outputs: tuple[str, ...]
    notes: tuple[KernelNote, ...] = ()

    def explain(self) -> str:
        """Kernels in order, the bytes each is described to move, and why each boundary exists."""
        lines = []
        for number, note in enumerate(self.notes, 1):
            lines.append(f"{number}. {note.name}: {', '.join(note.reads) or 'nothing'} -> {', '.join(note.writes)}")
            lines.append(f"   {note.work.bytes_read:,} bytes read, {note.work.bytes_written:,} written; {note.why}")
        total = sum(note.work.bytes for note in self.notes)
        kernels = "1 kernel" if len(self.notes) == 1 else f"{len(self.notes)} kernels"
        return "\n".join([*lines, f"{kernels}, {total:,} bytes described"])


@dataclass(frozen=True, slots=True)
class Limits:
    """What a device grants, in the units of its interface: bytes, counts, invocations."""

    storage_binding_bytes: int
    buffer_bytes: int
    storage_buffers_per_stage: int
    invocations_per_workgroup: int
    workgroup_size: tuple[int, int, int]
    workgroup_bytes: int
    workgroups_per_axis: int

    def common(self, other: "Limits") -> "Limits":
        """The largest limits that both grant: a plan within them is the same plan on both devices."""
        return Limits(
            storage_binding_bytes=min(self.storage_binding_bytes, other.storage_binding_bytes),
            buffer_bytes=min(self.buffer_bytes, other.buffer_bytes),
            storage_buffers_per_stage=min(self.storage_buffers_per_stage, other.storage_buffers_per_stage),
            invocations_per_workgroup=min(self.invocations_per_workgroup, other.invocations_per_workgroup),
            workgroup_size=tuple(map(min, self.workgroup_size, other.workgroup_size)),  # type: ignore[arg-type]
            workgroup_bytes=min(self.workgroup_bytes, other.workgroup_bytes),
            workgroups_per_axis=min(self.workgroups_per_axis, other.workgroups_per_axis),
        )


# The limits every WebGPU implementation grants (W3C WebGPU, section 3.6.2, "Limits", column "default").
FLOOR = Limits(
    storage_binding_bytes=128 << 20,
    buffer_bytes=256 << 20,
    storage_buffers_per_stage=8,
    invocations_per_workgroup=256,
    workgroup_size=(256, 256, 64),
    workgroup_bytes=16 << 10,
    workgroups_per_axis=65_535,
)


@dataclass(frozen=True, slots=True)
class KernelShape:
    """How an elementwise kernel is cut: vectors of four floats, consecutive per invocation."""

    workgroup_size: int = 256
    vectors_per_invocation: int = 4

    @property
    def elements_per_workgroup(self) -> int:
        return 4 * self.workgroup_size * self.vectors_per_invocation
