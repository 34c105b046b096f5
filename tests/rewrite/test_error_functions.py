"""Logarithms of the complementary error function, far out where the function itself vanishes."""

from functools import cache

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import special

import frazil as fz
import frazil.tensor as ft
from frazil import scalar

FLOATS = st.floats(-1e4, 1e4)
LINKERS = ("c", "cranelift", "numba", "py")


def log_erfc(x):
    """By SciPy's functions, in another way than the rules'."""
    return special.log_ndtr(-x * np.sqrt(2)) + np.log(2)


def over_erfc(x):
    """``exp(-x**2) / erfc(x)``"""
    with np.errstate(all="ignore"):
        return np.where(x < -20, np.exp(-(x**2)) / 2, 1 / special.erfcx(x))


@pytest.fixture(scope="module", params=LINKERS)
def compiled(request):
    """The logarithm of erfc at the first argument, and its gradient."""
    x = ft.dvector("x")
    value = ft.log(ft.erfc(x))
    return fz.function([x], [value, fz.grad(value.sum(), x)], mode=request.param)


@settings(deadline=None)
@given(x=st.lists(FLOATS, max_size=5))
@example(x=[27.0, 30.0, 1.0, np.nextafter(1.0, 2.0), 0.0, 1e-300, -40.0])
def test_value_and_gradient_stay_finite_and_true(compiled, x):
    x = np.array(x)
    value, gradient = compiled(x)
    np.testing.assert_allclose(value, log_erfc(x), rtol=1e-13, atol=4e-16)
    np.testing.assert_allclose(
        gradient, -2 / np.sqrt(np.pi) * over_erfc(x), rtol=1e-12, atol=1e-300
    )


@settings(deadline=None)
@given(x=st.floats(-30, 1e4))
def test_log_of_a_normal_tail(x):
    """``log(erfc(x / sqrt(2)) / 2)`` is how a survival function is written."""
    value, slope = normal_tail()(np.array(x))
    np.testing.assert_allclose(value, special.log_ndtr(-x), rtol=1e-12, atol=1e-15)
    # The hazard: the density over what is left.
    expected = -np.sqrt(2 / np.pi) * over_erfc(np.float64(x) / np.sqrt(2))
    np.testing.assert_allclose(slope, expected, rtol=1e-11, atol=1e-300)


@pytest.mark.parametrize("sign", [1, -1])
@settings(deadline=None)
@given(x=st.lists(FLOATS, max_size=5))
@example(x=[27.0, 30.0, 6.0, 1.0, 0.0, 1e-300, -40.0])
def test_what_erf_leaves_of_one(sign, x):
    """As a skew normal density has it."""
    x = np.array(x)
    value, gradient, left = of_one_and_erf(sign)(x)
    np.testing.assert_allclose(value, log_erfc(-sign * x), rtol=1e-13, atol=4e-16)
    slope = sign * 2 / np.sqrt(np.pi) * over_erfc(-sign * x)
    np.testing.assert_allclose(gradient, slope, rtol=1e-12, atol=1e-300)
    np.testing.assert_allclose(left, special.erfc(-sign * x), rtol=1e-13, atol=1e-300)


@cache
def of_one_and_erf(sign):
    x = ft.dvector("x")
    value = ft.log(1 + sign * ft.erf(x))
    outputs = [value, fz.grad(value.sum(), x), 1 + sign * ft.erf(x)]
    return fz.function([x], outputs, mode="c")


@cache
def normal_tail():
    t = ft.dscalar("t")
    value = ft.log(ft.erfc(t / np.sqrt(2)) / 2)
    return fz.function([t], [value, fz.grad(value, t)], mode="c")


def test_no_erfc_is_left_to_vanish():
    x, y = ft.dvector("x"), ft.dvector("y")
    value = ft.log(y * ft.erfc(-x))
    graph = fz.function([x, y], [value, fz.grad(value.sum(), x)], mode="py").optimized
    ops = {getattr(node.op, "scalar_op", None) for node in graph.toposort()}
    assert scalar.erfc not in ops
    assert scalar.erfcx in ops


@pytest.mark.parametrize("mode", LINKERS)
def test_ends_of_the_line(mode):
    x = ft.dvector("x")
    f = fz.function([x], ft.log(ft.erfc(x)), mode=mode)
    np.testing.assert_array_equal(
        f([np.inf, -np.inf, np.nan, 1e200]), [-np.inf, np.log(2), np.nan, -np.inf]
    )
