"""Elements at indices in any order: runs, few groups, negative ones, some out of range."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import frazil as fz
import frazil.tensor as ft
from frazil._core import vector_bits

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


FUNCTIONS = 8
"""The number of results of a regression before those of functions."""
LENGTHS = [1, 7, 8, 9, 63, 64, 65, 511, 1024, 1025, 2500]


@cache
def regression(mode, dtype, index):
    """What is made of taken elements, sums of it, and what goes back to the tables."""
    t, u, x = (ft.vector(name, dtype=dtype) for name in "tux")
    i = ft.vector("i", dtype=index)
    rest = x - t[i] * u[i]
    added = [ft.inc_subtensor(table[i], of) for table, of in [(t, rest), (u, rest * t[i]), (u, x)]]
    whole = [rest.sum(), ft.maximum(rest, x).max(), ft.equal(rest, x).any()]
    outputs = [rest, *whole, *added, ft.set_subtensor(t[i], rest)]
    assert len(outputs) == FUNCTIONS
    outputs.append(ft.exp(t[i] / 64))
    if not dtype.startswith("int"):
        # A function that is called between two parts of the loop.
        outputs.append(ft.digamma(ft.abs(t[i]) + 1) * u[i])
    return fz.function([t, u, i, x], outputs, mode=mode)


@cache
def many_tables(mode, dtype, index):
    """A sum of elements of more tables than there are registers for their addresses."""
    tables = [ft.vector(f"t{k}", dtype=dtype) for k in range(14)]
    i, x = ft.vector("i", dtype=index), ft.vector("x", dtype=dtype)
    made = x
    for table in tables:
        made = made * 0.5 + table[i]
    added = [ft.inc_subtensor(table[i], made) for table in (tables[0], tables[-1])]
    return fz.function([*tables, i, x], [made, *added], mode=mode)


@settings(max_examples=15)
@given(
    st.sampled_from(["float64", "float32"]),
    st.sampled_from(["int64", "int32"]),
    st.sampled_from([63, 64, 71, 1025]),
)
def test_elements_of_many_tables_are_numpys(dtype, index, length):
    rng = np.random.default_rng(length)
    tables = list(rng.integers(-8, 8, (14, 9)).astype(dtype))
    at, x = np.sort(rng.integers(0, 9, length)), rng.integers(-8, 8, length).astype(dtype)
    made = x
    for table in tables:
        made = made * np.asarray(0.5, dtype) + table[at]
    wanted = [made, tables[0].copy(), tables[-1].copy()]
    for table in wanted[1:]:
        np.add.at(table, at, made)
    for found, known in zip(
        many_tables("cranelift", dtype, index)(*tables, at.astype(index), x), wanted, strict=True
    ):
        np.testing.assert_array_equal(found, known, strict=True)


@settings(max_examples=60)
@given(st.sampled_from(DTYPES), st.sampled_from(["int64", "int32"]), st.data())
def test_loops_over_chosen_elements_have_the_bits_of_c(dtype, index, data):
    length, groups = data.draw(st.sampled_from(LENGTHS)), data.draw(st.integers(1, 300))
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    at = rng.integers(0, groups, length)
    if data.draw(st.booleans()):
        at.sort()
    # Some chunks have indices that count from the end, others have none.
    for first in data.draw(st.lists(st.integers(0, 2500), max_size=3)):
        at[first : first + 3] = at[first : first + 3] % groups - groups
    step = data.draw(st.sampled_from([1, 2, -1]))
    t, u = ((rng.normal(size=2 * groups) * 9).astype(dtype)[::step][:groups] for _ in range(2))
    values = [t, u, at.astype(index), (rng.normal(size=length) * 9).astype(dtype)]
    found, wanted = regression("cranelift", dtype, index), regression("c", dtype, index)(*values)
    for k, (a, b) in enumerate(zip(found(*values), wanted, strict=True)):
        assert a.dtype == b.dtype
        if vector_bits() >= 256 or k < FUNCTIONS:
            assert a.tobytes() == b.tobytes()
        else:  # without AVX2, C's kernels call the C library's functions, which have other bits
            of_float = {"rtol": 1e-5, "atol": 1e-5} if dtype == "float32" else {"rtol": 1e-12}
            np.testing.assert_allclose(a, b, **of_float)
    rest = values[3] - t[at] * u[at]
    np.testing.assert_array_equal(wanted[0], rest, strict=True)
    bad = data.draw(st.lists(st.integers(0, length - 1), min_size=1, max_size=2))
    values[2][bad] = groups
    values[2][min(bad)] = -groups - 1
    kept = [own.copy() for own in values]
    with pytest.raises(IndexError, match=f"index {-groups - 1} is out of bounds"):
        found(*values)
    for own, before in zip(values, kept, strict=True):
        assert own.tobytes() == before.tobytes()
