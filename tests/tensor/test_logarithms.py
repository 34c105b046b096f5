"""Logarithms of probabilities keep their precision."""

import numpy as np
import pytest
from agreement import check
from scipy import special

import frazil as fz
import frazil.tensor as ft
from frazil.testing import verify_grad


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_log1mexp_keeps_its_precision(dtype, mode):
    x = -np.concatenate([np.logspace(-12, 1.8, 60), [0.0, np.log(2), np.inf]]).astype(dtype)
    exact = x.astype(np.longdouble)
    with np.errstate(all="ignore"):
        expected = np.where(exact > -1, np.log(-np.expm1(exact)), np.log1p(-np.exp(exact)))
    v = ft.vector("v", dtype=dtype)
    check(ft.log1mexp(v), {v: x}, expected.astype(dtype), mode)
    check(ft.log1mexp(v), {v: np.array([0.5, np.nan])}, np.full(2, np.nan, dtype), mode)


def test_logit_near_a_half(mode):
    """Its series there has odd powers alone, whose terms lose nothing."""
    off = np.array([1e-3, -1e-6, 3e-9, -1e-12, 2.0**-53])
    p = ft.vector("p")
    found = fz.function([p], ft.logit(p), mode=mode)(0.5 + off)
    double = 2 * ((0.5 + off) - 0.5)
    right = 2 * (double + double**3 / 3 + double**5 / 5)
    np.testing.assert_allclose(found, right, rtol=1e-15)
    ends = fz.grad(ft.logit(p).sum(), p)
    slopes = fz.function([p], ends, mode=mode)([0.25, 0.5, 0.75, 0.9])
    np.testing.assert_allclose(slopes, 1 / np.array([0.1875, 0.25, 0.1875, 0.09]), rtol=1e-14)


def test_logit_agrees_with_scipy(mode):
    p = np.array([0.0, 1e-300, 1e-9, 0.25, 0.5, 0.75, 1 - 1e-9, 1.0, -0.5, 1.5, np.nan])
    v = ft.vector("v")
    check(ft.logit(v), {v: p}, special.logit(p), mode)


def test_gradients(mode):
    verify_grad(
        lambda x: ft.log1mexp(x) + ft.logit(-x / 4), [np.array([-0.1, -0.5, -3.0])], mode=mode
    )
    x = ft.scalar("x")
    gradient = fz.grad(ft.log1mexp(x), x)
    check(gradient, {x: -1e-17}, -1e17, mode)
    check(gradient, {x: -1000.0}, 0.0, mode)
