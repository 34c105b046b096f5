"""How many units of the last place the floating scalar ops are off, at worst, on hard points.

    python benches/precision.py [--write] [name ...]

Each op is compiled for mode "c" and compared with mpmath at 60 digits: over the whole range of
float64, near zeros, poles and branch points, and where its forms change. With ``--write`` the
results go to docs/precision.json, of which benches/ops_page.py makes docs/ops.md. For each op that
file has the worst error, where it was found, the worst one of NumPy's or SciPy's function on the
same points, and a few points with what is right, which the tests check.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import signal
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import mpmath as mp
import numpy as np
import scipy.special

import frazil as fz
import frazil.tensor as ft
from frazil._core import elemwise
from frazil.scalar import TABLE, Elementary

DATA = Path(__file__).parent.parent / "docs" / "precision.json"
SECONDS = 20
"""How long one op may take."""

KEPT = 6
"""How many points of each op the tests check."""

Points = Iterable[tuple[float, ...]]


def near(*centers: float) -> list[float]:
    """The centers and what lies around them, as close as float64 has it."""
    found = []
    for x in centers:
        found += [x, math.nextafter(x, math.inf), math.nextafter(x, -math.inf)]
        found += [x + sign * 10.0**-k for k in (2, 5, 8, 12) for sign in (1, -1)]
    return found


def wide(low: float = -300, high: float = 300, count: int = 40) -> list[float]:
    """Numbers of every size, of both signs."""
    sizes = [float(x) for x in np.geomspace(10.0**low, 10.0**high, count)]
    usual = [
        0.1,
        0.25,
        0.5,
        0.7,
        0.9,
        1.1,
        1.5,
        2.5,
        3.3,
        7.7,
        12.5,
        19.9,
        30.1,
        77.7,
        141.3,
        699.0,
    ]
    return [sign * x for x in sizes + usual for sign in (1, -1)]


def dense(low: float = -3, high: float = 2.5, count: int = 500) -> list[float]:
    """Many numbers of both signs, of the sizes at which functions are no straight lines."""
    sizes = [float(x) for x in np.geomspace(10.0**low, 10.0**high, count)]
    return [sign * x for x in sizes for sign in (1, -1)]


def one(*xs: Sequence[float]) -> Points:
    return [(x,) for x in itertools.chain(*xs)]


def grid(*axes: Sequence[float]) -> Points:
    return itertools.product(*axes)


SHAPES = [1e-6, 0.02, 0.5, 1.0, 2.5, 9.7, 41.3, 777.0]
"""Parameters of distributions."""

SHARES = [1e-30, 1e-6, 0.02, 0.3, 0.5, 0.8, 0.999, 1 - 2.0**-40]
ORDERS = [0.0, 0.5, 1.0, 2.0, 3.7, 20.0]
ARGUMENTS = [1e-5, 0.3, 1.0, 2.4, 5.5, 13.3, 60.1, 300.7]
ROOTS = [-0.504083008264455409, -1.573498473162390459, -2.610720868444144650, -3.635293366436901098]
"""Of digamma, below zero; above it 1.46..."""


def gammainc_share(k: Any, x: Any) -> tuple[Any, Any]:
    lower = mp.gammainc(k, 0, x, regularized=True)
    return lower, mp.gammainc(k, x, mp.inf, regularized=True)


def inverse(forward: Callable[[Any], Any], guess: float) -> Any:
    """Where a function is zero, beside what was found."""
    at = mp.mpf(guess)
    for _ in range(8):
        step = forward(at) / mp.diff(forward, at)
        at -= step
        if abs(step) < abs(at) * mp.mpf(10) ** -35:
            return at
    return None


def _inverse_of(forward: Callable[..., Any]) -> Callable[..., Any]:
    """The inverse in the last operand, found from frazil's own value."""

    def found(*operands: Any, guess: float) -> Any:
        *parameters, wanted = operands
        return inverse(lambda x: forward(*parameters, x) - wanted, guess)

    return found


def _ndtr(x: Any) -> Any:
    return mp.erfc(-x / mp.sqrt(2)) / 2


def _owens_t(h: Any, a: Any) -> Any:
    return mp.quad(lambda x: mp.exp(-h * h * (1 + x * x) / 2) / (1 + x * x), [0, a]) / (2 * mp.pi)


def _zeta(s: Any, q: Any) -> Any:
    """By Euler's and Maclaurin's formula; mpmath's own is wrong at zeta(33.3, 100)."""
    y = q + 60
    total = mp.fsum((q + k) ** -s for k in range(60)) + y ** (1 - s) / (s - 1) + y**-s / 2
    for j in range(1, 25):
        factor = mp.bernoulli(2 * j) / mp.factorial(2 * j) * mp.rf(s, 2 * j - 1)
        total += factor * y ** (1 - s - 2 * j)
    return total


REFERENCES: dict[str, tuple[Callable[..., Any], Points]] = {
    "exp": (mp.exp, one(wide(-300, 2.8), near(0, 709, -708), dense())),
    "exp2": (lambda x: mp.mpf(2) ** x, one(wide(-300, 2.9), near(0, 1), dense())),
    "expm1": (mp.expm1, one(wide(-300, 2.8), near(0, 1e-5), dense())),
    "log": (mp.log, one(wide(), near(1, 2), dense())),
    "log2": (lambda x: mp.log(x, 2), one(wide(), near(1, 2), dense())),
    "log10": (mp.log10, one(wide(), near(1, 10), dense())),
    "log1p": (mp.log1p, one(wide(), near(0, -0.5, -1 + 1e-9), dense())),
    "sqrt": (mp.sqrt, one(wide())),
    "cbrt": (mp.cbrt, one([abs(x) for x in wide()], dense())),
    "pow": (
        mp.power,
        grid([abs(x) for x in wide(-30, 30, 12)], [-7.3, 0.58207336, 2.7, 9.0, 0.01]),
    ),
    "hypot": (
        mp.hypot,
        grid([*wide(-150, 150, 12), -1.474167754969253], [1e-150, 1.1693758940339285]),
    ),
    "sin": (mp.sin, one(wide(), near(math.pi, 2 * math.pi, 1e5), dense())),
    "cos": (mp.cos, one(wide(), near(math.pi / 2, 1.5 * math.pi, 1e5), dense())),
    "tan": (mp.tan, one(wide(), near(math.pi / 2, math.pi), dense())),
    "arcsin": (mp.asin, one(wide(-300, 0), near(0, 0.5, 1 - 1e-11), dense(-3, 0))),
    "arccos": (mp.acos, one(wide(-300, 0), near(0, 0.5, 1 - 1e-11), dense(-3, 0))),
    "arctan": (mp.atan, one(wide(), dense())),
    "arctan2": (
        mp.atan2,
        grid([*wide(-100, 100, 10), 0.13697916391780307], [1e-50, 0.2928616419531393, -3.0]),
    ),
    "sinh": (mp.sinh, one(wide(-300, 2.8), dense())),
    "cosh": (mp.cosh, one(wide(-300, 2.8), dense())),
    "tanh": (mp.tanh, one(wide(-300, 2), dense(), dense(-1, -0.2, 4000))),
    "arcsinh": (mp.asinh, one(wide(), dense())),
    "arccosh": (mp.acosh, one([abs(x) for x in wide()], near(1, 1.5), dense())),
    "arctanh": (mp.atanh, one(wide(-300, 0), near(0.5, 1 - 1e-11), dense(-3, 0))),
    "sigmoid": (lambda x: 1 / (1 + mp.exp(-x)), one(wide(-300, 2.8), dense())),
    "softplus": (lambda x: mp.log1p(mp.exp(x)), one(wide(-300, 2.8), dense())),
    "log_sigmoid": (lambda x: -mp.log1p(mp.exp(-x)), one(wide(-300, 2.8), dense())),
    "log1mexp": (
        lambda x: mp.log1p(-mp.exp(x)) if x < -1 else mp.log(-mp.expm1(x)),
        one(wide(-300, 2.5), near(-math.log(2)), dense()),
    ),
    "logaddexp": (
        lambda x, y: mp.log(mp.exp(x) + mp.exp(y)),
        grid(wide(-5, 2.8, 6), [-700.0, -0.3, 0.0, 2.0, 300.0]),
    ),
    "erf": (mp.erf, one(wide(-300, 1), dense(-3, 0.78))),
    "erfc": (mp.erfc, one(wide(-300, 1.41), near(5, 26), dense(-3, 1.4))),
    "erfcx": (lambda x: mp.exp(x * x) * mp.erfc(x), one(wide(-300, 1.4), near(0, 25, -5, 26))),
    "erfinv": (_inverse_of(mp.erf), one([x for x in wide(-300, 0) if abs(x) < 1], near(0.5))),
    "erfcinv": (
        _inverse_of(mp.erfc),
        one([x for x in wide(-300, 0.2) if 0 < x < 2], near(0.5, 1, 1.5)),
    ),
    "ndtr": (_ndtr, one(wide(-300, 1.5), near(-5, -1, 1, -37), dense(-3, 1.5))),
    "log_ndtr": (lambda x: mp.log(_ndtr(x)), one(wide(-300, 3), near(-1, -5, 5))),
    "ndtri": (_inverse_of(_ndtr), one([x for x in wide(-300, 0) if 0 < x < 1], near(0.5, 0.1353))),
    "owens_t": (_owens_t, grid([0.01, 0.5, 1.0, 2.7, 6.1], [0.01, 0.5, 0.9, 1.0, 3.3])),
    "gamma": (mp.gamma, one(wide(-300, 2.2), near(1, 2, -0.5, -3.5, 33.3, 170.5, -20.5))),
    "gammaln": (
        lambda x: mp.log(abs(mp.gamma(x))),
        one(
            wide(-300, 5),
            near(1, 2, -2.457024738220, -2.747682646727, -3.143580888349),
            dense(-2, 2.5),
        ),
    ),
    "psi": (
        mp.digamma,
        one(
            wide(-300, 300),
            near(1.46163214496836234, *ROOTS, -9.7026725400018637),
            near(-19.746, -20.75, -29.763032029127462, -28.3, -0.999, -1.99999, -6.9999999),
        ),
    ),
    "tri_gamma": (lambda x: mp.polygamma(1, x), one(wide(-9, 8, 12), near(-0.5, -3.2))),
    "polygamma": (
        lambda n, x: mp.polygamma(int(n), x),
        grid([1.0, 2.0, 5.0, 20.0], [1e-5, 0.3, 1.0, 7.7, 100.0, -0.3, -2.45, -7.9]),
    ),
    "beta": (mp.beta, grid(SHAPES, SHAPES)),
    "betaln": (lambda a, b: mp.log(mp.beta(a, b)), grid(SHAPES, SHAPES)),
    "poch": (mp.rf, grid([0.3, 1.0, 4.5, 41.3], [0.0, 0.5, 1.0, 3.0, 10.5])),
    "binom": (mp.binomial, grid([0.3, 3.0, 10.0, 60.5, 1000.0], [0.1, 1.0, 2.0, 3.5, 30.0])),
    "gammainc": (
        lambda k, x: gammainc_share(k, x)[0],
        [(k, k * r) for k in SHAPES for r in (1e-3, 0.3, 0.9, 1.0, 1.1, 3.0)],
    ),
    "gammaincc": (
        lambda k, x: gammainc_share(k, x)[1],
        [(k, k * r) for k in SHAPES for r in (1e-3, 0.3, 0.9, 1.0, 1.1, 3.0)],
    ),
    "gammaincinv": (
        _inverse_of(lambda k, x: gammainc_share(k, x)[0]),
        grid(SHAPES[2:], SHARES),
    ),
    "gammainccinv": (
        _inverse_of(lambda k, x: gammainc_share(k, x)[1]),
        grid(SHAPES[2:], SHARES),
    ),
    "betainc": (
        lambda a, b, x: mp.betainc(a, b, 0, x, regularized=True),
        grid(SHAPES[1:7], SHAPES[1:7], SHARES),
    ),
    "betaincinv": (
        _inverse_of(lambda a, b, x: mp.betainc(a, b, 0, x, regularized=True)),
        grid(SHAPES[2:6], SHAPES[2:6], SHARES[1:7]),
    ),
    "jv": (mp.besselj, grid(ORDERS, ARGUMENTS)),
    "yv": (mp.bessely, grid(ORDERS, ARGUMENTS)),
    "iv": (mp.besseli, grid(ORDERS, ARGUMENTS)),
    "ive": (lambda v, x: mp.besseli(v, x) * mp.exp(-abs(x)), grid(ORDERS, [*ARGUMENTS, 1e5])),
    "kv": (mp.besselk, grid(ORDERS, ARGUMENTS)),
    "kve": (lambda v, x: mp.besselk(v, x) * mp.exp(x), grid(ORDERS, [*ARGUMENTS, 1e5])),
    "j0": (
        lambda x: mp.besselj(0, x),
        one(wide(-9, 4), near(2.404825557695773, 5.520078110286311)),
    ),
    "j1": (lambda x: mp.besselj(1, x), one(wide(-9, 4), near(3.831705970207512))),
    "y0": (lambda x: mp.bessely(0, x), one(wide(-9, 4), near(0.8935769662791675))),
    "y1": (lambda x: mp.bessely(1, x), one(wide(-9, 4), near(2.197141326031017))),
    "i0": (lambda x: mp.besseli(0, x), one(wide(-9, 2.8), near(8))),
    "i1": (lambda x: mp.besseli(1, x), one(wide(-9, 2.8), near(8))),
    "i0e": (lambda x: mp.besseli(0, x) * mp.exp(-abs(x)), one(wide(-9, 4), near(8))),
    "i1e": (lambda x: mp.besseli(1, x) * mp.exp(-abs(x)), one(wide(-9, 4), near(8))),
    "k0": (lambda x: mp.besselk(0, x), one(wide(-9, 2.8), near(2))),
    "k1": (lambda x: mp.besselk(1, x), one(wide(-9, 2.8), near(2))),
    "k0e": (lambda x: mp.besselk(0, x) * mp.exp(x), one(wide(-9, 4), near(2))),
    "k1e": (lambda x: mp.besselk(1, x) * mp.exp(x), one(wide(-9, 4), near(2))),
    "hyp2f1": (
        mp.hyp2f1,
        grid([0.3, 2.0, -1.7], [0.7, 5.5], [1.1, 3.2], [-30.0, -0.9, -0.1, 0.3, 0.8, 0.97]),
    ),
    "zeta": (
        _zeta,
        grid([1.0001, 1.5, 2.0, 7.0, 33.3], [1e-3, 0.5, 1.0, 3.3, 100.0, 1e8]),
    ),
}
"""What is right, and where it is asked for."""

EXACT = ("copysign", "nextafter", "rint")
"""What is right to the last bit by definition; the tests compare it with NumPy."""


def computed(name: str, points: Sequence[tuple[float, ...]]) -> np.ndarray:
    """What the op gives at some points."""
    inputs = [ft.vector() for _ in range(TABLE[name].nin)]
    function = fz.function(inputs, elemwise(Elementary(name), *inputs), mode="c")
    found: np.ndarray = function(*np.array(points).T)
    return found


PEERS = {"log_sigmoid": "log_expit", "sigmoid": "expit", "pow": "power"}
"""Names of functions of NumPy's or SciPy's, where they are not those of the ops."""


def of_peer(name: str, points: Sequence[tuple[float, ...]]) -> list[float] | None:
    """What NumPy's or SciPy's function gives at some points; None where there is none."""
    own = PEERS.get(name, name)
    function = getattr(scipy.special, own, None) or getattr(np, own, None)
    if function is None:
        return None
    with np.errstate(all="ignore"):
        values: list[float] = function(*np.array(points).T).tolist()
    return values


def error(found: float, right: Any) -> float:
    """The error in units of the last place of what is right."""
    if not math.isfinite(found):
        return math.inf
    return float(abs(mp.mpf(found) - right) / mp.mpf(math.ulp(float(right))))


def wanted(name: str, point: tuple[float, ...], found: float) -> Any:
    """What is right; None where it is no normal number, or mpmath does not find it."""
    reference, _ = REFERENCES[name]
    more = {"guess": found} if reference.__name__ == "found" else {}
    if more and not math.isfinite(found):
        return None
    try:
        right = reference(*map(mp.mpf, point), **more)
    except (ValueError, ZeroDivisionError, TypeError, ArithmeticError, mp.libmp.NoConvergence):
        return None
    if right is None or not isinstance(right, mp.mpf) or not mp.isfinite(right):
        return None
    return right if 1e-290 < abs(right) < 1e300 else None


class _Late(Exception):
    """The time of an op is up."""


def _too_late(*_: Any) -> None:
    raise _Late


def measure(name: str) -> dict[str, Any]:
    """The record of one op."""
    points = [tuple(map(float, point)) for point in REFERENCES[name][1]]
    records: list[tuple[float, tuple[float, ...], float]] = []
    values = computed(name, points)
    others = of_peer(name, points)
    far = 0.0
    signal.signal(signal.SIGALRM, _too_late)
    signal.alarm(SECONDS)
    try:
        for at, (point, found) in enumerate(zip(points, values.tolist(), strict=True)):
            right = wanted(name, point, found)
            if right is not None:
                records.append((error(found, right), point, float(right)))
                far = far if others is None else max(far, error(others[at], right))
    except _Late:
        print(f"{name}: the time was up after {len(records)} of {len(points)} points")
    finally:
        signal.alarm(0)
    records.sort(key=lambda record: -record[0])
    step = max(1, len(records) // KEPT)
    kept = [records[0], *records[step // 2 :: step][: KEPT - 1]]
    return {
        "ulp": float(f"{records[0][0]:.2g}"),
        "at": list(records[0][1]),
        "peer": None if others is None else float(f"{far:.2g}"),
        "points": len(records),
        "checked": [[*point, right] for _, point, right in kept],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    mp.mp.dps = 60
    stored = json.loads(DATA.read_text()) if DATA.exists() else {}
    for name in given.names or REFERENCES:
        stored[name] = record = measure(name)
        worst, count = record["ulp"], record["points"]
        told = f"{worst:>12.3g} ulp of {count:>4} points, at {record['at']}; peer {record['peer']}"
        print(f"{name:14}{told}", flush=True)
    if given.write:
        lines = [f"  {json.dumps(name)}: {json.dumps(stored[name])}" for name in sorted(stored)]
        DATA.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
