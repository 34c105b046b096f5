"""Reshaping agrees with NumPy, and its static shapes are as sharp as can be."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import evaluate

import frazil.tensor as ft


@given(st.permutations([2, 3, 4]), st.booleans(), st.data())
def test_agrees_with_numpy(sides, know, data):
    array = np.arange(24.0).reshape(sides)
    target = list(data.draw(st.sampled_from([(24,), (4, 6), (2, 3, 4), (1, 24), (2, 2, 6)])))
    inferred = data.draw(st.integers(-1, len(target) - 1))
    x = ft.tensor("x", shape=sides if know else [None] * 3)
    given, lengths = {x: array}, []
    for axis, length in enumerate(target):
        if axis == inferred:
            lengths.append(-1)
        elif data.draw(st.booleans()):
            lengths.append(length)
        else:
            lengths.append(ft.lscalar(f"n{axis}"))
            given[lengths[-1]] = length
    found = evaluate(ft.reshape(x, lengths), given)
    np.testing.assert_array_equal(found, array.reshape(target))


@pytest.mark.parametrize(
    ("source", "target", "expected"),
    [
        ((2, 3), (-1,), (6,)),
        ((2, None), (-1, 2), (None, 2)),
        ((2, 3), (None, 2), (3, 2)),
        ((2, 3), (None, None), (None, None)),
        ((0, 3), (3, -1), (3, 0)),
        ((), (1, 1), (1, 1)),
    ],
)
def test_static_shape(source, target, expected):
    lengths = [ft.lscalar() if n is None else n for n in target]
    assert ft.reshape(ft.tensor(shape=source), lengths).type.shape == expected


@pytest.mark.parametrize(
    ("source", "target"), [((2, 3), (4,)), ((2, 3), (4, -1)), ((2, 3), (0, -1)), ((0,), (0, -1))]
)
def test_mismatch_is_an_error(source, target):
    with pytest.raises(ValueError, match="cannot reshape"):
        ft.reshape(ft.tensor(shape=source), target)


def test_bad_lengths_are_errors():
    x = ft.vector("x")
    with pytest.raises(ValueError, match="only one"):
        ft.reshape(x, (-1, -1))
    with pytest.raises(ValueError, match="negative"):
        ft.reshape(x, (-2,))
    n = ft.lscalar("n")
    with pytest.raises(ValueError, match="not a constant"):
        evaluate(ft.reshape(x, (n,)), {x: [1.0], n: -1})


def test_nothing_to_do_gives_the_tensor_itself():
    x = ft.tensor("x", shape=(2, 3))
    assert ft.reshape(x, (2, -1)) is x
    y = ft.vector("y")
    assert ft.reshape(y, y.shape) is ft.ravel(y) is ft.flatten(y) is y


def test_flatten_keeps_the_first_dimensions():
    x = ft.tensor("x", shape=(None, 3, 4))
    assert ft.flatten(x, 2).type.shape == (None, 12)
    with pytest.raises(ValueError, match="between 1 and 3"):
        ft.flatten(x, 4)
