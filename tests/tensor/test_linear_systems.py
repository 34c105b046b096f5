"""Solutions, inverses and determinants agree with SciPy, and their gradients with differences."""

import numpy as np
import pytest
import scipy.linalg
from agreement import check, like, modes
from hypothesis import given, settings
from hypothesis import strategies as st

import frazil as fz
import frazil.tensor as ft
from frazil.tensor.linalg import Solve
from frazil.testing import verify_grad

lengths = st.sampled_from([0, 1, 2, 4, 8, 9, 20])
dtypes = st.sampled_from(["float64", "float32"])
kinds = st.sampled_from(["gen", "pos", "lower triangular", "upper triangular"])


def regular(n, seed=0, dtype="float64"):
    """A matrix that is far from singular, whose rows must change places."""
    a = np.random.default_rng(seed).normal(size=(n, n)) / max(n, 1) + 2 * np.eye(n)
    return a[::-1].astype(dtype)


def positive(n, seed=0, dtype="float64"):
    a = np.random.default_rng(seed).normal(size=(n, n)) / max(n, 1) ** 0.5
    return (a @ a.T + np.eye(n)).astype(dtype)


@given(st.data(), modes, lengths, dtypes, kinds, st.booleans(), st.booleans())
def test_solve_agrees_with_scipy(data, mode, n, dtype, kind, transposed, fortran):
    a = positive(n, n, dtype) if kind == "pos" else regular(n, n, dtype)
    if "triangular" in kind:
        a = a[::-1].copy()
    columns = data.draw(st.none() | st.integers(0, 3))
    b = np.random.default_rng(n).normal(size=(n,) if columns is None else (n, columns))
    b = b.astype(dtype)
    seen = {"lower triangular": np.tril, "upper triangular": np.triu}.get(kind, np.asarray)(a)
    expected = np.linalg.solve(seen.T if transposed else seen, b)
    if fortran:
        a, b = np.asfortranarray(a), np.asfortranarray(b)
    x, y = like(data.draw, a), like(data.draw, b)
    solution = ft.linalg.solve(x, y, assume_a=kind, transposed=transposed)
    check(solution, {x: a, y: b}, expected, mode, rtol=1e-9 if dtype == "float64" else 1e-3)


@given(modes, st.sampled_from([1, 3, 9, 20]), dtypes, st.booleans(), st.booleans())
def test_a_singular_matrix_has_no_solution_of_no_columns(mode, n, dtype, batched, transposed):
    x, y = ft.tensor("x", dtype=dtype, shape=(None,) * (2 + batched)), ft.matrix("y", dtype=dtype)
    f = fz.function([x, y], ft.linalg.solve(x, y, transposed=transposed), mode=mode)
    good, none = regular(n, n, dtype), np.zeros((n, 0), dtype)
    front = (2,) * batched
    assert f(np.broadcast_to(good, (*front, n, n)), none).shape == (*front, n, 0)
    bad = np.zeros((*front, n, n), dtype)
    with pytest.raises(np.linalg.LinAlgError, match="singular"):
        f(bad, none)
    with pytest.raises(np.linalg.LinAlgError):
        np.linalg.solve(bad, none)


@given(st.data(), modes, lengths, dtypes)
@settings(max_examples=settings.default.max_examples // 5)  # four functions each
def test_inverses_and_determinants_agree_with_numpy(data, mode, n, dtype):
    a = regular(n, n, dtype)
    if n:
        a[0] *= data.draw(st.sampled_from([1, -1, 1e-3]))
    x = like(data.draw, a)
    check(ft.linalg.inv(x), {x: a}, np.linalg.inv(a), mode, rtol=1e-8)
    check(ft.linalg.det(x), {x: a}, np.linalg.det(a), mode, rtol=1e-8)
    for found, expected in zip(ft.linalg.slogdet(x), np.linalg.slogdet(a), strict=True):
        check(found, {x: a}, expected, mode, rtol=1e-8)


@given(st.data(), modes, lengths, dtypes, st.booleans())
def test_factors_agree_with_scipy(data, mode, n, dtype, trans):
    a = regular(n, n, dtype)
    x = like(data.draw, a)
    factors, pivots = ft.linalg.lu_factor(x)
    expected = scipy.linalg.lu_factor(a) if n else (a, np.zeros(0, "int32"))
    check(factors, {x: a}, expected[0], mode, rtol=1e-9)
    check(pivots, {x: a}, expected[1].astype("int32"), mode)
    b = np.arange(n).astype(dtype)
    solution = ft.linalg.lu_solve((factors, pivots), b, trans)
    check(solution, {x: a}, np.linalg.solve(a.T if trans else a, b), mode, rtol=1e-9)


@pytest.mark.parametrize("kind", ["gen", "pos", "lower triangular", "upper triangular"])
@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("shape", [(3,), (3, 2), (10, 2)])
def test_gradients_of_solve(kind, transposed, shape, mode):
    def solution(a, b):
        return ft.linalg.solve(a, b, assume_a=kind, transposed=transposed)

    a = positive(shape[0]) if kind != "gen" else regular(shape[0])
    b = np.random.default_rng(1).normal(size=shape)
    verify_grad(solution, [a, b], mode=mode)
    if shape[0] == 3:

        def slope(a, b):
            return fz.grad(ft.sum(solution(a, b) ** 2), [a, b])[0]

        verify_grad(slope, [a, b], mode=mode)


@pytest.mark.parametrize("n", [1, 3, 10])
def test_gradients_of_inverses_determinants_and_factors(n, mode):
    a = regular(n)
    for function in (
        ft.linalg.inv,
        ft.linalg.det,
        lambda x: ft.linalg.slogdet(x)[1],
        lambda x: ft.linalg.lu_factor(x)[0] ** 2,
        lambda x: ft.linalg.lu_solve(ft.linalg.lu_factor(x), x[0], n == 3) ** 2,
    ):
        verify_grad(function, [a], mode=mode)
        if n == 3:
            verify_grad(lambda x, of=function: fz.grad(ft.sum(of(x) ** 2), x), [a], mode=mode)


@pytest.mark.parametrize("n", [2, 12])
def test_singular_matrices(n, mode):
    x, b = ft.matrix("x"), ft.vector("b")
    singular = np.zeros((n, n))
    singular[0] = 1.0
    for result in (
        ft.linalg.solve(x, b),
        ft.linalg.inv(x)[0],
        fz.grad(ft.linalg.det(x), x)[0],
        fz.grad(ft.linalg.slogdet(x)[1], x)[0],
    ):
        function = fz.function([x, b], result, mode=mode, on_unused_input="ignore")
        with pytest.raises(np.linalg.LinAlgError, match=r"is singular: (pivot|element) 1 of"):
            function(singular, np.ones(n))
    assert ft.linalg.det(x).eval({x: singular}) == 0
    assert [one.eval({x: singular}) for one in ft.linalg.slogdet(x)] == [0, -np.inf]
    definite = fz.function([x, b], ft.linalg.solve(x, b, assume_a="pos"), mode=mode)
    with pytest.raises(np.linalg.LinAlgError, match="not positive definite"):
        definite(-np.eye(n), np.ones(n))


@pytest.mark.parametrize("dtype", ["float64", "float32", "complex128"])
def test_a_zero_beside_an_infinite_product_is_a_determinant_of_zero(mode, dtype):
    x = ft.tensor(dtype=dtype, shape=(None, None))
    f = fz.function([x], ft.linalg.det(x), mode=mode)
    large = np.sqrt(np.finfo(dtype).max) * 2
    for elements in [large, large, 0.0], [0.0, large, large], [large, 0.0, large, 1.0]:
        assert f(np.diag(elements).astype(dtype)) == 0
    assert np.isnan(f(np.diag([np.nan, 1.0]).astype(dtype)))
    assert f(np.diag([2.0, -3.0]).astype(dtype)) == -6


def test_one_matrix_is_factored_once():
    x, b = ft.matrix("x"), ft.vector("b")
    cost = ft.sum(ft.linalg.solve(x, b)) + ft.linalg.slogdet(x)[1]
    function = fz.function([x, b], [cost, *fz.grad(cost, [x, b])], mode="c")
    text = str(function.explain())
    assert text.count("= lu %") == 1
    assert "call" not in text


def test_bad_operands(mode):
    x, b = ft.matrix("x"), ft.vector("b")
    with pytest.raises(ValueError, match="assume_a must be one of 'general'"):
        ft.linalg.solve(x, b, assume_a="toeplitz")
    with pytest.raises(ValueError, match="b_ndim=2, but the right side is"):
        ft.linalg.solve(x, b, b_ndim=2)
    with pytest.raises(ValueError, match="square matrix"):
        ft.linalg.inv(ft.tensor(shape=(2, 3)))
    with pytest.raises(ValueError, match="as many rows as the matrix, 2"):
        ft.linalg.solve(ft.tensor(shape=(2, 2)), ft.tensor(shape=(3,)))
    with pytest.raises(TypeError, match="a vector or a matrix"):
        Solve("N")(x, *ft.linalg.lu_factor(x), ft.fvector())
    with pytest.raises(TypeError, match="int32 vector"):
        ft.linalg.lu_solve((x, b), b)
    function = fz.function([x, b], ft.linalg.solve(x, b), mode=mode)
    with pytest.raises(ValueError, match="square"):
        function(np.ones((2, 3)), np.ones(2))
    with pytest.raises(ValueError, match="3"):
        function(np.eye(2), np.ones(3))
    assert ft.linalg.solve(ft.imatrix(), ft.fvector()).dtype == "float64"
    assert ft.linalg.solve(ft.fmatrix(), ft.fvector()).dtype == "float32"
    assert ft.linalg.inv(ft.imatrix()).dtype == "float64"


@settings(max_examples=25)
@given(
    data=st.data(),
    fronts=st.sampled_from(
        [((), (4,)), ((1,), (4,)), ((), (2, 0)), ((1, 1), (3,)), ((1,), (2, 3))]
    ),
    b_ndim=st.sampled_from([1, 2]),
    static=st.booleans(),
)
def test_vectors_beside_one_matrix_are_solved_together(data, fronts, b_ndim, static):
    (one, many), rng = fronts, np.random.default_rng(1)
    a_value = regular(5)[(None,) * len(one)]
    b_value = rng.normal(size=(*many, 5)) if b_ndim == 1 else rng.normal(size=(*many, 5, 1))
    a = ft.tensor("a", dtype="float64", shape=(*one, 5, 5) if static else (*one, None, None))
    b = ft.tensor(
        "b", dtype="float64", shape=[n if static or n == 1 else None for n in b_value.shape]
    )
    solutions = [
        ft.linalg.solve(a, b, b_ndim=b_ndim),
        ft.linalg.solve_triangular(a, b, lower=True, b_ndim=b_ndim),
        ft.linalg.lu_solve(ft.linalg.lu_factor(a), b, b_ndim=b_ndim),
    ]
    columns = b_value if b_ndim == 2 else b_value[..., None]
    full, lower = np.linalg.solve(a_value, columns), np.linalg.solve(np.tril(a_value), columns)
    results = fz.function([a, b], solutions, mode=data.draw(modes))(a_value, b_value)
    for result, wanted in zip(results, (full, lower, full), strict=True):
        wanted = wanted if b_ndim == 2 else wanted[..., 0]
        assert result.shape == wanted.shape
        np.testing.assert_allclose(result, wanted, rtol=1e-9, atol=1e-11)


def test_a_batch_of_vectors_is_one_system():
    a, x, batch = ft.matrix("a"), ft.vector("x"), ft.matrix("batch")
    together = fz.vectorize(ft.linalg.solve(a, x), {x: batch})
    direct = ft.linalg.solve(a, batch, b_ndim=1)
    assert together is direct
