"""Hurwitz' zeta function, by NumPy: the reference of ``zeta``.

Twelve terms of the sum are added, and ten terms of Euler's and Maclaurin's formula for the rest.
Below zero it is the sum over all integers, by the distances to the two nearest ones, less the terms
beyond; SciPy's function adds about ``-q`` terms there.
"""

from __future__ import annotations

import numpy as np

from frazil.graph.op import Array
from frazil.scalar.polygamma import COEFFICIENTS, TERMS, in_float64


def zeta_values(s: Array, q: Array) -> Array:
    """The sum of ``(q + k)**-s`` over k = 0, 1, ...; NaN where ``s`` is below 1.

    Examples
    --------
    >>> from frazil.scalar.zeta import zeta_values
    >>> float(zeta_values(2.0, 1.0))  # pi**2 / 6
    1.6449340668482264
    """
    s, q, dtype = in_float64(s, q)
    with np.errstate(all="ignore"):
        part = q - np.floor(q)
        sign = np.where(np.mod(s, 2) == 0, 1.0, -1.0)
        beyond = _of_positive(s, 1 - part) - _of_positive(s, 1 - q)
        below = np.where(s == np.floor(s), _of_positive(s, part) + sign * beyond, np.nan)
        below = np.where(part == 0, np.inf, below)
        values = np.where(q > 0, _of_positive(s, q), below)
        ends = np.where(q > 0, q**-s, np.inf)  # all large numbers are even integers
        values = np.where(np.isinf(s) | np.isinf(q), ends, values)
        values = np.where(s > 1, values, np.where(s == 1, np.inf, np.nan))
        values = np.where(np.isnan(s) | np.isnan(q), np.nan, values)
    return values.astype(dtype)[()]


def _of_positive(s: Array, q: Array) -> Array:
    """The sum where ``q > 0``."""
    y = q + TERMS
    last = y**-s
    series = np.full_like(y, COEFFICIENTS[-1])
    for j in range(len(COEFFICIENTS) - 1, 0, -1):
        series = COEFFICIENTS[j - 1] + series * ((s + (2 * j - 1)) / y * ((s + 2 * j) / y))
    more = np.where(last == 0, 0, last * (0.5 + s / y * series))
    total: Array = y ** (1 - s) / (s - 1) + more
    for k in range(TERMS - 1, -1, -1):
        total = total + (q + k) ** -s
    return total
