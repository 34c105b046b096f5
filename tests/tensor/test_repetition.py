"""Repeating, tiling, rolling, reversing and differencing agree with NumPy."""

import numpy as np
import pytest
from agreement import check, compiled, like, modes
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import frazil as fz
import frazil.tensor as ft
from frazil.tensor.repetition import RepeatedPositions
from frazil.testing import verify_grad

X = np.linspace(-1, 1, 6).reshape(2, 3)


@st.composite
def with_axis(draw, min_dims=0):
    shape = draw(hnp.array_shapes(min_dims=min_dims, max_dims=3, min_side=0, max_side=3))
    axis = draw(st.integers(-len(shape), len(shape) - 1) if shape else st.none())
    return np.arange(float(np.prod(shape, dtype=int))).reshape(shape), axis


@given(with_axis(), modes, st.data())
def test_repeat_agrees_with_numpy(drawn, mode, data):
    array, axis = drawn
    axis = data.draw(st.sampled_from([None, axis]))
    x, n = like(data.draw, array), ft.lscalar("n")
    count = data.draw(st.integers(0, 3))
    expected = np.repeat(array, count, axis)
    check(ft.repeat(x, count, axis), {x: array}, expected, mode)
    check(x.repeat(n, axis), {x: array, n: count}, expected, mode)
    length = array.size if axis is None else array.shape[axis]
    counts = data.draw(hnp.arrays("int64", length, elements=st.integers(0, 3)))
    expected = np.repeat(array, counts, axis)
    check(ft.repeat(x, counts, axis), {x: array}, expected, mode)


@given(with_axis(), st.integers(0, 3) | st.lists(st.integers(0, 3), max_size=4), modes, st.data())
def test_tile_agrees_with_numpy(drawn, reps, mode, data):
    array, _ = drawn
    x = like(data.draw, array)
    check(ft.tile(x, reps), {x: array}, np.tile(array, reps), mode)


@given(with_axis(), st.integers(-9, 9), modes, st.data())
def test_roll_and_flip_agree_with_numpy(drawn, shift, mode, data):
    array, axis = drawn
    x, n = like(data.draw, array), ft.lscalar("n")
    axis = data.draw(st.sampled_from([None, axis]))
    check(ft.roll(x, shift, axis), {x: array}, np.roll(array, shift, axis), mode)
    check(ft.roll(x, n, axis), {x: array, n: shift}, np.roll(array, shift, axis), mode)
    check(ft.flip(x, axis), {x: array}, np.flip(array, axis), mode)


def test_rolling_along_several_axes(mode):
    check(ft.roll(X, (1, -1), (0, 1)), {}, np.roll(X, (1, -1), (0, 1)), mode)
    check(ft.roll(X, 1, (0, 1)), {}, np.roll(X, 1, (0, 1)), mode)


@given(with_axis(min_dims=1), st.integers(0, 3), st.data())
def test_diff_agrees_with_numpy(drawn, n, data):
    array, axis = drawn
    x = like(data.draw, array)
    check(ft.diff(x, n, axis), {x: array}, np.diff(array, n, axis), "py")
    mask = array % 3 == 0
    y = like(data.draw, mask)
    check(ft.diff(y, n, axis), {y: mask}, np.diff(mask, n, axis), "py")


@pytest.mark.parametrize(
    "build",
    [
        lambda x: ft.repeat(x, 2, 1),
        lambda x: ft.repeat(x, [2, 0, 1], 1),
        lambda x: ft.repeat(x, 3),
        lambda x: ft.tile(x, (2, 1, 2)),
        lambda x: ft.roll(x, 1, 1) * x,
        lambda x: ft.flip(x) * x,
        lambda x: ft.diff(x, 2),
    ],
)
def test_gradients(build, mode):
    verify_grad(lambda x: build(x) ** 2, [X], mode=mode)
    verify_grad(lambda x: fz.grad(ft.sum(build(x) ** 3), x), [X], mode="py")


def test_errors(mode):
    x, n = ft.vector("x"), ft.lvector("n")
    with pytest.raises(ValueError, match="cannot be negative"):
        compiled(ft.repeat(x, n), {x: np.ones(2), n: [1, -1]}, mode)
    with pytest.raises(ValueError, match="broadcast"):
        compiled(ft.repeat(x, n), {x: np.ones(2), n: [1, 1, 1]}, mode)


def test_static_errors():
    with pytest.raises(TypeError, match="repeats must be integers"):
        ft.repeat(ft.vector(), 1.5)
    with pytest.raises(ValueError, match="for each of 2 elements"):
        ft.repeat(ft.tensor(shape=(2,)), [1, 2, 3])
    with pytest.raises(TypeError, match="takes an int64 vector"):
        RepeatedPositions()(ft.ivector())
    with pytest.raises(ValueError, match="2 shifts for 1 axes"):
        ft.roll(ft.vector(), (1, 2), (0,))
    with pytest.raises(ValueError, match="must not be negative"):
        ft.diff(ft.vector(), -1)
