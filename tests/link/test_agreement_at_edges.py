"""Where a length is zero, a size is divided by zero or an index repeats: one answer, NumPy's."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import frazil as fz
import frazil.tensor as ft

x, m, n = ft.vector("x"), ft.matrix("m"), ft.lscalar("n")

SIZES = {
    "rest by a length": (lambda: x[: n % x.shape[0]], lambda x, n: x[: n % max(len(x), 1)]),
    "quotient": (lambda: ft.zeros(6 // n) + x.sum(), lambda x, n: np.zeros(6 // n if n else 0)),
    "rest": (lambda: ft.zeros(7 % n) + x.sum(), lambda x, n: np.zeros(7 % n if n else 0)),
    "of a length": (
        lambda: ft.zeros(6 // x.shape[0]) * n,
        lambda x, n: np.zeros(6 // len(x) if len(x) else 0),
    ),
    "in an index": (lambda: x[6 // n :], lambda x, n: x[6 // n if n else 0 :]),
}


@pytest.mark.parametrize("name", SIZES)
def test_sizes_divided_by_zero_are_zero(name, mode):
    build, expected = SIZES[name]
    f = fz.function([x, n], build(), mode=mode, on_unused_input="ignore")
    with np.errstate(divide="ignore"):
        for length in (0, 1, 4):
            for number in (0, 2, 5):
                values = np.zeros(length), number
                np.testing.assert_array_equal(f(*values), expected(*values))


def put_in_order(x, k, y):
    """What is put row by row: of what goes to one place the last stays."""
    result = x.copy()
    for at in np.ndindex(*k.shape):
        result[k[at]] = y[at]
    return result


def lay(array, how):
    """The same array, lying otherwise."""
    if how == "columns":
        return np.asfortranarray(array)
    if how == "backwards":
        return np.ascontiguousarray(array[..., ::-1])[..., ::-1]
    return array


@given(
    st.integers(0, 5),
    st.integers(0, 5),
    st.lists(st.sampled_from(["rows", "columns", "backwards"]), min_size=3, max_size=3),
    st.integers(0, 2**32 - 1),
)
def test_of_what_is_put_to_one_place_the_last_stays(rows, columns, lies, seed):
    rng = np.random.default_rng(seed)
    target, k, y = (
        lay(array, how)
        for array, how in zip(
            (
                rng.standard_normal((3, 2)),
                rng.integers(0, 3, (rows, columns)),
                rng.standard_normal((rows, columns, 2)),
            ),
            lies,
            strict=True,
        )
    )
    index, values = ft.lmatrix("k"), ft.tensor3("y")
    updated = ft.set_subtensor(m[index], values)
    for mode in ("py", "c"):
        f = fz.function([m, values, index], updated, mode=mode)
        np.testing.assert_array_equal(f(target, y, k), put_in_order(target, k, y))


def test_an_index_in_columns_that_repeats(mode):
    # NumPy goes along the columns, and leaves the value of another row.
    k = np.asfortranarray([[0, 0], [0, 2]])
    y = np.asfortranarray([[1.0, 2.0], [3.0, 4.0]])
    index = ft.lmatrix("k")
    f = fz.function([x, m, index], ft.set_subtensor(x[index], m), mode=mode)
    np.testing.assert_array_equal(f(np.zeros(4), y, k), [3, 0, 4, 0])
