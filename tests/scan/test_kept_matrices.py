"""Matrices that stay the same in many steps: later steps read a copy, with the same bits."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import frazil as fz
import frazil.tensor as ft

MODES = ["py", "c", "cranelift", "numba"]


def step(row, state, square, wide):
    """Products with a matrix as it lies and turned, alone and added to something."""
    # All of it follows from the state, or the step would multiply by a part of the matrix alone.
    row = row + state[0]
    both = ft.concatenate([state, row]) if isinstance(state, fz.Variable) else np.r_[state, row]
    state = 0.5 * (square @ state) + wide @ both
    return state - 0.25 * (state @ square) + (wide.T @ state)[: state.shape[0]] / 4


@cache
def scanned(mode, dtype):
    """The states after all steps, with gradients."""
    rows, start = ft.matrix("rows", dtype=dtype), ft.vector("start", dtype=dtype)
    square, wide = ft.matrix("square", dtype=dtype), ft.matrix("wide", dtype=dtype)
    states = fz.scan(
        step,
        sequences=rows,
        outputs_info=start,
        non_sequences=[square, wide],
        return_updates=False,
    )
    inputs = [rows, start, square, wide]
    return fz.function(inputs, [states, *fz.grad((states**2).sum(), inputs)], mode=mode)


@st.composite
def arguments(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    dtype = draw(st.sampled_from(["float64", "float32"]))
    size, more = draw(st.integers(1, 50)), draw(st.integers(0, 30))
    steps = draw(st.sampled_from([1, 5, 31, 32, 33, 40]))
    shapes = [(steps, more), (size,), (size, size), (size, size + more)]
    values = [(rng.normal(size=shape) / (2 * size + more)).astype(dtype) for shape in shapes]
    for at in range(len(values)):
        if draw(st.booleans()):
            # The same elements, in another order in memory.
            values[at] = np.asfortranarray(values[at])
    return values


@pytest.mark.parametrize("mode", MODES)
@settings(max_examples=15, deadline=None)
@given(given=arguments())
def test_products_are_those_of_a_loop(mode, given):
    rows, state, square, wide = given
    dtype = str(state.dtype)
    found = scanned(mode, dtype)(*given)
    tolerance = {"float64": 1e-9, "float32": 2e-4}[dtype]
    for row, own in zip(rows, found[0], strict=True):
        state = step(row, state, square, wide)
        np.testing.assert_allclose(own, state, rtol=tolerance, atol=tolerance)
    for own, one in zip(found, scanned("py", dtype)(*given), strict=True):
        np.testing.assert_allclose(own, one, rtol=10 * tolerance, atol=10 * tolerance)


@settings(max_examples=20, deadline=None)
@given(given=arguments())
def test_a_copy_changes_no_bit(given):
    rows, start, square, wide = given
    dtype = str(start.dtype)
    whole = scanned("c", dtype)(*given)
    for own, one in zip(scanned("cranelift", dtype)(*given), whole, strict=True):
        assert own.tobytes() == one.tobytes()
    for at in range(len(rows)):
        # Of a scan of one step no later step reads a copy.
        start = scanned("c", dtype)(rows[at : at + 1], start, square, wide)[0][0]
        assert start.tobytes() == whole[0][at].tobytes()
