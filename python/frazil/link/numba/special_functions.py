"""Functions that the kernels of a module hold once, as text of their own.

Each takes ``real``, which finds the functions of float64 that its text calls.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

from frazil.link.numba.translation import Callee, Defined
from frazil.link.toolchain.symbols import OF_SCIPY
from frazil.scalar.digamma import NEAR, RESTS, ROOTS
from frazil.scalar.polygamma import COEFFICIENTS, LARGEST_FACTORIAL, LARGEST_ORDER, TERMS

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
def tri_gamma(real: Real) -> Defined:
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
    names = {"rint": real("rint"), "sin": real("sin"), "inf": np.inf, "pi": np.pi}
    return Defined("frazil.tri_gamma", ("float64",), "float64", text, names)


@cache
def polygamma_scale(real: Real) -> Defined:
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
    names = {name: real(name) for name in ("pow", "exp", "log", "lgamma")}
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
def polygamma_of_positive(real: Real) -> Defined:
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
    names = {"pow": real("pow"), "polygamma_scale": polygamma_scale(real)}
    return Defined("frazil.polygamma_of_positive", ("float64",) * 2, "float64", text, names)


@cache
def polygamma(real: Real) -> Defined:
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
        **{name: real(name) for name in ("floor", "rint", "fabs")},
        "of_positive": polygamma_of_positive(real),
        "scale": polygamma_scale(real),
        "inf": np.inf,
        "nan": np.nan,
    }
    return Defined("frazil.polygamma", ("float64",) * 2, "float64", text, names)


@cache
def psi_slope(real: Real) -> Defined:
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
def psi(real: Real) -> Defined:
    """Digamma, as :mod:`frazil.scalar.digamma` has it."""
    choices = [
        f"        if x <= {-float(at)!r}:\n            root = {root!r}\n            more = {rest!r}"
        for at, (root, rest) in enumerate(zip(ROOTS, RESTS, strict=True))
        if at
    ]
    lines = [
        "def psi(x):",
        "    if not x < 0.0:",
        "        return scipy_psi(x, int32(0))",
        f"    if x > {-float(len(ROOTS))!r}:",
        f"        root = {ROOTS[0]!r}",
        f"        more = {RESTS[0]!r}",
        *choices,
        "        off = (x - root) - more",
        f"        if fabs(off) < {NEAR!r}:",
        "            return off * psi_slope(x, root, off)",
        "    if x > -1.0:",
        "        return scipy_psi(x + 1.0, int32(0)) - 1.0 / x",
        "    off = x - rint(x)",
        "    if off == 0.0:",
        "        return nan",
        "    return scipy_psi(1.0 - x, int32(0)) - pi / tan(pi * off)",
    ]
    names = {
        **{name: real(name) for name in ("fabs", "rint", "tan")},
        "psi_slope": psi_slope(real),
        "scipy_psi": real(f"{OF_SCIPY}psi"),
        "nan": np.nan,
        "pi": np.pi,
    }
    return Defined("frazil.psi", ("float64",), "float64", "\n".join(lines), names)


@cache
def log_ndtr(real: Real) -> Defined:
    """The logarithm of the normal distribution."""
    text = """\
def log_ndtr(x):
    if x < -1.0:
        return log(erfcx(x * -0.7071067811865476, int32(0)) / 2.0) - x * x / 2.0
    return log1p(-ndtr(-x))
"""
    names = {
        **{name: real(name) for name in ("log", "log1p")},
        "erfcx": real(f"{OF_SCIPY}erfcx"),
        "ndtr": real("ndtr"),
    }
    return Defined("frazil.log_ndtr", ("float64",), "float64", text, names)


@cache
def zeta_of_positive(real: Real) -> Defined:
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
        "frazil.zeta_of_positive", ("float64",) * 2, "float64", text, {"pow": real("pow")}
    )


@cache
def zeta(real: Real) -> Defined:
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
        return inf
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
        "floor": real("floor"),
        "pow": real("pow"),
        "of_positive": zeta_of_positive(real),
        "inf": np.inf,
        "nan": np.nan,
    }
    return Defined("frazil.zeta", ("float64",) * 2, "float64", text, names)
