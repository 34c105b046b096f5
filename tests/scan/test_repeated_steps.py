"""Steps that are all alike: what is the same in each of them is found once."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import frazil as fz
import frazil.tensor as ft

MODES = ["py", "c", "cranelift", "numba"]


@cache
def steps_of_every_kind(mode):
    """Steps that take a column that a number chooses, move parts of vectors, fold, and multiply."""
    chosen, x = ft.lvector("chosen"), ft.matrix("x")
    table, square, start = ft.matrix("table"), ft.matrix("square"), ft.vector("start")

    def step(at, row, state, total, table, square):
        column = table[:, at]
        moved = ft.concatenate([state[1:], state[:1]])
        mixed = 0.5 * (square @ state) + column + row
        other = ft.set_subtensor(moved[at], state.sum())
        return [ft.tanh(mixed + other), total + (state * column).sum(), mixed[::-1], moved.T * 2]

    outputs, _ = fz.scan(
        step,
        sequences=[chosen, x],
        outputs_info=[start, ft.constant(0.0), None, None],
        non_sequences=[table, square],
    )
    cost = (outputs[0][-1:] ** 2).sum() + outputs[1][-1:].sum() + outputs[2].sum()
    inputs = [chosen, x, table, square, start]
    return fz.function(inputs, [*outputs, *fz.grad(cost, [x, table, square, start])], mode=mode)


def steps_by_numpy(chosen, x, table, square, start):
    state, total, rows = start, 0.0, ([], [], [], [])
    for at, row in zip(chosen, x, strict=True):
        column, moved = table[:, at], np.roll(state, -1)
        mixed = 0.5 * (square @ state) + column + row
        other = moved.copy()
        other[at] = state.sum()
        total = total + (state * column).sum()
        state = np.tanh(mixed + other)
        for made, own in zip(rows, (state, total, mixed[::-1], moved * 2), strict=True):
            made.append(own)
    shapes = [(0, len(start)), (0,), (0, len(start)), (0, len(start))]
    return [
        np.array(own).reshape(len(own), *shape[1:]) for own, shape in zip(rows, shapes, strict=True)
    ]


@st.composite
def arguments(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    steps, size = (
        draw(st.sampled_from([0, 1, 2, 3, 40])),
        draw(st.sampled_from([1, 2, 5, 8, 9, 21])),
    )
    chosen = rng.integers(0, size, steps)
    x, table, square = rng.normal(size=(steps, size)), *rng.normal(size=(2, size, size)) / size
    if draw(st.booleans()):
        square = square.T
    return chosen, x, table, square, rng.normal(size=size)


@pytest.mark.parametrize("mode", MODES)
@settings(max_examples=15)
@given(given=arguments())
def test_steps_of_every_kind(mode, given):
    found = steps_of_every_kind(mode)(*given)
    for own, one in zip(found, steps_by_numpy(*given), strict=False):
        np.testing.assert_allclose(own, one, rtol=1e-10, atol=1e-12)
    for own, one in zip(found, steps_of_every_kind("py")(*given), strict=True):
        np.testing.assert_allclose(own, one, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("mode", MODES)
def test_a_fault_in_a_late_step_is_told_with_its_step(mode):
    chosen, x, table, square, start = (
        np.zeros(9, int),
        np.zeros((9, 4)),
        *np.ones((2, 4, 4)),
        np.ones(4),
    )
    chosen[7] = 4
    with pytest.raises(IndexError) as caught:
        steps_of_every_kind(mode)(chosen, x, table, square, start)
    assert mode == "py" or "step 7" in str(caught.value), caught.value
    chosen[7] = 3
    assert np.isfinite(steps_of_every_kind(mode)(chosen, x, table, square, start)[0]).all()


@pytest.mark.parametrize("mode", MODES[1:])
def test_results_of_one_call_outlive_the_next(mode):
    rng = np.random.default_rng(5)
    given = [np.zeros(6, int), *rng.normal(size=(3, 6, 6)), rng.normal(size=6)]
    f = steps_of_every_kind(mode)
    first = f(*given)
    kept = [x.copy() for x in first]
    f(*(x * 0 for x in given))
    for own, one in zip(first, kept, strict=True):
        np.testing.assert_array_equal(own, one)


@cache
def steps_that_end_early(mode):
    """As many steps as a number says, of which those after the first are alike."""
    x, square, start, end = ft.matrix("x"), ft.matrix("square"), ft.vector("start"), ft.lscalar()

    def step(row, state, before, done, square, end):
        made = ft.tanh(square @ state + row - 0.5 * before[::-1])
        moved = ft.concatenate([made[1:], state[:1]])
        return [moved, state, done + 1, made.sum(), moved * made], fz.until(ft.ge(done + 1, end))

    outputs, _ = fz.scan(
        step,
        sequences=x,
        outputs_info=[start, ft.zeros_like(start), ft.constant(0), None, None],
        non_sequences=[square, end],
    )
    cost = (outputs[0][-1:] ** 2).sum() + outputs[3].sum()
    inputs = [x, square, start, end]
    # Of the first, all rows are kept; of the second, the last one.
    results = [outputs[0], outputs[1][-1], *outputs[2:], *fz.grad(cost, [x, square, start])]
    return fz.function(inputs, results, mode=mode)


@pytest.mark.parametrize("mode", MODES[1:])
@settings(max_examples=15)
@given(
    steps=st.sampled_from([1, 2, 3, 40, 130]),
    end=st.integers(0, 131),
    size=st.sampled_from([1, 3, 8, 21, 900]),
    seed=st.integers(0, 2**32 - 1),
)
def test_steps_end_early(mode, steps, end, size, seed):
    rng = np.random.default_rng(seed)
    square = rng.normal(size=(size, size)) / size
    given = rng.normal(size=(steps, size)), square, rng.normal(size=size), end
    made, last, done, sums, rows, *by = steps_that_end_early(mode)(*given)
    ended = min(max(end, 1), steps)
    assert list(done) == list(range(1, ended + 1))
    state, before = given[2], np.zeros(size)
    for at in range(ended):
        new = np.tanh(square @ state + given[0][at] - 0.5 * before[::-1])
        moved = np.append(new[1:], state[0])
        np.testing.assert_allclose(made[at], moved, rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(sums[at], new.sum(), rtol=1e-9, atol=1e-11)
        np.testing.assert_allclose(rows[at], moved * new, rtol=1e-10, atol=1e-12)
        state, before = moved, state
    np.testing.assert_allclose(last, before, rtol=1e-10, atol=1e-12)
    # The gradient is that of so many steps of which none ends.
    whole = steps_that_end_early(mode)(given[0][:ended], *given[1:3], ended + 1)
    np.testing.assert_array_equal(by[0][:ended], whole[5])
    assert not by[0][ended:].any()
    for own, one in zip(by[1:], whole[6:], strict=True):
        np.testing.assert_array_equal(own, one)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("adds", [False, True])
def test_an_index_that_a_late_step_refuses_is_told(mode, adds):
    positions, start = ft.lmatrix("positions"), ft.vector("start")

    def step(at, state):
        if adds:
            return ft.inc_subtensor((0.5 * state)[at], ft.exp(-state))
        return ft.tanh(state[at] * 2 - state.max())

    rows, _ = fz.scan(step, positions, start)
    f = fz.function([positions, start], rows, mode=mode)
    given, begun = np.tile([2, 0, -1], (9, 1)), np.array([0.1, 0.2, 0.3])
    expected = []
    state = begun
    for at in given:
        if adds:
            state, old = 0.5 * state, state
            np.add.at(state, at, np.exp(-old))
        else:
            state = np.tanh(state[at] * 2 - state.max())
        expected.append(state)
    np.testing.assert_allclose(f(given, begun), expected, rtol=1e-12)
    for index in (3, -4):
        given[7, 1] = index
        with pytest.raises(IndexError, match=rf"index {index} is out of bounds") as caught:
            f(given, begun)
        assert mode == "py" or "step 7" in str(caught.value), caught.value
        given[7, 1] = 0
        assert np.isfinite(f(given, begun)).all()
