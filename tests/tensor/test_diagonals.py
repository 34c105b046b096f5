"""Diagonals and triangles agree with NumPy."""

import numpy as np
import pytest
from agreement import check, compiled, like, modes
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import frazil as fz
import frazil.tensor as ft
from frazil.tensor.diagonals import AllocDiag, ExtractDiag
from frazil.testing import verify_grad

X = np.linspace(-1, 2, 12).reshape(3, 4)
dtypes = st.sampled_from(["float64", "float32", "int8", "bool"])
offsets = st.integers(-5, 5)


def numbers(shape, dtype):
    return (np.arange(np.prod(shape, dtype=int)) % 5).astype(dtype).reshape(shape)


@given(st.data(), dtypes, offsets)
def test_diagonals_agree_with_numpy(data, dtype, offset):
    shape = data.draw(hnp.array_shapes(min_dims=2, max_dims=4, min_side=0, max_side=4))
    axes = data.draw(st.permutations(range(-len(shape), 0)))[:2]
    array = numbers(shape, dtype)
    x = like(data.draw, array)
    expected = np.diagonal(array, offset, *axes)
    check(ft.diagonal(x, offset, *axes), {x: array}, expected, data.draw(modes))
    assert x.diagonal(offset, *axes) is ft.diagonal(x, offset, *axes)
    trace = np.trace(array, offset, *axes)
    check(ft.trace(x, offset, *axes), {x: array}, trace, "py")
    assert x.trace(offset, *axes) is ft.trace(x, offset, *axes)


@given(st.data(), modes, dtypes, offsets, st.integers(0, 4), st.integers(0, 4))
def test_diag_agrees_with_numpy(data, mode, dtype, offset, rows, columns):
    vector, matrix = numbers((rows,), dtype), numbers((rows, columns), dtype)
    v, m = like(data.draw, vector), like(data.draw, matrix)
    check(ft.diag(v, offset), {v: vector}, np.diag(vector, offset), mode)
    check(ft.diag(m, offset), {m: matrix}, np.diag(matrix, offset), mode)


@given(st.data(), dtypes, offsets)
def test_triangles_agree_with_numpy(data, dtype, offset):
    shape = data.draw(hnp.array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=4))
    array = numbers(shape, dtype)
    x = like(data.draw, array)
    check(ft.tril(x, offset), {x: array}, np.tril(array, offset), "py")
    check(ft.triu(x, offset), {x: array}, np.triu(array, offset), "py")


@pytest.mark.parametrize("dtype", ["float64", "bool"])
def test_in_all_linkers(dtype, mode):
    x, n = ft.tensor3("x", dtype=dtype), ft.lscalar("n")
    array = numbers((2, 3, 4), dtype)
    check(ft.tril(x, 1), {x: array}, np.tril(array, 1), mode)
    check(ft.triu(x, -1), {x: array}, np.triu(array, -1), mode)
    check(ft.triu(x[0, 0], 1), {x: array}, np.triu(array[0, 0], 1), mode)
    check(ft.trace(x, 1, 2, 0), {x: array}, np.trace(array, 1, 2, 0), mode)
    check(ft.tri(n, 4, 1, dtype), {n: 3}, np.tri(3, 4, 1, dtype), mode)


@given(st.integers(0, 4), st.none() | st.integers(0, 4), offsets, dtypes, modes)
def test_eye_and_tri_agree_with_numpy(n, m, k, dtype, mode):
    rows, columns = ft.lscalar("n"), None if m is None else ft.lscalar("m")
    values = {rows: n} if m is None else {rows: n, columns: m}
    eye, tri = np.eye(n, m, k, dtype), np.tri(n, m, k, dtype)
    check(ft.eye(n, m, k, dtype), {}, eye, mode)
    check(ft.eye(rows, columns, k, dtype), values, eye, mode)
    check(ft.tri(n, m, k, dtype), {}, tri, "py")
    check(ft.tri(rows, columns, k, dtype), values, tri, "py")


def test_identity_like(mode):
    x = ft.matrix("x", dtype="float32")
    check(ft.identity_like(x), {x: np.zeros((2, 3))}, np.eye(2, 3, dtype="float32"), mode)
    assert ft.identity_like(x, "int8").dtype == "int8"


@pytest.mark.parametrize(
    "build",
    [
        lambda x: ft.diagonal(x),
        lambda x: ft.diagonal(x, 2),
        lambda x: ft.diagonal(x, -1, 1, 0),
        lambda x: ft.diag(x[0], -2),
        lambda x: ft.trace(x @ x.T),
        lambda x: ft.tril(x, 1),
        lambda x: ft.triu(x, -1),
        lambda x: ft.diagonal(x.reshape(2, 3, 2), 0, 0, 2),
        lambda x: x[:, :3] + ft.eye(3) * ft.diag(x[:, 0]),
    ],
)
def test_gradients(build, mode):
    verify_grad(lambda x: build(x) ** 2, [X], mode=mode)
    verify_grad(lambda x: fz.grad(ft.sum(build(x) ** 3), x), [X], mode="py")


def test_static_shapes():
    x = ft.tensor(shape=(3, 5))
    assert ft.diagonal(x, 3).type.shape == (2,)
    assert ft.diagonal(x, -7).type.shape == (0,)
    assert ft.diag(x[0], -1).type.shape == (6, 6)
    assert ft.eye(2).type.shape == (2, 2)


def test_equal_identities_are_one_node():
    assert ft.eye(3) is ft.eye(3, 3)


def test_a_diagonal_that_does_not_fit(mode):
    x, n = ft.vector("x"), ft.lscalar("n")
    diagonal = AllocDiag(0)(x, n, n)
    with pytest.raises(ValueError, match=r"elements|not as long"):
        compiled(diagonal, {x: np.ones(3), n: 2}, mode)
    with pytest.raises(ValueError, match="has 1 elements"):
        AllocDiag(1)(ft.tensor(shape=(3,)), *ft.tensor(shape=(2, 2)).shape)


def test_errors():
    with pytest.raises(ValueError, match="only matrices have diagonals"):
        ft.diagonal(ft.vector())
    with pytest.raises(ValueError, match="only matrices have diagonals"):
        ExtractDiag(0)(ft.vector())
    with pytest.raises(ValueError, match="must differ"):
        ft.diagonal(ft.matrix(), 0, 1, -1)
    with pytest.raises(ValueError, match="vector or a matrix"):
        ft.diag(ft.tensor3())
    with pytest.raises(TypeError, match="must be an integer"):
        ft.diag(ft.vector(), 1.0)
    with pytest.raises(ValueError, match="takes what has dimensions"):
        ft.tril(ft.scalar())
    with pytest.raises(ValueError, match="takes a matrix"):
        ft.identity_like(ft.vector())


@pytest.mark.parametrize("offset", [2**62, 2**63, -(2**63), 10**30])
def test_diagonals_beyond_all_elements(mode, offset):
    x, array = ft.matrix("x"), numbers((3, 4), "float64")
    results = [ft.tril(x, offset), ft.triu(x, offset), ft.diagonal(x, offset)]
    results += [ft.eye(3, k=offset), ft.tri(3, 3, offset)]
    below = offset < 0
    expected = [array * (not below), array * below, np.zeros(0), np.zeros((3, 3))]
    expected.append(np.full((3, 3), float(not below)))
    for found, wanted in zip(fz.function([x], results, mode=mode)(array), expected, strict=True):
        np.testing.assert_array_equal(found, wanted)
