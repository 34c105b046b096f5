"""The functions of floating numbers that kernels call: how near they are to what is exact.

NumPy's long double has eleven bits more than a float64.
"""

import ctypes

import numpy as np
import pytest
from scipy import special

from frazil import _core

WIDE = np.longdouble
RNG = np.random.default_rng(3)


def near(least, most, count=2000):
    """Numbers of both signs whose sizes go through orders of magnitude."""
    sizes = np.exp(RNG.uniform(np.log(least), np.log(most), count))
    return np.concatenate([sizes, -sizes])


ALL = np.concatenate([near(1e-300, 1e300), near(1e-9, 50.0), np.linspace(-3, 3, 2000)])
# Next to where a sine or a cosine vanishes.
QUARTERS = np.arange(-2000, 2000) * (np.pi / 2)
FINITE = ALL[np.abs(ALL) < 700]
INSIDE = np.linspace(-0.9999, 0.9999, 4000)
EXACT = {
    "exp": (np.exp, np.concatenate([FINITE, np.linspace(-745, 709.7, 2001)]), 1.0),
    "expm1": (np.expm1, np.concatenate([FINITE, np.linspace(-1, 1, 2001)]), 1.8),
    "log": (
        np.log,
        np.abs(np.concatenate([ALL, np.linspace(0.5, 2, 2001), [5e-324, 1e-310]])),
        1.0,
    ),
    "log1p": (np.log1p, np.concatenate([ALL[ALL > -1], np.linspace(-0.999, 1, 2001)]), 1.6),
    "tanh": (np.tanh, ALL, 2.5),
    "sin": (np.sin, np.concatenate([near(1e-9, 1e5), near(1e5, 1e9), QUARTERS]), 1.2),
    "cos": (np.cos, np.concatenate([near(1e-9, 1e5), near(1e5, 1e9), QUARTERS]), 1.2),
    "sigmoid": (lambda x: 1 / (1 + np.exp(-x)), FINITE[FINITE > -700], 2.5),
    "softplus": (lambda x: np.logaddexp(x, WIDE(0)), FINITE[FINITE > -600], 2.5),
    "exp2": (np.exp2, np.concatenate([FINITE, np.linspace(-1020, 1023, 2001)]), 0.7),
    "log2": (np.log2, np.abs(ALL), 0.6),
    "log10": (np.log10, np.abs(ALL), 0.6),
    "sinh": (np.sinh, FINITE, 1.8),
    "cosh": (np.cosh, FINITE, 1.8),
    "arcsinh": (np.arcsinh, ALL, 1.8),
    "arccosh": (np.arccosh, np.abs(ALL) + 1, 1.8),
    "arctanh": (np.arctanh, np.concatenate([INSIDE, near(1e-9, 0.9)]), 1.8),
    "arcsin": (np.arcsin, np.concatenate([INSIDE, near(1e-9, 0.9)]), 2.1),
    "arccos": (np.arccos, INSIDE, 1.2),
    "arctan": (np.arctan, ALL, 1.7),
    "cbrt": (np.cbrt, ALL, 0.8),
    "tan": (np.tan, np.concatenate([near(1e-9, 1e5), QUARTERS]), 2.3),
}
EDGES = {
    "exp2": [(-np.inf, 0.0), (np.inf, np.inf), (10.0, 1024.0), (-1074.0, 5e-324), (1024.0, np.inf)],
    "log2": [(0.0, -np.inf), (8.0, 3.0), (5e-324, -1074.0), (np.inf, np.inf), (-1.0, np.nan)],
    "log10": [(0.0, -np.inf), (1000.0, 3.0), (1e-300, -300.0), (np.inf, np.inf), (-1.0, np.nan)],
    "sinh": [(-0.0, -0.0), (np.inf, np.inf), (-711.0, -np.inf), (5e-324, 5e-324)],
    "cosh": [(0.0, 1.0), (-np.inf, np.inf), (711.0, np.inf)],
    "arcsinh": [(-0.0, -0.0), (np.inf, np.inf), (-np.inf, -np.inf), (5e-324, 5e-324)],
    "arccosh": [(1.0, 0.0), (np.inf, np.inf), (0.5, np.nan), (-1e300, np.nan), (-np.inf, np.nan)],
    "arctanh": [(-0.0, -0.0), (1.0, np.inf), (-1.0, -np.inf), (1.5, np.nan), (-1e300, np.nan)],
    "arcsin": [(-0.0, -0.0), (1.0, np.pi / 2), (-1.0, -np.pi / 2), (1.5, np.nan), (5e-324, 5e-324)],
    "arccos": [(1.0, 0.0), (-1.0, np.pi), (0.0, np.pi / 2), (-1.5, np.nan), (np.inf, np.nan)],
    "arctan": [(-0.0, -0.0), (np.inf, np.pi / 2), (-np.inf, -np.pi / 2), (1.0, np.pi / 4)],
    "cbrt": [(-0.0, -0.0), (-27.0, -3.0), (np.inf, np.inf), (-np.inf, -np.inf), (1e-300, 1e-100)],
    "tan": [(-0.0, -0.0), (np.inf, np.nan), (1e300, float(np.tan(1e300)))],
    "erfc": [(0.0, 1.0), (np.inf, 0.0), (-np.inf, 2.0), (30.0, 0.0)],
    "ndtr": [(0.0, 0.5), (np.inf, 1.0), (-np.inf, 0.0)],
    "log1mexp": [(-np.inf, -0.0), (0.0, -np.inf), (1.0, np.nan)],
    "exp": [(0.0, 1.0), (-np.inf, 0.0), (np.inf, np.inf), (710.0, np.inf), (-800.0, 0.0)],
    "expm1": [(0.0, 0.0), (-0.0, -0.0), (np.inf, np.inf), (-np.inf, -1.0), (5e-324, 5e-324)],
    "log": [(0.0, -np.inf), (-0.0, -np.inf), (1.0, 0.0), (np.inf, np.inf), (-1.0, np.nan)],
    "log1p": [(-0.0, -0.0), (-1.0, -np.inf), (np.inf, np.inf), (-2.0, np.nan), (1e-320, 1e-320)],
    "tanh": [(-0.0, -0.0), (np.inf, 1.0), (-np.inf, -1.0), (5e-324, 5e-324)],
    "sin": [(0.0, 0.0), (-0.0, -0.0), (np.inf, np.nan), (1e300, float(np.sin(1e300)))],
    "cos": [(0.0, 1.0), (np.inf, np.nan), (1e300, float(np.cos(1e300)))],
    "erf": [(0.0, 0.0), (-0.0, -0.0), (np.inf, 1.0), (-np.inf, -1.0), (7.0, 1.0)],
    "sigmoid": [(np.inf, 1.0), (-np.inf, 0.0), (0.0, 0.5)],
    "softplus": [(-np.inf, 0.0), (np.inf, np.inf)],
}


def many(name, x):
    """The values of a function, as kernels compute them."""
    signature = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)
    suffix = "f8" if x.dtype == np.float64 else "f4"
    function = signature(_core.kernel_function(f"{name}_many_{suffix}"))
    made = np.empty_like(x)
    function(made.ctypes.data, x.ctypes.data, len(x))
    return made


@pytest.mark.parametrize("name", EXACT)
def test_values_are_near_what_is_exact(name):
    function, x, most = EXACT[name]
    exact = function(x.astype(WIDE))
    units = np.spacing(np.maximum(np.abs(exact.astype("float64")), 2.0**-1022))
    error = np.abs(many(name, x).astype(WIDE) - exact) / units
    worst = int(np.argmax(error))
    assert error[worst] < most, (x[worst], error[worst])


OF_FLOAT32 = {"arccosh": 2.4, "arcsin": 2.3}
"""Units in the last place, where float32 loses more than float64."""


@pytest.mark.parametrize("name", EXACT)
def test_a_float32_has_its_digits(name):
    function, x, most = EXACT[name]
    most = OF_FLOAT32.get(name, most)
    with np.errstate(over="ignore", under="ignore"):
        x = x[np.abs(x) < 80].astype("float32")
        x = x[x != 0]
        exact = function(x.astype("float64"))
        units = np.spacing(np.abs(exact.astype("float32")))
        error = np.abs(many(name, x).astype("float64") - exact) / units
        worst = int(np.argmax(error))
        assert error[worst] <= most, (x[worst], error[worst])


@pytest.mark.parametrize("name", EDGES)
def test_values_at_the_edges(name):
    given = np.array([x for x, _ in EDGES[name]] + [np.nan])
    expected = np.array([y for _, y in EDGES[name]] + [np.nan])
    made = many(name, given)
    np.testing.assert_array_equal(made, expected)
    assert (np.signbit(made) == np.signbit(expected))[~np.isnan(expected)].all()


def test_the_error_functions_are_near_scipys():
    x = np.concatenate([near(1e-300, 1e3), np.linspace(-7, 7, 20001)])
    for name, function in (("erf", special.erf), ("erfc", special.erfc)):
        known = function(x)
        # SciPy's complement loses digits by the square.
        most = 3 + (9 + x**2) * (name == "erfc")
        assert (np.abs(many(name, x) - known) <= most * np.spacing(np.abs(known))).all(), name
