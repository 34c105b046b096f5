"""Eigenvalues and singular values of small matrices, which loops of our own find."""

import numpy as np
import pytest
from agreement import modes
from hypothesis import given, settings
from hypothesis import strategies as st

import frazil as fz
import frazil.tensor as ft

NATIVE = ["c", "cranelift", "numba"]
FEW = settings(max_examples=settings.default.max_examples // 4)
KINDS = [
    "plain",
    "integers",
    "graded",
    "repeated",
    "clustered",
    "rank one",
    "zeros",
    "far apart",
    "hollow",
]
shapes = st.tuples(st.integers(1, 8), st.integers(1, 8))
dtypes = st.sampled_from(["float64", "float32"])


def values(function, x, mode):
    return fz.function([x], function(x), mode=mode)


def drawn(kind, rows, columns, seed):
    rng = np.random.default_rng(seed)
    a = rng.normal(size=(rows, columns))
    scales = [10.0 ** -np.linspace(0, 12, n) for n in (rows, columns)]
    return {
        "plain": lambda: a,
        "integers": lambda: rng.integers(-2, 3, a.shape).astype(float),
        "graded": lambda: scales[0][rng.permutation(rows), None] * a * scales[1],
        "repeated": lambda: np.eye(rows, columns)[rng.permutation(rows)],
        "clustered": lambda: np.eye(rows, columns) + 10.0 ** rng.uniform(-14, -6) * a,
        "rank one": lambda: np.outer(a[:, 0], a[0]),
        "zeros": lambda: np.zeros_like(a),
        "far apart": lambda: a * 10.0 ** rng.uniform(-30, 30, a.shape),
        "hollow": lambda: np.where(np.eye(rows, columns) > 0, 0, a),
    }[kind]()


def check(found, expected, dtype):
    """Errors are a few units of the last place of the largest value."""
    assert found.shape == expected.shape
    assert found.dtype == dtype
    largest = np.abs(expected).max(initial=0)
    assert np.abs(found - expected).max(initial=0) <= 16 * np.finfo(dtype).eps * largest


@given(modes, shapes, st.sampled_from(KINDS), dtypes, st.integers(0, 9))
@FEW
def test_values_are_those_of_lapack(mode, shape, kind, dtype, seed):
    a = drawn(kind, *shape, seed).astype(dtype)
    x = ft.matrix("x", dtype=dtype)
    expected = np.linalg.svd(a.astype("float64"), compute_uv=False)
    check(values(ft.linalg.svdvals, x, mode)(a), expected, dtype)
    square = a[: min(shape), : min(shape)]
    for part in "LU":
        half = np.tril(square) if part == "L" else np.triu(square)
        expected = np.linalg.eigvalsh(half.astype("float64"), part)
        other = np.tril(np.full_like(half, np.nan), -1)
        read = half + (other.T if part == "L" else other)
        found = values(lambda x, part=part: ft.linalg.eigvalsh(x, part), x, mode)(read)
        check(found, expected, dtype)


@pytest.mark.parametrize("mode", NATIVE)
@pytest.mark.parametrize("shape", [(3, 3), (5, 5), (8, 8), (8, 3), (2, 7)])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_bits_do_not_depend_on_other_matrices(shape, dtype, mode):
    a = np.stack([drawn(KINDS[at % len(KINDS)], *shape, at) for at in range(23)]).astype(dtype)
    a[5], a[11] = 1e-300, 3e38
    matrix, stack = ft.matrix("x", dtype=dtype), ft.tensor3("y", dtype=dtype)
    order = np.random.default_rng(0).permutation(len(a))
    functions = [ft.linalg.svdvals]
    if shape[0] == shape[1]:
        functions.append(ft.linalg.eigvalsh)
    for function in functions:
        together, alone = values(function, stack, mode), values(function, matrix, mode)
        found = together(a)
        np.testing.assert_array_equal(together(a[order]), found[order])
        np.testing.assert_array_equal(together(a[:, ::-1, ::-1][:, ::-1, ::-1]), found)
        np.testing.assert_array_equal(np.stack([alone(one) for one in a]), found)
        others = [values(function, stack, other)(a) for other in NATIVE if other != mode]
        for other in others:
            np.testing.assert_array_equal(other, found)


@pytest.mark.parametrize("mode", NATIVE)
def test_small_singular_values_have_all_their_digits(mode):
    # The same matrix, the other way round: columns that get smaller, and ones that get larger.
    a = np.stack([drawn("plain", 5, 5, seed) for seed in range(20)])
    a = a * 10.0 ** -np.linspace(0, 20, 5)
    found = values(ft.linalg.svdvals, ft.tensor3("x"), mode)
    np.testing.assert_allclose(found(a), found(a[:, :, ::-1]), rtol=1e-12)


@pytest.mark.parametrize("n", [1, 3, 8])
@pytest.mark.parametrize("size", [1e-310, 1e-200, 1e200, 1e307])
def test_sizes_of_elements_at_the_ends_of_the_range(n, size, mode):
    a = drawn("plain", n, n, 1) * size
    x = ft.matrix("x")
    with np.errstate(over="ignore"):
        for function, by_numpy in (
            (ft.linalg.svdvals, lambda a: np.linalg.svd(a, compute_uv=False)),
            (ft.linalg.eigvalsh, np.linalg.eigvalsh),
        ):
            found = values(function, x, mode)(a)
            np.testing.assert_allclose(found, by_numpy(a), rtol=1e-9)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_elements_that_are_not_finite(bad, dtype, mode):
    a = np.stack([drawn("plain", 3, 3, seed) for seed in range(6)]).astype(dtype)
    a[4, 2, 1] = bad
    x = ft.tensor3("x", dtype=dtype)
    for function in (ft.linalg.svdvals, ft.linalg.eigvalsh):
        with pytest.raises(np.linalg.LinAlgError, match="did not converge"):
            values(function, x, mode)(a)
        found = values(lambda x, of=function: of(x, on_error="nan"), x, mode)(a)
        assert np.isnan(found[4]).all()
        rest = np.delete(np.arange(6), 4)
        clean = values(function, x, mode)(a[rest])
        np.testing.assert_array_equal(found[rest], clean)
