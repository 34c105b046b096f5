"""Steps that read and add to parts that numbers choose, and multiply by matrices of their own."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import frazil as fz
import frazil.tensor as ft
from frazil._core import vector_bits

MODES = ["py", "c", "cranelift", "numba"]


def step(xp, at, matrix, state, square, table):
    """A row and a column that a number chooses, a small product with a matrix of this step."""
    turned = matrix.T @ state + 0.5 * (state @ matrix)
    shares = xp.exp(state[:, None] + 0.1 * square)
    return xp.tanh(turned + table[:, at] * table[0, at]) + 0.25 * shares.sum(0) / shares.sum()


@cache
def scanned(mode, dtype, index, threads):
    """The states after all steps, with gradients, which add to parts that numbers choose."""
    at, matrices = ft.vector("at", dtype=index), ft.tensor3("matrices", dtype=dtype)
    start, square = ft.vector("start", dtype=dtype), ft.matrix("square", dtype=dtype)
    table = ft.matrix("table", dtype=dtype)
    states, _ = fz.scan(
        lambda *args: step(ft, *args),
        sequences=[at, matrices],
        outputs_info=start,
        non_sequences=[square, table],
    )
    inputs = [matrices, start, square, table]
    outputs = [states, *fz.grad((states**2).sum(), inputs)]
    return fz.function([at, *inputs], outputs, mode=mode, threads=threads)


@st.composite
def arguments(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    dtype = draw(st.sampled_from(["float64", "float32"]))
    index = draw(st.sampled_from(["int64", "int64", "int32", "uint8"]))
    size, columns = draw(st.integers(1, 17)), draw(st.integers(1, 5))
    steps = draw(st.sampled_from([1, 2, 3, 9]))
    least = 0 if index == "uint8" else -columns
    at = rng.integers(least, columns, steps).astype(index)
    shapes = [(steps, size, size), (size,), (size, size), (size, columns)]
    values = [(rng.normal(size=shape) / 2).astype(dtype) for shape in shapes]
    for k in range(len(values)):
        if draw(st.booleans()):
            # The same elements, in another order in memory.
            values[k] = np.asfortranarray(values[k])
    return [at, *values]


@pytest.mark.parametrize("mode", MODES)
@settings(max_examples=15, deadline=None)
@given(given=arguments())
def test_states_are_those_of_a_loop(mode, given):
    at, matrices, state, square, table = given
    dtype, index = str(state.dtype), str(at.dtype)
    found = scanned(mode, dtype, index, 1)(*given)
    tolerance = {"float64": 1e-10, "float32": 2e-4}[dtype]
    for number, matrix, own in zip(at, matrices, found[0], strict=True):
        state = step(np, number, matrix, state, square, table)
        np.testing.assert_allclose(own, state, rtol=tolerance, atol=tolerance)
    for own, one in zip(found, scanned("py", dtype, index, 1)(*given), strict=True):
        np.testing.assert_allclose(own, one, rtol=20 * tolerance, atol=20 * tolerance)


@settings(max_examples=30, deadline=None)
@given(given=arguments())
def test_bits_are_the_same_in_all_steps_modes_and_threads(given):
    at, matrices, state, square, table = given
    dtype, index = str(state.dtype), str(at.dtype)
    whole = scanned("c", dtype, index, 1)(*given)
    others = [("c", 2)]
    if vector_bits() == 512:  # else C takes exp and tanh from the C library
        others.append(("cranelift", 1))
    for mode, threads in others:
        for own, one in zip(scanned(mode, dtype, index, threads)(*given), whole, strict=True):
            assert own.tobytes() == one.tobytes()
    for k in range(len(at)):
        one = slice(k, k + 1)
        state = scanned("c", dtype, index, 1)(at[one], matrices[one], state, square, table)[0][0]
        assert state.tobytes() == whole[0][k].tobytes()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("number", [3, -4, 99])
def test_a_number_beyond_the_parts_is_refused_in_any_step(mode, number):
    for step_of_it in (0, 1, 4):
        at = np.zeros(5, "int64")
        at[step_of_it] = number
        values = [np.ones((5, 2, 2)), np.ones(2), np.ones((2, 2)), np.ones((2, 3))]
        with pytest.raises(IndexError):
            scanned(mode, "float64", "int64", 1)(at, *values)
