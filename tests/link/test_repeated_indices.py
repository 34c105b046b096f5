"""Elements at indices in any order: runs, few groups, negative ones, some out of range."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import frazil as fz
import frazil.tensor as ft

MODES = ["c", "cranelift", "numba"]
DTYPES = ["float64", "float32", "int64", "int32", "int8"]


@cache
def moved(mode, dtype, index):
    """Elements that are taken, used, and added where the same indices say."""
    t, x = ft.vector("t", dtype=dtype), ft.vector("x", dtype=dtype)
    i = ft.vector("i", dtype=index)
    outputs = [t[i], t[i] * x, ft.inc_subtensor(t[i], x), ft.inc_subtensor(t[i], x * t[i])]
    outputs.append(ft.set_subtensor(t[i], x))
    return fz.function([t, i, x], outputs, mode=mode)


@st.composite
def runs(draw):
    """Indices of a table, in runs or not."""
    length = draw(st.integers(1, 9))
    least = draw(st.sampled_from([-length, 0]))
    places = st.integers(least, draw(st.integers(0, length - 1)))
    longest = draw(st.sampled_from([1, 3, 20]))
    drawn = draw(st.lists(st.tuples(places, st.integers(1, longest)), max_size=30))
    return length, [place for place, count in drawn for _ in range(count)]


@pytest.mark.parametrize("mode", MODES)
@settings(max_examples=40)
@given(runs(), st.sampled_from(DTYPES), st.sampled_from(["int64", "int32"]), st.data())
def test_elements_at_repeated_indices_are_numpys(mode, case, dtype, index, data):
    length, at = case
    rng = np.random.default_rng(len(at))
    step = data.draw(st.sampled_from([1, 2, -1]))
    table = (rng.normal(size=2 * length) * 9).astype(dtype)[::step][:length]
    x = (rng.normal(size=len(at)) * 9).astype(dtype)
    where = np.array(at, dtype=index)
    f = moved(mode, dtype, index)
    added, scaled, last = table.copy(), table.copy(), table.copy()
    np.add.at(added, where, x)
    np.add.at(scaled, where, x * table[where])
    last[where] = x
    wanted = [table[where], table[where] * x, added, scaled, last]
    for found, known in zip(f(table, where, x), wanted, strict=True):
        np.testing.assert_array_equal(found, known, strict=True)
    if not at:
        return
    bad = data.draw(st.lists(st.integers(0, len(at) - 1), min_size=1, max_size=3, unique=True))
    refused = data.draw(st.sampled_from([length, -length - 1, np.iinfo(index).min]))
    where[bad] = length + 7
    where[min(bad)] = refused
    with pytest.raises(IndexError, match=f"index {refused} is out of bounds"):
        f(table, where, x)
