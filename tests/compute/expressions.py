"""Random functions in NumPy's words, as text and as a function, with arguments for them. For property tests.

``INTERFACE_TAX_FUZZ``: how many examples to draw, with a seed of their own; without it a few, always the same.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from compute.record import Recorded, Spec, record

Array = npt.NDArray[Any]
EXAMPLES = int(os.environ.get("INTERFACE_TAX_FUZZ", "0"))
DRAWN = settings(
    derandomize=EXAMPLES == 0,
    max_examples=EXAMPLES or 300,
    deadline=None,
    print_blob=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)

# Axes of 0, 1, few and several workgroups' worth; few shapes, so that kernels come again and are compiled once.
_SHAPES = [(5,), (257,), (3, 5), (5, 257), (3, 1, 5), (1,), (), (0,), (0, 3), (5, 3), (2, 3, 5), (3, 0, 5), (1030,)]
_F, _I, _U, _B = "float32", "int32", "uint32", "bool"
_SPECIAL = [np.nan, np.inf, -np.inf, -0.0, 0.0, 1e-40, -1e-38, 3e38, -3e38, 1e10]
_UNARY = {
    _F: ["-{}", "np.absolute({})", "np.square({})", "np.sqrt({})", "np.sqrt(np.absolute({}))", "np.exp({})",
         "np.log({})", "np.log(np.absolute({}) + 0.5)", "np.tanh({})", "np.sin({})", "np.cos({})", "np.floor({})",
         "{} ** 2", "{} ** 3",
         "1.0 / (1.0 + np.exp(-{}))", "np.maximum({}, 0.0)", "np.clip({}, -1.5, 0.75)", "2.0 - {}"],
    _I: ["-{}", "np.absolute({})", "np.square({})", "{} * 3 - 7", "np.clip({}, -2, 5)", "5 - {}"],
    _U: ["np.square({})", "{} + 3", "np.minimum({}, 4)", "7 - {}"],
    _B: ["np.logical_not({})", "~{}"],
}  # fmt: skip
_BINARY = {
    _F: ["{} + {}", "{} - {}", "{} * {}", "{} / {}", "np.maximum({}, {})", "np.minimum({}, {})",
         "np.clip({}, {}, 2.0)"],
    _I: ["{} + {}", "{} - {}", "{} * {}", "np.maximum({}, {})", "np.minimum({}, {})", "np.clip({}, {}, 4)"],
    _U: ["{} + {}", "{} - {}", "{} * {}", "np.maximum({}, {})", "np.minimum({}, {})"],
    _B: ["np.logical_and({}, {})", "np.logical_or({}, {})", "{} & {}", "{} | {}"],
}  # fmt: skip
_COMPARE = ["{} < {}", "{} <= {}", "{} > {}", "{} >= {}", "{} == {}", "{} != {}"]
_NUMBER = "np.where({0} == {0}, {0}, 0.5)"  # NumPy makes no promise of casting a NaN, or what is out of range
_CASTS = {
    (_F, _I): f"np.clip({_NUMBER}, -99.0, 99.0).astype(np.int32)",
    (_F, _U): f"np.clip({_NUMBER}, 0.0, 99.0).astype(np.uint32)",
    (_I, _F): "{}.astype(np.float32)",
    (_U, _F): "{}.astype(np.float32)",
    (_B, _F): "{}.astype(np.float32)",
    (_B, _I): "{}.astype(np.int32)",
    (_B, _U): "{}.astype(np.uint32)",
    (_I, _U): "{}.astype(np.uint32)",
    (_U, _I): "{}.astype(np.int32)",
}


class Drawn:
    """A function's text and its arguments by name."""

    def __init__(self, text: str, arguments: dict[str, Array]) -> None:
        self.text, self.arguments = text, arguments

    def __repr__(self) -> str:
        given = "".join(
            f"# {name}: {value.dtype} {value.shape} {value.ravel()[:9]}\n" for name, value in self.arguments.items()
        )
        return f"\n{self.text}{given}"

    @property
    def function(self) -> Callable[..., Any]:
        return self._made(self.text)

    def record(self) -> Recorded:
        kinds: dict[str, Any] = {_F: "f32", _I: "i32", _U: "u32", _B: "bool"}
        specs = [Spec(each.shape, kinds[each.dtype.name]) for each in self.arguments.values()]
        return record(self.function, *specs)

    def by_numpy(self) -> tuple[Array, ...]:
        """What NumPy makes of the same text."""
        return self._results(self.function, self.arguments)

    def by_numpy_in_float64(self) -> tuple[Array, ...]:
        double = {name: each.astype(np.float64) if each.dtype == _F else each for name, each in self.arguments.items()}
        return self._results(self._made(self.text.replace("np.float32", "np.float64")), double)

    @staticmethod
    def _made(text: str) -> Callable[..., Any]:
        names: dict[str, Any] = {"np": np}
        exec(text, names)
        made: Callable[..., Any] = names["f"]
        return made

    @staticmethod
    def _results(function: Callable[..., Any], arguments: dict[str, Array]) -> tuple[Array, ...]:
        with np.errstate(all="ignore"):
            return tuple(np.asarray(each) for each in function(*arguments.values()))


@dataclass(frozen=True, slots=True)
class _Value:
    text: str
    shape: tuple[int, ...]
    dtype: str


@st.composite
def functions(draw: st.DrawFn) -> Drawn:
    """Up to seven lines on up to four arguments that broadcast, and up to three results."""
    full = draw(st.sampled_from(_SHAPES))
    values = [_Value(f"x{number}", *draw(_argument(full))) for number in range(draw(st.integers(1, 3)))]
    arguments = {each.text: each for each in values}
    if draw(st.booleans()):
        values.append(_Value("s", (), _F))
        arguments["s"] = values[-1]
    lines, computed = [], list[_Value]()
    for number in range(draw(st.integers(1, 7))):
        made = draw(_line(values))
        if made is None:
            continue
        lines.append(f"    v{number} = {made.text}")
        values.append(_Value(f"v{number}", made.shape, made.dtype))
        computed.append(values[-1])
    if not computed:
        lines, computed = ["    v = x0 == x0"], [_Value("v", values[0].shape, _B)]
    last = computed[-1]
    results = [last, *draw(st.lists(st.sampled_from(computed), max_size=2))]
    text = f"def f({', '.join(arguments)}):\n" + "\n".join(lines)
    text += f"\n    return {', '.join(each.text for each in results)},\n"
    seed, special = draw(st.integers(0, 3)), draw(st.integers(0, 4)) == 0
    random = np.random.default_rng(seed)
    return Drawn(text, {name: _data(random, each, special) for name, each in arguments.items()})


@st.composite
def _argument(draw: st.DrawFn, full: tuple[int, ...]) -> tuple[tuple[int, ...], str]:
    """A shape that broadcasts to ``full``, and a type."""
    shape = full
    if draw(st.integers(0, 2)) == 0 and full:
        shape = tuple(size if draw(st.booleans()) else 1 for size in full)[draw(st.integers(0, len(full) - 1)) :]
    return shape if shape else (1,), draw(st.sampled_from([_F, _F, _F, _F, _I, _U, _B]))


def _data(random: np.random.Generator, value: _Value, special: bool) -> Array:
    if value.dtype == _F:
        data = (
            random.integers(-16, 17, value.shape) / 4 if random.random() < 0.4 else random.normal(size=value.shape) * 2
        )
        data = np.asarray(data).astype(_F)
        if special:
            odd = np.asarray(random.choice(np.array(_SPECIAL, _F), value.shape))
            data = np.where(random.random(value.shape) < 0.4, odd, data)
        return data
    low, high = {_I: (-9, 10), _U: (0, 10), _B: (0, 2)}[value.dtype]
    return np.asarray(random.integers(low, high, value.shape)).astype(value.dtype)


@st.composite
def _line(draw: st.DrawFn, values: list[_Value]) -> _Value | None:
    """One more value, made of those there are; None where what was drawn does not fit."""
    one = draw(st.sampled_from(values[::-1]))
    kind = draw(
        st.sampled_from(["unary", "binary", "binary", "compare", "where", "cast", "reduce", "reduce", "view", "dot"])
    )
    if kind == "unary":
        return _Value(draw(st.sampled_from(_UNARY[one.dtype])).format(one.text), one.shape, one.dtype)
    if kind == "cast":
        found = [(target, text) for (source, target), text in _CASTS.items() if source == one.dtype]
        target, text = draw(st.sampled_from(found))
        return _Value(text.format(one.text), one.shape, target)
    if kind == "reduce":
        return draw(_reduction(one))
    if kind == "view":
        return draw(_view(one))
    if kind == "dot":
        other = draw(st.sampled_from([each for each in values if each.dtype == one.dtype]))
        fits = one.dtype == _F and one.shape[-1:] == other.shape[-1:] and len(one.shape) == len(other.shape) == 2
        return _Value(f"{one.text} @ {other.text}.T", (one.shape[0], other.shape[0]), _F) if fits else None
    return draw(_of_several(kind, one, values))


@st.composite
def _of_several(draw: st.DrawFn, kind: str, one: _Value, values: list[_Value]) -> _Value | None:
    other = draw(st.sampled_from([each for each in values if each.dtype == one.dtype]))
    operands = [one, other]
    if kind == "where":
        conditions = [each for each in values if each.dtype == _B]
        if not conditions:
            return None
        operands.insert(0, draw(st.sampled_from(conditions)))
    try:
        shape = np.broadcast_shapes(*(each.shape for each in operands))
    except ValueError:
        return None
    if kind == "where":
        return _Value(f"np.where({', '.join(each.text for each in operands)})", shape, one.dtype)
    if kind == "compare":
        if one.dtype == _B:
            return None
        constant = {_F: "0.5", _I: "-2", _U: "4"}[one.dtype]
        second = draw(st.sampled_from([other.text, constant]))
        text = draw(st.sampled_from(_COMPARE)).format(one.text, second)
        return _Value(text, one.shape if second == constant else shape, _B)
    return _Value(draw(st.sampled_from(_BINARY[one.dtype])).format(one.text, other.text), shape, one.dtype)


@st.composite
def _reduction(draw: st.DrawFn, one: _Value) -> _Value | None:
    axis = draw(st.sampled_from([None, *range(-len(one.shape), len(one.shape))]))
    keep = draw(st.booleans())
    terms = int(np.prod(one.shape)) if axis is None else one.shape[axis]
    kind = draw(st.sampled_from(["sum", "max", "min", "mean"]))
    if one.dtype == _B or (terms == 0 and kind != "sum") or (kind == "mean" and one.dtype != _F):
        return None
    text = f"np.{kind}({one.text}, axis={axis}, keepdims={keep})"
    if kind == "sum" and one.dtype != _F:  # NumPy sums in 64 bits
        text += f".astype(np.{one.dtype})"
    dropped = range(len(one.shape)) if axis is None else [axis % len(one.shape)]
    shape = [1 if number in dropped else size for number, size in enumerate(one.shape) if keep or number not in dropped]
    return _Value(text, tuple(shape), one.dtype)


@st.composite
def _view(draw: st.DrawFn, one: _Value) -> _Value:
    kind = draw(st.sampled_from(["T", "transpose", "flat", "first", "last"]))
    if kind == "T":
        return _Value(f"{one.text}.T", one.shape[::-1], one.dtype)
    if kind == "transpose":
        order = draw(st.permutations(range(len(one.shape))))
        return _Value(f"np.transpose({one.text}, {tuple(order)})", tuple(one.shape[axis] for axis in order), one.dtype)
    if kind == "flat":
        return _Value(f"{one.text}.reshape(-1)" if 0 not in one.shape else f"{one.text}.reshape(0)",
                      (int(np.prod(one.shape)),), one.dtype)  # fmt: skip
    if kind == "first":
        return _Value(f"{one.text}[None]", (1, *one.shape), one.dtype)
    return _Value(f"{one.text}[..., None]", (*one.shape, 1), one.dtype)
