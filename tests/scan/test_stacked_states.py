"""States whose values before each step are stacked: steps write them to their rows ahead."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import frazil as fz
import frazil.tensor as ft

MODES = ["py", "c", "cranelift", "numba"]


def step(row, before, state, other, matrix):
    """The next values of two states, the second of them stacked as it was and as it becomes."""
    turned = (matrix @ state) * row + before
    return turned[::-1], state + other * 0.5, state, other, state * row


@cache
def scanned(mode, ends):
    """Stacks and last states, with gradients if the scan runs to its end."""
    rows, starts = ft.matrix("rows"), ft.matrix("starts")
    other, matrix = ft.vector("other"), ft.matrix("matrix")

    def of(row, before, state, other, matrix):
        made = step(row, before, state, other, matrix)
        return (list(made), fz.until(row[0] > 2.0)) if ends else list(made)

    made, _ = fz.scan(
        of,
        sequences=rows,
        outputs_info=[{"initial": starts, "taps": [-2, -1]}, other, None, None, None],
        non_sequences=matrix,
    )
    inputs = [rows, starts, other, matrix]
    outputs = [*made, made[0][-1:], made[1][-1:]]
    if not ends:
        outputs += fz.grad(sum((x**2).sum() for x in made), inputs)
    return fz.function(inputs, outputs, mode=mode)


def by_numpy(rows, starts, other, matrix, ends):
    before, state = starts
    found = []
    for row in rows:
        made = step(row, before, state, other, matrix)
        found.append(made)
        before, state, other = state, made[0], made[1]
        if ends and row[0] > 2.0:
            break
    return [np.array(stack) for stack in zip(*found, strict=True)]


@st.composite
def arguments(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    size, steps = draw(st.integers(1, 40)), draw(st.sampled_from([1, 2, 3, 40]))
    shapes = [(steps, size), (2, size), (size,), (size, size)]
    values = [rng.normal(size=shape) for shape in shapes]
    values[3] /= 2 * size
    if draw(st.booleans()):
        values[1] = np.asfortranarray(values[1])
    return values


@pytest.mark.parametrize("ends", [False, True])
@pytest.mark.parametrize("mode", MODES)
@settings(max_examples=10, deadline=None)
@given(given=arguments())
def test_stacks_are_those_of_a_loop(mode, ends, given):
    before = [value.copy() for value in given]
    found = scanned(mode, ends)(*given)
    for own, one in zip(given, before, strict=True):
        np.testing.assert_array_equal(own, one, "an argument was written to")
    expected = by_numpy(*given, ends)
    for own, one in zip(found, [*expected, expected[0][-1:], expected[1][-1:]], strict=False):
        np.testing.assert_allclose(own, one, rtol=1e-10, atol=1e-10)
    for own, one in zip(found, scanned("py", ends)(*given), strict=True):
        np.testing.assert_allclose(own, one, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("steps", [0, 1, 2, 3, 50])
def test_only_values_before_each_step_are_stacked(mode, steps):
    start, factor = ft.vector("start"), ft.scalar("factor")
    (last, before), _ = fz.scan(
        lambda x, factor: (ft.tanh(x * factor) + ft.roll(x, 1), x),
        outputs_info=[start, None],
        non_sequences=factor,
        n_steps=steps,
    )
    f = fz.function([start, factor], [last[-1:], before], mode=mode)
    x = np.linspace(-1.0, 1.0, 13)
    rows = []
    for _ in range(steps):
        rows.append(x)
        x = np.tanh(x * 0.5) + np.roll(x, 1)
    for _ in range(2):
        final, stacked = f(np.linspace(-1.0, 1.0, 13), 0.5)
        np.testing.assert_allclose(stacked, np.reshape(rows, (steps, 13)), rtol=1e-12)
        np.testing.assert_allclose(final, [x] if steps else np.empty((0, 13)), rtol=1e-12)
