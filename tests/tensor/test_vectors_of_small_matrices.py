"""Eigenvectors and singular vectors of small matrices, which loops of our own find."""

import numpy as np
import pytest
from agreement import modes
from hypothesis import given, settings
from hypothesis import strategies as st

import frazil as fz
import frazil.tensor as ft

FEW = settings(max_examples=settings.default.max_examples // 4)
sizes, seeds = st.integers(1, 8), st.integers(0, 9)
dtypes = st.sampled_from(["float64", "float32"])
KINDS = {
    "plain": lambda a, rng: a,
    "integers": lambda a, rng: rng.integers(-2, 3, a.shape).astype(float),
    "graded": lambda a, rng: 10.0 ** -np.linspace(0, 8, len(a))[:, None] * a,
    "repeated": lambda a, rng: np.eye(len(a))[rng.permutation(len(a))],
    "clustered": lambda a, rng: np.eye(len(a)) + 1e-9 * (a + a.T),
    "rank one": lambda a, rng: np.outer(a[:, 0], a[:, 0]),
    "zeros": lambda a, rng: np.zeros_like(a),
    "diagonal": lambda a, rng: np.diag(a[0]),
    "three diagonals": lambda a, rng: np.tril(np.triu(a, -1), 1),
    "far apart": lambda a, rng: a * 10.0 ** rng.uniform(-30, 30, a.shape),
}


def drawn(kind, n, seed):
    rng = np.random.default_rng(seed)
    return KINDS[kind](rng.normal(size=(n, n)), rng)


def compiled(function, x, mode):
    return fz.function([x], list(function(x)), mode=mode)


def symmetric(a, part):
    half = np.tril(a) if part == "L" else np.triu(a)
    return half + half.T - np.diag(np.diag(half))


def check_vectors(found, expected, a):
    """The product of the factors is the matrix, and vectors are orthogonal, to a few roundings."""
    left, values, right = found
    eps = np.finfo(a.dtype).eps
    assert all(one.dtype == a.dtype for one in found)
    largest = np.abs(expected).max(initial=0)
    assert np.abs(values - expected).max() <= 32 * eps * largest
    assert np.abs(left * values @ right - a).max() <= 64 * eps * largest
    for vectors in (left, right):
        assert np.abs(vectors.T @ vectors - np.eye(len(a))).max() <= 32 * eps


@given(modes, sizes, st.sampled_from(sorted(KINDS)), dtypes, seeds)
@FEW
def test_products_of_vectors_and_values_are_the_matrix(mode, n, kind, dtype, seed):
    a = drawn(kind, n, seed).astype(dtype)
    x = ft.matrix("x", dtype=dtype)
    values = np.linalg.svd(a.astype("float64"), compute_uv=False)
    check_vectors(compiled(ft.linalg.svd, x, mode)(a), values, a)
    for part in "LU":
        whole = symmetric(a, part)
        w, v = compiled(lambda x, part=part: ft.linalg.eigh(x, part), x, mode)(a)
        assert (np.diff(w) >= 0).all()
        check_vectors((v, w, v.T), np.linalg.eigvalsh(whole.astype("float64")), whole)


@given(modes, sizes, dtypes, seeds)
@FEW
def test_vectors_have_the_signs_that_lapack_gives_them(mode, n, dtype, seed):
    a = drawn("plain", n, seed).astype(dtype)
    x = ft.matrix("x", dtype=dtype)
    found = compiled(ft.linalg.svd, x, mode)(a)
    expected = list(np.linalg.svd(a))
    for part in "LU":
        found += compiled(lambda x, part=part: ft.linalg.eigh(x, part), x, mode)(a)
        expected += np.linalg.eigh(a, part)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-8 if dtype == "float64" else 1e-5)


@pytest.mark.parametrize("n", [1, 2, 3, 8])
@pytest.mark.parametrize("size", [5e-324, 1e-310, 1e-300, 1e300])
def test_sizes_of_elements_at_the_ends_of_the_range(n, size, mode):
    a = drawn("plain", n, 1) * size
    x = ft.matrix("x")
    u, s, vt = compiled(ft.linalg.svd, x, mode)(a)
    for found, expected in zip((u, s, vt), np.linalg.svd(a), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=0 if found is s else 1e-9)
    w, v = compiled(ft.linalg.eigh, x, mode)(a)
    expected = np.linalg.eigh(a)
    np.testing.assert_allclose(w, expected[0], rtol=1e-9)
    np.testing.assert_allclose(v, expected[1], atol=1e-9)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_elements_that_are_not_finite(bad, mode):
    a = np.stack([drawn("plain", 3, seed) for seed in range(6)])
    x = ft.tensor3("x")
    clean = {name: compiled(getattr(ft.linalg, name), x, mode)(a) for name in ("svd", "eigh")}
    a[4, 2, 1] = bad
    for name, expected in clean.items():
        function = getattr(ft.linalg, name)
        with pytest.raises(np.linalg.LinAlgError, match="did not converge"):
            compiled(function, x, mode)(a)
        kept = compiled(lambda x, of=function: of(x, on_error="nan"), x, mode)(a)
        for found, one in zip(kept, expected, strict=True):
            assert np.isnan(found[4]).all()
            np.testing.assert_array_equal(np.delete(found, 4, 0), np.delete(one, 4, 0))


def test_stacks_of_other_layouts(mode):
    a = np.stack([drawn("plain", 4, seed) for seed in range(7)])
    x = ft.tensor3("x")
    for function in (ft.linalg.svd, ft.linalg.eigh):
        of = compiled(function, x, mode)
        for given_ in (a[::-1], a[:, ::-1, ::-1], np.asfortranarray(a), a.transpose(0, 2, 1)):
            for one, other in zip(of(given_), of(np.ascontiguousarray(given_)), strict=True):
                np.testing.assert_array_equal(one, other)
