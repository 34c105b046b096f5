"""Reductions over a short last dimension of what broadcasts, as distances between points."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import evaluate

import frazil as fz
import frazil.tensor as ft


@settings(max_examples=20)  # as all of them compile
@given(
    st.sampled_from(["c", "cranelift", "numba"]),
    st.sampled_from(["float64", "float32", "int8"]),
    st.integers(2, 20),
    st.booleans(),
)
def test_pairs(mode, dtype, terms, weighted):
    x = ft.tensor("x", dtype=dtype, shape=(None, terms))
    y = ft.tensor("y", dtype=dtype, shape=(None, terms))
    w = ft.vector("w", dtype=dtype)
    difference = x[:, None] - y
    if weighted:
        difference = difference * w
    variables = [
        (difference * difference).sum(-1),
        ft.max(difference, -1),
        ft.prod(difference, -1),
        (difference * 2).sum(-1) + 1,
        (x[:, None] * y).sum((0, 2)),
    ]
    function = fz.function([x, y, w], variables, mode=mode, on_unused_input="ignore")
    rng = np.random.default_rng(terms)
    for n, m in [(3, 4), (0, 2), (2, 0), (1, 1), (70, 5)]:
        shapes = [(n, terms), (m, terms), (terms,)]
        values = [rng.integers(-3, 4, shape).astype(dtype) for shape in shapes]
        given_values = dict(zip((x, y, w), values, strict=True))
        for layout in (np.asarray, np.asfortranarray):
            found = function(*map(layout, values))
            for variable, value in zip(variables, found, strict=True):
                expected = evaluate(variable, given_values)
                assert (value.dtype, value.shape) == (expected.dtype, expected.shape)
                np.testing.assert_allclose(value, expected, rtol=1e-5)


def test_results_lie_side_by_side_in_the_inner_loop():
    x = ft.tensor("x", shape=(None, 3))
    short = fz.function([x], ((x[:, None] - x) ** 2).sum(-1), mode="c")
    assert "-> [0, _, 1] from 0.0" in str(short.explain())
    wide = ft.tensor("x", shape=(None, 300))
    long = fz.function([wide], ((wide[:, None] - wide) ** 2).sum(-1), mode="c")
    assert "-> [0, 1, _] from 0.0" in str(long.explain())


def test_no_terms_and_no_identity(mode):
    x = ft.tensor("x", shape=(None, 0))
    with pytest.raises(ValueError, match=r"element|identity"):
        fz.function([x], ft.max(x[:, None] - x, -1), mode=mode)(np.zeros((2, 0)))
