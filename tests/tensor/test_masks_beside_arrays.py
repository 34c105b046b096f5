"""Masks beside other index arrays stand for the positions where they are true, as in NumPy."""

import numpy as np
import pytest
from agreement import MODES

import frazil as fz
import frazil.tensor as ft

x, cube = ft.dmatrix("x"), ft.tensor3("cube")
VALUES, CUBE = np.arange(12.0).reshape(4, 3), np.arange(24.0).reshape(4, 3, 2)
ROWS = np.array([1, 3, 0])
TABLE = np.array([[1, 0, 2], [3, 3, 1]])
ONE_ROW, TWO_ROWS = np.array([False, True, False, False]), np.array([True, False, False, True])
ONE, TWO = np.array([True, False, False]), np.array([True, True, False])
ALL, NONE = np.ones(3, bool), np.zeros(3, bool)
PAIR = np.array([[False, False], [True, False], [False, False]])
PAIRS = PAIR | np.eye(3, 2, dtype=bool)

INDICES = {
    "one place": (ROWS, ONE),
    "as many": (ROWS, ALL),
    "a column": (ROWS[:, None], TWO),
    "a table": (TABLE, ONE),
    "an integer": (0, TWO),
    "two masks": (ONE_ROW, TWO),
    "two masks, the second with one place": (TWO_ROWS, ONE),
    "two masks of as many": (TWO_ROWS, TWO),
}
WRONG = {
    "too few": (ROWS, TWO),
    "none": (ROWS, NONE),
    "two masks": (TWO_ROWS, ALL),
}


def index_of(arrays, kind):
    """The arrays as they are, or variables for them; and their values."""
    if kind == "constants":
        return arrays, {}
    values = {}
    index = []
    for given in arrays:
        array = np.asarray(given)
        if not array.ndim or (kind == "masks" and array.dtype != bool):
            index.append(given)
            continue
        shape = tuple(1 if n == 1 and array.dtype != bool else None for n in array.shape)
        variable = ft.tensor(dtype=array.dtype.name, shape=shape)
        values[variable] = array
        index.append(variable)
    return tuple(index), values


def called(outputs, tensor, array, values, mode):
    f = fz.function([tensor, *values], outputs, mode=mode)
    return f(array, *values.values())


@pytest.mark.parametrize("kind", ["constants", "masks", "variables"])
@pytest.mark.parametrize("name", INDICES)
@pytest.mark.parametrize("mode", MODES)
def test_parts_and_gradients(mode, name, kind):
    index, values = index_of(INDICES[name], kind)
    part = x[index]
    outputs = [
        part,
        ft.set_subtensor(part, -5.0),
        ft.inc_subtensor(part, 2 * part),
        fz.grad(ft.sum(part**2), x),
    ]
    found = called(outputs, x, VALUES, values, mode)
    expected = VALUES[INDICES[name]]
    with_part, increased, slope = VALUES.copy(), VALUES.copy(), np.zeros_like(VALUES)
    with_part[INDICES[name]] = -5
    np.add.at(increased, INDICES[name], 2 * expected)
    np.add.at(slope, INDICES[name], 2 * expected)
    for one, wanted in zip(found, [expected, with_part, increased, slope], strict=True):
        np.testing.assert_array_equal(one, wanted)


@pytest.mark.parametrize("kind", ["constants", "variables"])
@pytest.mark.parametrize("mask", [PAIR, PAIRS], ids=["one place", "three"])
@pytest.mark.parametrize("mode", MODES)
def test_a_mask_of_two_dimensions(mode, mask, kind):
    arrays = (ROWS, mask)
    index, values = index_of(arrays, kind)
    found = called(cube[index], cube, CUBE, values, mode)
    np.testing.assert_array_equal(found, CUBE[arrays])


@pytest.mark.parametrize("kind", ["constants", "variables"])
@pytest.mark.parametrize("name", WRONG)
@pytest.mark.parametrize("mode", MODES)
def test_other_counts_are_errors(mode, name, kind):
    arrays = WRONG[name]
    with pytest.raises(IndexError):
        VALUES[arrays]

    def part():
        index, values = index_of(arrays, kind)
        return called(x[index], x, VALUES, values, mode)

    with pytest.raises((IndexError, ValueError), match=r"broadcast|length"):
        part()


@pytest.mark.parametrize("mode", MODES)
def test_a_truth_value_stands_for_one_place_or_none(mode):
    truth = ft.scalar("truth", dtype="bool")
    rows = ft.lvector("rows")
    f = fz.function([x, truth, rows], [x[truth, rows], x[rows, :, truth]], mode=mode)
    for found, index in zip(
        f(VALUES, True, ROWS), [(True, ROWS), (ROWS, slice(None), True)], strict=True
    ):
        np.testing.assert_array_equal(found, VALUES[index])
    with pytest.raises((IndexError, ValueError), match=r"broadcast|length"):
        f(VALUES, False, ROWS)


@pytest.mark.parametrize("mode", MODES)
def test_a_mask_must_have_the_length_of_the_dimension(mode):
    f = fz.function([x], x[ROWS, ONE], mode=mode)
    with pytest.raises(IndexError, match="length"):
        f(np.ones((4, 5)))


@pytest.mark.parametrize("mode", MODES)
def test_masks_that_differ_between_elements_of_a_batch(mode):
    m, masks = (
        ft.tensor("m", dtype="bool", shape=(None,)),
        ft.tensor(dtype="bool", shape=(None,) * 2),
    )
    total = fz.vectorize(ft.sum(x[ROWS, m]), {m: masks})
    several = np.array([ONE, ALL, [False, False, True]])
    f = fz.function([x, masks], total, mode=mode)
    np.testing.assert_array_equal(
        f(VALUES, several), [VALUES[ROWS, each].sum() for each in several]
    )
