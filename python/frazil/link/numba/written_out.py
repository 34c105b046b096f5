"""Functions of a few steps that kernels write out in place, by name and kind of dtype."""

from __future__ import annotations

from collections.abc import Mapping

from frazil.graph.dataclass import dataclass
from frazil.link.numba.runtime import OF_RUNTIME
from frazil.link.toolchain.symbols import OF_SCIPY
from frazil.scalar.scipy_functions import ARITIES


@dataclass(frozen=True, slots=True)
class WrittenOut:
    """A function written out in place: ``lines`` of assignments to local names, then a ``value``.

    ``params`` name the operands; names in braces are names in an op's expression.
    """

    params: tuple[str, ...]
    lines: tuple[str, ...]
    value: str


_FLOAT_DIVMOD = (
    "rest = {fmod}(a, b)",
    "off = (rest != 0) & ((b < 0) != (rest < 0))",
)


def _through_pointer(name: str, nin: int) -> WrittenOut:
    """A function of SciPy for any float, which computes in float64."""
    params = tuple(f"x{k}" for k in range(nin))
    given = ", ".join(f"float64({param})" for param in params)
    return WrittenOut(params, (), f"{{T}}({{{OF_SCIPY}{name}}}({given}, int32(0)))")


WRITTEN_OUT: Mapping[tuple[str, str], WrittenOut] = {
    **{
        (name, "f"): _through_pointer(name, nin)
        for name, nin in ARITIES.items()
        if name not in OF_RUNTIME
    },
    ("floordiv", "f"): WrittenOut(
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
    ("floormod", "f"): WrittenOut(
        ("a", "b"),
        (
            *_FLOAT_DIVMOD,
            "moved = {select}(off, {T}(rest + b), rest)",
            "moved = {select}(rest == 0, {copysign}({T}(0), b), moved)",
        ),
        "{select}((b == 0) | (rest != rest), rest, moved)",
    ),
    # A division that traps, by zero or of the least integer by -1, is never made.
    ("floordiv", "i"): WrittenOut(
        ("a", "b"),
        (
            "odd = (b == 0) | (b == {T}(-1))",
            "quotient = {T}(a // {select}(odd, {T}(1), b))",
            "quotient = {select}(b == {T}(-1), {T}(-a), quotient)",
        ),
        "{select}(b == 0, {T}(0), quotient)",
    ),
    ("floormod", "i"): WrittenOut(
        ("a", "b"),
        ("odd = (b == 0) | (b == {T}(-1))",),
        "{select}(odd, {T}(0), {T}(a % {select}(odd, {T}(1), b)))",
    ),
    ("floordiv", "u"): WrittenOut(
        ("a", "b"), (), "{select}(b == 0, {T}(0), {T}(a // {select}(b == 0, {T}(1), b)))"
    ),
    ("floormod", "u"): WrittenOut(
        ("a", "b"), (), "{select}(b == 0, {T}(0), {T}(a % {select}(b == 0, {T}(1), b)))"
    ),
    # The remainder that has the sign of a, as C has it.
    ("truncmod", "i"): WrittenOut(
        ("a", "b"),
        (
            "odd = (b == 0) | (b == {T}(-1))",
            "rest = {T}(a % {select}(odd, {T}(1), b))",
        ),
        "{select}((rest != 0) & ((a < 0) != (b < 0)), {T}(rest - b), rest)",
    ),
    ("upow", "u"): WrittenOut(("a", "b"), (), "{T}({power}(uint64(a), uint64(b), uint64(1)))"),
    ("ipow", "i"): WrittenOut(
        ("a", "b"),
        ("status = {select}(b < 0, int32(1), status)",),
        "{select}(b < 0, {T}(0), {T}({power}(uint64(a), uint64(b), uint64(1))))",
    ),
    ("clip", "f"): WrittenOut(
        ("x", "low", "high"),
        ("up = {select}((x >= low) | (x != x), x, low)",),
        "{select}((up <= high) | (up != up), up, high)",
    ),
    ("clip", "iu"): WrittenOut(
        ("x", "low", "high"),
        ("up = {select}(x > low, x, low)",),
        "{select}(up < high, up, high)",
    ),
    ("logaddexp", "f"): WrittenOut(
        ("x", "y"),
        ("more = {select}(x > y, x, y) + {log1p}({exp}(-{fabs}({T}(x - y))))",),
        "{select}(x == y, {T}(x + {T}(0.6931471805599453)), more)",
    ),
    ("log_ndtr", "f"): WrittenOut(("x",), (), "{T}({log_ndtr_double}(float64(x)))"),
    ("zeta", "f"): WrittenOut(("s", "q"), (), "{T}({zeta_one_f8}(float64(s), float64(q)))"),
    ("tri_gamma", "f"): WrittenOut(("x",), (), "{T}({tri_gamma_one_f8}(float64(x)))"),
    ("polygamma", "f"): WrittenOut(
        ("n", "x"), (), "{T}({polygamma_one_f8}(float64(n), float64(x)))"
    ),
    # The comparison of an int64 with a uint64: below zero, zero or above.
    ("compare", "i"): WrittenOut(
        ("a", "b"),
        ("whole = uint64(a)", "sign = int32(whole > b) - int32(whole < b)"),
        "{select}(a < 0, int32(-1), int32(sign))",
    ),
    ("to_int64", "f"): WrittenOut(
        ("x",),
        (),
        "{truncate64}(x, (x >= {T}(-9223372036854775808.0)) & (x < {T}(9223372036854775808.0)))",
    ),
    ("to_int32", "f"): WrittenOut(
        ("x",),
        ("wide = float64(x)",),
        "{truncate32}(wide, (wide > -2147483649.0) & (wide < 2147483648.0))",
    ),
    ("to_uint64", "f"): WrittenOut(
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


def written_out(name: str, dtype: str) -> WrittenOut | None:
    """The function of that name for operands of ``dtype``, if it is written out."""
    kind = "b" if dtype == "bool" else dtype[0]
    return next(
        (own for (known, kinds), own in WRITTEN_OUT.items() if known == name and kind in kinds),
        None,
    )
