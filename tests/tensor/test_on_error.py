"""Matrices without factors, systems without solutions: an error, or NaN where one asks for it."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import frazil as fz
import frazil.tensor as ft
from frazil.tensor.linalg import Cholesky

m, b, v = ft.matrix("m"), ft.matrix("b"), ft.vector("v")


def indefinite(size):
    return np.diag([1.0] * (size - 1) + [-1.0])


def singular(size):
    return np.diag([1.0] * (size - 1) + [0.0])


# What fails, for matrices of so many rows: with and without a call of LAPACK.
SIZES = [1, 3, 20]
OPS = {
    "cholesky": (lambda how: ft.linalg.cholesky(m, **how), indefinite),
    "upper cholesky": (lambda how: ft.linalg.cholesky(m, False, **how), indefinite),
    "solve": (lambda how: ft.linalg.solve(m, b, **how), singular),
    "solve transposed": (lambda how: ft.linalg.solve(m, b, transposed=True, **how), singular),
    "solve vector": (lambda how: ft.linalg.solve(m, v, **how), singular),
    "solve positive": (lambda how: ft.linalg.solve(m, b, assume_a="pos", **how), indefinite),
    "solve_triangular": (lambda how: ft.linalg.solve_triangular(m, b, **how), singular),
    "cho_solve": (lambda how: ft.linalg.cho_solve((m, True), b, **how), singular),
    "inv": (lambda how: ft.linalg.inv(m, **how), singular),
    "lu_solve": (lambda how: ft.linalg.lu_solve(ft.linalg.lu_factor(m, **how), b, **how), singular),
}


def given_of(size, make):
    return make(size), np.ones((size, 2)), np.ones(size)


@pytest.mark.parametrize("name", OPS)
def test_what_has_no_result_is_nan_or_an_error(name, mode):
    build, make = OPS[name]
    plain = fz.function([m, b, v], build({}), mode=mode, on_unused_input="ignore")
    by_op = fz.function([m, b, v], build({"on_error": "nan"}), mode=mode, on_unused_input="ignore")
    nan = fz.Mode(mode, on_error="nan")
    by_mode = fz.function([m, b, v], build({}), mode=nan, on_unused_input="ignore")
    for size in SIZES:
        values = given_of(size, make)
        with pytest.raises(np.linalg.LinAlgError):
            plain(*values)
        for f in (by_op, by_mode):
            result = f(*values)
            assert np.isnan(result).all()
            assert result.shape == (size, *result.shape[1:])
        # The run goes on, and what has a result has it.
        fine = (3.0 * np.eye(size), *values[1:])
        for f in (by_op, by_mode):
            np.testing.assert_array_equal(f(*fine), plain(*fine))
    raising = fz.Mode(mode, on_error="raise")
    again = build({"on_error": "nan"})
    with pytest.raises(np.linalg.LinAlgError):
        fz.function([m, b, v], again, mode=raising, on_unused_input="ignore")(*values)


@pytest.mark.parametrize("name", OPS)
def test_gradients_are_nan_where_the_result_is(name, mode):
    build, make = OPS[name]
    gradient = fz.grad((build({}) ** 2).sum(), m)
    f = fz.function(
        [m, b, v], gradient, mode=fz.Mode(mode, on_error="nan"), on_unused_input="ignore"
    )
    by_op = fz.function(
        [m, b, v],
        fz.grad((build({"on_error": "nan"}) ** 2).sum(), m),
        mode=mode,
        on_unused_input="ignore",
    )
    for size in SIZES:
        for one in (f, by_op):
            assert np.isnan(one(*given_of(size, make))).any()
            assert np.isfinite(one(3.0 * np.eye(size), np.ones((size, 2)), np.ones(size))).all()


@pytest.mark.parametrize("mode", ["py", "c"])
@pytest.mark.parametrize("build", [ft.linalg.det, lambda x, **how: ft.linalg.slogdet(x, **how)[1]])
def test_determinants_have_no_gradient_of_singular_matrices(build, mode):
    for size in SIZES:
        with pytest.raises(np.linalg.LinAlgError):
            fz.function([m], fz.grad(build(m), m), mode=mode)(singular(size))
        gradient = fz.grad(build(m, on_error="nan"), m)
        assert np.isnan(fz.function([m], gradient, mode=mode)(singular(size))).any()
        nan = fz.Mode(mode, on_error="nan")
        gradient = fz.function([m], fz.grad(build(m), m), mode=nan)
        assert np.isnan(gradient(singular(size))).any()


def test_a_mode_reaches_the_graphs_of_ops(mode):
    factor = fz.OpFromGraph([m], [ft.linalg.cholesky(m)])(m)
    chosen = fz.ifelse(m[0, 0] > 0, factor, m)
    steps = fz.scan(
        lambda a: ft.linalg.cholesky(a), outputs_info=[m], n_steps=2, return_updates=False
    )
    f = fz.function([m], [chosen, steps[-1]], mode=fz.Mode(mode, on_error="nan"))
    bad = indefinite(4)
    assert all(np.isnan(result).any() for result in f(bad))
    again = pickle.loads(pickle.dumps(f))
    assert all(np.isnan(result).any() for result in again(bad))
    assert all(np.isfinite(result).all() for result in f(np.eye(4)))


# Factors of small integers, with powers of two on the diagonal, are found without rounding: what
# fails then, a pivot of zero or less, is not for rounding to decide.
@given(
    st.integers(1, 12),
    st.integers(0, 2**32 - 1),
    st.sampled_from([None, 0, 1]),
    st.sampled_from(["float32", "float64"]),
)
def test_linkers_agree_on_what_fails(size, seed, lacking, dtype):
    rng = np.random.default_rng(seed)
    factor = np.tril(rng.integers(-2, 3, (size, size)), -1) + np.diag(rng.choice([1, 2, 4], size))
    solution = rng.integers(-2, 3, (size, 2))
    whole, triangle = factor @ factor.T, factor.copy()
    if lacking is not None:
        at = rng.integers(size)
        whole[at, at] -= factor[at, at] ** 2 + lacking
        triangle[at, at] = 0
    matrix = fz.TensorType(dtype, (None, None))
    x, t, y = matrix("x"), matrix("t"), matrix("y")
    outputs = [
        ft.linalg.cholesky(x, on_error="nan"),
        ft.linalg.solve_triangular(t, y, lower=True, on_error="nan"),
    ]
    values = [each.astype(dtype) for each in (whole, triangle, triangle @ solution)]
    for mode in ("py", "c"):
        made = fz.function([x, t, y], outputs, mode=mode)(*values)
        for one, expected in zip(made, (factor, solution), strict=True):
            np.testing.assert_array_equal(one, expected if lacking is None else one * np.nan)


def test_what_is_neither_is_refused():
    with pytest.raises(ValueError, match="on_error must be 'raise' or 'nan'; given 'ignore'"):
        ft.linalg.cholesky(m, on_error="ignore")
    with pytest.raises(ValueError, match="on_error must be 'raise', 'nan' or None; given 'no'"):
        fz.Mode(on_error="no")
    assert Cholesky(True) is Cholesky(True, "raise")
