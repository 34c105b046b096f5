"""The functions that C expressions may call, by their names in the table of scalar ops.

Five sorts: compiler builtins, functions of the C math library (glibc has vector forms of them),
functions of SciPy and of the runtime that are reached by a pointer, and functions written here.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from functools import cache

from frazil.link.c.halves import HALVES
from frazil.link.c.static_function import StaticFunction
from frazil.link.toolchain.symbols import OF_SCIPY
from frazil.scalar.scipy_functions import ARITIES

C_TYPES: Mapping[str, str] = {
    "bool": "b1",
    "int8": "i1",
    "int16": "i2",
    "int32": "i4",
    "int64": "i8",
    "uint8": "u1",
    "uint16": "u2",
    "uint32": "u4",
    "uint64": "u8",
    "float16": "half",
    "float32": "f4",
    "float64": "f8",
}
"""The short C name of each dtype, as the prelude of a unit defines it."""

PRELUDE = """\
typedef _Bool b1;
typedef signed char i1; typedef short i2; typedef int i4; typedef long long i8;
typedef unsigned char u1; typedef unsigned short u2; typedef unsigned int u4;
typedef unsigned long long u8;
typedef float f4; typedef double f8;
typedef unsigned short half;
#define INLINE static inline __attribute__((always_inline))
#define NOINLINE __attribute__((noinline))
#define ALIGNED __attribute__((aligned(64)))
#if defined(__GNUC__) && !defined(__clang__)
#define VECTOR __attribute__((simd("notinbranch"), const))
#else
#define VECTOR __attribute__((const))
#endif
"""

BUILTINS = frozenset({"fabs", "sqrt", "floor", "ceil", "trunc", "rint", "copysign"})
"""Functions that become an instruction or two."""

# The oldest glibc whose libmvec has each function. All of them, in every instruction set, keep
# within 4 ulp over the whole range and are exact at infinities, NaN and signed zeros.
VECTOR_SINCE: Mapping[str, tuple[int, int]] = {
    **dict.fromkeys(("exp", "log", "pow", "sin", "cos"), (2, 22)),
    **dict.fromkeys(
        (
            *("acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "cosh", "erf"),
            *("erfc", "exp2", "expm1", "hypot", "log10", "log1p", "log2", "sinh", "tan", "tanh"),
        ),
        (2, 35),
    ),
}

SCALAR_MATH = frozenset({"fmod", "lgamma_r", "nextafter"})
"""Functions of the C math library that have no vector form anywhere."""

POINTERS: Mapping[str, str] = {
    f"{OF_SCIPY}{name}": f"f8 (*{OF_SCIPY}{name})({'f8, ' * nin}i4);"
    for name, nin in ARITIES.items()
}
"""Functions of scipy.special.cython_special: the pointer's definition."""


OF_RUNTIME: Mapping[str, str] = {
    "log_ndtr_of_scaled": "f8, f8",
    "polygamma_one_f8": "f8, f8",
    "psi_one_f4": "f4",
    "psi_one_f8": "f8",
    "tri_gamma_one_f8": "f8",
    "zeta_one_f8": "f8, f8",
}
"""Functions of the runtime that are reached by a pointer, and the types of their operands.

The result is of the first one's type.
"""


def _through_pointer(name: str, nin: int) -> StaticFunction:
    """A function of SciPy for any float: it computes in f8, and says of all results in which."""
    params = ", ".join(f"$T x{k}" for k in range(nin))
    given = ", ".join(f"(f8)x{k}" for k in range(nin))
    call = f"${OF_SCIPY}{name}@f8({given}, 0)"
    return StaticFunction(f"INLINE $T $self({params}) {{ return ($T){call}; }}\n", vector=False)


def _by_float64(function: str, *names: str) -> StaticFunction:
    """Calls a function of float64 that no loop of vectors may hold."""
    params = ", ".join(f"$T {name}" for name in names)
    call = f"{function}({', '.join(f'(f8){name}' for name in names)})"
    return StaticFunction(f"INLINE $T $self({params}) {{ return ($T){call}; }}\n", vector=False)


STATIC_FUNCTIONS: Mapping[tuple[str, str], StaticFunction] = {
    **HALVES,
    **{(name, "f"): _through_pointer(name, nin) for name, nin in ARITIES.items()},
    # The quotient that goes with the remainder below: a - rest is a multiple of b, give or take a
    # rounding, which is why it is rounded to the nearest integer from below.
    ("floordiv", "f"): StaticFunction(
        """\
INLINE $T $self($T a, $T b) {
  if (b == 0) return a / b;
  $T rest = $fmod(a, b), quotient = (a - rest) / b;
  if (rest != 0 && (b < 0) != (rest < 0)) quotient -= 1;
  if (quotient == 0) return $copysign(0, a / b);
  const $T down = $floor(quotient);
  return quotient - down > ($T)0.5 ? down + 1 : down;
}
""",
        vector=False,
    ),
    ("floormod", "f"): StaticFunction(
        """\
INLINE $T $self($T a, $T b) {
  const $T rest = $fmod(a, b);
  if (b == 0 || rest != rest) return rest;
  if (rest == 0) return $copysign(0, b);
  return (b < 0) != (rest < 0) ? rest + b : rest;
}
""",
        vector=False,
    ),
    ("floordiv", "i"): StaticFunction(
        """\
INLINE $T $self($T a, $T b) {
  if (b == 0) return 0;
  if (b == -1) return -a;
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}
""",
        vector=False,
    ),
    ("floormod", "i"): StaticFunction(
        """\
INLINE $T $self($T a, $T b) {
  if (b == 0 || b == -1) return 0;
  const $T rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}
""",
        vector=False,
    ),
    ("floordiv", "u"): StaticFunction(
        "INLINE $T $self($T a, $T b) { return b == 0 ? 0 : a / b; }\n", vector=False
    ),
    ("floormod", "u"): StaticFunction(
        "INLINE $T $self($T a, $T b) { return b == 0 ? 0 : a % b; }\n", vector=False
    ),
    # Where it sees that b was an integer and that a is zero, gcc takes a - b for -b: 0 - 0 is -0.
    ("difference", "f"): StaticFunction("INLINE $T $self($T a, $T b) { return a - b; }\n"),
    # The remainder that has the sign of a, as C has it.
    ("truncmod", "i"): StaticFunction(
        "INLINE $T $self($T a, $T b) { return b == 0 || b == -1 ? 0 : a % b; }\n", vector=False
    ),
    # A shift by a negative number of bits is one beyond the width. The masks keep C from undefined
    # behaviour where the result is not taken.
    ("left_shift", "iu"): StaticFunction(
        """\
INLINE $T $self($T a, $T b) {
  const i4 last = 8 * sizeof(a) - 1;
  return (b >= 0) & (b <= ($T)last) ? ($T)((u8)a << (b & last)) : 0;
}
"""
    ),
    ("right_shift", "i"): StaticFunction(
        """\
INLINE $T $self($T a, $T b) {
  const i4 last = 8 * sizeof(a) - 1;
  return a >> ((b >= 0) & (b <= ($T)last) ? b : ($T)last);
}
"""
    ),
    ("right_shift", "u"): StaticFunction(
        """\
INLINE $T $self($T a, $T b) {
  const i4 last = 8 * sizeof(a) - 1;
  return b <= ($T)last ? a >> (b & last) : 0;
}
"""
    ),
    ("upow", "u"): StaticFunction(
        """\
INLINE $T $self($T base, $T exponent) {
  $T power = 1;
  for (; exponent; exponent >>= 1, base *= base)
    if (exponent & 1) power *= base;
  return power;
}
""",
        vector=False,
    ),
    ("ipow", "i"): StaticFunction(
        """\
INLINE $T $self($T base, $T exponent, i4 *status) {
  $T power = 1;
  if (exponent < 0) { *status = 1; return 0; }
  for (; exponent; exponent >>= 1, base *= base)
    if (exponent & 1) power *= base;
  return power;
}
""",
        vector=False,
    ),
    ("clip", "f"): StaticFunction(
        """\
INLINE $T $self($T x, $T low, $T high) {
  const $T up = (x >= low) | (x != x) ? x : low;
  return (up <= high) | (up != up) ? up : high;
}
"""
    ),
    ("clip", "iu"): StaticFunction(
        """\
INLINE $T $self($T x, $T low, $T high) {
  const $T up = x > low ? x : low;
  return up < high ? up : high;
}
"""
    ),
    # e**-|x| never overflows, and keeps its precision where the result is subnormal.
    ("sigmoid", "f"): StaticFunction(
        """\
INLINE $T $self($T x) {
  const $T decay = $exp(-$fabs(x));
  return (x < 0 ? decay : 1) / (1 + decay);
}
"""
    ),
    ("softplus", "f"): StaticFunction(
        "INLINE $T $self($T x) { return (x > 0 ? x : 0) + $log1p($exp(-$fabs(x))); }\n"
    ),
    ("log1mexp", "f"): StaticFunction(
        """\
INLINE $T $self($T x) {
  const $T far = $log1p(-$exp(x)), near = $log(-$expm1(x));
  return x > ($T)-0x1.62e42fefa39efp-1 ? near : far;
}
"""
    ),
    ("logaddexp", "f"): StaticFunction(
        """\
INLINE $T $self($T x, $T y) {
  const $T more = x > y ? x : y, rest = $log1p($exp(-$fabs(x - y)));
  return x == y ? x + ($T)0x1.62e42fefa39efp-1 : more + rest;
}
"""
    ),
    # As SciPy, not as C, has it at -inf.
    ("gammaln", "f"): StaticFunction(
        """\
INLINE $T $self($T x) {
  i4 sign;
  return x == -__builtin_inf() ? x : ($T)$lgamma_r@f8((f8)x, &sign);
}
""",
        vector=False,
    ),
    ("psi", "f8"): StaticFunction(
        "INLINE f8 $self(f8 x) { return $psi_one_f8(x); }\n", vector=False
    ),
    ("psi", "f4"): StaticFunction(
        "INLINE f4 $self(f4 x) { return $psi_one_f4(x); }\n", vector=False
    ),
    # The product with the root of 1/2 in twice the digits: the error function falls off so fast
    # that a rounding of its argument would cost three digits.
    ("ndtr", "f8"): StaticFunction(
        """\
INLINE f8 $self(f8 x) {
  const f8 t = x > 40 ? 40 : x < -40 ? -40 : x, high = (f8)(f4)t, low = t - high;
  const f8 z = t * 0x1.6a09e667f3bcdp-1, part = 0x1.6a09e6p-1, rest = 0x1.9fcef34p-27;
  const f8 off = ((high * part - z) + (high * rest + low * part)) + low * rest
    - t * 0x1.bdd3413b26456p-55;
  return 0.5 * ($erfc(-z) + 0x1.20dd750429b6dp+0 * $exp(-z * z) * off);
}
"""
    ),
    ("ndtr", "f4"): StaticFunction("INLINE f4 $self(f4 x) { return (f4)$ndtr@f8(x); }\n"),
    ("log_ndtr", "f8"): StaticFunction(
        """\
INLINE f8 $self(f8 x) {
  return $log_ndtr_of_scaled(x, $scipy_erfcx(x * -0x1.6a09e667f3bcdp-1, 0));
}
""",
        vector=False,
    ),
    ("log_ndtr", "f4"): _by_float64("$log_ndtr@f8", "x"),
    ("tri_gamma", "f"): _by_float64("$tri_gamma_one_f8", "x"),
    ("polygamma", "f"): _by_float64("$polygamma_one_f8", "n", "x"),
    ("zeta", "f"): _by_float64("$zeta_one_f8", "s", "q"),
    # The comparison of an int64 with a uint64: below zero, zero or above.
    ("compare", "i"): StaticFunction(
        """\
INLINE i4 $self($T a, u8 b) {
  return a < 0 ? -1 : ((u8)a > b) - ((u8)a < b);
}
"""
    ),
    # Conversions to integers of what they cannot hold give what the processor's instruction gives,
    # on every processor.
    ("to_int64", "f"): StaticFunction(
        """\
INLINE i8 $self($T x) {
  return (x >= -0x1p63f) & (x < 0x1p63f) ? (i8)x : (-0x7fffffffffffffffLL - 1);
}
"""
    ),
    ("to_int32", "f"): StaticFunction(
        """\
INLINE i4 $self($T x) {
  return (x > -2147483649.0) & (x < 0x1p31) ? (i4)x : (-0x7fffffff - 1);
}
"""
    ),
    ("to_uint64", "f"): StaticFunction(
        """\
INLINE u8 $self($T x) {
  const i4 high = x >= 0x1p63f;
  const $T part = high ? x - 0x1p63f : x;
  const i8 whole = (part >= -0x1p63f) & (part < 0x1p63f) ? (i8)part : (-0x7fffffffffffffffLL - 1);
  return high ? (u8)whole ^ 0x8000000000000000ULL : (u8)whole;
}
"""
    ),
}


FUNCTIONS = frozenset(
    (*BUILTINS, *VECTOR_SINCE, *SCALAR_MATH, *POINTERS, *(name for name, _ in STATIC_FUNCTIONS))
)
"""The names of all functions."""


@cache
def vector_functions() -> frozenset[str]:
    """The math functions that this machine's C library has vector forms of."""
    if platform.machine() not in ("x86_64", "AMD64"):
        return frozenset()
    version = glibc_version()
    return frozenset(name for name, since in VECTOR_SINCE.items() if version >= since)


def glibc_version() -> tuple[int, int]:
    """The version of the GNU C library; (0, 0) where the C library is another one."""
    try:
        name, _, version = (os.confstr("CS_GNU_LIBC_VERSION") or "").partition(" ")
    except (AttributeError, ValueError, OSError):
        return (0, 0)
    if name != "glibc":
        return (0, 0)
    major, minor = version.split(".")[:2]
    return int(major), int(minor)


def static_function_for(name: str, dtype: str) -> StaticFunction | None:
    """The function of that name for operands of ``dtype``: one of its own, or its kind's."""
    code = C_TYPES[dtype]
    return STATIC_FUNCTIONS.get((name, code)) or next(
        (
            function
            for (own_name, kinds), function in STATIC_FUNCTIONS.items()
            if own_name == name and kinds.isalpha() and code[0] in kinds
        ),
        None,
    )
