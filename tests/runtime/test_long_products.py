"""Products and systems that are computed in portions: each is what NumPy makes of it at once."""

from __future__ import annotations

import numpy as np
import pytest

import frazil as fz
import frazil.tensor as ft
from frazil.tensor.blas import Ger
from frazil.tensor.linalg import CholeskyGradient

RNG = np.random.default_rng(5)
x, y, m, n = ft.vector("x"), ft.vector("y"), ft.matrix("m"), ft.matrix("n")


def numbers(*shape):
    """Small integers: sums of their products are exact, in whatever order."""
    return RNG.integers(-3, 4, shape).astype("float64")


def compiled(inputs, output, *arguments):
    return fz.function(inputs, output, mode="c")(*arguments)


def laid_out(array, order):
    return np.asfortranarray(array) if order == "F" else array


@pytest.mark.parametrize("order", ["CC", "CF", "FC", "FF"])
def test_products_of_matrices(order):
    a, b = laid_out(numbers(660, 700), order[0]), laid_out(numbers(700, 620), order[1])
    assert (compiled([m, n], m @ n, a, b) == a @ b).all()
    long, wide = laid_out(numbers(40, 170_000), order[0]), laid_out(numbers(170_000, 45), order[1])
    assert (compiled([m, n], m @ n, long, wide) == long @ wide).all()


@pytest.mark.parametrize("order", ["C", "F"])
def test_products_with_vectors(order):
    for shape in [(2900, 3000), (3, 3_000_000), (3_000_000, 3)]:
        a, u, v = laid_out(numbers(*shape), order), numbers(shape[1]), numbers(shape[0])
        assert (compiled([m, x], m @ x, a, u) == a @ u).all()
        assert (compiled([m, x], x @ m, a, v) == v @ a).all()
    u, v = numbers(2 * 9_000_000)[::2], numbers(9_000_000)
    assert compiled([x, y], ft.dot(x, y), u, v) == u @ v


@pytest.mark.parametrize("order", ["C", "F"])
def test_a_matrix_times_its_own_transpose(order):
    for shape in [(800, 700), (70, 60_000)]:
        a = laid_out(numbers(*shape), order)
        assert (compiled([m], m @ m.T, a) == a @ a.T).all()


def test_products_that_are_added():
    a, b, c = numbers(660, 700), numbers(700, 620), numbers(660, 620)
    z = ft.matrix("z")
    made = compiled([z, m, n], 2.0 * z - 3.0 * (m @ n), c, a, b)
    assert (made == 2 * c - 3 * (a @ b)).all()
    u, v, c = numbers(2900), numbers(3000), numbers(2900, 3000)
    assert (
        compiled([z, x, y], Ger()(z, ft.constant(2.0), x, y), c, u, v) == c + 2 * np.outer(u, v)
    ).all()


@pytest.fixture(scope="module")
def square():
    """A matrix both triangles of which are well conditioned."""
    size = 4200
    return RNG.standard_normal((size, size), dtype="float32") / size + 2 * np.eye(size, dtype="f4")


@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("trans", [0, 1])
def test_systems(square, lower, trans):
    # More rows than are solved for at once; and more columns.
    a, b = ft.fmatrix("a"), ft.fmatrix("b")
    solve = fz.function([a, b], ft.linalg.solve_triangular(a, b, lower=lower, trans=trans))
    for size, columns, order in [(4200, 5, "C"), (4200, 3, "F"), (2100, 150, "C"), (2100, 1, "F")]:
        given = laid_out(square[:size, :size], order)
        right = laid_out(RNG.standard_normal((size, columns), dtype="float32"), order)
        solution = solve(given, right)
        part = np.tril(given) if lower else np.triu(given)
        found = (part.T if trans else part) @ solution
        np.testing.assert_allclose(found, right, atol=1e-4)


@pytest.mark.parametrize("lower", [True, False])
def test_systems_with_vectors(square, lower):
    a, b = ft.fmatrix("a"), ft.fvector("b")
    right = RNG.standard_normal(len(square), dtype="float32")
    part = np.tril(square) if lower else np.triu(square)
    for trans in (0, 1):
        solution = ft.linalg.solve_triangular(a, b, lower=lower, trans=trans)
        found = (part.T if trans else part) @ compiled([a, b], solution, square, right)
        np.testing.assert_allclose(found, right, atol=1e-4)


def test_the_gradient_of_a_factor(square):
    size = 1500
    factor, g = ft.fmatrix("factor"), ft.fmatrix("g")
    gradient = CholeskyGradient()(factor, g)
    values = np.tril(square[:size, :size]), np.tril(RNG.standard_normal((size, size), dtype="f4"))
    expected = fz.function([factor, g], gradient, mode="py")(*values)
    np.testing.assert_allclose(compiled([factor, g], gradient, *values), expected, atol=1e-4)
