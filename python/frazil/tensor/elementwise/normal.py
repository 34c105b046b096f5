"""The normal distribution, inverses of the error functions, and Owen's T."""

from __future__ import annotations

import frazil.scalar as scalar
from frazil._core import Variable, elemwise
from frazil.scalar.constants import TensorLike, as_operand
from frazil.tensor.elementwise.definition import binary, elementwise, unary

ndtr = unary(
    scalar.ndtr,
    "the distribution function of the normal distribution",
    "[0.0, 1.0] -> [0.5       , 0.84134475]",
)
log_ndtr = unary(
    scalar.log_ndtr,
    "the logarithm of :func:`ndtr`, precise far below zero, too",
    "[0.0, -100.0] -> [-6.93147181e-01, -5.00552421e+03]",
)
ndtri = unary(
    scalar.ndtri,
    "where :func:`ndtr` is ``x``, the quantiles of the normal distribution",
    "[0.5, 0.975] -> [0.        , 1.95996398]",
)
erfinv = unary(
    scalar.erfinv, "where :func:`erf` is ``x``", "[0.0, 0.5] -> [0.        , 0.47693628]"
)
erfcinv = unary(
    scalar.erfcinv, "where :func:`erfc` is ``x``", "[0.5, 1e-20] -> [0.47693628, 6.60158062]"
)
owens_t = binary(
    scalar.owens_t,
    "Owen's T function: how probable it is that one normal number is above ``x1``, and another, "
    "independent one between 0 and ``x2`` times the first",
    "[0.0, 1.0], [1.0, 0.5] -> [0.125     , 0.04306469]",
)


@elementwise
def chi2sf(x: TensorLike, k: TensorLike, /) -> Variable:
    """Return how probable it is that chi-squared with ``k`` degrees of freedom is above ``x``.

    returns: In the floating dtype that :func:`gammaincc` has.
    example: [1.0, 4.0], [2.0, 3.0] -> [0.60653066, 0.26146413]
    """
    dtype = elemwise(scalar.gammaincc, as_operand(k), as_operand(x)).dtype
    halves = (elemwise(scalar.cast(dtype), as_operand(one)) * 0.5 for one in (k, x))
    return elemwise(scalar.gammaincc, *halves)
