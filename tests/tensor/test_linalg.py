"""Factors and triangular systems agree with SciPy, and their gradients with differences."""

import numpy as np
import pytest
import scipy.linalg
from agreement import check, compiled, like, modes
from hypothesis import given
from hypothesis import strategies as st

import frazil as fz
import frazil.tensor as ft
from frazil.tensor.linalg import Cholesky, SolveTriangular
from frazil.testing import verify_grad

lengths = st.integers(0, 5)
dtypes = st.sampled_from(["float64", "float32"])


def positive(n, seed=0, dtype="float64"):
    """A positive definite matrix."""
    a = np.random.default_rng(seed).normal(size=(n, n))
    return (a @ a.T + n * np.eye(n)).astype(dtype)


@given(st.data(), modes, lengths, dtypes, st.booleans(), st.booleans())
def test_cholesky_agrees_with_scipy(data, mode, n, dtype, lower, symmetric):
    array = positive(n, n, dtype)
    expected = scipy.linalg.cholesky(array, lower=lower) if n else array
    if not symmetric:  # the other triangle is not read
        array = np.tril(array) if lower else np.triu(array)
    x = like(data.draw, array)
    check(ft.linalg.cholesky(x, lower), {x: array}, expected, mode, rtol=1e-10)


@given(st.data(), modes, lengths, dtypes, st.booleans(), st.booleans(), st.booleans())
def test_solve_triangular_agrees_with_scipy(data, mode, n, dtype, lower, unit, transposed):
    a = positive(n, n, dtype)
    columns = data.draw(st.none() | st.integers(0, 3))
    shape = (n,) if columns is None else (n, columns)
    b = np.random.default_rng(n).normal(size=shape).astype(dtype)
    if not unit and data.draw(st.booleans()):
        np.fill_diagonal(a, 2 * a.diagonal())
    expected = b
    if b.size:
        expected = scipy.linalg.solve_triangular(
            a, b, trans=int(transposed), lower=lower, unit_diagonal=unit
        )
    x, y = like(data.draw, a), like(data.draw, b)
    solution = ft.linalg.solve_triangular(
        x, y, trans="T" if transposed else 0, lower=lower, unit_diagonal=unit
    )
    check(solution, {x: a, y: b}, expected, mode, rtol=1e-8)


@pytest.mark.parametrize("layout", [np.asfortranarray, lambda a: a[::-1, ::-1], lambda a: a.T])
def test_layouts(layout, mode):
    x, y = ft.matrix("x"), ft.matrix("y")
    a, b = layout(positive(4)), layout(np.arange(16.0).reshape(4, 4))
    factor = np.linalg.cholesky(a)
    check(ft.linalg.cholesky(x), {x: a}, factor, mode, rtol=1e-10)
    expected = scipy.linalg.solve_triangular(a, b, lower=True)
    check(ft.linalg.solve_triangular(x, y, lower=True), {x: a, y: b}, expected, mode, rtol=1e-10)


def test_integers_become_floats():
    assert ft.linalg.cholesky([[4, 0], [0, 9]]).dtype == "float64"
    assert ft.linalg.solve_triangular(ft.imatrix(), ft.fvector()).dtype == "float64"
    assert ft.linalg.solve_triangular(ft.fmatrix(), ft.fvector()).dtype == "float32"


@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("n", [1, 2, 4])
def test_gradients_of_cholesky(lower, n, mode):
    def factor(x):
        return ft.linalg.cholesky(x, lower)

    verify_grad(factor, [positive(n)], mode=mode)
    verify_grad(lambda x: factor(x @ x.T + 2 * ft.eye(n)) ** 2, [positive(n) / n], mode=mode)
    verify_grad(lambda x: fz.grad(ft.sum(factor(x) ** 3), x), [positive(n)], mode="py")


@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("trans", ["N", "T"])
@pytest.mark.parametrize("unit_diagonal", [True, False])
@pytest.mark.parametrize("columns", [(), (1,), (2,)])
def test_gradients_of_solve_triangular(lower, trans, unit_diagonal, columns, mode):
    rng = np.random.default_rng(0)
    points = [rng.normal(size=(3, 3)) + 3 * np.eye(3), rng.normal(size=(3, *columns))]

    def solution(a, b):
        return ft.linalg.solve_triangular(
            a, b, trans=trans, lower=lower, unit_diagonal=unit_diagonal
        )

    verify_grad(solution, points, mode=mode)
    if mode == "py":
        verify_grad(lambda a, b: fz.grad(ft.sum(solution(a, b) ** 2), a), points, mode="py")
        verify_grad(lambda a, b: fz.grad(ft.sum(solution(a, b) ** 2), b), points, mode="py")


def test_gradients_of_a_marginal_likelihood(mode):
    """Of a Gaussian process: pairwise distances, a factor, a solution, the determinant."""
    rng = np.random.default_rng(0)
    points = [rng.normal(size=(5,)), rng.normal(size=5), np.array(0.7), np.array(0.3)]

    def minus_log_likelihood(x, y, scale, noise):
        distance = (x[:, None] - x) / scale
        covariance = ft.exp(-0.5 * distance**2) + (noise**2 + 1e-3) * ft.eye(x.shape[0])
        factor = ft.linalg.cholesky(covariance)
        white = ft.linalg.solve_triangular(factor, y, lower=True)
        return 0.5 * ft.dot(white, white) + ft.sum(ft.log(ft.diagonal(factor)))

    verify_grad(minus_log_likelihood, points, mode=mode, abs_tol=1e-5, rel_tol=1e-5)


@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("shape", [(4,), (4, 2)])
def test_cho_solve(lower, shape, mode):
    a, b = positive(4), np.arange(float(np.prod(shape))).reshape(shape)
    x, y = ft.matrix("x"), ft.tensor("y", shape=[None] * len(shape))
    solution = ft.linalg.cho_solve((ft.linalg.cholesky(x, lower), lower), y)
    check(solution, {x: a, y: b}, np.linalg.solve(a, b), mode, rtol=1e-10)
    if mode == "py":
        verify_grad(lambda x, y: ft.linalg.cho_solve((x, lower), y), [a, b], mode=mode)


ORDERS = [None, 0, 1, 2, 3, -1, 0.5, np.inf, -np.inf, "fro"]


@pytest.mark.parametrize("ord", ORDERS)
@given(st.data(), dtypes, st.booleans())
def test_norms_agree_with_numpy(ord, data, dtype, keepdims):
    shape = data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=3))
    array = np.random.default_rng(0).normal(size=shape).astype(dtype)
    every = st.sampled_from(range(-len(shape), len(shape)))
    vectors = st.one_of(every, st.none()) if len(shape) == 1 or ord is None else every
    pairs = st.lists(every, min_size=2, max_size=2, unique_by=lambda axis: axis % len(shape))
    if ord == "fro":
        vectors = st.nothing()
    if ord in (None, 1, -1, np.inf, -np.inf, "fro") and len(shape) > 1:
        vectors = vectors | pairs.map(tuple)
    if vectors.is_empty:
        return
    axis = data.draw(vectors)
    x = like(data.draw, array)
    expected = np.linalg.norm(array, ord, axis, keepdims)
    found = ft.linalg.norm(x, ord, axis, keepdims)
    check(found, {x: array}, np.asarray(expected, dtype=dtype), "py", rtol=1e-10)


@pytest.mark.parametrize(("ord", "axis"), [(None, None), (1, None), (np.inf, 0), (3, 1), (2, 1)])
def test_norms_in_all_linkers(ord, axis, mode):
    array = np.array([[0.3, -1.2, 0.7], [2.5, 0.4, -0.6]])
    check(ft.linalg.norm(array, ord, axis), {}, np.linalg.norm(array, ord, axis), mode)
    verify_grad(lambda x: ft.linalg.norm(x, ord, axis), [array], mode="py")


def test_norms_that_are_not_there():
    with pytest.raises(ValueError, match="no norm of order 3 of matrices"):
        ft.linalg.norm(ft.matrix(), 3)
    with pytest.raises(ValueError, match="one of matrices"):
        ft.linalg.norm(ft.vector(), "fro")
    with pytest.raises(ValueError, match="Name one axis, or two"):
        ft.linalg.norm(ft.tensor3(), 1)
    with pytest.raises(ValueError, match="b_ndim=2"):
        ft.linalg.cho_solve((ft.matrix(), True), ft.vector(), b_ndim=2)


def test_no_elements(mode):
    x = ft.matrix("x")
    check(fz.grad(ft.sum(ft.linalg.cholesky(x)), x), {x: np.zeros((0, 0))}, np.zeros((0, 0)), mode)


# ----------------------------------------------------------------------------- errors


def test_a_matrix_that_is_not_positive_definite(mode):
    x = ft.matrix("x")
    for array in ([[1.0, 2.0], [2.0, 1.0]], [[0.0]], [[-1.0]]):
        with pytest.raises(np.linalg.LinAlgError, match="positive definite"):
            compiled(ft.linalg.cholesky(x), {x: np.array(array)}, mode)


def test_a_singular_matrix(mode):
    x, y = ft.matrix("x"), ft.vector("y")
    solution = ft.linalg.solve_triangular(x, y)
    values = {x: np.array([[1.0, 2.0], [0.0, 0.0]]), y: np.ones(2)}
    with pytest.raises(np.linalg.LinAlgError, match="singular"):
        compiled(solution, values, mode)


def test_shapes_that_do_not_fit_at_the_call(mode):
    x, y = ft.matrix("x"), ft.vector("y")
    with pytest.raises(ValueError, match="square"):
        compiled(ft.linalg.cholesky(x), {x: np.ones((2, 3))}, mode)
    values = {x: np.ones((2, 3)), y: np.ones(2)}
    with pytest.raises(ValueError, match="square"):
        compiled(ft.linalg.solve_triangular(x, y), values, mode)
    with pytest.raises(ValueError, match="rows"):
        compiled(ft.linalg.solve_triangular(x, y), {x: np.eye(2), y: np.ones(3)}, mode)


def test_errors():
    with pytest.raises(TypeError, match="takes a matrix of floats"):
        Cholesky(True)(ft.imatrix())
    with pytest.raises(np.linalg.LinAlgError, match="takes a matrix of floats"):
        ft.linalg.cholesky(ft.vector())
    with pytest.raises(ValueError, match="takes a square matrix"):
        ft.linalg.cholesky(ft.tensor(shape=(2, 3)))
    with pytest.raises(ValueError, match="trans must be"):
        ft.linalg.solve_triangular(ft.matrix(), ft.vector(), trans=3)
    with pytest.raises(ValueError, match="trans must be"):
        SolveTriangular(True, "C", False)(ft.matrix(), ft.vector())
    with pytest.raises(TypeError, match="vector or a matrix of dtype float64"):
        SolveTriangular(True, "N", False)(ft.matrix(), ft.fvector())
    with pytest.raises(ValueError, match="as many rows as the matrix, 2"):
        ft.linalg.solve_triangular(ft.tensor(shape=(2, 2)), ft.tensor(shape=(3,)))
