"""Factors, systems, diagonals, joins and ranges run natively, and agree with the reference."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import evaluate

import frazil as fz
import frazil.tensor as ft
from frazil.testing import verify_grad

NATIVE = st.sampled_from(["c", "cranelift", "numba"])
FEW = settings(max_examples=15)  # as most of them compile


def check(variables, given, mode):
    """Check a compiled function against the reference; it must not call Python."""
    function = fz.function(list(given), variables, mode=mode)
    assert "call" not in str(function.explain())
    for variable, found in zip(variables, function(*given.values()), strict=True):
        expected = evaluate(variable, given)
        assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
        tolerance = 1e-4 if found.dtype == "float32" else 1e-10
        np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


@FEW
@given(NATIVE, st.integers(0, 6), st.booleans(), st.sampled_from(["float32", "float64"]))
def test_cholesky_and_its_gradient(mode, n, lower, dtype):
    rng = np.random.default_rng(n)
    root = rng.normal(size=(n, n)).astype(dtype)
    x, w = ft.matrix("x", dtype=dtype), ft.matrix("w", dtype=dtype)
    factor = ft.linalg.cholesky(x, lower=lower)
    gradient = fz.grad((factor * w).sum(), x)
    check([factor, gradient], {x: root @ root.T + np.eye(n, dtype=dtype), w: root}, mode)


@FEW
@given(
    NATIVE,
    st.integers(0, 5),
    st.none() | st.integers(0, 3),
    st.booleans(),
    st.booleans(),
    st.booleans(),
)
def test_solve_triangular_and_its_gradient(mode, n, columns, lower, trans, unit):
    rng = np.random.default_rng(n)
    shape = (n,) if columns is None else (n, columns)
    a, b = ft.matrix("a"), ft.tensor("b", shape=(None,) * len(shape))
    solution = ft.linalg.solve_triangular(a, b, trans=int(trans), lower=lower, unit_diagonal=unit)
    gradients = fz.grad((solution * solution).sum(), [a, b])
    values = {a: rng.normal(size=(n, n)) / 4 + 2 * np.eye(n), b: rng.normal(size=shape)}
    check([solution, *gradients], values, mode)


@FEW
@given(NATIVE, st.integers(0, 5), st.integers(0, 5), st.integers(-6, 6))
def test_diagonals(mode, rows, columns, k):
    x, n, m = ft.matrix("x"), ft.lscalar("n"), ft.lscalar("m")
    v, stack = ft.diagonal(x, k), ft.tensor3("stack")
    variables = [
        v,
        ft.diag(v, k),
        ft.eye(n, m, k),
        ft.eye(n, m, k, dtype="int8"),
        ft.eye(rows, columns, k),
        ft.tril(x, k),
        ft.triu(x, k),
        ft.tri(n, m, k),
        ft.diagonal(stack, k, 1, 2),
        fz.grad((v * v).sum(), x),
        fz.grad((ft.diagonal(stack, k, 0, 2) ** 2).sum(), stack),
    ]
    matrix = np.arange(1.0, 1 + rows * columns).reshape(rows, columns)
    values = {
        x: matrix,
        n: np.int64(rows),
        m: np.int64(columns),
        stack: np.stack([matrix, -matrix]),
    }
    check(variables, values, mode)


@FEW
@given(NATIVE, st.lists(st.integers(0, 3), min_size=1, max_size=4), st.booleans())
def test_joins(mode, lengths, across):
    parts = [ft.matrix(f"x{at}") for at in range(len(lengths))]
    axis = int(across)
    joined = ft.concatenate(parts, axis)
    shapes = [(2, n) if across else (n, 2) for n in lengths]
    values = {
        x: np.arange(float(np.prod(shape))).reshape(shape) + at
        for at, (x, shape) in enumerate(zip(parts, shapes, strict=True))
    }
    gradients = fz.grad((joined * joined).sum(), parts)
    check([joined, *gradients, ft.stack([joined, joined * 2], -1)], values, mode)


@FEW
@given(NATIVE, st.integers(-5, 5), st.integers(-5, 5), st.integers(-3, 3).filter(bool))
def test_ranges(mode, start, stop, step):
    a, b, c = ft.lscalar("a"), ft.lscalar("b"), ft.lscalar("c")
    variables = [
        ft.arange(a, b, c),
        ft.arange(a, b, step),
        ft.arange(b),
        ft.arange(b, dtype="int64") + a,
    ]
    values = {a: np.int64(start), b: np.int64(stop), c: np.int64(step)}
    check(variables, values, mode)


def test_a_range_needs_a_step(mode):
    step = ft.lscalar("step")
    with pytest.raises(ValueError, match=r"zero"):
        fz.function([step], ft.arange(0, 3, step), mode=mode)(0)


def test_errors_name_the_line(mode):
    x = ft.matrix("x")
    factor = ft.linalg.cholesky(x)
    f = fz.function([x], factor, mode=mode)
    with pytest.raises(np.linalg.LinAlgError, match="not positive definite") as raised:
        f(-np.eye(3))
    said = [str(raised.value), *getattr(raised.value, "__notes__", ())]
    assert "test_native_linalg.py" in "".join(said)
    g = fz.function([x], ft.linalg.solve_triangular(x, [1.0, 2.0]), mode=mode)
    with pytest.raises(np.linalg.LinAlgError, match="singular"):
        g(np.zeros((2, 2)))


def test_the_gradient_of_cholesky_has_a_gradient():
    rng = np.random.default_rng(0)
    a = ft.matrix("a")

    def first(a, w):
        return fz.grad((ft.linalg.cholesky(a) * w).sum(), a)

    root = rng.normal(size=(3, 4))
    verify_grad(first, [root @ root.T, rng.normal(size=(3, 3))])
    with pytest.raises(TypeError, match="must have the same type"):
        ft.linalg.CholeskyGradient()(a, ft.vector())


def test_a_diagonal_of_another_length_is_refused(mode):
    v = ft.vector("v")
    f = fz.function([v], fz.grad(ft.diagonal(ft.diag(v)).sum(), v), mode=mode)
    np.testing.assert_array_equal(f(np.zeros(3)), np.ones(3))
    n = ft.lscalar("n")
    made = ft.diagonals.AllocDiag(0)(v, n, n)
    with pytest.raises(ValueError, match="diagonal"):
        fz.function([v, n], made, mode=mode)(np.zeros(3), 2)
