"""Functions for which the standard wants other values at infinities than NumPy gives."""

from __future__ import annotations

import math

import frazil.tensor as ft
from frazil._core import Variable
from frazil.scalar.constants import TensorLike


def floor_divide(x1: TensorLike, x2: TensorLike) -> Variable:
    """Return quotients rounded down.

    Infinities divided by numbers are infinite, and numbers by infinities zeros with a sign; NumPy
    gives NaN, and -1 where signs differ.
    """
    quotient = ft.floor_divide(x1, x2)
    if quotient.type.numpy_dtype.kind != "f":
        return quotient
    one = ft.isinf(x1) & ft.isfinite(x2) | ft.isfinite(x1) & ft.isinf(x2)
    return ft.where(one, ft.astype(ft.true_divide(x1, x2), quotient.dtype), quotient)


def expm1(x: TensorLike) -> Variable:
    """Return ``exp(x) - 1``; of complex infinities as C's ``exp``.

    NumPy makes NaN of parts that are zero, or have a limit.
    """
    result = ft.expm1(x)
    if result.type.numpy_dtype.kind != "c":
        return result
    re, im = ft.real(x), ft.imag(x)
    straight = ft.logical_and(ft.equal(im, 0), ft.logical_not(ft.isfinite(re)))
    result = ft.where(straight, ft.complex(ft.expm1(re), im), result)
    zero = ft.logical_and(ft.equal(re, 0), ft.equal(im, 0))
    result = ft.where(zero, ft.complex(ft.abs(re), im), result)
    large, unknown = ft.isinf(re), ft.logical_not(ft.isfinite(im))
    limits = ft.where(re > 0, complex(math.inf, math.nan), complex(-1.0, 0.0))
    return ft.where(ft.logical_and(large, unknown), ft.astype(limits, result.dtype), result)
