"""What Numba's expressions may call, by the name that stands in the table of scalar ops.

Memory is reached through intrinsics on raw pointers and the C math library by its symbols: both are
typed and compiled faster than Numba's arrays and overloads. What takes several steps is written out
where it is used, since a call costs more to compile than a statement.

Importing this module imports Numba.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from frazil.link.kernel import LoweringError
from frazil.link.numba.externals import HIDDEN, MATH, provide
from frazil.scalar.polygamma import COEFFICIENTS, LARGEST_FACTORIAL, LARGEST_ORDER, TERMS

BYTES = types.CPointer(types.uint8)
"""The type of an operand: a pointer to its first byte."""

TYPES: Mapping[str, Any] = {
    "bool": types.boolean,
    **{
        dtype: getattr(types, dtype)
        for dtype in (
            *("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
            *("float32", "float64"),
        )
    },
}

INSTRUCTIONS: Mapping[str, int] = {
    "fabs": 1,
    "sqrt": 1,
    "floor": 1,
    "ceil": 1,
    "trunc": 1,
    "rint": 1,
    "copysign": 2,
}
"""Functions that LLVM has itself, with their number of operands."""

WRAPPING: Mapping[str, str] = {"add": "+", "sub": "-", "mul": "*"}
"""Arithmetic of integers of one type, modulo two to the number of their bits.

Numba's own operators promise LLVM that no int64 overflows, and LLVM draws conclusions from it: that
``x + x`` has the sign of ``x``, or that ``x + 1`` is more than ``x``.
"""

PARALLEL = "frazil.parallel"
"""What marks a load or a store of an element that no other turn of the loop has to do with."""


@dataclass(frozen=True, slots=True)
class Steps:
    """A function written out in place: ``lines`` of assignments to local names, then a ``value``.

    ``params`` name the operands; names in braces are those of an op's expression.
    """

    params: tuple[str, ...]
    lines: tuple[str, ...]
    value: str


_FLOAT_DIVMOD = (
    "rest = {fmod}(a, b)",
    "off = (rest != 0) & ((b < 0) != (rest < 0))",
)

STEPS: Mapping[tuple[str, str], Steps] = {
    ("floordiv", "f"): Steps(
        ("a", "b"),
        (
            *_FLOAT_DIVMOD,
            "quotient = {T}((a - rest) / b)",
            "quotient = {select}(off, {T}(quotient - {T}(1)), quotient)",
            "down = {floor}(quotient)",
            "down = {select}({T}(quotient - down) > {T}(0.5), {T}(down + {T}(1)), down)",
            "down = {select}(quotient == 0, {copysign}({T}(0), {T}(a / b)), down)",
        ),
        "{select}(b == 0, {T}(a / b), down)",
    ),
    ("floormod", "f"): Steps(
        ("a", "b"),
        (
            *_FLOAT_DIVMOD,
            "moved = {select}(off, {T}(rest + b), rest)",
            "moved = {select}(rest == 0, {copysign}({T}(0), b), moved)",
        ),
        "{select}((b == 0) | (rest != rest), rest, moved)",
    ),
    # A division that traps, by zero or of the least integer by -1, is never made.
    ("floordiv", "i"): Steps(
        ("a", "b"),
        (
            "odd = (b == 0) | (b == {T}(-1))",
            "quotient = {T}(a // {select}(odd, {T}(1), b))",
            "quotient = {select}(b == {T}(-1), {T}(-a), quotient)",
        ),
        "{select}(b == 0, {T}(0), quotient)",
    ),
    ("floormod", "i"): Steps(
        ("a", "b"),
        ("odd = (b == 0) | (b == {T}(-1))",),
        "{select}(odd, {T}(0), {T}(a % {select}(odd, {T}(1), b)))",
    ),
    ("floordiv", "u"): Steps(
        ("a", "b"), (), "{select}(b == 0, {T}(0), {T}(a // {select}(b == 0, {T}(1), b)))"
    ),
    ("floormod", "u"): Steps(
        ("a", "b"), (), "{select}(b == 0, {T}(0), {T}(a % {select}(b == 0, {T}(1), b)))"
    ),
    ("upow", "u"): Steps(("a", "b"), (), "{T}({power}(uint64(a), uint64(b), uint64(1)))"),
    ("ipow", "i"): Steps(
        ("a", "b"),
        ("status = {select}(b < 0, int32(1), status)",),
        "{select}(b < 0, {T}(0), {T}({power}(uint64(a), uint64(b), uint64(1))))",
    ),
    ("clip", "f"): Steps(
        ("x", "low", "high"),
        ("up = {select}((x >= low) | (x != x), x, low)",),
        "{select}((up <= high) | (up != up), up, high)",
    ),
    ("clip", "iu"): Steps(
        ("x", "low", "high"),
        ("up = {select}(x > low, x, low)",),
        "{select}(up < high, up, high)",
    ),
    ("sigmoid", "f"): Steps(
        ("x",),
        ("decay = {exp}(-{fabs}(x))",),
        "{select}(x < 0, decay, {T}(1)) / ({T}(1) + decay)",
    ),
    ("softplus", "f"): Steps(("x",), (), "{select}(x > 0, x, {T}(0)) + {log1p}({exp}(-{fabs}(x)))"),
    ("log1mexp", "f"): Steps(
        ("x",),
        ("far = {log1p}(-{exp}(x))", "near = {log}(-{expm1}(x))"),
        "{select}(x > {T}(-0.6931471805599453), near, far)",
    ),
    ("logaddexp", "f"): Steps(
        ("x", "y"),
        ("more = {select}(x > y, x, y) + {log1p}({exp}(-{fabs}({T}(x - y))))",),
        "{select}(x == y, {T}(x + {T}(0.6931471805599453)), more)",
    ),
    # As SciPy, not as C, has it at -inf, which is what -1e400 rounds to.
    ("gammaln", "f"): Steps(("x",), (), "{select}(x == {T}(-1e400), x, {T}({lgamma}(float64(x))))"),
    ("erfcx", "f"): Steps(("x",), (), "{T}({scipy_erfcx}(float64(x), int32(0)))"),
    ("psi", "f"): Steps(("x",), (), "{T}({scipy_psi}(float64(x), int32(0)))"),
    ("tri_gamma", "f"): Steps(("x",), (), "{T}({tri_gamma_double}(float64(x)))"),
    ("polygamma", "f"): Steps(
        ("n", "x"),
        (
            "order = float64(n)",
            "wide = float64(x)",
            "first = {scipy_psi}(wide, int32(0))",
        ),
        "{T}({select}(order == 0, first, {polygamma_double}(order, wide)))",
    ),
    # How an int64 compares with a uint64: below zero, zero or above.
    ("compare", "i"): Steps(
        ("a", "b"),
        ("whole = uint64(a)", "sign = int32(whole > b) - int32(whole < b)"),
        "{select}(a < 0, int32(-1), int32(sign))",
    ),
    ("to_int64", "f"): Steps(
        ("x",),
        (),
        "{truncate64}(x, (x >= {T}(-9223372036854775808.0)) & (x < {T}(9223372036854775808.0)))",
    ),
    ("to_int32", "f"): Steps(
        ("x",),
        ("wide = float64(x)",),
        "{truncate32}(wide, (wide > -2147483649.0) & (wide < 2147483648.0))",
    ),
    ("to_uint64", "f"): Steps(
        ("x",),
        (
            "high = x >= {T}(9223372036854775808.0)",
            "part = {select}(high, {T}(x - {T}(9223372036854775808.0)), x)",
            "fits = (part >= {T}(-9223372036854775808.0)) & (part < {T}(9223372036854775808.0))",
            "whole = {truncate64}(part, fits)",
        ),
        "uint64(whole) ^ {select}(high, uint64(0x8000000000000000), uint64(0))",
    ),
}


def steps_for(name: str, dtype: str) -> Steps | None:
    """The steps of that name for operands of ``dtype``."""
    kind = "b" if dtype == "bool" else dtype[0]
    return next(
        (steps for (own, kinds), steps in STEPS.items() if own == name and kind in kinds), None
    )


@cache
def function(name: str, dtype: str) -> Any:
    """What Numba code calls under that name for operands of ``dtype``."""
    own = TYPES[dtype]
    suffix = "f" if dtype == "float32" else ""
    if name in INSTRUCTIONS:
        return _instruction(name, INSTRUCTIONS[name])
    if name in WRAPPING:
        return _wrapping(name)
    if name in MATH:
        if not dtype.startswith("float"):
            raise LoweringError(f"{name} is a function of floats, not of {dtype}")
        return _foreign(f"{name}{suffix}", own(*[own] * MATH[name]))
    return _OTHERS[name]()


def _foreign(name: str, signature: Any) -> Any:
    """A C function, by a name that LLVM does not know."""
    if provide({f"{HIDDEN}{name}": name}):
        raise LoweringError(f"the C library has no function {name}")
    return types.ExternalFunction(f"{HIDDEN}{name}", signature)


@intrinsic
def select(typingctx: Any, condition: Any, yes: Any, no: Any) -> Any:
    """``yes if condition else no`` of two values of one type, without a branch."""
    if yes != no:
        raise TypeError(f"select between {yes} and {no}")

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.select(context.cast(builder, args[0], condition, types.boolean), *args[1:])

    return yes(condition, yes, no), codegen


@cache
def _instruction(name: str, nin: int) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        own = args[0].type
        whole = ir.FunctionType(own, [own] * nin)
        return builder.call(builder.module.declare_intrinsic(f"llvm.{name}", [own], whole), args)

    if nin == 1:

        @intrinsic
        def unary(typingctx: Any, x: Any) -> Any:
            return x(x), codegen

        return unary

    @intrinsic
    def binary(typingctx: Any, x: Any, y: Any) -> Any:
        return x(x, x), codegen

    return binary


@cache
def _wrapping(name: str) -> Any:
    @intrinsic
    def arithmetic(typingctx: Any, x: Any, y: Any) -> Any:
        if x != y:
            raise TypeError(f"{x} {WRAPPING[name]} {y}")

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return getattr(builder, name)(*args)

        return x(x, x), codegen

    return arithmetic


@cache
def _truncate(target: Any) -> Any:
    """The integer part where ``fits`` says that there is one, else the least integer."""

    @intrinsic
    def truncate(typingctx: Any, x: Any, fits: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            integer = ir.IntType(target.bitwidth)
            whole = builder.fptosi(
                builder.select(args[1], args[0], ir.Constant(args[0].type, 0)), integer
            )
            return builder.select(
                args[1], whole, ir.Constant(integer, -(2 ** (target.bitwidth - 1)))
            )

        return target(x, fits), codegen

    return truncate


@cache
def load(dtype: str, *, parallel: bool = False) -> Any:
    """``load(bytes, index)``: an element of an array of ``dtype``.

    ``parallel``: no other turn of the loop that it is in writes to this element.
    """
    own = TYPES[dtype]

    @intrinsic
    def load_element(typingctx: Any, where: Any, index: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            value = builder.load(_element(context, builder, own, args))
            if parallel:
                _mark(builder, value)
            if own is types.boolean:
                return builder.icmp_unsigned("!=", value, ir.Constant(value.type, 0))
            return value

        return own(where, types.intp), codegen

    return load_element


@cache
def store(dtype: str, *, parallel: bool = False) -> Any:
    """``store(bytes, index, value)``: set an element of an array of ``dtype``.

    ``parallel``: no other turn of the loop that it is in reads this element or writes to it.
    """
    own = TYPES[dtype]

    @intrinsic
    def store_element(typingctx: Any, where: Any, index: Any, value: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            element = args[2]
            if own is types.boolean:
                element = builder.zext(element, ir.IntType(8))
            stored = builder.store(element, _element(context, builder, own, args))
            if parallel:
                _mark(builder, stored)
            return context.get_dummy_value()

        return types.void(where, types.intp, own), codegen

    return store_element


def _mark(builder: Any, instruction: Any) -> None:
    instruction.set_metadata(PARALLEL, builder.module.add_metadata([]))


def _element(context: Any, builder: Any, own: Any, args: Any) -> Any:
    kind = ir.IntType(8) if own is types.boolean else context.get_value_type(own)
    typed = builder.bitcast(args[0], kind.as_pointer())
    return builder.gep(typed, [args[1]])


@intrinsic
def advance(typingctx: Any, where: Any, offset: Any) -> Any:
    """The pointer that many bytes further."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.gep(args[0], [args[1]])

    return BYTES(BYTES, types.intp), codegen


@cache
def stack(size: int) -> Any:
    """``stack()``: a pointer to ``size`` bytes that live as long as the call."""

    @intrinsic
    def allocate(typingctx: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            array = cgutils.alloca_once(builder, ir.ArrayType(ir.IntType(8), size))
            array.align = 64
            return builder.bitcast(array, ir.IntType(8).as_pointer())

        return BYTES(), codegen

    return allocate


@intrinsic
def lgamma(typingctx: Any, x: Any) -> Any:
    """The logarithm of the absolute value of the gamma function, safely in many threads."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        integer = ir.IntType(32)
        sign = cgutils.alloca_once(builder, integer)
        kind = ir.FunctionType(ir.DoubleType(), [ir.DoubleType(), integer.as_pointer()])
        called = cgutils.get_or_insert_function(builder.module, kind, "lgamma_r")
        return builder.call(called, [args[0], sign])

    return types.float64(types.float64), codegen


def compiled(function: Any) -> Any:
    """A Python function that kernels may call."""
    return numba.njit(error_model="numpy", no_cpython_wrapper=True)(function)


@compiled
def power(base: Any, exponent: Any, one: Any) -> Any:
    """``base ** exponent`` of integers of 64 bits without a sign, wrapping around."""
    result = one
    zero = one ^ one
    while exponent > zero:
        if exponent & one != zero:
            result = result * base
        exponent = exponent >> one
        base = base * base
    return result


@compiled
def tri_gamma_double(x: Any) -> Any:
    """The second derivative of the logarithm of the gamma function."""
    reflect = not (x > 0 or x != x)
    y = 1 - x if reflect else x
    q = 1 / (y + 12)
    s = q * q
    total = (
        q
        + s / 2
        + q
        * s
        * (
            1 / 6
            + s
            * (
                -1 / 30
                + s * (1 / 42 + s * (-1 / 30 + s * (5 / 66 + s * (-691 / 2730 + s * (7 / 6)))))
            )
        )
    )
    for k in range(11, -1, -1):
        r = 1 / (y + k)
        total += r * r
    if not reflect:
        return total
    off = x - np.rint(x)
    if off == 0:
        return np.inf
    r = np.pi / np.sin(np.pi * off)
    return r * r - total


@compiled
def polygamma_scale(n: Any, x: Any) -> Any:
    """``n! / x**n``."""
    power = x**-n
    if n <= LARGEST_FACTORIAL and 2.0**-1000 < power < 2.0**1000:
        factorial = 1.0
        for k in range(2, int(n) + 1):
            factorial *= k
        return factorial * power
    return np.exp(lgamma(n + 1) - n * np.log(x))


@compiled
def polygamma_of_positive(n: Any, x: Any) -> Any:
    """``n! * zeta(n + 1, x)``, where ``x > 0``."""
    s, y = n + 1, x + TERMS
    total = 0.0
    for k in range(TERMS - 1, 0, -1):
        total += (1 + k / x) ** -s
    series = COEFFICIENTS[9]
    for j in range(9, 0, -1):
        series = COEFFICIENTS[j - 1] + series * ((s + (2 * j - 1)) / y * ((s + 2 * j) / y))
    rest = (1 + TERMS / x) ** -s * ((1 + TERMS / x) / n + 0.5 / x + s / x / y * series)
    return polygamma_scale(n, x) * ((1 + total) / x + rest)


@compiled
def polygamma_double(n: Any, x: Any) -> Any:
    """The derivative of order ``n >= 1`` of digamma, as :mod:`frazil.scalar.polygamma` has it."""
    if not (0 < n <= LARGEST_ORDER and n == np.floor(n)):
        return np.nan
    sign = -1.0 if n == 2 * np.floor(n / 2) else 1.0
    if not x <= 0:
        return sign * polygamma_of_positive(n, x)
    off = x - np.rint(x)
    if off == 0:
        return sign * np.inf
    near = np.abs(off)
    far = 1 - near
    pair = polygamma_scale(n, near) / near + sign * (polygamma_scale(n, far) / far)
    others = polygamma_of_positive(n, 1 + near) + sign * polygamma_of_positive(n, 1 + far)
    around = (sign if off < 0 else 1.0) * (pair + others)
    return sign * (around - sign * polygamma_of_positive(n, 1 - x))


_OTHERS: Mapping[str, Callable[[], Any]] = {
    "select": lambda: select,
    "power": lambda: power,
    "lgamma": lambda: lgamma,
    "tri_gamma_double": lambda: tri_gamma_double,
    "polygamma_double": lambda: polygamma_double,
    "truncate64": lambda: _truncate(types.int64),
    "truncate32": lambda: _truncate(types.int32),
    "loop_stops": lambda: _foreign("loop_stops", types.int32()),
    "scipy_erfcx": lambda: _foreign("__pyx_fuse_1erfcx", types.float64(types.float64, types.int32)),
    "scipy_psi": lambda: _foreign("__pyx_fuse_1psi", types.float64(types.float64, types.int32)),
}

NAMES = frozenset((*INSTRUCTIONS, *WRAPPING, *MATH, *_OTHERS, *(name for name, _ in STEPS)))
"""The names of all that texts of ops may call."""
