"""Minima and roots are where they should be, in all linkers, and so are their gradients."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import frazil as fz
import frazil.tensor as ft
from frazil.optimize import minimize, minimize_scalar, root, root_scalar
from frazil.testing import verify_grad

modes = st.sampled_from(["py", "c", "cranelift", "numba"])
FEW = settings(max_examples=12, deadline=None)  # as most of them compile
seeds = st.integers(0, 2**32 - 1)


def ridge(data, target, penalty, **arguments):
    """The coefficients that ridge regression finds, by minimisation."""
    w = ft.zeros(data.shape[1])
    unknown = ft.vector("w")
    loss = ft.sum((data @ unknown - target) ** 2) + penalty * ft.sum(unknown**2)
    solution, success = minimize(loss, unknown, **arguments)
    return fz.graph_replace([solution, success], [(unknown, w)])


def closed_form(data, target, penalty):
    gram = data.T @ data + penalty * ft.eye(data.shape[1])
    return ft.linalg.solve(gram, data.T @ target)


@FEW
@given(
    modes,
    seeds,
    st.integers(1, 4),
    st.sampled_from(["BFGS", "L-BFGS-B", "Newton-CG", "trust-exact"]),
)
def test_ridge_regression_is_its_closed_form(mode, seed, columns, method):
    rng = np.random.default_rng(seed)
    data, target, penalty = ft.matrix("data"), ft.vector("target"), ft.scalar("penalty")
    solution, success = ridge(data, target, penalty, method=method, hess=method == "trust-exact")
    exact = closed_form(data, target, penalty)
    weights = ft.constant(rng.normal(size=columns))
    of = [data, target, penalty]
    outputs = [solution, success, exact]
    outputs += [*fz.grad((solution * weights).sum(), of), *fz.grad((exact * weights).sum(), of)]
    f = fz.function(of, outputs, mode=mode)
    given = rng.normal(size=(7, columns)), rng.normal(size=7), 1.0 + rng.random()
    found, converged, expected, *gradients = f(*given)
    assert converged.dtype == bool
    np.testing.assert_allclose(found, expected, atol=1e-4)
    for ours, theirs in zip(gradients[:3], gradients[3:], strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-3)


@FEW
@given(modes, seeds, st.integers(1, 4), st.booleans(), st.sampled_from(["float64", "float32"]))
def test_root_of_squares(mode, seed, length, jac, dtype):
    x, a = ft.vector("x", dtype=dtype), ft.vector("a", dtype=dtype)
    solution, success = root(x**2 - a, x, jac=jac)
    slope = fz.grad(solution.sum(), a)
    f = fz.function([x, a], [solution, success, slope], mode=mode)
    squares = np.random.default_rng(seed).uniform(1, 4, length).astype(dtype)
    found, converged, gradient = f(np.ones(length, dtype), squares)
    assert found.dtype == gradient.dtype == dtype
    assert converged or dtype == "float32"
    tolerance = 1e-6 if dtype == "float64" else 1e-2
    np.testing.assert_allclose(found, np.sqrt(squares), rtol=tolerance)
    np.testing.assert_allclose(gradient, 0.5 / np.sqrt(squares), rtol=tolerance)


@pytest.mark.parametrize("vectorized", [False, True])
def test_gradients_agree_with_differences(mode, vectorized):
    def minimum(a, b):
        x = ft.tensor("x", shape=(3,))
        cost = ft.sum(ft.cosh(x - a)) + 0.5 * (b * x.sum()) ** 2
        solution, _ = minimize(
            cost,
            x,
            method="trust-exact",
            hess=True,
            use_vectorized_jac=vectorized,
            optimizer_kwargs={"options": {"gtol": 1e-12}},
        )
        return fz.graph_replace([solution], [(x, ft.zeros(3))])[0]

    given = [np.array([0.3, -0.2, 0.5]), np.array(0.7)]
    verify_grad(minimum, given, mode=mode)
    if mode == "c":
        verify_grad(lambda *p: ft.stack(fz.grad(minimum(*p).sum(), [p[1]])), given, mode=mode)

    def zero(a):
        x = ft.tensor("x", shape=(2,))
        equations = ft.stack([x[0] ** 2 + x[1] * a[0] - 2, x[1] ** 3 - x[0] * a[1]])
        solution, _ = root(
            equations, x, use_vectorized_jac=vectorized, optimizer_kwargs={"tol": 1e-13}
        )
        return fz.graph_replace([solution], [(x, ft.ones(2))])[0]

    verify_grad(zero, [np.array([1.1, 0.8])], mode=mode)
    verify_grad(lambda a: fz.grad(ft.sum(zero(a) ** 2), a), [np.array([1.1, 0.8])], mode=mode)


@pytest.mark.parametrize(
    ("method", "arguments"),
    [
        ("brent", {}),
        ("golden", {"bracket": [-1.0, 1.0]}),
        ("bounded", {"bounds": (-10.0, 10.0)}),
    ],
)
def test_least_number(method, arguments, mode):
    x, a = ft.scalar("x"), ft.scalar("a")
    solution, success = minimize_scalar((x - a) ** 2 + 1, x, method=method, **arguments)
    slope = fz.grad(solution * 3, a)
    f = fz.function([x, a], [solution, success, slope], mode=mode)
    found, converged, gradient = f(0.0, 2.5)
    assert converged
    assert found.shape == ()
    np.testing.assert_allclose([found, gradient], [2.5, 3.0], rtol=1e-5)


@pytest.mark.parametrize(
    ("method", "arguments"),
    [
        ("secant", {}),
        ("newton", {"jac": True}),
        ("halley", {"jac": True, "hess": True}),
        ("brentq", {"bracket": "around"}),
    ],
)
def test_root_of_one_number(method, arguments, mode):
    x, a = ft.scalar("x"), ft.scalar("a")
    if "bracket" in arguments:
        arguments = {"bracket": ft.stack([a * 0, a + 1])}
    solution, success = root_scalar(x**2 - a, x, method=method, **arguments)
    first = fz.grad(solution, a)
    outputs = [solution, success, first, fz.grad(first, a)]
    f = fz.function([x, a], outputs, mode=mode)
    found, converged, *slopes = f(1.0, 4.0)
    assert converged
    np.testing.assert_allclose([found, *slopes], [2.0, 0.25, -1 / 32], rtol=1e-6)


def test_failure_is_an_output(mode):
    x, a = ft.vector("x"), ft.vector("a")
    found, success = minimize(ft.sum((x - a) ** 4), x, optimizer_kwargs={"options": {"maxiter": 1}})
    assert not fz.function([x, a], success, mode=mode)([9.0, 9.0], [1.0, -1.0])
    nowhere, success = root(x**2 + a, x, method="hybr")
    assert not fz.function([x, a], success, mode=mode)([1.0], [1.0])
    y, b = ft.scalar("y"), ft.scalar("b")
    _, success = root_scalar(y**2 + b, y, optimizer_kwargs={"maxiter": 5})
    assert not fz.function([y, b], success, mode=mode)(1.0, 1.0)
    assert found.type == nowhere.type == x.type


def test_unknowns_of_any_shapes(mode):
    x, w, c = ft.scalar("x"), ft.matrix("w"), ft.matrix("c")
    cost = (x - c.sum()) ** 2 + ft.sum((w - c * x) ** 2)
    (number, matrix), success = minimize(cost, [x, w])
    slope = fz.grad(ft.sum(matrix), c)
    f = fz.function([x, w, c], [number, matrix, success, slope], mode=mode)
    given = np.array([[1.0, 2.0], [0.5, -1.0]])
    found, laid, converged, gradient = f(0.0, np.zeros((2, 2)), given)
    assert converged
    total = given.sum()
    np.testing.assert_allclose(found, total, rtol=1e-4)
    np.testing.assert_allclose(laid, given * total, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(gradient, np.full((2, 2), 2 * total), rtol=1e-3)
    solution, _ = root(w**3 - c, w)
    f = fz.function([w, c], [solution, fz.grad(solution.sum(), c)], mode=mode)
    cubes = np.array([[1.0, 8.0], [27.0, 64.0]])
    found, gradient = f(np.full((2, 2), 2.0), cubes)
    np.testing.assert_allclose(found, np.cbrt(cubes), rtol=1e-6)
    np.testing.assert_allclose(gradient, 1 / (3 * np.cbrt(cubes) ** 2), rtol=1e-5)


def test_they_nest(mode):
    x, y, a = ft.scalar("x"), ft.scalar("y"), ft.scalar("a")
    inner, _ = root_scalar(y**3 + y - x * a, y, method="newton", jac=True)
    outer, success = minimize_scalar((inner - 1) ** 2, x)
    f = fz.function([x, y, a], [outer, success], mode=mode)
    found, converged = f(0.5, 0.5, 2.0)  # y == 1 where x * a == 2
    assert converged
    np.testing.assert_allclose(found, 1.0, rtol=1e-6)


def test_nothing_to_solve_for(mode):
    x, a = ft.vector("x"), ft.scalar("a")
    solution, success = minimize(ft.sum((x - a) ** 2), x)
    found, converged = fz.function([x, a], [solution, success], mode=mode)([], 1.0)
    assert found.shape == (0,)
    assert converged


def test_debug_mode():
    x, a = ft.vector("x"), ft.vector("a")
    solution, success = minimize(ft.sum((x - a) ** 2), x)
    found, converged = fz.function([x, a], [solution, success], mode="debug")([0.0], [2.0])
    assert converged
    np.testing.assert_allclose(found, [2.0], rtol=1e-5)
