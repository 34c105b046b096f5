"""Rows that indices choose, in whatever order operands lie: also where the chosen base moves."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import frazil as fz
import frazil.tensor as ft

MODES = ["c", "cranelift"]
DTYPES = ["float64", "float32", "int64", "int8", "bool"]

ALL = slice(None)
# What is chosen of a table of three axes by indices of one axis.
CHOICES = {
    "first": lambda i, j: (i,),
    "second": lambda i, j: (ALL, i),
    "last": lambda i, j: (ALL, ALL, i),
    "reversed": lambda i, j: (i, slice(None, None, -1)),
    "two": lambda i, j: (i, j),
    "outer": lambda i, j: (i[:, None], j),
    "apart": lambda i, j: (i, ALL, j),
    "one and all": lambda i, j: (slice(None, None, -1), True, None),
    "a number": lambda i, j: (0, i),
}


@cache
def chosen(mode, name, dtype):
    """What is chosen, beside another operand, and what is put there."""
    t = ft.tensor("t", dtype=dtype, shape=(None,) * 3)
    i, j = (ft.tensor(k, dtype="int64", shape=(None,)) for k in "ij")
    at = CHOICES[name](i, j)
    taken = t[at]
    x = ft.tensor("x", dtype=dtype, shape=tuple(1 if n == 1 else None for n in taken.type.shape))
    outputs = [ft.maximum(taken, x), ft.set_subtensor(taken, x)]
    if dtype != "bool":
        outputs += [(taken - x).sum(axis=-1), ft.inc_subtensor(taken, x)]
    return fz.function([t, i, j, x], outputs, mode=mode, on_unused_input="ignore")


def laid_out(data, array):
    """The array, whose axes lie in another order, backwards or apart."""
    if not array.ndim:
        return array
    order = data.draw(st.permutations(range(array.ndim)))
    steps = tuple(data.draw(st.sampled_from([1, 1, 2, -1])) for _ in order)
    room = np.zeros([array.shape[k] * abs(steps[k]) for k in order], array.dtype)
    view = room.transpose(np.argsort(order))[tuple(slice(None, None, step) for step in steps)]
    view[...] = array
    return view


@pytest.mark.parametrize("mode", MODES)
@settings(max_examples=40)
@given(st.sampled_from(sorted(CHOICES)), st.sampled_from(DTYPES), st.data())
def test_rows_in_any_order_are_numpys(mode, name, dtype, data):
    lengths = st.sampled_from([1, 2, 3, 5, 8, 9, 17])
    shape = tuple(data.draw(lengths) for _ in range(3))
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))

    def drawn(shape):
        array = np.asarray(rng.integers(-9, 9, shape))
        return laid_out(data, (array > 0 if dtype == "bool" else array).astype(dtype))

    table = drawn(shape)
    # All of one length, so that they may stand for any axis; each place at most once.
    least, count = min(shape), data.draw(st.integers(1, min(shape)))
    i, j = (rng.permutation(least)[:count] - data.draw(st.sampled_from([0, least])) for _ in "ij")
    if data.draw(st.booleans()):
        i, j = (laid_out(data, k) for k in (i, j))
    at = CHOICES[name](i, j)
    taken = table[at]
    x = drawn(taken.shape)
    put = table.copy()
    put[at] = x
    known = [np.maximum(taken, x), put]
    if dtype != "bool":
        added = table.copy()
        added[at] += x
        known += [(taken - x).sum(axis=-1), added]
    for found, right in zip(chosen(mode, name, dtype)(table, i, j, x), known, strict=True):
        np.testing.assert_array_equal(found, right, strict=True)
