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
Helper = tuple[str, DType]
_NAN: Helper = ("nan", "f32")
_BOTH: Helper = ("both", "bool")
_CALLS: dict[Helper, tuple[Helper, ...]] = {
    ("keep_nan", "f32"): (_NAN,),
    ("less", "f32"): (_NAN, _BOTH),
    ("less_equal", "f32"): (_NAN, _BOTH),
    ("same", "f32"): (_NAN, _BOTH),
    ("to_i32", "f32"): (_NAN,),
    ("to_u32", "f32"): (_NAN,),
}
LOGIC = ("both", "either", "neither")  # of truth values, whatever these were made of
NAMES = (  # callees first
    *("nan", "keep_nan", *LOGIC, "less", "less_equal", "same"),
    *("pick", "to_f32", "to_i32", "to_u32"),
)


@dataclass(frozen=True, slots=True)
class Dialect:
    """A language, and values one by one or four at a time. ``suffix``: of helpers that stand beside others' own."""

    language: Language
    width: Literal[1, 4]
    suffix: str = ""

    def type(self, dtype: DType) -> str:
        return (_VECTORS if self.width == 4 else _SCALARS)[self.language][dtype]

    def called(self, helper: str, dtype: DType) -> str:
        """WGSL has no overloading."""
        if self.language == "glsl":
            return helper
        return helper + self.suffix + ("" if dtype == "f32" else f"_{dtype}")


def declare(dialect: Dialect, used: Iterable[Helper]) -> str:
    """The texts of all helpers in ``used`` and of those they call, callees first."""
    text = {"glsl": _glsl_by_four if dialect.width == 4 else _glsl, "wgsl": _wgsl}[dialect.language]
    wanted = {each: None for helper in used for each in (*_CALLS.get(helper, ()), helper)}
    ordered = sorted(wanted, key=lambda helper: NAMES.index(helper[0]))
    return "".join(text(dialect, *helper) for helper in ordered)


def _glsl(d: Dialect, name: str, dtype: DType) -> str:
    t = d.type(dtype)
    ordered = " && !nan(a) && !nan(b)" if dtype == "f32" else ""
    result, parameters, body = {
        "nan": ("bool", "float x", "(floatBitsToUint(x) & 0x7fffffffu) > 0x7f800000u"),
        "keep_nan": (t, f"{t} result, {t} operand", "nan(operand) ? operand : result"),
        "both": ("bool", "bool a, bool b", "a && b"),
        "either": ("bool", "bool a, bool b", "a || b"),
        "neither": ("bool", "bool a", "!a"),
        "less": ("bool", f"{t} a, {t} b", f"a < b{ordered}"),
        "less_equal": ("bool", f"{t} a, {t} b", f"a <= b{ordered}"),
        "same": ("bool", f"{t} a, {t} b", f"a == b{ordered}"),
        "pick": (t, f"bool c, {t} a, {t} b", "c ? a : b"),
        "to_f32": ("float", f"{t} x", "float(x)"),
        "to_i32": ("int", f"{t} x", _whole(dtype, "int", "clamp(x, -2147483648.0, 2147483520.0)", "nan(x) ? 0 : {}")),
        "to_u32": ("uint", f"{t} x", _whole(dtype, "uint", "clamp(x, 0.0, 4294967040.0)", "nan(x) ? 0u : {}")),
    }[name]
    return f"{result} {name}({parameters}) {{ return {body}; }}\n"


def _glsl_by_four(d: Dialect, name: str, dtype: DType) -> str:
    """Vectors are compared, joined and chosen from by functions."""
    t = d.type(dtype)
    ordered = "both({}, both(not(nan(a)), not(nan(b))))" if dtype == "f32" else "{}"
    lanes = ", ".join(f"c.{lane} ? a.{lane} : b.{lane}" for lane in "xyzw")
    nan_is_0 = "mix({}, vec4(0.0), nan(x))"
    result, parameters, body = {
        "nan": ("bvec4", "vec4 x", "greaterThan(floatBitsToUint(x) & 0x7fffffffu, uvec4(0x7f800000u))"),
        "keep_nan": (t, f"{t} result, {t} operand", "mix(result, operand, nan(operand))"),
        "both": ("bvec4", "bvec4 a, bvec4 b", "bvec4(uvec4(a) & uvec4(b))"),
        "either": ("bvec4", "bvec4 a, bvec4 b", "bvec4(uvec4(a) | uvec4(b))"),
        "neither": ("bvec4", "bvec4 a", "not(a)"),
        "less": ("bvec4", f"{t} a, {t} b", ordered.format("lessThan(a, b)")),
        "less_equal": ("bvec4", f"{t} a, {t} b", ordered.format("lessThanEqual(a, b)")),
        "same": ("bvec4", f"{t} a, {t} b", ordered.format("equal(a, b)")),
        "pick": (t, f"bvec4 c, {t} a, {t} b", "mix(b, a, c)" if dtype == "f32" else f"{t}({lanes})"),
        "to_f32": ("vec4", f"{t} x", "vec4(x)"),
        "to_i32": ("ivec4", f"{t} x", _whole(dtype, "ivec4", nan_is_0.format("clamp(x, -2147483648.0, 2147483520.0)"))),
        "to_u32": ("uvec4", f"{t} x", _whole(dtype, "uvec4", nan_is_0.format("clamp(x, 0.0, 4294967040.0)"))),
    }[name]
    return f"{result} {name}({parameters}) {{ return {body}; }}\n"


def _wgsl(d: Dialect, name: str, dtype: DType) -> str:
    """Only what is not an operator: names carry the type, because there is no overloading."""
    t, b, u, nan = d.type(dtype), d.type("bool"), d.type("u32"), d.called("nan", "f32")
    ordered = f" & !{nan}(a) & !{nan}(b)" if dtype == "f32" else ""
    zero = "vec4f(0.0)" if d.width == 4 else "0.0"
    least, most, top = (f"{t}({bound})" for bound in ("-2147483648.0", "2147483520.0", "4294967040.0"))
    to_i32 = f"select(clamp(x, {least}, {most}), {zero}, {nan}(x))"
    to_u32 = f"select(clamp(x, {zero}, {top}), {zero}, {nan}(x))"
    bodies = {
        "nan": (f"x: {t}", b, f"(bitcast<{u}>(x) & {u}(0x7fffffffu)) > {u}(0x7f800000u)"),
        "keep_nan": (f"result: {t}, operand: {t}", t, f"select(result, operand, {nan}(operand))"),
        "less": (f"a: {t}, b: {t}", b, f"(a < b){ordered}"),
        "less_equal": (f"a: {t}, b: {t}", b, f"(a <= b){ordered}"),
        "same": (f"a: {t}, b: {t}", b, f"(a == b){ordered}"),
        "to_f32": (f"x: {t}", d.type("f32"), f"{d.type('f32')}(x)"),
        "to_i32": (f"x: {t}", d.type("i32"), _whole(dtype, d.type("i32"), to_i32)),
        "to_u32": (f"x: {t}", u, _whole(dtype, u, to_u32)),
    }
    if name not in bodies:
        return ""
    parameters, result, body = bodies[name]
    return f"fn {d.called(name, dtype)}({parameters}) -> {result} {{ return {body}; }}\n"


def _whole(dtype: DType, target: str, inside: str, unless_nan: str = "{}") -> str:
    """A cast to a whole number: of floats, the nearest inside its range, and 0 of a NaN."""
    return unless_nan.format(f"{target}({inside})") if dtype == "f32" else f"{target}(x)"
