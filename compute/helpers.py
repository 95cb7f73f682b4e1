"""Small functions that kernel texts call, each declared only where it is used. Feeds emit.

They say what GLSL or WGSL has no word for, and what drivers would do differently with NaN.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from compute.ops import DType

Language = Literal["glsl", "wgsl"]
LANGUAGES: tuple[Language, ...] = ("glsl", "wgsl")

_SCALARS: dict[Language, dict[DType, str]] = {
    "glsl": {"f32": "float", "i32": "int", "u32": "uint", "bool": "bool"},
    "wgsl": {"f32": "f32", "i32": "i32", "u32": "u32", "bool": "bool"},
}
_VECTORS: dict[Language, dict[DType, str]] = {
    "glsl": {"f32": "vec4", "i32": "ivec4", "u32": "uvec4", "bool": "bvec4"},
    "wgsl": {"f32": "vec4f", "i32": "vec4i", "u32": "vec4u", "bool": "vec4<bool>"},
}
_NEEDS = {
    "keep_nan": ("nan",), "less": ("nan",), "less_equal": ("nan",), "same": ("nan",), "to_i32": ("nan",),
    "to_u32": ("nan",),
}  # fmt: skip
NAMES = (
    "nan",
    "keep_nan",
    "less",
    "less_equal",
    "same",
    "neither",
    "both",
    "either",
    "pick",
    "to_f32",
    "to_i32",
    "to_u32",
)


@dataclass(frozen=True, slots=True)
class Dialect:
    """A language, and values one by one or four at a time. ``suffix``: of helpers that stand beside others' own."""

    language: Language
    width: Literal[1, 4]
    suffix: str = ""

    def type(self, dtype: DType) -> str:
        return (_VECTORS if self.width == 4 else _SCALARS)[self.language][dtype]

    def scalar(self, dtype: DType) -> str:
        return _SCALARS[self.language][dtype]

    def called(self, helper: str, dtype: DType) -> str:
        """WGSL has no overloading."""
        if self.language == "glsl":
            return helper
        return helper + self.suffix + ("" if dtype == "f32" else f"_{dtype}")


def declare(dialect: Dialect, used: Iterable[tuple[str, DType]]) -> str:
    """The texts of all helpers in ``used`` and of those they call, callees first."""
    wanted: dict[tuple[str, DType], None] = {}
    for name, dtype in used:
        if dtype == "f32":
            wanted.update({(needed, dtype): None for needed in _NEEDS.get(name, ())})
        wanted[name, dtype] = None
    ordered = sorted(wanted, key=lambda each: NAMES.index(each[0]))
    texts = [(_glsl if dialect.language == "glsl" else _wgsl)(dialect, *each) for each in ordered]
    return "".join(f"{text}\n" for text in texts)


def _glsl(d: Dialect, name: str, dtype: DType) -> str:
    t, b, u, four = d.type(dtype), d.type("bool"), d.type("u32"), d.width == 4
    both = f"{b}({u}({{}}) & {u}({{}}))" if four else "({} && {})"
    negated = "not({})" if four else "!{}"

    def ordered(text: str) -> str:
        if dtype != "f32":
            return text
        sides = both.format(negated.format("nan(a)"), negated.format("nan(b)"))
        return both.format(text, sides)

    def compared(vector: str, operator: str) -> str:
        return ordered(f"{vector}(a, b)" if four else f"a {operator} b")

    def whole(low: str, high: str, target: str) -> str:
        if dtype != "f32":
            return f"{target}(x)"
        return f"{target}(mix(clamp(x, {low}, {high}), {t}(0.0), nan(x)))"

    either = both.replace("&", "|").format("a", "b")
    i32 = d.type("i32")
    picked = "mix(b, a, c)" if dtype == "f32" else "c ? a : b"
    if four and dtype != "f32":
        picked = f"{t}({', '.join(f'c.{lane} ? a.{lane} : b.{lane}' for lane in 'xyzw')})"
    bits = "floatBitsToUint(x) & 0x7fffffffu"
    is_nan = f"greaterThan({bits}, uvec4(0x7f800000u))" if four else f"({bits}) > 0x7f800000u"
    return {
        "nan": f"{b} nan({t} x) {{ return {is_nan}; }}",
        "keep_nan": f"{t} keep_nan({t} result, {t} operand) {{ return mix(result, operand, nan(operand)); }}",
        "less": f"{b} less({t} a, {t} b) {{ return {compared('lessThan', '<')}; }}",
        "less_equal": f"{b} less_equal({t} a, {t} b) {{ return {compared('lessThanEqual', '<=')}; }}",
        "same": f"{b} same({t} a, {t} b) {{ return {compared('equal', '==')}; }}",
        "neither": f"{b} neither({b} a) {{ return {negated.format('a')}; }}",
        "both": f"{b} both({b} a, {b} b) {{ return {both.format('a', 'b')}; }}",
        "either": f"{b} either({b} a, {b} b) {{ return {either}; }}",
        "pick": f"{t} pick({b} c, {t} a, {t} b) {{ return {picked}; }}",
        "to_f32": f"{d.type('f32')} to_f32({t} x) {{ return {d.type('f32')}(x); }}",
        "to_i32": f"{i32} to_i32({t} x) {{ return {whole('-2147483648.0', '2147483520.0', i32)}; }}",
        "to_u32": f"{u} to_u32({t} x) {{ return {whole('0.0', '4294967040.0', u)}; }}",
    }[name]


def _wgsl(d: Dialect, name: str, dtype: DType) -> str:
    t, b, u = d.type(dtype), d.type("bool"), d.type("u32")
    called, nan = d.called(name, dtype), d.called("nan", "f32")
    ordered = f" & !{nan}(a) & !{nan}(b)" if dtype == "f32" else ""

    def whole(low: str, high: str, target: str) -> str:
        if dtype != "f32":
            return f"{target}(x)"
        return f"{target}(select(clamp(x, {t}({low}), {t}({high})), {t}(0.0), {nan}(x)))"

    bodies = {
        "nan": (f"x: {t}", b, f"(bitcast<{u}>(x) & {u}(0x7fffffffu)) > {u}(0x7f800000u)"),
        "keep_nan": (f"result: {t}, operand: {t}", t, f"select(result, operand, {nan}(operand))"),
        "less": (f"a: {t}, b: {t}", b, f"(a < b){ordered}"),
        "less_equal": (f"a: {t}, b: {t}", b, f"(a <= b){ordered}"),
        "same": (f"a: {t}, b: {t}", b, f"(a == b){ordered}"),
        "to_f32": (f"x: {t}", d.type("f32"), f"{d.type('f32')}(x)"),
        "to_i32": (f"x: {t}", d.type("i32"), whole("-2147483648.0", "2147483520.0", d.type("i32"))),
        "to_u32": (f"x: {t}", u, whole("0.0", "4294967040.0", u)),
    }
    parameters, result, body = bodies[name]
    return f"fn {called}({parameters}) -> {result} {{ return {body}; }}"
