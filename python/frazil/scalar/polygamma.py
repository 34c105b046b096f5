"""Derivatives of the digamma function, by NumPy: the reference of ``polygamma``.

With ``s = n + 1`` the derivative of order n at ``x > 0`` is ``(-1)**s * n! * zeta(s, x)``, where
``zeta(s, x)`` is the sum of ``(x + k)**-s`` over k = 0, 1, ... Its first terms are added as they
are, the others by the formula of Euler and Maclaurin. Everything is kept in proportion to
``n! / x**n``, so that only results overflow. Below zero it is the sum over all integers k, which
needs only the distance of x to the nearest integer, less the result for an x above zero. Its two
largest terms, which may cancel, are added first.
"""

from __future__ import annotations

import numpy as np

from frazil.graph.op import Array
from frazil.scalar.digamma import psi_values

TERMS = 12
"""The number of terms that are added one by one; ten of Euler and Maclaurin are the rest."""

COEFFICIENTS = (
    *(1 / 12, -1 / 720, 1 / 30240, -1 / 1209600, 1 / 47900160, -691 / 1307674368000),
    *(1 / 74724249600, -3617 / 10670622842880000, 43867 / 5109094217170944000),
    -174611 / 802857662698291200000,
)
"""Bernoulli numbers of even order, each divided by the factorial of its order."""

LARGEST_FACTORIAL = 170
"""The largest number whose factorial is finite."""

LARGEST_ORDER = 2.0**31
"""The largest order that is computed; larger ones give NaN."""


def in_float64(a: Array, b: Array) -> tuple[Array, Array, np.dtype[np.generic]]:
    """Return two arrays in float64, broadcast to one shape, and the dtype of a result of both."""
    a, b = np.asarray(a), np.asarray(b)
    wide = np.broadcast_arrays(a.astype("float64"), b.astype("float64"))
    return wide[0], wide[1], np.result_type(a, b)


def polygamma_values(n: Array, x: Array) -> Array:
    """The derivative of order ``n`` of digamma at ``x``; NaN where ``n`` is no natural number.

    At a pole it is infinite, with the sign of its values right of the pole.

    Examples
    --------
    >>> from frazil.scalar.polygamma import polygamma_values
    >>> float(polygamma_values(1, 1.0))  # pi**2 / 6
    1.6449340668482264
    """
    n, x, dtype = in_float64(n, x)
    natural = (n >= 0) & (n == np.floor(n)) & (n <= LARGEST_ORDER)
    order = np.where(natural, n, 1.0)
    with np.errstate(all="ignore"):
        sign = np.where(np.mod(order, 2) == 0, -1.0, 1.0)
        off = x - np.rint(x)
        above = _of_positive(order, np.where(x <= 0, 1 - x, x))
        near = np.abs(off)
        far = 1 - near
        pair = _scale(order, near) / near + sign * (_scale(order, far) / far)
        others = _of_positive(order, 1 + near) + sign * _of_positive(order, 1 + far)
        around = np.where(off < 0, sign, 1.0) * (pair + others)
        below = np.where(off == 0, np.inf, around - sign * above)
        values = sign * np.where(x <= 0, below, above)
        values = np.where(natural, np.where(n == 0, psi_values(x), values), np.nan)
    return values.astype(dtype)[()]


def _scale(n: Array, x: Array) -> Array:
    """``n! / x**n``."""
    from scipy.special import gammaln

    factors = np.minimum(n, LARGEST_FACTORIAL)
    factorial = np.ones_like(n)
    for k in range(2, int(factors.max(initial=0)) + 1):
        factorial = np.where(k <= factors, factorial * k, factorial)
    power = x**-n
    exact = (n <= LARGEST_FACTORIAL) & (power > 2.0**-1000) & (power < 2.0**1000)
    scale: Array = np.where(exact, factorial * power, np.exp(gammaln(n + 1) - n * np.log(x)))
    return scale


def _of_positive(n: Array, x: Array) -> Array:
    """``n! * zeta(n + 1, x)``, where ``x > 0``."""
    s, y = n + 1, x + TERMS
    total = np.zeros_like(x)
    for k in range(TERMS - 1, 0, -1):
        total = total + (1 + k / x) ** -s
    series = np.full_like(x, COEFFICIENTS[-1])
    for j in range(len(COEFFICIENTS) - 1, 0, -1):
        series = COEFFICIENTS[j - 1] + series * ((s + (2 * j - 1)) / y * ((s + 2 * j) / y))
    rest = (1 + TERMS / x) ** -s * (((1 + TERMS / x) / n + 0.5 / x) + s / x / y * series)
    values: Array = _scale(n, x) * ((1 + total) / x + rest)
    return values
