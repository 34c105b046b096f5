"""Elements read and written where indices say, in loops."""

from functools import cache

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.special import gammaln, softmax
from test_fusion import steps

import frazil as fz
import frazil.tensor as ft
from frazil._core import vector_bits
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


@settings(max_examples=60)
@given(cases())
def test_every_template_by_cranelift(case):
    agree(case, "cranelift")


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


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("count", [1, 5, 8, 40, 2000])
def test_indices_are_read_before_they_are_written_over(mode, count):
    # The order dies in the loop that puts by it: a result of the loop gets its memory.
    x, table = ft.vector("x"), ft.vector("table")
    order = ft.argsort(x)
    outputs = [ft.inc_subtensor(table[order], x * 2), ft.cumsum(order * 3 + 1)]
    value, other = np.random.default_rng(count).normal(size=(2, count))
    found = fz.function([x, table], outputs, mode=mode)(value, other)
    changed, places = other.copy(), np.argsort(value, stable=True)
    changed[places] += value * 2
    np.testing.assert_array_equal(found[0], changed)
    np.testing.assert_array_equal(found[1], np.cumsum(places * 3 + 1))


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


@cache
def rows_in_many_ways(mode, dtype):
    """Rows taken into loops of every kind, and rows put back."""
    table, other = ft.matrix("table", dtype=dtype), ft.matrix("other", dtype=dtype)
    weight, index = ft.vector("weight", dtype=dtype), ft.lvector("index")
    taken = table[index]
    outputs = [
        ft.where(taken > other[index], taken, other[index]),
        taken.sum(axis=1),
        taken.sum(axis=0),
        ft.inc_subtensor(table[index], taken * other[index]),
        ft.set_subtensor(table[index], taken + weight[:, None]),
        ft.inc_subtensor(other[index], weight[:, None]),
    ]
    if dtype.startswith("float"):
        outputs += [
            ft.softmax(taken, axis=1),  # several walks along a row
            ft.inc_subtensor(table[index], ft.exp(taken)),  # a function of blocks
            ft.set_subtensor(table[index], ft.gammaln(taken + 1)),  # a function of elements
        ]
    return fz.function([table, other, weight, index], outputs, mode=mode)


def rows_by_numpy(table, other, weight, index):
    def increased(array, values):
        made = array.copy()
        np.add.at(made, index, values)
        return made

    def changed(values):
        made = table.copy()
        for at, row in zip(index, values, strict=True):
            made[at] = row
        return made

    taken, column = table[index], weight[:, None]
    yield np.where(taken > other[index], taken, other[index])
    yield taken.sum(axis=1)
    yield taken.sum(axis=0)
    yield increased(table, taken * other[index])
    yield changed(taken + column)
    yield increased(other, column)
    if table.dtype.kind == "f":
        yield softmax(taken, axis=1) if taken.size else taken
        yield increased(table, np.exp(taken))
        yield changed(gammaln(taken + 1))


LAYOUTS = {
    "rows": lambda x: x[:, : x.shape[1] // 2].copy(),
    "columns": lambda x: np.asfortranarray(x[:, : x.shape[1] // 2]),
    "every second": lambda x: x[:, ::2],
    "reversed": lambda x: x[:, : x.shape[1] // 2][:, ::-1],
    "repeated": lambda x: np.broadcast_to(x[:, :1], (len(x), x.shape[1] // 2)),
}


@st.composite
def tables(draw):
    """Two tables, the first laid out in any way, and indices with repetitions."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    length, count = draw(st.integers(1, 5)), draw(st.sampled_from([0, 1, 2, 9]))
    width = draw(st.sampled_from([1, 3, 7, 8, 9, 16, 17, 33, 64, 70]))
    numbers = rng.integers(0, 3, (2, length, 2 * width))
    weight, index = rng.integers(0, 3, count), rng.integers(-length, length, count)
    return draw(st.sampled_from(list(LAYOUTS))), numbers, weight, index


@pytest.mark.parametrize("dtype", ["float64", "float32", "int8"])
@pytest.mark.parametrize("linker", ["py", *MODES])
@settings(max_examples=20)
@given(case=tables())
def test_rows_that_indices_choose(linker, dtype, case):
    layout, (table, other), weight, index = case
    table = LAYOUTS[layout](table.astype(dtype))
    arrays = [table, other[:, : table.shape[1]].astype(dtype), weight.astype(dtype), index]
    wanted = rows_by_numpy(*arrays)
    for got, one in zip(rows_in_many_ways(linker, dtype)(*arrays), wanted, strict=True):
        np.testing.assert_allclose(got, one, rtol=1e-5 if dtype == "float32" else 1e-12)


@pytest.mark.parametrize("width", [8, 16, 35, 48])  # one block of each dtype, and several
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_rows_that_indices_choose_have_the_bits_of_c(dtype, layout, width):
    rng = np.random.default_rng(8)
    table, other = rng.normal(size=(2, 6, 2 * width)).astype(dtype)
    table[1, 0], other[2, 1], table[3] = np.nan, np.inf, -0.0
    table, weight = LAYOUTS[layout](table), rng.normal(size=9).astype(dtype)
    arrays = [table, other[:, : table.shape[1]], weight, rng.integers(-6, 6, 9)]
    of_c, *made = (rows_in_many_ways(mode, dtype)(*arrays) for mode in MODES)
    for values in made:
        for wanted, own in zip(of_c, values, strict=True):
            if vector_bits() == 512:
                assert wanted.tobytes() == own.tobytes()
            else:  # C's kernels call the C library's functions, which have other bits
                rtol, atol = (1e-5, 1e-6) if dtype == "float32" else (1e-12, 1e-14)
                np.testing.assert_allclose(wanted, own, rtol=rtol, atol=atol)


@cache
def rows_without_an_end(mode):
    """What there is for rows of any length: a sum has a value where there is nothing."""
    table, index = ft.matrix("table"), ft.lvector("index")
    taken = table[index]
    outputs = [taken - taken.sum(axis=1, keepdims=True), ft.inc_subtensor(table[index], 1)]
    return fz.function([table, index], outputs, mode=mode)


@pytest.mark.parametrize("width", [0, 1, 8, 20])
@pytest.mark.parametrize("bad", [5, -6, 2**62])
def test_a_row_out_of_bounds_is_named(mode, bad, width):
    table, index = np.ones((5, width)), np.array([4, bad, -5])
    f = rows_without_an_end(mode)
    with pytest.raises(IndexError, match=f"index {bad} is out of bounds for axis 0 with size 5"):
        f(table, index)
    index[1] = 0
    differences, increased = f(table, index)
    np.testing.assert_array_equal(differences, np.full((3, width), 1 - width))
    np.testing.assert_array_equal(increased[:, :1], np.c_[[3, 1, 1, 1, 2]][:, :width])


def test_rows_are_put_into_columns(mode):
    # The elements of a row do not lie side by side where the table is changed in place.
    numbers = np.arange(5.0 * 19).reshape(5, 19)
    table = fz.shared(np.asfortranarray(numbers), "table")
    index, rows = ft.lvector("index"), ft.matrix("rows")
    changed = ft.inc_subtensor(table[index], ft.sqrt(rows))
    f = fz.function([index, rows], [], updates=[(table, changed)], mode=mode)
    given = np.arange(4.0 * 19).reshape(4, 19)
    f(np.array([3, -5, 3, 1]), given)
    np.add.at(numbers, [3, 0, 3, 1], np.sqrt(given))
    np.testing.assert_allclose(table.get_value(), numbers)
