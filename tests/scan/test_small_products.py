"""Products of small matrices in steps: the loops that do those of later steps are found once."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import frazil as fz
import frazil.tensor as ft

MODES = ["py", "c", "cranelift", "numba"]
CONSTANT = (np.cos(np.arange(25.0)) / 10).reshape(5, 5).T


def step(row, moving, state, square, factor):
    """Products of what stays the same, of what moves, and of what the step itself has made."""
    vector = factor @ state + moving @ row
    turned = 0.5 * (vector @ factor) + row * (state @ vector)
    product = 0.25 * (square @ factor) + moving.T @ square
    return vector + turned @ product, product, vector @ vector


@cache
def scanned(mode, dtype):
    """The states after all steps, and the numbers that were stacked, with gradients."""
    row, moving = ft.matrix("row", dtype=dtype), ft.tensor3("moving", dtype=dtype)
    start, square = ft.vector("start", dtype=dtype), ft.matrix("square", dtype=dtype)
    factor = ft.matrix("factor", dtype=dtype)
    (states, squares, numbers), _ = fz.scan(
        step,
        sequences=[row, moving],
        outputs_info=[start, square, None],
        non_sequences=[factor],
    )
    inputs = [row, moving, start, square, factor]
    cost = (states**2).sum() + squares[-1:].sum() + numbers.sum()
    return fz.function(inputs, [states, squares, numbers, *fz.grad(cost, inputs)], mode=mode)


def by_numpy(row, moving, start, square, factor):
    states, squares, numbers = [], [], []
    for own, matrix in zip(row, moving, strict=True):
        start, square, number = step(own, matrix, start, square, factor)
        states.append(start)
        squares.append(square)
        numbers.append(number)
    return np.array(states), np.array(squares), np.array(numbers)


@st.composite
def arguments(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    dtype = draw(st.sampled_from(["float64", "float32"]))
    size, steps = draw(st.integers(1, 9)), draw(st.sampled_from([1, 2, 3, 7]))
    shapes = [(steps, size), (steps, size, size), (size,), (size, size), (size, size)]
    values = [(rng.normal(size=shape) / (2 * size)).astype(dtype) for shape in shapes]
    for at in range(len(values)):
        if draw(st.booleans()):
            # The same elements, in another order in memory.
            values[at] = np.asfortranarray(values[at])
    return values


@pytest.mark.parametrize("mode", MODES)
@settings(max_examples=20, deadline=None)
@given(given=arguments())
def test_products_are_those_of_a_loop(mode, given):
    dtype = str(given[2].dtype)
    found = scanned(mode, dtype)(*given)
    tolerance = {"float64": 1e-9, "float32": 2e-4}[dtype]
    for own, one in zip(found, by_numpy(*given), strict=False):
        assert own.dtype == dtype
        np.testing.assert_allclose(own, one, rtol=tolerance, atol=tolerance)
    for own, one in zip(found, scanned("py", dtype)(*given), strict=True):
        np.testing.assert_allclose(own, one, rtol=10 * tolerance, atol=10 * tolerance)


@settings(max_examples=30, deadline=None)
@given(given=arguments())
def test_products_have_the_same_bits_in_first_and_later_steps(given):
    row, moving, start, square, factor = given
    dtype = str(start.dtype)
    whole = scanned("c", dtype)(*given)
    for own, one in zip(scanned("cranelift", dtype)(*given), whole, strict=True):
        assert own.tobytes() == one.tobytes()
    for at in range(len(row)):
        # A scan of one step: the next state is that of the step of the long scan.
        one = scanned("c", dtype)(row[at : at + 1], moving[at : at + 1], start, square, factor)
        start, square = one[0][0], one[1][0]
        for found, of in zip(one[:3], whole[:3], strict=True):
            assert found[0].tobytes() == of[at].tobytes()


@pytest.mark.parametrize("mode", MODES)
def test_a_matrix_is_an_argument_or_a_constant(mode):
    start, factor = ft.vector("start"), ft.matrix("factor")
    rows = fz.scan(
        lambda x, factor: factor @ x - ft.constant(CONSTANT) @ x,
        outputs_info=start,
        non_sequences=factor,
        n_steps=4,
        return_updates=False,
    )
    f = fz.function([start, factor], rows, mode=mode)
    rng = np.random.default_rng(3)
    vector, matrix = rng.normal(size=5), rng.normal(size=(5, 5))
    for _ in range(2):
        x, expected = vector, []
        for _ in range(4):
            x = matrix @ x - CONSTANT @ x
            expected.append(x)
        np.testing.assert_allclose(f(vector, matrix), expected, rtol=1e-10)
        # Between calls it may change.
        matrix *= 2
