"""What the text of kernels may call, by the name that stands in the table of scalar ops.

What takes several steps is written out where it is used.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial

import numpy as np

from frazil.link.kernel.loop_kernel import LoweringError
from frazil.link.numba.externals import HIDDEN, MATH, provide
from frazil.link.numba.translation import Callee, Defined, Writer
from frazil.link.numba.values import LLVM_TYPES, Value, constant
from frazil.link.toolchain.symbols import OF_SCIPY
from frazil.scalar.digamma import NEAR, RESTS, ROOTS
from frazil.scalar.normal import LAST, PART, REST
from frazil.scalar.polygamma import COEFFICIENTS, LARGEST_FACTORIAL, LARGEST_ORDER, TERMS
from frazil.scalar.scipy_functions import ARITIES

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

WRAPPING = ("add", "sub", "mul")
"""Arithmetic of integers of one type, modulo two to the number of their bits.

Operators promise LLVM that no int64 overflows, and LLVM draws conclusions from it: that ``x + x``
has the sign of ``x``, or that ``x + 1`` is more than ``x``.
"""


SHIFTS = ("left_shift", "right_shift")
"""Shifts of integers of one type by any number of bits."""


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


def _through_pointer(name: str, nin: int) -> Steps:
    """A function of SciPy for any float, which computes in float64."""
    params = tuple(f"x{k}" for k in range(nin))
    given = ", ".join(f"float64({param})" for param in params)
    return Steps(params, (), f"{{T}}({{{OF_SCIPY}{name}}}({given}, int32(0)))")


STEPS: Mapping[tuple[str, str], Steps] = {
    **{(name, "f"): _through_pointer(name, nin) for name, nin in ARITIES.items()},
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
    # The remainder that has the sign of a, as C has it.
    ("truncmod", "i"): Steps(
        ("a", "b"),
        (
            "odd = (b == 0) | (b == {T}(-1))",
            "rest = {T}(a % {select}(odd, {T}(1), b))",
        ),
        "{select}((rest != 0) & ((a < 0) != (b < 0)), {T}(rest - b), rest)",
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
    ("psi", "f"): Steps(("x",), (), "{T}({psi_double}(float64(x)))"),
    # The product with the root of 1/2 in twice the digits, as the C text tells.
    ("ndtr", "f"): Steps(
        ("x",),
        (
            "wide = float64(x)",
            "t = {select}(wide > 40.0, 40.0, {select}(wide < -40.0, -40.0, wide))",
            "high = float64(float32(t))",
            "low = t - high",
            "z = t * 0.7071067811865476",
            f"off = (high * {PART!r} - z) + (high * {REST!r} + low * {PART!r})",
            f"off = off + low * {REST!r} + t * {LAST!r}",
            "decay = {exp_double}(-z * z) * 1.1283791670955126",
        ),
        "{T}(0.5 * ({erfc_double}(-z) + decay * off))",
    ),
    ("log_ndtr", "f"): Steps(("x",), (), "{T}({log_ndtr_double}(float64(x)))"),
    ("zeta", "f"): Steps(("s", "q"), (), "{T}({zeta_double}(float64(s), float64(q)))"),
    ("tri_gamma", "f"): Steps(("x",), (), "{T}({tri_gamma_double}(float64(x)))"),
    ("polygamma", "f"): Steps(
        ("n", "x"),
        (
            "order = float64(n)",
            "wide = float64(x)",
            "first = {psi_double}(wide)",
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


@dataclass(frozen=True, slots=True)
class Routine:
    """What is written in place of a call; operands are converted to the types ``params``, which
    are None where any will do.
    """

    write: Callable[[Writer, Sequence[Value]], Value]
    params: tuple[str | None, ...]

    def emit(self, writer: Writer, args: Sequence[Value]) -> Value:
        """Write the call; the result."""
        pairs = zip(args, self.params, strict=True)
        given = [value if own is None else writer.cast(value, own) for value, own in pairs]
        return self.write(writer, given)


@cache
def function(name: str, dtype: str) -> Callee:
    """What is called under that name for operands of ``dtype``.

    Raises
    ------
    KeyError
        If there is none.
    LoweringError
        If there is none for this type, or on this machine.
    """
    if name in INSTRUCTIONS:
        return Routine(partial(_instruction, name), (dtype,) * INSTRUCTIONS[name])
    if name in WRAPPING:
        return Routine(partial(_wrapping, name), (dtype, dtype))
    if name in SHIFTS:
        return Routine(partial(_shifted, name), (dtype, dtype))
    if name in MATH:
        if not dtype.startswith("float"):
            raise LoweringError(f"{name} is a function of floats, not of {dtype}")
        own = f"{name}f" if dtype == "float32" else name
        return _foreign(own, (dtype,) * MATH[name], dtype)
    return _OTHERS[name]()


@cache
def callee(name: str, dtype: str) -> Callee:
    """What a text of a user calls under that name: functions, and what takes several steps.

    Raises
    ------
    LoweringError
        If there is none.
    """
    steps = steps_for(name, dtype)
    if steps is None:
        try:
            return function(name, dtype)
        except KeyError:
            raise LoweringError(f"the numba linker has no function {name} of {dtype}") from None
    return _of_steps(name, dtype, steps)


def _of_steps(name: str, dtype: str, steps: Steps) -> Defined:
    """The steps as a function."""
    names: dict[str, object] = {}

    def resolve(match: re.Match[str]) -> str:
        called = match[1]
        if called == "T":
            return dtype
        names[f"{called}_{dtype}"] = callee(called, dtype)
        return f"{called}_{dtype}"

    lines = [re.sub(r"\{(\w+)\}", resolve, line) for line in (*steps.lines, steps.value)]
    if any(re.search(r"\bstatus\b", line) for line in lines):
        raise LoweringError(f"{name} of {dtype} can fail, which only an op of frazil can tell")
    body = [f"def steps({', '.join(steps.params)}):", *lines[:-1], f"return {lines[-1]}"]
    params = (dtype,) * len(steps.params)
    return Defined(f"frazil.{name}.{dtype}", params, dtype, "\n    ".join(body), names)


def _foreign(name: str, params: tuple[str, ...], result: str) -> Routine:
    """A C function, by a name that LLVM does not know."""
    if provide({f"{HIDDEN}{name}": name}):
        raise LoweringError(f"the C library has no function {name}")

    def write(writer: Writer, args: Sequence[Value]) -> Value:
        writer.module.declare(f"{HIDDEN}{name}", params, result)
        return writer.call(f"{HIDDEN}{name}", params, result, args)

    return Routine(write, params)


def _select(writer: Writer, args: Sequence[Value]) -> Value:
    """``yes if condition else no`` of two values of one type, without a branch."""
    return writer.select(*args)


def _instruction(name: str, writer: Writer, args: Sequence[Value]) -> Value:
    dtype = args[0].dtype
    symbol = f"llvm.{name}.f{32 if dtype == 'float32' else 64}"
    params = [dtype] * len(args)
    writer.module.declare(symbol, params, dtype)
    return writer.call(symbol, params, dtype, args)


def _wrapping(name: str, writer: Writer, args: Sequence[Value]) -> Value:
    x, y = args
    return writer.value(x.dtype, f"{name} {x.typed}, {y.text}")


def _shifted(name: str, writer: Writer, args: Sequence[Value]) -> Value:
    """``x`` shifted by ``y`` bits; beyond the width, which negative numbers are, nothing is left
    but the sign.
    """
    x, y = args
    own, last = LLVM_TYPES[x.dtype], 8 * np.dtype(x.dtype).itemsize - 1
    inside = writer.value("bool", f"icmp ule {y.typed}, {last}")
    if name == "right_shift" and x.dtype[0] == "i":
        taken = writer.value(y.dtype, f"select {inside.typed}, {y.typed}, {own} {last}")
        return writer.value(x.dtype, f"ashr {x.typed}, {taken.text}")
    taken = writer.value(y.dtype, f"and {y.typed}, {last}")
    done = "shl" if name == "left_shift" else "lshr"
    moved = writer.value(x.dtype, f"{done} {x.typed}, {taken.text}")
    return writer.value(x.dtype, f"select {inside.typed}, {moved.typed}, {own} 0")


def _truncate(target: str, writer: Writer, args: Sequence[Value]) -> Value:
    """The integer part where ``fits`` says that there is one, else the least integer."""
    x, fits = args
    least = constant(target, np.iinfo(target).min)
    whole = writer.cast(writer.select(fits, x, constant(x.dtype, 0)), target)
    return writer.select(fits, whole, least)


@cache
def load(dtype: str, *, parallel: bool = False) -> Routine:
    """``load(bytes, index)``: an element of an array of ``dtype``.

    ``parallel``: no other turn of the loop that it is in writes to this element.
    """

    def write(writer: Writer, args: Sequence[Value]) -> Value:
        kept = "uint8" if dtype == "bool" else dtype
        place = _element(writer, kept, *args)
        told = writer.apart() if parallel else ""
        own = LLVM_TYPES[kept]
        return writer.cast(writer.value(kept, f"load {own}, {own}* {place}{told}"), dtype)

    return Routine(write, ("pointer", "int64"))


@cache
def store(dtype: str, *, parallel: bool = False) -> Routine:
    """``store(bytes, index, value)``: set an element of an array of ``dtype``.

    ``parallel``: no other turn of the loop that it is in reads this element or writes to it.
    """

    def write(writer: Writer, args: Sequence[Value]) -> Value:
        where, index, given = args
        kept = "uint8" if dtype == "bool" else dtype
        element = writer.cast(given, kept)
        place = _element(writer, kept, where, index)
        told = writer.apart() if parallel else ""
        writer.line(f"store {element.typed}, {LLVM_TYPES[kept]}* {place}{told}")
        return Value("void", "")

    return Routine(write, ("pointer", "int64", dtype))


def _element(writer: Writer, kept: str, where: Value, index: Value) -> str:
    """Where an element is."""
    own = LLVM_TYPES[kept]
    first = writer.value("pointer", f"bitcast {where.typed} to {own}*").text
    return writer.value("pointer", f"getelementptr {own}, {own}* {first}, {index.typed}").text


def _advance(writer: Writer, args: Sequence[Value]) -> Value:
    """The pointer that many bytes further."""
    where, offset = args
    return writer.value("pointer", f"getelementptr i8, {where.typed}, {offset.typed}")


advance = Routine(_advance, ("pointer", "int64"))


@cache
def stack(size: int) -> Routine:
    """``stack()``: a pointer to ``size`` bytes that live as long as the call."""

    def write(writer: Writer, args: Sequence[Value]) -> Value:
        whole = f"[{size} x i8]"
        place = writer.allocate(whole, 64)
        return writer.value("pointer", f"bitcast {whole}* {place} to i8*")

    return Routine(write, ())


def _lgamma(writer: Writer, args: Sequence[Value]) -> Value:
    """The logarithm of the absolute value of the gamma function, safely in many threads."""
    sign = Value("status", writer.allocate("i32"))
    params = ("float64", "status")
    writer.module.declare("lgamma_r", params, "float64")
    return writer.call("lgamma_r", params, "float64", [*args, sign])


_LGAMMA = Routine(_lgamma, ("float64",))


def _real(name: str) -> Callee:
    """A function of float64."""
    return function(name, "float64")


@cache
def _power() -> Defined:
    """``base ** exponent`` of integers of 64 bits without a sign, wrapping around."""
    text = """\
def power(base, exponent, result):
    while exponent > 0:
        if exponent & uint64(1) != 0:
            result = result * base
        exponent = exponent >> uint64(1)
        base = base * base
    return result
"""
    return Defined("frazil.power", ("uint64",) * 3, "uint64", text)


@cache
def _tri_gamma() -> Defined:
    """The second derivative of the logarithm of the gamma function."""
    text = """\
def tri_gamma(x):
    reflect = not (x > 0.0 or x != x)
    y = 1.0 - x if reflect else x
    q = 1.0 / (y + 12.0)
    s = q * q
    tail = 5 / 66 + s * (-691 / 2730 + s * (7 / 6))
    tail = 1 / 6 + s * (-1 / 30 + s * (1 / 42 + s * (-1 / 30 + s * tail)))
    total = q + s / 2.0 + q * s * tail
    for k in range(11, -1, -1):
        r = 1.0 / (y + k)
        total += r * r
    if not reflect:
        return total
    off = x - rint(x)
    if off == 0.0:
        return inf
    r = pi / sin(pi * off)
    return r * r - total
"""
    names = {"rint": _real("rint"), "sin": _real("sin"), "inf": np.inf, "pi": np.pi}
    return Defined("frazil.tri_gamma", ("float64",), "float64", text, names)


@cache
def _polygamma_scale() -> Defined:
    """``n! / x**n``."""
    text = f"""\
def polygamma_scale(n, x):
    power = pow(x, -n)
    if n <= {LARGEST_FACTORIAL} and {2.0**-1000!r} < power < {2.0**1000!r}:
        factorial = 1.0
        for k in range(2, int64(n) + 1):
            factorial *= k
        return factorial * power
    return exp(lgamma(n + 1.0) - n * log(x))
"""
    names = {name: _real(name) for name in ("pow", "exp", "log", "lgamma")}
    return Defined("frazil.polygamma_scale", ("float64",) * 2, "float64", text, names)


def _euler_maclaurin() -> list[str]:
    """Lines that compute the ``series`` of Euler and Maclaurin, given ``s`` and ``y``."""
    return [
        f"    series = {COEFFICIENTS[9]!r}",
        *(
            f"    series = {COEFFICIENTS[j - 1]!r} + series * "
            f"((s + {2 * j - 1}) / y * ((s + {2 * j}) / y))"
            for j in range(9, 0, -1)
        ),
    ]


@cache
def _polygamma_of_positive() -> Defined:
    """``n! * zeta(n + 1, x)``, where ``x > 0``."""
    text = "\n".join(
        [
            "def polygamma_of_positive(n, x):",
            "    s = n + 1.0",
            f"    y = x + {TERMS}",
            "    total = 0.0",
            f"    for k in range({TERMS - 1}, 0, -1):",
            "        total += pow(1.0 + k / x, -s)",
            *_euler_maclaurin(),
            f"    near = (1.0 + {TERMS} / x) / n + 0.5 / x + s / x / y * series",
            f"    rest = pow(1.0 + {TERMS} / x, -s) * near",
            "    return polygamma_scale(n, x) * ((1.0 + total) / x + rest)",
        ]
    )
    names = {"pow": _real("pow"), "polygamma_scale": _polygamma_scale()}
    return Defined("frazil.polygamma_of_positive", ("float64",) * 2, "float64", text, names)


@cache
def _polygamma() -> Defined:
    """The derivative of order ``n >= 1`` of digamma, as :mod:`frazil.scalar.polygamma` has it."""
    text = f"""\
def polygamma(n, x):
    if not (0 < n <= {LARGEST_ORDER!r} and n == floor(n)):
        return nan
    sign = -1.0 if n == 2.0 * floor(n / 2.0) else 1.0
    if not x <= 0.0:
        return sign * of_positive(n, x)
    off = x - rint(x)
    if off == 0.0:
        return sign * inf
    near = fabs(off)
    far = 1.0 - near
    pair = scale(n, near) / near + sign * (scale(n, far) / far)
    others = of_positive(n, 1.0 + near) + sign * of_positive(n, 1.0 + far)
    around = (sign if off < 0.0 else 1.0) * (pair + others)
    return sign * (around - sign * of_positive(n, 1.0 - x))
"""
    names = {
        **{name: _real(name) for name in ("floor", "rint", "fabs")},
        "of_positive": _polygamma_of_positive(),
        "scale": _polygamma_scale(),
        "inf": np.inf,
        "nan": np.nan,
    }
    return Defined("frazil.polygamma", ("float64",) * 2, "float64", text, names)


@cache
def _psi_slope() -> Defined:
    """Digamma near a zero, divided by the distance to it."""
    text = """\
def psi_slope(x, root, off):
    steps = 13 + int64(-x)
    total = 0.0
    for k in range(steps - 1, -1, -1):
        total += 1.0 / ((k + x) * (k + root))
    first = x + steps
    second = root + steps
    both = first + second
    inverse = 1.0 / (first * second)
    square = inverse * inverse
    ratio = (off / both) * (off / both)
    center = 4.0 / (both * both)
    squares = first * first + second * second
    fourths = squares * squares - first * first * second * second
    rest = 1 / 12 - squares * square / 120.0 + fourths * square * square / 252.0
    tail = 2.0 / both * (1.0 + ratio * (1 / 3 + ratio * (1 / 5 + ratio / 7.0)))
    tail = tail + inverse / 2.0 + both * square * rest
    last = 8 / 240 - center * (10 / 132 - center * (12 * 691 / 32760))
    last = center * center * center * center * last
    return total + (tail - last * 2.0 / both)
"""
    return Defined("frazil.psi_slope", ("float64",) * 3, "float64", text)


@cache
def _psi() -> Defined:
    """Digamma, as :mod:`frazil.scalar.digamma` has it."""
    choices = [
        f"        if x < {-float(at)!r}:\n            root = {root!r}\n            more = {rest!r}"
        for at, (root, rest) in enumerate(zip(ROOTS, RESTS, strict=True), 1)
    ]
    lines = [
        "def psi(x):",
        f"    if x < -1.0 and x > {-1.0 - len(ROOTS)!r}:",
        "        root = 0.0",
        "        more = 0.0",
        *choices,
        "        off = (x - root) - more",
        f"        if fabs(off) < {NEAR!r}:",
        "            return off * psi_slope(x, root, off)",
        "    return scipy_psi(x, int32(0))",
    ]
    names = {
        "fabs": _real("fabs"),
        "psi_slope": _psi_slope(),
        "scipy_psi": _real(f"{OF_SCIPY}psi"),
    }
    return Defined("frazil.psi", ("float64",), "float64", "\n".join(lines), names)


@cache
def _log_ndtr() -> Defined:
    """The logarithm of the normal distribution."""
    text = """\
def log_ndtr(x):
    if x < -1.0:
        return log(erfcx(x * -0.7071067811865476, int32(0)) / 2.0) - x * x / 2.0
    return log1p(-ndtr(-x))
"""
    names = {
        **{name: _real(name) for name in ("log", "log1p")},
        "erfcx": _real(f"{OF_SCIPY}erfcx"),
        "ndtr": callee("ndtr", "float64"),
    }
    return Defined("frazil.log_ndtr", ("float64",), "float64", text, names)


@cache
def _zeta_of_positive() -> Defined:
    """Hurwitz' zeta function where ``q > 0``."""
    text = "\n".join(
        [
            "def zeta_of_positive(s, q):",
            f"    y = q + {TERMS}",
            "    last = pow(y, -s)",
            *_euler_maclaurin(),
            "    total = pow(y, 1.0 - s) / (s - 1.0)",
            "    if last != 0.0:",
            "        total += last * (0.5 + s / y * series)",
            f"    for k in range({TERMS - 1}, -1, -1):",
            "        total += pow(q + k, -s)",
            "    return total",
        ]
    )
    return Defined(
        "frazil.zeta_of_positive", ("float64",) * 2, "float64", text, {"pow": _real("pow")}
    )


@cache
def _zeta() -> Defined:
    """Hurwitz' zeta function; the formulas are told in the C text."""
    text = """\
def zeta(s, q):
    if s != s or q != q:
        return nan
    if s == 1.0:
        return inf
    if s < 1.0:
        return nan
    if s - s != 0.0 or q - q != 0.0:
        if q > 0.0:
            return pow(q, -s)
        return nan
    if q > 0.0:
        return of_positive(s, q)
    part = q - floor(q)
    if part == 0.0:
        return inf
    if s != floor(s):
        return nan
    sign = 1.0 if s == 2.0 * floor(s / 2.0) else -1.0
    below = of_positive(s, 1.0 - part) - of_positive(s, 1.0 - q)
    return of_positive(s, part) + sign * below
"""
    names = {
        "floor": _real("floor"),
        "pow": _real("pow"),
        "of_positive": _zeta_of_positive(),
        "inf": np.inf,
        "nan": np.nan,
    }
    return Defined("frazil.zeta", ("float64",) * 2, "float64", text, names)


def _of_scipy(name: str, nin: int) -> Callee:
    """A function of scipy.special.cython_special."""
    return _foreign(f"{OF_SCIPY}{name}", (*("float64",) * nin, "int32"), "float64")


_OTHERS: Mapping[str, Callable[[], Callee]] = {
    "select": lambda: Routine(_select, ("bool", None, None)),
    "power": _power,
    "lgamma": lambda: _LGAMMA,
    "tri_gamma_double": _tri_gamma,
    "polygamma_double": _polygamma,
    "truncate64": lambda: Routine(partial(_truncate, "int64"), (None, "bool")),
    "truncate32": lambda: Routine(partial(_truncate, "int32"), (None, "bool")),
    "loop_stops": lambda: _foreign("loop_stops", (), "int32"),
    "psi_double": _psi,
    "log_ndtr_double": _log_ndtr,
    "exp_double": lambda: _real("exp"),
    "erfc_double": lambda: _real("erfc"),
    "zeta_double": _zeta,
    **{f"{OF_SCIPY}{name}": partial(_of_scipy, name, nin) for name, nin in ARITIES.items()},
}

NAMES = frozenset(
    (*INSTRUCTIONS, *WRAPPING, *SHIFTS, *MATH, *_OTHERS, *(name for name, _ in STEPS))
)
"""The names of all that texts of ops may call."""
