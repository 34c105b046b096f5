"""Systems with few diagonals agree with SciPy and with full ones, and so do their gradients."""

import numpy as np
import pytest
import scipy.linalg
from agreement import check, like, modes
from hypothesis import given, settings
from hypothesis import strategies as st

import frazil as fz
import frazil.tensor as ft
from frazil.tensor.linalg import SolveBanded
from frazil.testing import verify_grad

FEW = settings(max_examples=settings.default.max_examples // 2)
dtypes = st.sampled_from(["float64", "float32"])
counts = st.integers(0, 3)
layouts = st.sampled_from(
    [np.ascontiguousarray, np.asfortranarray, lambda a: np.flip(np.flip(a).copy())]
)
KINDS = {"diagonal": (0, 0), "tridiagonal": (1, 1)}


def banded(n, below, above, seed=0):
    """A regular matrix with so many diagonals, whose rows must change places."""
    a = np.random.default_rng(seed).normal(size=(n, n))
    for row in range(n):
        a[row, max(row - below, 0) if row % 2 else min(row + above, n - 1)] += 3.0
    a[np.arange(n), np.arange(n)] += 4.0
    return np.triu(np.tril(a, above), -below)


def packed(a, below, above):
    """The diagonals, with NaN where there is no element."""
    n = len(a)
    rows = np.full((below + above + 1, n), np.nan, a.dtype)
    for k in range(-min(below, n), min(above, n) + 1):
        rows[above - k, max(k, 0) : max(n + min(k, 0), 0)] = np.diagonal(a, k)
    return rows


def right(n, columns, dtype="float64"):
    shape = (n,) if columns is None else (n, columns)
    return np.random.default_rng(n).normal(size=shape).astype(dtype)


@given(st.data(), modes, st.sampled_from([0, 1, 2, 5, 9, 20]), counts, counts, dtypes, layouts)
@FEW
def test_few_diagonals(data, mode, n, below, above, dtype, layout):
    a = banded(n, below, above).astype(dtype)
    b = layout(right(n, data.draw(st.none() | st.integers(0, 3)), dtype))
    transposed = data.draw(st.booleans())
    expected = np.linalg.solve(a.T if transposed else a, b)
    x, y = like(data.draw, layout(a)), like(data.draw, b)
    solution = ft.linalg.solve(x, y, assume_a="banded", transposed=transposed)
    check(solution, {x: layout(a), y: b}, expected, mode, rtol=1e-9)
    if n > 1 or transposed is False:
        rows = layout(packed(a, below, above))
        z = like(data.draw, rows)
        solution = ft.linalg.solve_banded((below, above), z, y)
        check(solution, {z: rows, y: b}, np.linalg.solve(a, b), mode, rtol=1e-9)


@given(st.data(), modes, st.sampled_from([0, 1, 2, 3, 12]), dtypes, st.sampled_from([*KINDS]))
@FEW
def test_other_diagonals_are_not_read(data, mode, n, dtype, kind):
    below, above = KINDS[kind]
    a = banded(n, below, above).astype(dtype)
    dirty = np.where(np.tri(n, k=above) * np.tri(n, k=below).T > 0, a, np.nan).astype(dtype)
    b = right(n, data.draw(st.none() | st.just(2)), dtype)
    x, y = like(data.draw, a), like(data.draw, b)
    for transposed in (False, True):
        solution = ft.linalg.solve(x, y, assume_a=kind, transposed=transposed)
        expected = np.linalg.solve(a.T if transposed else a, b)
        check(solution, {x: dirty, y: b}, expected, mode, rtol=1e-9)


def test_scipy_agrees(mode):
    n = 30
    rows, b = packed(banded(n, 2, 1), 2, 1), right(n, 3)
    x, y = ft.matrix("x"), ft.matrix("y")
    expected = scipy.linalg.solve_banded((2, 1), np.nan_to_num(rows), b)
    check(ft.linalg.solve_banded((2, 1), x, y), {x: rows, y: b}, expected, mode, rtol=1e-10)


def test_stacks_broadcast(mode):
    matrices = np.stack([banded(6, 2, 1, seed) for seed in range(3)])
    rows = np.stack([packed(one, 2, 1) for one in matrices])
    b = np.random.default_rng(0).normal(size=(2, 1, 6))
    x, y = ft.tensor3("x"), ft.tensor("y", shape=(None, 1, None))
    expected = np.linalg.solve(matrices, b[..., None])[..., 0]
    solution = ft.linalg.solve_banded((2, 1), x, y, b_ndim=1)
    check(solution, {x: rows, y: b}, expected, mode, rtol=1e-10)
    solution = ft.linalg.solve(x, y, assume_a="banded", b_ndim=1)
    check(solution, {x: matrices, y: b}, expected, mode, rtol=1e-10)


@pytest.mark.parametrize("columns", [None, 2])
@pytest.mark.parametrize("transposed", [False, True])
def test_gradients_of_matrices(columns, transposed, mode):
    a, b = banded(4, 1, 1), right(4, columns)
    for kind in ("diagonal", "tridiagonal", "banded"):

        def solution(a, b, kind=kind):
            return ft.linalg.solve(a, b, assume_a=kind, transposed=transposed)

        # Of a banded matrix all elements count: those that are zero may become another number.
        verify_grad(solution, [a, b], mode=mode)
    verify_grad(lambda a, b: fz.grad(ft.sum(solution(a, b) ** 2), a), [a, b], mode="py")


@pytest.mark.parametrize("columns", [None, 2])
@pytest.mark.parametrize("bands", [(0, 0), (1, 2), (2, 0), (5, 1)])
def test_gradients_of_diagonals(columns, bands, mode):
    def solution(rows, b):
        return ft.linalg.solve_banded(bands, rows, b)

    rows, b = np.nan_to_num(packed(banded(4, *bands), *bands)), right(4, columns)
    verify_grad(solution, [rows, b], mode=mode)
    if mode == "c" and bands == (1, 2):
        verify_grad(lambda a, b: fz.grad(ft.sum(solution(a, b) ** 2), a), [rows, b], mode=mode)
        stacked = np.stack([rows, 2 * rows])
        verify_grad(
            lambda a, b: ft.linalg.solve_banded(bands, a, b), [stacked, right(4, 2)], mode=mode
        )


def test_singular_matrices(mode):
    x, y = ft.tensor3("x"), ft.matrix("y")
    good = banded(6, 1, 1)
    for kind, bad in (("tridiagonal", 1), ("banded", 1), ("banded", 2), ("banded", 5)):
        a = np.stack([good, np.zeros((6, 6))])
        a[1] = np.triu(np.tril(np.ones((6, 6)), bad), -bad)
        a[1, :, 2] = 0.0
        f = fz.function([x, y], ft.linalg.solve(x, y, assume_a=kind), mode=mode)
        with pytest.raises(np.linalg.LinAlgError, match=r"matrix \(1,\) of .*is singular"):
            f(a, np.ones((6, 1)))
        solution = ft.linalg.solve(x, y, assume_a=kind, on_error="nan")
        found = fz.function([x, y], solution, mode=mode)(a, np.ones((6, 1)))
        assert np.isnan(found[1]).all()
        np.testing.assert_allclose(found[0], np.linalg.solve(good, np.ones((6, 1))), rtol=1e-10)
        g = fz.function(
            [x, y], ft.linalg.solve(x, y, assume_a=kind), mode=fz.Mode(mode, on_error="nan")
        )
        assert np.isnan(g(a, np.ones((6, 1)))[1]).all()


def test_memory_goes_with_the_diagonals(mode):
    n = 100_000
    rows = np.tile([[-1.0], [4.0], [-1.0]], (1, n))
    x, b = ft.matrix("x"), ft.vector("b")
    f = fz.function([x, b], ft.linalg.solve_banded((1, 1), x, b), mode=mode)
    found = f(rows, np.full(n, 2.0))
    np.testing.assert_allclose(found[n // 2], 1.0)


def test_bad_operands(mode):
    x, b = ft.matrix("x"), ft.vector("b")
    with pytest.raises(ValueError, match="must not be negative"):
        ft.linalg.solve_banded((-1, 0), x, b)
    with pytest.raises(ValueError, match="takes 3 diagonals"):
        ft.linalg.solve_banded((1, 1), ft.tensor(shape=(2, 5)), b)
    with pytest.raises(ValueError, match="as many rows as the matrix, 5"):
        ft.linalg.solve_banded((1, 1), ft.tensor(shape=(3, 5)), ft.tensor(shape=(4,)))
    with pytest.raises(ValueError, match="trans must be"):
        SolveBanded((1, 1), True, "C")(x, b)
    with pytest.raises(ValueError, match="bands must be known"):
        SolveBanded(None, True, "N")(x, b)
    f = fz.function([x, b], ft.linalg.solve_banded((1, 1), x, b), mode=mode)
    with pytest.raises(ValueError, match="3 diagonals are"):
        f(np.ones((2, 4)), np.ones(4))
    with pytest.raises(ValueError, match="rows"):
        f(np.ones((3, 4)), np.ones(5))
    g = fz.function([x, b], ft.linalg.solve(x, b, assume_a="tridiagonal"), mode=mode)
    with pytest.raises(ValueError, match="square"):
        g(np.ones((3, 4)), np.ones(4))
