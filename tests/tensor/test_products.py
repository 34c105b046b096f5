"""Products of vectors and matrices agree with NumPy's."""

import numpy as np
import pytest
from agreement import check, like, modes
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from reference import evaluate

import frazil as fz
import frazil.tensor as ft
from frazil.testing import verify_grad

A = np.array([[1, 2, 3], [4, 5, 6]])
V = np.array([1, -1, 2])


@pytest.mark.parametrize("left", ["bool", "int32", "float32", "float64"])
@pytest.mark.parametrize("right", ["bool", "int64", "float32"])
@pytest.mark.parametrize(("a", "b"), [(A, V), (V, V), (V, A.T), (A, A.T)])
def test_agrees_with_numpy(left, right, a, b):
    a, b = a.astype(left), b.astype(right)
    expected = a @ b
    for function in (ft.dot, ft.matmul):
        found = evaluate(function(a, b))
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(("m", "k", "n"), [(0, 3, 2), (2, 0, 2), (1, 1, 1)])
def test_short_lengths(m, k, n):
    found = evaluate(ft.dot(np.ones((m, k)), np.ones((k, n))))
    np.testing.assert_array_equal(found, np.full((m, n), float(k)))


def test_operators():
    x = ft.matrix("x")
    assert x @ V is ft.matmul(x, V)
    assert A @ x is ft.matmul(A, x)
    assert x.dot(V) is ft.dot(x, V)


def test_dot_with_a_scalar_multiplies():
    x = ft.vector("x")
    assert ft.dot(2.0, x) is 2.0 * x
    with pytest.raises(ValueError, match="Use \\*"):
        ft.matmul(2.0, x)


def test_static_mismatch_names_both_shapes():
    with pytest.raises(ValueError, match=r"shapes \(2, 3\) and \(2, 4\) do not match"):
        ft.dot(ft.tensor(shape=(2, 3)), ft.tensor(shape=(2, 4)))


def test_dot_of_higher_ranks_is_numpys():
    a, b = np.arange(24.0).reshape(2, 3, 4), np.arange(40.0).reshape(2, 4, 5)
    for left, right in ((a, b), (a, b[0]), (a, b[0, :, 0]), (a[0, 0], b), (a[0], b)):
        assert_allclose(ft.dot(left, right).eval(), np.dot(left, right))
    with pytest.raises(ValueError, match="do not match"):
        ft.dot(ft.tensor(shape=(2, 3, 4)), ft.tensor(shape=(2, 5, 6)))


batches = st.lists(st.integers(0, 3), max_size=2)


@given(st.data(), modes, batches, st.sampled_from(["float64", "float32", "int64", "bool"]))
def test_matmul_of_any_ranks_agrees_with_numpy(data, mode, batch, dtype):
    draw = data.draw
    m, k, n = (draw(st.sampled_from([0, 1, 2, 4, 9])) for _ in range(3))
    rng = np.random.default_rng(m + k + n)

    def operand(matrix, vector):
        if draw(st.integers(0, 4)) == 0:
            return rng.integers(-3, 4, vector).astype(dtype)
        own = [draw(st.sampled_from([length, 1])) for length in batch]
        shape = (*own[draw(st.integers(0, len(own))) :], *matrix)
        array = rng.integers(-3, 4, shape).astype(dtype)
        return array if draw(st.booleans()) else array.swapaxes(-1, -2).copy().swapaxes(-1, -2)

    a, b = operand((m, k), (k,)), operand((k, n), (k,))
    x, y = like(draw, a), like(draw, b)
    check(ft.matmul(x, y), {x: a, y: b}, a @ b, mode)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ((2, 3, 4), (2, 4, 2)),
        ((2, 3, 4), (1, 4, 2)),
        ((1, 3, 4), (2, 4, 2)),
        ((3, 4), (2, 4, 2)),
        ((2, 3, 4), (4, 2)),
        ((4,), (2, 4, 3)),
        ((2, 3, 4), (4,)),
        ((2, 1, 3, 4), (3, 4, 2)),
    ],
)
def test_gradients_of_matmul(a, b, mode):
    rng = np.random.default_rng(0)
    operands = [rng.normal(size=a), rng.normal(size=b)]
    verify_grad(lambda x, y: ft.matmul(x, y) ** 2, operands, mode=mode)


def test_many_matrices_must_match(mode):
    x, y = ft.tensor3("x"), ft.tensor3("y")
    product = fz.function([x, y], x @ y, mode=mode)
    assert product(np.ones((2, 3, 4)), np.ones((2, 4, 5))).shape == (2, 3, 5)
    with pytest.raises(ValueError, match=r"declare|does not broadcast"):
        product(np.ones((1, 3, 4)), np.ones((2, 4, 5)))
    with pytest.raises(ValueError, match="3"):
        product(np.ones((2, 3, 4)), np.ones((3, 4, 5)))
    with pytest.raises(ValueError, match=r"4.*5|5.*4"):
        product(np.ones((2, 3, 4)), np.ones((2, 5, 5)))
    with pytest.raises(ValueError, match="must be equal or 1, not 2 and 3"):
        ft.tensor(shape=(2, 3, 4)) @ ft.tensor(shape=(3, 4, 5))
    with pytest.raises(ValueError, match="last but one length of the second, 5"):
        ft.tensor(shape=(2, 3, 4)) @ ft.tensor(shape=(2, 5, 5))


def test_many_matrices_run_natively():
    x, y = ft.tensor3("x"), ft.tensor("y", shape=(None, 1, None, None))
    for mode in ("c", "cranelift", "numba"):
        product = fz.function([x, y], x @ y, mode=mode)
        assert "call" not in str(product.explain())
        a, b = np.random.default_rng(0).normal(size=(2, 3, 9)), np.ones((4, 1, 9, 2))
        np.testing.assert_allclose(product(a, b), a @ b)


def test_outer():
    np.testing.assert_array_equal(evaluate(ft.outer(V, [1.0, 2.0])), np.outer(V, [1.0, 2.0]))
    np.testing.assert_array_equal(evaluate(ft.outer(A, 2.0)), np.outer(A, 2.0))


@pytest.mark.parametrize("dtype", ["int64", "float32", "float64"])
@pytest.mark.parametrize(
    ("left", "right", "axes"),
    [
        ((2, 3, 4), (3, 4, 5), 2),
        ((2, 3), (4,), 0),
        ((2, 3, 4), (4, 3, 2), ([0, 2], [2, 0])),
        ((2, 3, 4), (5, 3), (1, -1)),
        ((0, 3), (3, 2), 1),
        ((2, 0), (0, 2), 1),
        ((), (2,), 0),
        ((3,), (3,), 1),
    ],
)
def test_tensordot(mode, left, right, axes, dtype):
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-3, 4, shape).astype(dtype) for shape in (left, right))
    x = ft.tensor(dtype=dtype, shape=(None,) * a.ndim)
    y = ft.tensor(dtype=dtype, shape=(None,) * b.ndim)
    found = fz.function([x, y], ft.tensordot(x, y, axes), mode=mode)(a, b)
    expected = np.asarray(np.tensordot(a, b, axes))
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)


def test_tensordot_checks_its_axes():
    x, y = ft.tensor(shape=(2, 3)), ft.tensor(shape=(4, 2))
    for axes, message in [
        (3, "between 0"),
        (-1, "between 0"),
        (([0], [0, 1]), "equal length"),
        (([0, 0], [0, 1]), "twice"),
        ((1, 0), "lengths are 3 and 4"),
    ]:
        with pytest.raises(ValueError, match=message):
            ft.tensordot(x, y, axes)


def test_tensordot_checks_each_length(mode):
    for known in (None, 1, 3):
        x, y = ft.matrix("x"), ft.tensor("y", shape=(known, None))
        f = fz.function([x, y], ft.tensordot(x, y, 2), mode=mode)
        with pytest.raises(ValueError, match=r"broadcast"):
            f(np.ones((2, 3)), np.ones((known or 3, 2)))
        assert f(np.ones((known or 3, 2)), np.ones((known or 3, 2))) == 2 * (known or 3)


def test_the_gradient_of_tensordot():
    rng = np.random.default_rng(0)
    values = [rng.normal(size=(2, 3, 4)), rng.normal(size=(4, 3, 2))]
    verify_grad(lambda a, b: ft.tensordot(a, b, ([0, 2], [2, 0])), values)
