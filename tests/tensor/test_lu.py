"""LU factors of matrices of any shape, as SciPy finds them; and their gradients, once and twice."""

import numpy as np
import pytest
import scipy.linalg
from agreement import agree, compiled, like, modes
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import evaluate

import frazil as fz
import frazil.tensor as ft
from frazil.testing import verify_grad

FEW = settings(max_examples=settings.default.max_examples // 4)
fronts = st.sampled_from([(), (1,), (3,), (0,), (2, 3)])
sizes = st.sampled_from(
    [(1, 1), (3, 3), (9, 9), (1, 4), (4, 1), (3, 5), (8, 2), (12, 70), (130, 20), (0, 2), (4, 0)]
)
dtypes = st.sampled_from(["float64", "float32", "complex128"])
layouts = st.sampled_from(
    [np.ascontiguousarray, np.asfortranarray, lambda a: np.flip(np.flip(a).copy())]
)


def drawn(shape, dtype="float64"):
    rng = np.random.default_rng(len(shape))
    a = rng.normal(size=shape)
    return (a + 1j * rng.normal(size=shape) if dtype == "complex128" else a).astype(dtype)


@pytest.mark.parametrize("size", [(59, 61), (60, 60), (67, 101), (101, 67), (128, 128), (203, 199)])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_factors_by_panels_are_lapacks(size, dtype):
    a = np.random.default_rng(3).normal(size=size)
    a += 1000 * np.eye(*size)[np.random.default_rng(4).permutation(size[0])]
    a = a.astype(dtype)
    a[:, size[1] // 3] = 0  # no pivot there
    a[size[0] // 2] *= -1
    x = ft.matrix("x", dtype=dtype)
    factors, pivots = fz.function([x], list(ft.linalg.lu_factor(x)), mode="cranelift")(a)
    expected = scipy.linalg.lapack.get_lapack_funcs(("getrf",), (a,))[0](a)
    np.testing.assert_array_equal(pivots, expected[1])
    # Elements reach 1,000, and each is a sum of up to 199 products, in an order of LAPACK's choice.
    limit = 1000 * 199 * np.finfo(dtype).eps
    np.testing.assert_allclose(factors, expected[0], atol=limit)


def by_scipy(a):
    """The factors, pivots, permutation and places of rows of each matrix of a stack."""
    rows, columns = a.shape[-2:]
    fewer = min(rows, columns)
    stacks = [
        np.zeros((*a.shape[:-2], *shape), dtype)
        for shape, dtype in [
            ((rows, columns), a.dtype),
            ((fewer,), "int32"),
            ((rows, rows), a.real.dtype),
            ((rows,), "int64"),
        ]
    ]
    for at in np.ndindex(*a.shape[:-2]):
        p, places = np.eye(rows, dtype=a.real.dtype), np.arange(rows)
        if a[at].size:
            factors, pivots = scipy.linalg.lu_factor(a[at])
            p, places = scipy.linalg.lu(a[at])[0], scipy.linalg.lu(a[at], p_indices=True)[0]
            stacks[0][at], stacks[1][at] = factors, pivots
        stacks[2][at], stacks[3][at] = p, places
    return stacks


@given(st.data(), modes, fronts, sizes, dtypes, layouts)
@FEW
def test_factors_are_those_of_scipy(data, mode, front, size, dtype, layout):
    a = layout(drawn((*front, *size), dtype))
    x = like(data.draw, a)
    fewer = min(size)
    factors, pivots, p, places = by_scipy(a)
    lower = np.tril(factors[..., :fewer], -1) + np.eye(size[0], fewer, dtype=dtype)
    upper = np.triu(factors[..., :fewer, :])
    permuted = np.take_along_axis(lower, places[..., None], -2)
    expected = [factors, pivots, p, lower, upper, places, lower, upper, permuted, upper]
    outputs = [
        *ft.linalg.lu_factor(x),
        *ft.linalg.lu(x),
        *ft.linalg.lu(x, p_indices=True),
        *ft.linalg.lu(x, permute_l=True),
    ]
    given = {x: a}
    for found in ([evaluate(one, given) for one in outputs], compiled(outputs, given, mode)):
        for one, array in zip(found, expected, strict=True):
            assert one.dtype == array.dtype
            agree(one, array, 1e-9)


@given(st.data(), modes, fronts, sizes)
@FEW
def test_products_of_the_factors_are_the_matrices(data, mode, front, size):
    a = drawn((*front, *size))
    x = like(data.draw, a)
    p, lower, upper = ft.linalg.lu(x)
    places, *_ = ft.linalg.lu(x, p_indices=True)
    rows = ft.take_along_axis(lower @ upper, places[..., None], -2)
    for found in compiled([p @ lower @ upper, rows], {x: a}, mode):
        agree(found, a, 1e-9)


FACTORS = {
    "packed": lambda x: ft.linalg.lu_factor(x)[0] ** 2,
    "permuted": lambda x: ft.linalg.lu(x, permute_l=True)[0] ** 3,
    "lower": lambda x: ft.linalg.lu(x)[1] ** 3,
    "upper": lambda x: ft.linalg.lu(x)[2] ** 2,
}


@pytest.mark.parametrize("name", FACTORS)
@pytest.mark.parametrize("shape", [(1, 1), (2, 5), (5, 2), (2, 4, 3), (2, 3, 4)])
def test_gradients_of_factors(name, shape, mode):
    verify_grad(FACTORS[name], [drawn(shape)], mode=mode)


@pytest.mark.parametrize("shape", [(2, 2), (2, 3), (3, 2)])
def test_second_gradients_of_factors(shape, mode):
    def slope(x):
        lower, upper = ft.linalg.lu(x, permute_l=True)
        return fz.grad(ft.sum(lower**3) + ft.sum(upper**2), x)

    verify_grad(slope, [drawn(shape)], mode=mode)


@pytest.mark.parametrize("shape", [(3, 5), (5, 3)])
def test_gradients_of_matrices_of_lengths_that_calls_tell(shape, mode):
    x = ft.matrix("x")
    _, lower, upper = ft.linalg.lu(x)
    slope = fz.grad(ft.sum(lower**3) + ft.sum(upper**2), x)
    known = ft.tensor("known", dtype="float64", shape=shape)
    _, lower, upper = ft.linalg.lu(known)
    same = fz.grad(ft.sum(lower**3) + ft.sum(upper**2), known)
    a = drawn(shape)
    (found,), (expected,) = compiled([slope], {x: a}, mode), compiled([same], {known: a}, mode)
    agree(found, expected, 1e-12)


@pytest.mark.parametrize("shape", [(2, 4), (4, 2)])
def test_factors_over_a_batch(shape, mode):
    a = drawn((3, *shape))
    x, batch = (
        ft.tensor(name, dtype="float64", shape=one)
        for name, one in (("x", shape), ("batch", a.shape))
    )
    outputs = [*ft.linalg.lu(x), *ft.linalg.lu_factor(x)]
    found = compiled(fz.vectorize(outputs, {x: batch}), {batch: a}, mode)
    single = [evaluate(one, {x: a[at]}) for at in range(3) for one in outputs]
    for at, one in enumerate(found):
        agree(one, np.stack(single[at :: len(outputs)]), 1e-12)


def test_systems_refuse_factors_that_are_not_square(mode):
    x, b = ft.matrix("x"), ft.vector("b")
    solution = fz.function([x, b], ft.linalg.lu_solve(ft.linalg.lu_factor(x), b), mode=mode)
    with pytest.raises((ValueError, np.linalg.LinAlgError), match="square"):
        solution(drawn((3, 2)), np.ones(3))
    agree(solution(np.eye(3)[::-1], np.arange(3.0)), np.arange(3.0)[::-1], 1e-12)
    with pytest.raises(np.linalg.LinAlgError, match="square"):
        ft.linalg.lu_solve(ft.linalg.lu_factor(np.ones((3, 2))), b)


def test_factors_of_what_is_no_matrix():
    with pytest.raises(np.linalg.LinAlgError, match="takes a matrix"):
        ft.linalg.lu(ft.vector("v"))
    with pytest.raises(np.linalg.LinAlgError, match="takes a matrix"):
        ft.linalg.lu_factor(ft.vector("v"))
