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


@cache
def with_functions(mode, dtype):
    """Functions of chosen rows: written, summed, and added where other indices say."""
    t, s = (ft.tensor(k, dtype=dtype, shape=(None, None)) for k in "ts")
    w = ft.tensor("w", dtype=dtype, shape=(None,))
    i, j = (ft.tensor(k, dtype="int64", shape=(None,)) for k in "ij")
    outputs = [
        ft.tanh(t[i]) * w,
        (ft.exp(t[i]) - w).sum(axis=1),
        ft.inc_subtensor(s[j], ft.sigmoid(t[i] * w) - ft.tanh(t[i])),
    ]
    return fz.function([t, s, w, i, j], outputs, mode=mode)


def with_functions_by_numpy(t, s, w, i, j):
    taken = t[i]
    added = s.copy()
    np.add.at(added, j, 1 / (1 + np.exp(-taken * w)) - np.tanh(taken))
    return np.tanh(taken) * w, (np.exp(taken) - w).sum(axis=1), added


@pytest.mark.parametrize("mode", [*MODES, "numba"])
@settings(max_examples=25)
@given(st.sampled_from(["float64", "float32"]), st.data())
def test_functions_of_rows_do_not_depend_on_the_rows_beside_them(mode, dtype, data):
    width = data.draw(st.sampled_from([1, 3, 4, 8, 11, 16, 32, 45, 64, 127, 128, 129, 300]))
    count = data.draw(st.sampled_from([0, 1, 2, 3, 9, 16, 40, 67]))
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    t, s, w = (rng.normal(size=n).astype(dtype) for n in [(7, width), (5, width), width])
    if data.draw(st.booleans()):
        t, s, w = (laid_out(data, array) for array in (t, s, w))
    i, j = rng.integers(-7, 7, count), rng.integers(-5, 5, count)
    call = with_functions(mode, dtype)
    found = call(t, s, w, i, j)
    tolerance = {"float64": 1e-12, "float32": 2e-5}[dtype]
    for own, right in zip(found, with_functions_by_numpy(t, s, w, i, j), strict=True):
        np.testing.assert_allclose(own, right, rtol=tolerance, atol=tolerance, strict=True)
    for k in range(count):
        alone = call(t, s, w, i[k : k + 1], j[k : k + 1])
        assert found[0][k].tobytes() == alone[0][0].tobytes()
        assert found[1][k].tobytes() == alone[1][0].tobytes()
    if count:
        at = data.draw(st.integers(0, count - 1))
        i[at] = data.draw(st.sampled_from([7, -8, 2**62]))
        with pytest.raises(IndexError, match=str(i[at])):
            call(t, s, w, i, j)


def test_functions_of_rows_have_the_same_bits_in_every_linker_that_shares_them():
    rng = np.random.default_rng(3)
    t, s, w = rng.normal(size=(50, 32)) * 20, rng.normal(size=(9, 32)), rng.normal(size=32)
    i, j = rng.integers(-50, 50, 333), rng.integers(0, 9, 333)
    results = [with_functions(mode, "float64")(t, s, w, i, j) for mode in ("cranelift", "numba")]
    for one, other in zip(*results, strict=True):
        assert one.tobytes() == other.tobytes()
