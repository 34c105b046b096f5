"""Permuting dimensions, as NumPy does."""

from itertools import permutations

import numpy as np
import pytest
from reference import evaluate

import frazil.tensor as ft

X = np.arange(24.0).reshape(2, 3, 4)


@pytest.mark.parametrize("axes", [None, *permutations(range(3)), (-1, 0, 1)])
def test_permute_dims(axes):
    x = ft.tensor("x", shape=(2, None, 4))
    np.testing.assert_array_equal(evaluate(ft.permute_dims(x, axes), {x: X}), np.transpose(X, axes))


def test_two_permutations_are_one():
    x = ft.matrix("x")
    assert x.T.T is x
    y = ft.tensor3("y")
    assert ft.permute_dims(ft.permute_dims(y, (1, 2, 0)), (1, 2, 0)) is ft.permute_dims(
        y, (2, 0, 1)
    )


@pytest.mark.parametrize(("first", "second"), [(0, 1), (0, -1), (1, 1)])
def test_swapaxes(first, second):
    np.testing.assert_array_equal(
        evaluate(ft.swapaxes(X, first, second)), np.swapaxes(X, first, second)
    )


@pytest.mark.parametrize(
    ("source", "destination"), [(0, -1), (2, 0), ((0, 1), (1, 2)), ((0, 1), (-1, -2))]
)
def test_moveaxis(source, destination):
    np.testing.assert_array_equal(
        evaluate(ft.moveaxis(X, source, destination)), np.moveaxis(X, source, destination)
    )


def test_matrix_transpose():
    np.testing.assert_array_equal(evaluate(ft.matrix_transpose(X)), np.matrix_transpose(X))
    with pytest.raises(ValueError, match="two dimensions or more"):
        ft.matrix_transpose([1.0])


@pytest.mark.parametrize(
    ("shape", "pattern", "expected"),
    [
        ((2, 3), (1, "x", 0), (3, 1, 2)),
        ((3,), ("x", 0, "x"), (1, 3, 1)),
        ((2, 1, 3), (2, 0), (3, 2)),
        ((1,), (), ()),
    ],
)
def test_dimshuffle(shape, pattern, expected):
    assert ft.dimshuffle(ft.tensor(shape=shape), *pattern).type.shape == expected


def test_an_axis_of_a_vector():
    v = ft.vector()
    assert v.transpose(0) is v
    assert ft.permute_dims(v, -1) is v
    with pytest.raises(ValueError, match="do not permute"):
        ft.matrix().transpose(0)


def test_errors():
    with pytest.raises(ValueError, match="do not permute"):
        ft.permute_dims(X, (0, 0, 1))
    with pytest.raises(np.exceptions.AxisError):
        ft.swapaxes(X, 0, 3)
    with pytest.raises(ValueError, match="differ in length"):
        ft.moveaxis(X, (0, 1), 2)
