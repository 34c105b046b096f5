"""Matrices that repeat the elements of vectors, against SciPy's."""

import numpy as np
import pytest
import scipy.linalg
from agreement import check, modes
from hypothesis import given, settings
from hypothesis import strategies as st

import frazil as fz
import frazil.tensor as ft
from frazil.testing import verify_grad

FEW = settings(max_examples=settings.default.max_examples // 4)
counts, dtypes = st.integers(1, 5), st.sampled_from(["float64", "float32", "int64", "complex128"])


def drawn(shape, dtype, seed=0):
    rng = np.random.default_rng(seed)
    values = rng.integers(-9, 10, shape) + 1j * rng.integers(-9, 10, shape)
    return values.astype(dtype) if dtype == "complex128" else values.real.astype(dtype)


@given(modes, counts, counts, dtypes, st.booleans())
@FEW
def test_vectors_give_the_matrices_of_scipy(mode, m, n, dtype, static):
    c, r = drawn(m, dtype), drawn(n, dtype, 1)
    x = ft.tensor("x", dtype=dtype, shape=(m if static else None,))
    y = ft.tensor("y", dtype=dtype, shape=(n if static else None,))
    for name in ("toeplitz", "hankel"):
        of, by_scipy = getattr(ft.linalg, name), getattr(scipy.linalg, name)
        check(of(x), {x: c}, by_scipy(c), mode)
        result = of(x, y)
        check(result, {x: c, y: r}, by_scipy(c, r), mode)
        assert result.type.shape == ((m, n) if static else (None, None))
    check(ft.linalg.circulant(x), {x: c}, scipy.linalg.circulant(c), mode)


@given(modes, st.integers(0, 3), counts, counts, dtypes)
@FEW
def test_products_of_columns(mode, columns, m, n, dtype):
    a, b = drawn((m, columns), dtype), drawn((n, columns), dtype, 1)
    x, y = ft.matrix("x", dtype=dtype), ft.matrix("y", dtype=dtype)
    expected = np.einsum("ik,jk->ijk", a, b).reshape(m * n, columns)
    check(ft.linalg.khatri_rao(x, y), {x: a, y: b}, expected, mode)
    if columns:
        np.testing.assert_array_equal(scipy.linalg.khatri_rao(a, b), expected)


def test_stacks_are_the_matrices_of_each(mode):
    c, r, b = drawn((3, 4), "float64"), drawn((3, 4), "float64", 1), drawn((3, 4), "float64", 2)
    c[:, 0] += 40
    x, y, z = ft.matrix("x"), ft.matrix("y"), ft.matrix("z")
    outputs = [ft.linalg.toeplitz(x, y), ft.linalg.hankel(x, y), ft.linalg.circulant(x)]
    outputs.append(ft.linalg.solve_toeplitz((x, y), z, b_ndim=1))
    outputs.append(ft.linalg.khatri_rao(x[:, None], y[:, None]))
    outputs += fz.vectorize([ft.linalg.toeplitz(row := ft.vector())], {row: x})
    found = fz.function([x, y, z], outputs, mode=mode)(c, r, b)
    of = scipy.linalg
    expected = [
        [of.toeplitz(c[at], r[at]) for at in range(3)],
        [of.hankel(c[at], r[at]) for at in range(3)],
        [of.circulant(c[at]) for at in range(3)],
        [of.solve_toeplitz((c[at], r[at]), b[at]) for at in range(3)],
        [of.khatri_rao(c[at, None], r[at, None]) for at in range(3)],
        [of.toeplitz(c[at]) for at in range(3)],
    ]
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, np.stack(other), rtol=1e-12)


def test_gradients_of_first_and_second_order():
    c, r, b = (drawn(4, "float64", seed) / 9 + 0.1 for seed in range(3))
    c[0] += 4
    first = [
        lambda c, r: ft.linalg.toeplitz(c, r),
        lambda c, r: ft.linalg.hankel(c, r),
        lambda c, r: ft.linalg.circulant(c * r),
        lambda c, r: ft.linalg.khatri_rao(c[None], ft.stack([r, c])),
        lambda c, r: ft.linalg.solve_toeplitz((c, r), b),
    ]
    for function in first:
        verify_grad(function, [c, r])
        verify_grad(lambda c, r, of=function: fz.grad(ft.sum(ft.sin(of(c, r))), c), [c, r])


def test_a_factor_and_its_side(mode):
    a = drawn((2, 4, 4), "float64") * 0.1
    a = a @ a.mT + np.eye(4)
    x = ft.tensor3("x")
    for lower in (False, True):
        factor, side = ft.linalg.cho_factor(x, lower)
        assert side is lower
        solution = ft.linalg.cho_solve((factor, side), np.ones((4, 1)))
        found = fz.function([x], [factor, solution], mode=mode)(a)
        clean = np.tril if lower else np.triu
        for at in range(2):
            expected = scipy.linalg.cho_factor(a[at], lower)
            np.testing.assert_allclose(found[0][at], clean(expected[0]), rtol=1e-12)
            solved = scipy.linalg.cho_solve(expected, np.ones((4, 1)))
            np.testing.assert_allclose(found[1][at], solved, rtol=1e-12)


def test_operands_that_do_not_fit(mode):
    for function in (ft.linalg.toeplitz, ft.linalg.hankel, ft.linalg.circulant):
        with pytest.raises(ValueError, match="takes a vector"):
            function(1.0)
    with pytest.raises(ValueError, match="takes matrices"):
        ft.linalg.khatri_rao([1.0], [[1.0]])
    with pytest.raises(ValueError, match="equally many columns"):
        ft.linalg.khatri_rao([[1.0, 2.0, 3.0]], [[1.0, 2.0]])
    x = ft.vector("x")
    singular = fz.function([x], ft.linalg.solve_toeplitz(x, [1.0, 2.0]), mode=mode)
    with pytest.raises(np.linalg.LinAlgError, match="ingular"):
        singular([1.0, 1.0])
