"""Matrices of few columns whose types do not say so: rows that are joined, or are columns."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import evaluate

import frazil as fz
import frazil.tensor as ft


def values_of(x, y, row, column):
    """What is elementwise, and what is reduced along either axis."""
    return [
        *(x.sum(axis=1), ft.max(x, axis=1), ft.prod(x, axis=1), (x * y).sum(axis=1)),
        *(x.sum(axis=0), ft.min(x, axis=0), (x * y).sum(axis=0), (x * row).sum(axis=0)),
        *(x + row, x * y + row, ft.any(x > row, axis=1), ft.all(x > row, axis=0), x.sum()),
        *(x + column, x * y - column, ft.where(x > column, y, row), column - row),
        *(x - x.mean(axis=1, keepdims=True), ft.cumsum(x, axis=1), (x * row).sum()),
    ]


_functions = {}


def functions_of(dtype, mode, threads):
    """A function of each value alone, so that each has a loop of its own, and one of all."""
    key = dtype, mode, threads
    if key not in _functions:
        inputs = [ft.matrix(name, dtype=dtype) for name in "xy"] + [ft.vector("row", dtype=dtype)]
        inputs.append(ft.tensor("column", dtype=dtype, shape=(None, 1)))
        outputs = values_of(*inputs)
        options = {"mode": mode, "threads": threads, "on_unused_input": "ignore"}
        made = [fz.function(inputs, [output], **options) for output in outputs]
        made.append(fz.function(inputs, outputs, **options))
        _functions[key] = inputs, made
    return _functions[key]


LAYOUTS = {
    "C": np.ascontiguousarray,
    "F": np.asfortranarray,
    "gaps": lambda x: np.repeat(np.repeat(x, 2, axis=0), 3, axis=1)[::2, ::3],
    "backwards": lambda x: np.ascontiguousarray(x[::-1, ::-1])[::-1, ::-1],
}


@settings(max_examples=30)
@given(
    how=st.sampled_from(
        [
            *(("float64", "c", 1), ("float64", "c", 2), ("int16", "c", 1)),
            *(("float64", "cranelift", 2), ("int16", "cranelift", 1), ("float32", "numba", 1)),
        ]
    ),
    rows=st.one_of(st.integers(0, 40), st.sampled_from((500, 1030, 70_000))),
    columns=st.sampled_from((1, 1, 2, 3, 4, 7, 30, 129)),
    layouts=st.tuples(st.sampled_from(sorted(LAYOUTS)), st.sampled_from(sorted(LAYOUTS))),
    seed=st.integers(0, 2**32 - 1),
)
def test_few_columns(how, rows, columns, layouts, seed):
    dtype, *_ = how
    rows = min(rows, 140_000 // columns)
    rng = np.random.default_rng(seed)
    arrays = [rng.integers(-3, 4, (rows, columns)) for _ in range(2)]
    arrays = [LAYOUTS[own](x.astype(dtype)) for own, x in zip(layouts, arrays, strict=True)]
    arrays.append(rng.integers(-3, 4, columns).astype(dtype))
    arrays.append(rng.integers(-3, 4, (rows, 1)).astype(dtype))
    inputs, functions = functions_of(*how)
    if rows == 0:
        arrays[:2] = [np.ones((1, columns), dtype)] * 2  # a minimum of nothing is none
        arrays[3] = np.ones((1, 1), dtype)
    known = dict(zip(inputs, arrays, strict=True))
    expected = [evaluate(variable, known) for variable in values_of(*inputs)]
    found = [function(*arrays)[0] for function in functions[:-1]]
    for values in (found, functions[-1](*arrays)):
        for value, want in zip(values, expected, strict=True):
            assert (value.dtype, value.shape) == (want.dtype, want.shape)
            np.testing.assert_allclose(value, want, rtol=1e-5)


@pytest.mark.parametrize("mode", ["c", "cranelift", "numba"])
def test_what_is_special_keeps_to_its_own_row(mode):
    x = ft.matrix("x")
    extremes = [ft.max(x, axis=1), ft.min(x, axis=1)]
    outputs = [x.sum(axis=1), ft.prod(x, axis=1), *extremes]
    functions = [fz.function([x], output, mode=mode) for output in outputs]
    for special in (np.nan, np.inf, -np.inf, -0.0):
        for rows in (1, 2, 8, 9, 77):
            for at in {0, rows // 2, rows - 1}:
                array = np.ones((rows, 1))
                array[at] = special
                for function in functions:
                    np.testing.assert_array_equal(function(array), array[:, 0])
                for function in functions[2:]:
                    signs = np.signbit(function(array))
                    np.testing.assert_array_equal(signs, np.signbit(array[:, 0]))


@pytest.mark.parametrize("mode", ["c", "cranelift", "numba"])
def test_rows_that_are_written_over_their_operand(mode):
    x, column = ft.matrix("x"), ft.tensor("column", shape=(None, 1))
    donated = fz.In(x, mutable=True)
    function = fz.function([donated, column], x * column + 1, mode=mode)
    for rows, columns in [(1, 1), (9, 1), (20, 3), (7, 12)]:
        array = np.arange(rows * columns, dtype="float64").reshape(rows, columns)
        scale = np.arange(rows, dtype="float64")[:, None]
        want = array * scale + 1
        np.testing.assert_array_equal(function(array, scale), want)


def test_sums_of_columns_are_the_same_with_any_number_of_threads():
    x = ft.matrix("x")
    sums = [fz.function([x], x.sum(axis=0), mode="c", threads=threads) for threads in (1, 2, 3)]
    for columns in (1, 3, 100):
        array = np.random.default_rng(columns).normal(size=(300_000 // columns, columns))
        one, *others = (function(array) for function in sums)
        for other in others:
            np.testing.assert_array_equal(one, other)
        np.testing.assert_allclose(one, array.sum(axis=0), rtol=1e-9, atol=1e-9)
