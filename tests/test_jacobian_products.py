"""Lop and Rop: products of vectors with Jacobians, from both sides."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import frazil as fz
import frazil.tensor as ft

X, Y = ft.vector("x"), ft.vector("y")
M = ft.matrix("m")
VALUES = {X: np.array([0.3, -0.7, 1.1]), Y: np.array([0.2, 0.9, -0.4])}


def functions():
    operations = [
        lambda a, b: a + 2 * b,
        lambda a, b: a * ft.tanh(b),
        lambda a, b: ft.exp(-a) * ft.sum(b),
        lambda a, b: ft.cumsum(a)[::-1] - b,
        lambda a, b: fz.OpFromGraph([X, Y], [X * ft.cos(Y)])(a, b),
        lambda a, b: fz.ifelse(ft.sum(a) > 0, a * a, ft.sin(b)),
    ]
    return st.lists(
        st.tuples(st.sampled_from(operations), st.integers(0, 9), st.integers(0, 9)),
        min_size=1,
        max_size=5,
    )


def build(steps):
    made = [X, Y]
    for operation, first, second in steps:
        made.append(operation(made[first % len(made)], made[second % len(made)]))
    return made[-1] + 0.0 * (X + Y), ft.sum(made[-1] ** 2) + 0.0 * ft.sum(X + Y)


@settings(max_examples=40)
@given(functions(), st.booleans())
def test_rop_is_a_difference_quotient_and_lop_its_transpose(steps, by_node):
    f = build(steps)
    if by_node:  # an op with R_op makes the walk go node by node
        scale = fz.OpFromGraph([X], [3 * X], rop_overrides=lambda x, v: [3 * v[0]])
        f = (scale(f[0]), f[1])
    u, v = ft.vector("u"), ft.vector("v")
    direction = {u: np.array([1.0, 0.5, -2.0]), v: np.array([-1.0, 0.25, 0.5])}
    rop = fz.function([X, Y, u, v], fz.Rop(list(f), [X, Y], [u, v]), on_unused_input="ignore")
    made = rop(*VALUES.values(), *direction.values())
    value = fz.function([X, Y], list(f))
    h = 1e-6
    ahead, back = (
        value(*(x + s * h * d for x, d in zip(VALUES.values(), direction.values(), strict=True)))
        for s in (1, -1)
    )
    for result, a, b in zip(made, ahead, back, strict=True):
        np.testing.assert_allclose(result, (a - b) / (2 * h), rtol=1e-5, atol=1e-6)
    w, c = ft.vector("w"), ft.scalar("c")
    weights = np.array([0.5, -1.0, 2.0]), 0.75
    lop = fz.function([X, Y, w, c], fz.Lop(list(f), [X, Y], [w, c]), on_unused_input="ignore")
    by_left = lop(*VALUES.values(), *weights)
    left = sum(np.sum(g * d) for g, d in zip(by_left, direction.values(), strict=True))
    right = np.sum(weights[0] * made[0]) + weights[1] * made[1]
    np.testing.assert_allclose(left, right, rtol=1e-9, atol=1e-9)


def test_rop_overrides_are_used():
    op = fz.OpFromGraph([X, Y], [X * Y, X], rop_overrides=lambda i, t: [t[0] * 100 + i[1], None])
    f = fz.function([X, Y], fz.Rop(ft.exp(op(X, Y)[0] * 0) * op(X, Y)[0], X, ft.ones_like(X)))
    np.testing.assert_array_equal(f([1.0, 2.0], [3.0, 4.0]), [103.0, 104.0])
    with pytest.raises(fz.DisconnectedInputError):
        fz.Rop(op(X, Y)[1], X, X)
    assert fz.Rop(op(X, Y)[1], X, X, "ignore", "none") is None


def test_second_derivatives_times_vectors():
    x, y = ft.vector("x"), ft.scalar("y")
    cost = ft.sum(x**3) * y**2
    points = ([1.0, -2.0], 0.5)
    by_x, by_y = fz.hessian_vector_product(cost, [x, y], points)
    found = [each.eval({x: [2.0, 3.0], y: 4.0}) for each in (by_x, by_y)]
    # d2/dx2 = 6 x y^2, d2/dxdy = 6 x^2 y, d2/dy2 = 2 sum(x^3)
    assert_allclose(found[0], [192 + 48, -576 + 108])
    assert_allclose(found[1], 96 - 432 + 35)
    alone = fz.hessian_vector_product(cost, x, points[0])
    assert_allclose(alone.eval({x: [2.0, 3.0], y: 4.0}), [192.0, -576.0])
    with pytest.raises(ValueError, match="one eval_point"):
        fz.hessian_vector_product(cost, [x, y], points[:1])


def test_names_of_other_libraries():
    x = ft.vector("x")
    y = x * ft.sum(x)
    assert fz.pullback(y, x, [1.0, 0.0]) is fz.Lop(y, x, [1.0, 0.0])
    assert fz.gradient.pushforward(y, x, [1.0, 0.0]) is fz.Rop(y, x, [1.0, 0.0])
    assert ft.grad(y.sum(), x) is fz.grad(y.sum(), x)
    assert ft.hessian is fz.hessian


def test_of_matrices():
    v = np.arange(6.0).reshape(2, 3)
    f = fz.function([M], fz.Rop(M @ M.T, M, v))
    m = np.linspace(0, 1, 6).reshape(2, 3)
    np.testing.assert_allclose(f(m), v @ m.T + m @ v.T)
    f = fz.function([M], fz.Lop(M @ M.T, M, np.ones((2, 2))))
    np.testing.assert_allclose(f(m), 2 * np.ones((2, 2)) @ m)


def test_bad_input_is_told():
    with pytest.raises(ValueError, match="one eval_point is needed for each of wrt: 2, given 1"):
        fz.Rop(X * Y, [X, Y], [X])
    with pytest.raises(TypeError, match="eval_point of x must have 1 dimensions"):
        fz.Rop(X * Y, X, M)
    with pytest.raises(TypeError, match="only floating-point variables"):
        fz.Rop(X > 0, X, X)
    with pytest.raises(fz.DisconnectedInputError, match="depends on none of wrt"):
        fz.Rop(Y, X, X)
    assert fz.Rop(Y, X, X, disconnected_outputs="ignore").eval({Y: [1.0]}) == 0.0
