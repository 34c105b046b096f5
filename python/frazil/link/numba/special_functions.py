"""Functions that the kernels of a module hold once, as text of their own.

Each takes ``real``, which finds the functions of float64 that its text calls.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from frazil.link.numba.translation import Callee, Defined
from frazil.link.toolchain.symbols import OF_SCIPY

Real = Callable[[str], Callee]


@cache
def power() -> Defined:
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
def log_ndtr(real: Real) -> Defined:
    """The logarithm of the normal distribution."""
    text = """\
def log_ndtr(x):
    return of_scaled(x, erfcx(x * -0.7071067811865476, int32(0)))
"""
    names = {"erfcx": real(f"{OF_SCIPY}erfcx"), "of_scaled": real("log_ndtr_of_scaled")}
    return Defined("frazil.log_ndtr", ("float64",), "float64", text, names)
