"""Jacobians and Hessians agree with finite differences, in every linker, whatever the ranks."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import frazil as fz
import frazil.gradient
import frazil.tensor as ft

MODES = ("py", "c", "cranelift", "numba")
SHAPES = st.sampled_from([(), (1,), (3,), (2, 2), (0,), (2, 1, 2)])


def differences(f, x, h=1e-5):
    """The derivatives of a NumPy function by each element of ``x``."""
    columns = []
    for at in np.ndindex(x.shape):
        step = np.zeros(x.shape)
        step[at] = h
        columns.append((f(x + step) - f(x - step)) / (2 * h))
    of_none = np.zeros((*np.shape(f(x)), 0))
    stacked = np.stack(columns, -1) if columns else of_none
    return np.reshape(stacked, (*np.shape(f(x)), *x.shape))


@settings(max_examples=40)
@given(SHAPES, SHAPES, st.booleans(), st.booleans(), st.sampled_from(MODES), st.integers(0, 99))
def test_of_any_ranks(outer, inner, static, vectorize, mode, seed):
    random = np.random.default_rng(seed)
    weights = random.normal(size=(*outer, *inner))
    axes = tuple(range(len(outer), len(outer) + len(inner)))
    point = random.normal(size=inner)
    x = ft.tensor(dtype="float64", shape=inner if static else (None,) * len(inner))
    w = ft.tensor(dtype="float64", shape=weights.shape if static else (None,) * weights.ndim)
    made = fz.jacobian(ft.sum(ft.sin(w * x), axis=axes), x, vectorize=vectorize)
    assert made.ndim == len(outer) + len(inner)
    found = fz.function([x, w], made, mode=mode)(point, weights)
    expected = differences(lambda p: np.sum(np.sin(weights * p), axis=axes), point)
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("shape", [(), (3,), (2, 2)])
def test_second_derivatives(shape, mode):
    x = ft.tensor(dtype="float64", shape=(None,) * len(shape))
    cost = ft.sum(x**3) * ft.exp(-ft.sum(x**2) / 8)
    slope = fz.function([x], fz.grad(cost, x), mode=mode)
    found = fz.function([x], fz.hessian(cost, x), mode=mode)
    point = np.random.default_rng(5).normal(size=shape)
    np.testing.assert_allclose(found(point), differences(slope, point), rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("mode", MODES)
def test_through_loops(mode):
    x, a = ft.vector("x"), ft.scalar("a")
    powers, _ = fz.scan(lambda p, x: ft.sin(p * x), None, [ft.ones_like(x)], x, n_steps=3)
    by_x, by_a = fz.jacobian(powers[-1] * a, [x, a])
    point = np.array([0.4, 1.1])
    value = fz.function([x, a], powers[-1] * a, mode=mode)
    made = fz.function([x, a], [by_x, by_a, fz.hessian(ft.sum(powers[-1]), x)], mode=mode)
    j, k, h = made(point, 2.0)
    np.testing.assert_allclose(j, differences(lambda p: value(p, 2.0), point), rtol=1e-6)
    np.testing.assert_allclose(k, value(point, 1.0))
    np.testing.assert_allclose(h, h.T, atol=1e-12)


def test_rows_are_products_with_units():
    x = ft.vector("x")
    y = ft.tanh(x) * ft.sum(x)
    point = np.array([0.3, -0.7, 1.1])
    whole = fz.jacobian(y, x).eval({x: point})
    for at, unit in enumerate(np.eye(3)):
        np.testing.assert_allclose(fz.Lop(y, x, unit).eval({x: point}), whole[at])
        np.testing.assert_allclose(fz.Rop(y, x, unit).eval({x: point}), whole[:, at])


def test_what_is_constant_and_what_is_not_connected():
    x, y = ft.vector("x"), ft.vector("y")
    kept = x * 2
    point = {x: [1.0, 2.0]}
    made = fz.jacobian(kept * x, x, consider_constant=[kept]).eval(point)
    np.testing.assert_array_equal(made, np.diag([2.0, 4.0]))
    with pytest.raises(fz.DisconnectedInputError):
        fz.jacobian(x, y)
    with pytest.raises(fz.DisconnectedInputError):
        fz.hessian(ft.sum(x), y)
    of_x, of_y = fz.jacobian(x * 3, [x, y], disconnected_inputs="ignore")
    f = fz.function([x, y], [of_x, of_y])
    np.testing.assert_array_equal(f([1.0, 2.0], [0.0])[0], 3 * np.eye(2))
    np.testing.assert_array_equal(f([1.0, 2.0], [0.0])[1], np.zeros((2, 1)))
    np.testing.assert_array_equal(fz.hessian(ft.sum(x), x).eval(point), np.zeros((2, 2)))


def test_bad_input_is_told():
    x, k = ft.vector("x"), ft.ivector("k")
    with pytest.raises(TypeError, match="floating-point"):
        fz.jacobian(k, x)
    with pytest.raises(TypeError):
        fz.jacobian(x, k)
    with pytest.raises(TypeError):
        fz.hessian(x, x)
    assert fz.jacobian(x, []) == []


def test_they_are_where_gradients_are():
    for name in ("Lop", "Rop"):
        assert getattr(frazil.gradient, name) is getattr(fz, name)
    x = ft.vector("x")
    assert fz.jacobian(x**2, x) is frazil.gradient.jacobian(x**2, x)
    assert fz.hessian(ft.sum(x**2), x) is frazil.gradient.hessian(ft.sum(x**2), x)


@pytest.mark.parametrize("given", [5, [ft.vector("y")], None])
def test_what_is_differentiated_is_one_variable(given):
    with pytest.raises(TypeError, match="jacobian differentiates one variable; given"):
        fz.jacobian(given, ft.vector("x"))
