"""Products of vectors and matrices agree with NumPy's."""

import numpy as np
import pytest
from reference import evaluate

import frazil.tensor as ft

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
    with pytest.raises(TypeError, match="Use \\*"):
        ft.matmul(2.0, x)


def test_static_mismatch_names_both_shapes():
    with pytest.raises(ValueError, match=r"shapes \(2, 3\) and \(2, 4\) do not match"):
        ft.dot(ft.tensor(shape=(2, 3)), ft.tensor(shape=(2, 4)))


@pytest.mark.parametrize("function", [ft.dot, ft.matmul])
def test_higher_ranks_are_refused(function):
    with pytest.raises(TypeError, match="more than two dimensions is not supported"):
        function(ft.tensor3(), ft.matrix())


def test_outer():
    np.testing.assert_array_equal(evaluate(ft.outer(V, [1.0, 2.0])), np.outer(V, [1.0, 2.0]))
    with pytest.raises(TypeError, match="two vectors"):
        ft.outer(A, V)
