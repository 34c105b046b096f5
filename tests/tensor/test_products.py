"""Products of vectors and matrices agree with NumPy's."""

import numpy as np
import pytest
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
