"""Elements read and written where indices say, in loops."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from test_fusion import steps

import frazil as fz
import frazil.tensor as ft
from frazil.tensor.advanced_indexing import AdvancedIncSubtensor, AdvancedSubtensor

MODES = ["c", "cranelift", "numba"]


def hierarchy():
    a, b = ft.vector("a"), ft.vector("b")
    group, x, y = ft.vector("group", dtype="int64"), ft.vector("x"), ft.vector("y")
    cost = ((y - a[group] - b[group] * x) ** 2).sum()
    return [a, b, group, x, y], [cost, *fz.grad(cost, [a, b])]


def data(groups, rows):
    rng = np.random.default_rng(0)
    vectors = [rng.normal(size=n) for n in (groups, groups, rows, rows)]
    return [*vectors[:2], rng.integers(-groups, groups, rows), *vectors[2:]]


@pytest.mark.parametrize("mode", MODES)
def test_a_hierarchy_and_its_gradient_are_one_loop(mode):
    inputs, outputs = hierarchy()
    f = fz.function(inputs, outputs, mode=mode)
    assert steps(f).count("loop") == 1
    assert "call" not in steps(f)
    values = data(17, 203)
    for a, b in zip(f(*values), fz.function(inputs, outputs, mode="py")(*values), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("bad", [17, -18, 2**62, -(2**62)])
def test_an_index_out_of_bounds_is_named(mode, bad):
    inputs, outputs = hierarchy()
    f = fz.function(inputs, outputs, mode=mode)
    values = data(17, 203)
    values[2][150] = bad
    with pytest.raises(IndexError, match=f"index {bad} is out of bounds for axis 0 with size 17"):
        f(*values)
    values[2][150] = 0
    f(*values)


@pytest.mark.parametrize("mode", MODES)
def test_nothing_can_be_taken_of_nothing(mode):
    inputs, outputs = hierarchy()
    f = fz.function(inputs, outputs, mode=mode)
    with pytest.raises(IndexError, match="with size 0"):
        f(np.zeros(0), np.zeros(0), np.zeros(3, int), np.zeros(3), np.zeros(3))
    cost, *_ = f(np.zeros(0), np.zeros(0), np.zeros(0, int), np.zeros(0), np.zeros(0))
    assert cost == 0


TEMPLATES = [
    ("index",),
    ("index", "full"),
    ("full", "index"),
    ("index", "index"),
    ("full", "index", "full"),
    ("index", "full", "index"),
    ("index", "index", "full"),
    ("full", "index", "index"),
]


@st.composite
def cases(draw):
    template = draw(st.sampled_from(TEMPLATES))
    lengths = [draw(st.integers(1, 5)) for _ in template]
    index_shape = draw(st.sampled_from([(), (1,), (4,), (2, 3), (40,)]))
    dtype = draw(st.sampled_from(["int64", "int32", "uint8", "int8", "uint64"]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    order = draw(st.sampled_from("CF"))
    array = np.asarray(rng.integers(-9, 9, lengths).astype("float64"), order=order)
    indices = []
    for length, entry in zip(lengths, template, strict=True):
        if entry == "index":
            low = 0 if dtype.startswith("u") else -length
            indices.append(rng.integers(low, length, index_shape).astype(dtype))
    return template, array, indices, draw(st.booleans())


def agree(case, mode):
    template, array, indices, put = case
    x = ft.tensor("x", dtype="float64", shape=(None,) * array.ndim)
    symbols = [
        ft.tensor(dtype=i.dtype.name, shape=tuple(1 if n == 1 else None for n in i.shape))
        for i in indices
    ]
    part = AdvancedSubtensor(template)(x * 2, *symbols)
    values = part * part + 1
    back = AdvancedIncSubtensor(template, False)(x, values, *symbols)
    replaced = AdvancedIncSubtensor(template, True)(x, values - 3, *symbols)
    outputs = [values, back, values.sum(), *([replaced] if put else [])]
    inputs = [x, *symbols]
    f = fz.function(inputs, outputs, mode=mode)
    assert "call" not in steps(f)
    want = fz.function(inputs, outputs, mode="py")(array, *indices)
    for got, expected in zip(f(array, *indices), want, strict=True):
        np.testing.assert_array_equal(got, expected)


@settings(max_examples=60)
@given(cases())
@example((("full", "index"), np.array([[6.0], [2.0]]), [np.array(0)], True))
def test_every_template(case):
    agree(case, "c")


@settings(max_examples=5)
@given(cases())
def test_every_template_by_numba(case):
    agree(case, "numba")


@pytest.mark.parametrize("mode", MODES)
def test_what_a_loop_reads_by_index_keeps_its_memory(mode):
    x, at = ft.vector("x"), ft.vector("at", dtype="int64")
    made = ft.exp(x)
    taken = made[at] + made  # the temporary dies here, but every element of it may still be read
    f = fz.function([x, at], taken * 2, mode=mode)
    value, index = np.arange(50.0) / 50, np.arange(50)[::-1]
    np.testing.assert_allclose(f(value, index), (np.exp(value)[index] + np.exp(value)) * 2)


@pytest.mark.parametrize("mode", MODES)
def test_conditions_are_put_and_joined(mode):
    flags, at, new = ft.vector("f", dtype="bool"), ft.vector("at", dtype="int64"), ft.vector("n")
    joined = AdvancedIncSubtensor(("index",), False)(flags, new > 0, at)
    f = fz.function([flags, at, new], joined, mode=mode)
    got = f(np.array([False, True, False]), np.array([0, 1, 0, 2]), np.array([1.0, 0, -1, -1]))
    np.testing.assert_array_equal(got, [True, True, False])


@pytest.mark.parametrize("count", [1, 5, 8, 40])
def test_what_is_put_is_read_before_it_is_written_over(mode, count):
    # A product dies in a loop: a result of the loop gets its memory, and it is put elsewhere, too.
    a, x, i, table = ft.matrix("a"), ft.vector("x"), ft.lvector("i"), ft.vector("table")
    product = a @ x
    outputs = [a @ ft.exp(table[i]), a @ ft.set_subtensor(x[i], product)]
    rng = np.random.default_rng(0)
    matrix, vector, other = rng.normal(size=(3, count, count))
    order = rng.permutation(count)
    changed = vector[0].copy()
    changed[order] = matrix @ vector[0]
    f = fz.function([a, x, i, table], outputs, mode=mode)
    found = f(matrix, vector[0], order, other[0])
    np.testing.assert_allclose(found[0], matrix @ np.exp(other[0][order]), rtol=1e-10)
    np.testing.assert_allclose(found[1], matrix @ changed, rtol=1e-10)


@pytest.mark.parametrize("positive", [True, False])
def test_gradient_of_a_part_that_is_chosen(mode, positive):
    x, chosen = ft.vector("x"), ft.dscalar("chosen")
    order = ft.argsort(x)
    part = fz.ifelse(chosen > 0, ft.sin(x[order]), ft.cos(x))
    cost = ft.tanh(ft.set_subtensor(x[order], part)).sum() + ft.tanh(x).sum()
    values = np.random.default_rng(0).normal(size=8)
    f = fz.function([x, chosen], fz.grad(cost, x), mode=mode)
    expected = 1 - np.tanh(values) ** 2
    if positive:
        expected += (1 - np.tanh(np.sin(values)) ** 2) * np.cos(values)
    else:
        put = np.argsort(values)
        expected += -(1 - np.tanh(np.cos(values)) ** 2) * np.sin(values)
        assert sorted(put) == list(range(8))
    np.testing.assert_allclose(f(values, 1.0 if positive else -1.0), expected, rtol=1e-10)
