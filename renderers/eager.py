"""Arrays whose ops run when they are called: a kernel and a submission each. Results stay on the device.

The same function text as on NumPy arrays and lazy ones: an op is said to ``compute.expr`` about stand-ins for its
operands, and what comes back is scheduled, compiled and run at once.
"""

import math
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.lib.mixins import NDArrayOperatorsMixin

from compute.expr import Expr, array_input, topological
from compute.kernel import ArraySpec, KernelShape, Limits, Scalar
from compute.ops import DType
from compute.places import ELEMENTS
from compute.record import Recorded
from compute.schedule import array_spec, schedule
from renderers.arrays import DTYPES
from renderers.device import Array, Device, DeviceArray
from renderers.plan import Plan, build_plan

_LABEL = "eager"
NAMES: dict[str, DType] = {"float32": "f32", "int32": "i32", "uint32": "u32", "bool": "bool"}


@dataclass(eq=False)
class _Memory:
    """One array on the device, given back when nothing refers to it any more. A single value has shape (1,)."""

    array: DeviceArray
    shape: tuple[int, ...]
    dtype: DType


@dataclass(frozen=True, slots=True)
class _Op:
    """One op made ready: the same for all operands of these shapes and types."""

    plan: Plan
    out: str
    kernels: int


class Eager:
    """Runs ops on one device, and owns the memory of their results until ``release``."""

    def __init__(self, device: Device, limits: Limits | None = None, shape: KernelShape = KernelShape()) -> None:
        """``limits`` default to the device's own."""
        self._device, self._limits, self._shape = device, limits or device.info.limits, shape
        self._ops: dict[tuple[object, ...], _Op] = {}
        self._held: set[DeviceArray] = set()
        # Arrays are collected at any time and in any thread, where no context is current: they are given back later.
        self._dead: list[DeviceArray] = []
        self.kernels = 0

    def __enter__(self) -> "Eager":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()

    @property
    def held_arrays(self) -> int:
        """How many arrays have memory on the device."""
        self._collect()
        return len(self._held)

    def array(self, data: npt.ArrayLike) -> "EagerArray":
        """``data`` on the device: float32, int32, uint32 or bool; any other type becomes float32."""
        given = np.asarray(data)
        if given.dtype.name not in NAMES:
            given = given.astype(np.float32)
        dtype = NAMES[given.dtype.name]
        memory = self._allocate("array", given.shape or (1,), dtype)
        memory.array.upload(given.reshape(memory.shape).astype(DTYPES[ELEMENTS[dtype]], copy=False))
        return EagerArray(self, memory, _of_one(given.shape))

    def release(self) -> None:
        """Give back the memory of every array, also of those still referred to."""
        for array in self._held:
            array.release()
        self._held.clear()
        self._dead.clear()

    def apply(
        self, function: Callable[..., Expr], operands: tuple[Any, ...], options: Mapping[str, Any]
    ) -> "EagerArray":
        """What ``function`` says about stand-ins for its operands, done at once. Views cost nothing, as in NumPy."""
        said = _Said(self)
        result = function(*said.of(operands), **said.of(dict(options)))
        views: list[Expr] = []
        while result.is_view:
            views.insert(0, replace(result, sources=()))
            (result,) = result.sources
        memory = said.memories.get(result)
        if memory is None:
            views[:0] = _of_one(result.shape)
            memory = self._run(said.with_constants_as_arguments(result), said)
        return EagerArray(self, memory, tuple(views))

    def _run(self, result: Expr, said: "_Said") -> _Memory:
        op = self._made(result, said)
        memory = self._allocate(result.op, result.shape or (1,), result.dtype)
        lent = {f"{_LABEL}/{leaf.name}": each.array for leaf, each in said.memories.items()}
        wanted = dict(op.plan.arrays)
        lent = {name: array for name, array in lent.items() if name in wanted} | {op.out: memory.array}
        work = self._device.compile(op.plan, lent=lent)
        try:
            work.run_now(said.values)
        finally:
            work.release()
        self.kernels += op.kernels
        return memory

    def _made(self, result: Expr, said: "_Said") -> _Op:
        key = _key(result)
        if key not in self._ops:
            nodes = topological((result,))
            inputs = tuple(node for node in nodes if node.op == "input")
            made = schedule(Recorded(_LABEL, inputs, (result,), nodes), "eager", self._limits, self._shape)
            self._ops[key] = _Op(build_plan((made,)), made.outputs[0], sum(each.kernels for each in made.passes))
        return self._ops[key]

    def _allocate(self, what: str, shape: tuple[int, ...], dtype: DType) -> _Memory:
        self._collect()
        name = f"{_LABEL}/{what}"
        spec: ArraySpec = array_spec(name, shape, self._limits, ELEMENTS[dtype])
        array = self._device.allocate(name, spec)
        self._held.add(array)
        memory = _Memory(array, shape, dtype)
        weakref.finalize(memory, self._dead.append, array).atexit = False
        return memory

    def _collect(self) -> None:
        while self._dead:
            array = self._dead.pop()
            if array in self._held:
                self._held.remove(array)
                array.release()


class EagerArray(NDArrayOperatorsMixin):
    """An array on a device. Ops on it run at once; ``numpy.asarray``, ``float``, ``int`` and a branch read it back."""

    def __init__(self, eager: Eager, memory: _Memory, views: tuple[Expr, ...] = ()) -> None:
        self._eager, self._memory, self._views = eager, memory, views

    @property
    def shape(self) -> tuple[int, ...]:
        return self._views[-1].shape if self._views else self._memory.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(next(name for name, each in NAMES.items() if each == self._memory.dtype))

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def T(self) -> "EagerArray":  # noqa: N802  NumPy's name
        return self.transpose()

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *operands: Any, **options: Any) -> "EagerArray":
        return self._eager.apply(getattr(ufunc, method), operands, options)

    def __array_function__(self, function: Any, types: Any, operands: Any, options: Any) -> "EagerArray":
        return self._eager.apply(function, operands, options)

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> Array:
        if copy is False:
            raise ValueError("an array on a device is read back as a copy; leave copy out")
        data = self._read().reshape(self._memory.shape)
        for view in self._views:
            data = data.transpose(view.axes) if view.op == "transpose" else data.reshape(view.shape)
        return np.array(data, self.dtype if dtype is None else dtype)

    def __bool__(self) -> bool:
        return bool(self._one())

    def __float__(self) -> float:
        return float(self._one())

    def __int__(self) -> int:
        return int(self._one())

    def __index__(self) -> int:
        if self._memory.dtype == "f32":
            raise TypeError("a float32 is no index; cast it with int")
        return int(self._one())

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("a single value has no length")
        return self.shape[0]

    def __repr__(self) -> str:
        return f"EagerArray({np.asarray(self)!r})"

    def __getitem__(self, key: Any) -> "EagerArray":
        """Only new axes of length 1: ``x[:, None]``."""
        return self._eager.apply(Expr.__getitem__, (self, key), {})

    def transpose(self, *axes: Any) -> "EagerArray":
        return self._eager.apply(Expr.transpose, (self, *axes), {})

    def reshape(self, *shape: Any) -> "EagerArray":
        return self._eager.apply(Expr.reshape, (self, *shape), {})

    def astype(self, dtype: Any) -> "EagerArray":
        return self._eager.apply(Expr.astype, (self, dtype), {})

    def sum(self, axis: Any = None, keepdims: bool = False) -> "EagerArray":
        return self._eager.apply(Expr.sum, (self, axis, keepdims), {})

    def max(self, axis: Any = None, keepdims: bool = False) -> "EagerArray":
        return self._eager.apply(Expr.max, (self, axis, keepdims), {})

    def min(self, axis: Any = None, keepdims: bool = False) -> "EagerArray":
        return self._eager.apply(Expr.min, (self, axis, keepdims), {})

    def mean(self, axis: Any = None, keepdims: bool = False) -> "EagerArray":
        return self._eager.apply(Expr.mean, (self, axis, keepdims), {})

    def _read(self, count: int | None = None) -> Array:
        if self._memory.array.is_released:
            raise ValueError(f"{self._memory.array.name}: was given back with its Eager; read it before")
        return self._memory.array.read_back(0, count)

    def _one(self) -> Any:
        if self.size != 1:
            raise ValueError(f"{self.size:,} values where one is needed; reduce them to one, as np.max does")
        return self._read(1)[0]


@dataclass(slots=True)
class _Said:
    """Operands of one op as its kernel knows them: arrays x0, x1 ... and numbers s0, s1 ..."""

    eager: Eager
    memories: dict[Expr, _Memory] = field(default_factory=dict)
    values: dict[str, Scalar] = field(default_factory=dict)
    _leaves: dict[_Memory, Expr] = field(default_factory=dict)

    def of(self, said: Any) -> Any:
        """``said`` with stand-ins in it, however deep: else NumPy would ask the eager arrays again."""
        if isinstance(said, EagerArray):
            return self._stand_in(said)
        if isinstance(said, np.ndarray) and said.size == 1:  # a number, which NumPy or the function gave a shape
            said = said[()] if said.shape == () else self._stand_in(self.eager.array(said))
        if isinstance(said, list | tuple):
            return type(said)([self.of(each) for each in said])
        if isinstance(said, dict):
            return {name: self.of(each) for name, each in said.items()}
        if isinstance(said, float | np.floating) and not math.isfinite(said):
            return self._number(float(said), "f32")  # no constant in WGSL
        return said

    def with_constants_as_arguments(self, result: Expr) -> Expr:
        """Else every new number in a loop would be a new kernel."""
        changed: dict[Expr, Expr] = {}
        for node in topological((result,)):
            if node.op == "constant" and node.dtype != "bool" and node is not result:
                changed[node] = self._number(node.value, node.dtype)
            else:
                changed[node] = replace(node, sources=tuple(changed[source] for source in node.sources))
                if node in self.memories:
                    changed[node] = node
        return changed[result]

    def _stand_in(self, array: EagerArray) -> Expr:
        if array._eager is not self.eager:
            raise ValueError("arrays of two Eagers in one op; read one back and give it to the other's array()")
        memory = array._memory
        if memory not in self._leaves:
            self._leaves[memory] = array_input(f"x{len(self._leaves)}", memory.shape, memory.dtype)
            self.memories[self._leaves[memory]] = memory
        seen = self._leaves[memory]
        for view in array._views:
            seen = replace(view, sources=(seen,), dtype=memory.dtype)
        return seen

    def _number(self, value: float | int, dtype: DType) -> Expr:
        name = f"s{len(self.values)}"
        self.values[name] = value
        return array_input(name, (), dtype)


def _of_one(shape: tuple[int, ...]) -> tuple[Expr, ...]:
    """A single value is stored as an array of one, because an input without a shape is a number of the frame."""
    return () if shape else (Expr("reshape", ()),)


def _key(result: Expr) -> tuple[object, ...]:
    """What makes two expressions the same kernels."""
    nodes = topological((result,))
    number = {node: place for place, node in enumerate(nodes)}
    return tuple(
        (node.op, node.shape, node.name, node.value, node.dtype, node.axes, *(number[each] for each in node.sources))
        for node in nodes
    )
