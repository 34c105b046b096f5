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
    st.integers(2, 40),
    st.booleans(),
    st.booleans(),
)
def test_pairs(mode, dtype, terms, weighted, static):
    length = terms if static else None
    x = ft.tensor("x", dtype=dtype, shape=(None, length))
    y = ft.tensor("y", dtype=dtype, shape=(None, length))
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


def pairwise(length):
    """A kernel between all pairs of points, its gradients and a normalised one."""
    x, scale = ft.tensor("x", shape=(None, length)), ft.scalar("scale")
    difference = x[:, None] - x[None]
    squares = (difference**2).sum(2)
    value = ft.exp(-0.5 * squares / scale**2).sum()
    gradients = fz.grad(value, [x, scale])
    largest = ft.max(difference, axis=2, keepdims=True)
    normalised = ft.exp(difference - largest).sum(2)
    return [x, scale], [value, *gradients, fz.grad(gradients[0].sum(), scale), normalised]


@pytest.mark.parametrize("length", [None, 3])
def test_kernels_between_pairs(mode, length):
    inputs, outputs = pairwise(length)
    function = fz.function(inputs, outputs, mode=mode)
    rng = np.random.default_rng(3)
    # Lengths for which the last dimension is short, and for which it is not.
    for n, terms in [(40, 3), (3, 3), (2, 3), (1, 3), (0, 3), (40, 17), (4, 30), (5, 1)]:
        if length not in (None, terms):
            continue
        x = rng.normal(size=(n, terms))
        found = function(x, 0.7)
        arguments = dict(zip(inputs, (x, np.array(0.7)), strict=True))
        expected = [evaluate(y, arguments) for y in outputs]
        for value, wanted in zip(found, expected, strict=True):
            np.testing.assert_allclose(value, wanted, rtol=1e-10, atol=1e-12)


def test_a_call_chooses_by_the_length_of_rows():
    x = ft.matrix("x")
    function = fz.function([x], ((x[:, None] - x) ** 2).sum(-1), mode="c")
    assert "loop k0(n0, n0, n1) %0[0, _, 1] %0[_, 0, 1] -> [0, 1, _] from 0.0" in str(
        function.explain()
    )
    assert ", by k1 where n1 is at most 31" in str(function.explain())


def test_elements_of_rows_have_no_array_of_their_own():
    inputs, outputs = pairwise(None)
    function = fz.function(inputs, outputs[:3], mode="c")
    plan = function.memory_plan((200, 3), ())
    assert plan.temporaries < 3.5 * 200 * 200 * 8


def test_sums_of_float32_in_registers_of_two_widths():
    x = ft.tensor3("x", dtype="float32")
    outputs = [x.sum(axis=-1), x.prod(axis=-1), *ft.linalg.slogdet(x)]
    value = np.random.default_rng(3).normal(size=(2, 5, 5)).astype("float32")
    found = fz.function([x], outputs, mode="c")(value)
    expected = [value.sum(axis=-1), value.prod(axis=-1), *np.linalg.slogdet(value)]
    for own, wanted in zip(found, expected, strict=True):
        np.testing.assert_allclose(own, wanted, rtol=1e-4)
