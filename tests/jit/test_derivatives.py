"""Derivatives of Python functions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import frazil as fz
import frazil.tensor as ft

x0 = np.array([0.5, -1.0, 2.0])


def test_gradients_are_trees_like_the_argument():
    def fn(p, y):
        return (np.sin(p["x"]) * p["s"] * y).sum()

    p = {"x": x0, "s": 2.0}
    value, gradient = fz.jit(fz.value_and_grad(fn), mode="py")(p, x0)
    np.testing.assert_allclose(value, fn(p, x0))
    np.testing.assert_allclose(gradient["x"], np.cos(x0) * 2 * x0)
    np.testing.assert_allclose(gradient["s"], (np.sin(x0) * x0).sum())
    by_y = fz.grad(fn, 1)(p, x0)
    np.testing.assert_allclose(by_y, np.sin(x0) * 2)
    both = fz.grad(fn, argnums_of_both := (0, 1))(p, x0)
    assert len(both) == len(argnums_of_both)
    np.testing.assert_allclose(both[1], by_y)


def test_no_gradient_flows_through_what_is_stopped():
    x = np.array([1.0, 2.0])

    def cost(tree):
        kept = fz.stop_gradient({"x": tree["x"], "other": "text"})
        assert kept["other"] == "text"
        return np.sum(kept["x"] * tree["x"] ** 2)

    value, found = fz.value_and_grad(cost)({"x": x})
    assert_allclose(value, np.sum(x**3))
    assert_allclose(found["x"], 2 * x**2)
    alone = fz.grad(lambda x: np.sum(fz.stop_gradient(x) ** 2))(x)
    assert_allclose(alone, [0.0, 0.0])
    assert fz.stop_gradient(x) is x
    v = ft.vector("v")
    assert_allclose(fz.grad(ft.sum(fz.stop_gradient(v) ** 2), v).eval({v: x}), [0.0, 0.0])


def test_symbolic_forms_stay():
    x = ft.vector("x")
    cost = ft.sum(x**3)
    assert fz.grad(cost, x) is fz.gradient.grad(cost, x)
    assert fz.hessian(cost, x) is fz.gradient.hessian(cost, x)
    assert fz.jacobian(x**2, x) is fz.gradient.jacobian(x**2, x)


@settings(deadline=None, max_examples=5)
@given(st.integers(1, 4), st.floats(0.5, 2.0))
def test_derivatives_of_derivatives(n, at):
    def fn(x):
        return x**5

    wanted = at**5
    for order in range(n):
        fn = fz.grad(fn)
        wanted = wanted * (5 - order) / at
    np.testing.assert_allclose(fn(at), wanted)


def test_an_argument_is_not_confused_with_an_equal_expression():
    # d/dy of x * y**2 at y = x is 2 x**2, although x and y have the same value.
    def fn(x):
        return fz.grad(lambda y: x * y**2)(x)

    np.testing.assert_allclose(fz.grad(fn)(3.0), 12.0)
    nested = fz.jit(lambda x: fz.grad(lambda a: (a * (x * 2)).sum())(x * 2), mode="py")
    np.testing.assert_allclose(nested(x0), x0 * 2)


def test_products_with_jacobians():
    def fn(x):
        return {"y": x * np.sum(x), "s": np.sum(x**2)}

    v = np.array([1.0, 0.0, 2.0])
    value, pushed = fz.jvp(fn, (x0,), (v,))
    jacobian = fz.jacobian(fn)(x0)
    np.testing.assert_allclose(value["y"], x0 * x0.sum())
    np.testing.assert_allclose(pushed["y"], jacobian["y"] @ v)
    np.testing.assert_allclose(pushed["s"], jacobian["s"] @ v)
    value, pull = fz.vjp(fn, x0)
    (pulled,) = pull({"y": v, "s": 3.0})
    np.testing.assert_allclose(pulled, v @ jacobian["y"] + 3 * jacobian["s"])


def test_hessians_have_mixed_derivatives():
    found = fz.hessian(lambda p: (p["a"] ** 2 * p["b"]).sum())({"a": x0, "b": x0 + 1})
    np.testing.assert_allclose(found["a"]["b"], np.diag(2 * x0))
    np.testing.assert_allclose(found["a"]["a"], np.diag(2 * (x0 + 1)))
    np.testing.assert_allclose(found["b"]["b"], np.zeros((3, 3)))


def test_something_else_may_be_returned_beside_the_cost():
    def fn(x):
        return (np.sum(x**2), {"mean": x.mean(), "name": "cost"})

    (value, aux), gradient = fz.value_and_grad(fn, has_aux=True)(x0)
    np.testing.assert_allclose([value, aux["mean"]], [np.sum(x0**2), x0.mean()])
    assert aux["name"] == "cost"
    np.testing.assert_allclose(gradient, 2 * x0)
    assert fz.grad(fn, has_aux=True)(x0)[1]["name"] == "cost"


@pytest.mark.parametrize(
    ("fn", "args", "says"),
    [
        (lambda x: x, (x0,), "Reduce it"),
        (lambda x: "text", (x0,), "one number"),
        (lambda x: x.sum(), (np.arange(3),), "dtype int64"),
        (lambda x: x.sum(), (), "argument 0"),
    ],
)
def test_what_has_no_gradient_is_told(fn, args, says):
    with pytest.raises(TypeError, match=says):
        fz.grad(fn)(*args)


@pytest.mark.parametrize("argnums", [(0, 0), (1, 0, 1), (0, -2), (-1, 1)])
@pytest.mark.parametrize("derivative", [fz.grad, fz.value_and_grad, fz.jacobian, fz.hessian])
def test_an_argument_is_named_once(derivative, argnums):
    both = derivative(lambda a, b: np.sum(a**2) * b, argnums=argnums)
    with pytest.raises(TypeError, match="differentiated by once"):
        both(np.arange(3.0), 3.0)


@pytest.mark.parametrize("argnums", ["0", 1.0, True, (0, "1"), (0, None)])
def test_argnums_are_positions(argnums):
    with pytest.raises(TypeError, match="argnums are positions of arguments"):
        fz.grad(lambda a, b: np.sum(a**2) * b, argnums=argnums)


def test_the_position_that_is_not_given_is_named():
    with pytest.raises(TypeError, match="argument -3 is to be differentiated by, and 2 were given"):
        fz.grad(lambda a, b: a * b, argnums=(0, -3))(1.0, 2.0)
