"""A single truth value in an index adds a dimension, of length 1 or 0, as in NumPy."""

import numpy as np
import pytest
from agreement import compiled

import frazil as fz
import frazil.tensor as ft

ARRAY = np.arange(6.0).reshape(2, 3)
ROWS = [0, 1]
ALONE = [
    np.s_[True],
    np.s_[False],
    np.s_[True, 1],
    np.s_[1, True],
    np.s_[None, True],
    np.s_[:, True],
    np.s_[True, ...],
    np.s_[..., True],
    np.s_[0, ..., True],
    np.s_[True, True],
    np.s_[True, 1:],
    np.s_[1:, True],
    np.s_[1:, True, :2],
    np.s_[::-1, True, None],
]
AMONG_ARRAYS = [
    np.s_[ROWS, True],
    np.s_[True, ROWS],
    np.s_[:, True, ROWS],
    np.s_[True, :, ROWS],
    np.s_[ROWS, ..., True],
    np.s_[True, False],
    np.s_[False, [0]],
    np.s_[1:, ROWS, True],
    np.s_[True, ARRAY > 2],
    np.s_[np.array([True, False]), True],
    np.s_[np.array(True), np.True_],
]


def of_parts(x, part):
    """The part, what replaces and increases it, and a gradient through it."""
    whole = [ft.set_subtensor(part, part * 2 + 1), ft.inc_subtensor(part, 5.0)]
    return [part, *whole, fz.grad((part**2).sum(), x)]


def by_numpy(index):
    replaced, increased, gradient = ARRAY.copy(), ARRAY.copy(), np.zeros_like(ARRAY)
    replaced[index] = ARRAY[index] * 2 + 1
    np.add.at(increased, index, 5.0)
    np.add.at(gradient, index, 2 * ARRAY[index])
    return [ARRAY[index], replaced, increased, gradient]


def check(x, part, values, index, mode):
    for found, expected in zip(
        compiled(of_parts(x, part), values, mode), by_numpy(index), strict=True
    ):
        assert found.shape == expected.shape
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("index", [*ALONE, *AMONG_ARRAYS], ids=repr)
def test_values(mode, index):
    x = ft.matrix("x")
    check(x, x[index], {x: ARRAY}, index, mode)


@pytest.mark.parametrize("truth", [True, False])
@pytest.mark.parametrize("index", ALONE, ids=repr)
def test_variables(mode, index, truth):
    """All truth values of the index are one variable."""
    x, b = ft.matrix("x"), ft.scalar("b", dtype="bool")
    items = index if isinstance(index, tuple) else (index,)
    numpys = tuple(truth if isinstance(item, bool) else item for item in items)
    own = tuple(b if isinstance(item, bool) else item for item in items)
    check(x, x[own], {x: ARRAY, b: np.bool_(truth)}, numpys, mode)


@pytest.mark.parametrize("number", [2.0, -2.0])
def test_numbers(mode, number):
    x = ft.scalar("x")
    part = x[x > 0]
    found = compiled([part, fz.grad((part**2).sum(), x)], {x: np.array(number)}, mode)
    np.testing.assert_array_equal(found[0], np.array(number)[number > 0])
    assert found[1] == (4.0 if number > 0 else 0.0)
    with pytest.raises(TypeError, match=r"Write ft\.where"):
        ft.set_subtensor(part, 1.0)


def test_too_many_indices():
    with pytest.raises(IndexError, match="too many indices"):
        ft.matrix("x")[True, 0, 0, 0]
    with pytest.raises(IndexError):
        ft.matrix("x")[ROWS, False]


def test_traced_arrays(mode):
    chosen = fz.jit(lambda x: x[x.sum() > 0], mode=mode)
    for array in (np.ones(3), -np.ones(3)):
        np.testing.assert_array_equal(chosen(array), array[array.sum() > 0])
    np.testing.assert_array_equal(fz.jit(lambda x: x[True], mode=mode)(np.ones(3)), [np.ones(3)])
