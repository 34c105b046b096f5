"""Digamma below zero, by NumPy: the reference of ``psi``.

Above zero it is SciPy's; linkers call the runtime's own. Below it follows by one step of the
recurrence, and below -1 by the reflection formula, on the distance to the nearest integer, whose
tangent keeps its precision near the poles; SciPy's loses up to all digits there. Near a zero the
two parts cancel, and no digit of the rest is right. The zeros are known here to twice the digits of
float64. With a zero r,

    psi(x) = (x - r) * sum over k >= 0 of 1 / ((k + x) * (k + r)),

in which all large terms have one sign. Terms are added until both factors are above :data:`FAR`;
the rest is the difference of two asymptotic series, divided by the difference of their arguments.
"""

from __future__ import annotations

import numpy as np

from frazil.graph.op import Array

ROOTS = (
    -0.5040830082644554,
    *(-1.5734984731623904, -2.6107208684441447, -3.635293366436901, -4.653237761743142),
    *(-5.6671624415568855, -6.678418213073427, -7.687788325031626, -8.695764163816401),
    *(-9.702672540001863, -10.708740838254144, -11.714133061228955, -12.718971025749207),
    *(-13.723347457363827, -14.727334416018529, -15.730988906332882, -16.734356723955734),
    *(-17.73747515997759, -18.7403749447801, -19.74308167259022, -20.745616863607527),
    *(-21.74799876820113, -22.75024298430606, -23.752362937385183, -24.75437025782297),
    *(-25.756275080771037, -26.758086286661367, -27.759811695826706, -28.761458227264864),
    *(-29.763032029127462, -30.76453858671817),
)
"""The zeros between -1 and 0, between -2 and -1, and so on."""

RESTS = (
    -8.15428206243813e-18,
    *(-1.574185691077347e-17, 9.881960746978353e-17, 5.454396163173039e-17),
    *(-2.5492686201468193e-16, -3.2153051074948335e-18, 3.470798723495241e-16),
    *(-1.351562494643672e-16, -3.2859903716289447e-16, -3.2563178405401477e-16),
    *(-6.287211750540301e-16, 8.598250154343834e-16, -4.752312432106917e-16),
    *(4.528278691518058e-16, -3.6618399963139786e-17, 1.0551956373365842e-16),
    *(-1.2039501631800144e-15, -5.125776230727235e-16, 7.757330874026816e-16),
    *(6.505672516695227e-16, 9.370177952348924e-16, -1.2246233990931817e-15),
    *(-1.1268600266054163e-15, 8.157017519280734e-16, -1.316906917865066e-15),
    *(1.3077979683180938e-15, 1.1334337131725835e-15, -1.120148225799811e-16),
    *(-1.5405711086887488e-15, -4.657204559411395e-16, -1.0553524434167124e-15),
)
"""The zeros less what :data:`ROOTS` has of them."""

NEAR = 0.1
"""The distance from a zero at which its sum is taken."""

FAR = 12
"""From here on the asymptotic series is exact with the terms that are written out."""


def psi_values(x: Array) -> Array:
    """The derivative of the logarithm of the gamma function.

    Examples
    --------
    >>> from frazil.scalar.digamma import psi_values
    >>> float(psi_values(-1.5734984731623904))
    1.5649788481838454e-16
    """
    from scipy.special import psi

    x = np.asarray(x)
    wide = x.astype("float64")
    with np.errstate(all="ignore"):
        values = np.where(wide < 0, _reflected(wide), psi(wide))
        known = (wide < 0) & (wide > -len(ROOTS))
        number = np.where(known, np.floor(-wide), 0).astype("int64")
        root = np.take(ROOTS, number)
        off = (wide - root) - np.take(RESTS, number)
        close = known & (np.abs(off) < NEAR)
        values = np.where(close, off * _slope(np.where(close, wide, root), root, off), values)
    return values.astype(x.dtype)[()]


def _reflected(x: Array) -> Array:
    """The function below zero, by its values above."""
    from scipy.special import psi

    off = x - np.rint(x)
    cotangent = np.pi / np.tan(np.pi * np.where(off == 0, np.nan, off))
    below: Array = psi(np.where(x > -1, x + 1, 1 - x))
    return below - np.where(x > -1, 1 / x, cotangent)


def _slope(x: Array, root: Array, off: Array) -> Array:
    """The sum over all k."""
    total = np.zeros_like(x)
    steps = FAR + np.floor(-x) + 1
    for k in range(FAR + len(ROOTS), -1, -1):
        total = total + np.where(k < steps, 1 / ((k + x) * (k + root)), 0)
    first, second = x + steps, root + steps
    both, inverse = first + second, 1 / (first * second)
    square, ratio = inverse * inverse, (off / both) ** 2
    squares = first * first + second * second
    center = 4 / (both * both)
    rest = 1 / 12 - squares * square / 120
    rest = rest + (squares * squares - first * first * second * second) * square * square / 252
    tail = 2 / both * (1 + ratio * (1 / 3 + ratio * (1 / 5 + ratio / 7))) + inverse / 2
    tail = tail + both * square * rest
    last = center**4 * (8 / 240 - center * (10 / 132 - center * (12 * 691 / 32760)))
    slope: Array = total + (tail - last * 2 / both)
    return slope
