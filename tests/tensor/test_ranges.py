"""Ranges agree with NumPy."""

import numpy as np
import pytest
from agreement import check, compiled, modes
from hypothesis import given, settings
from hypothesis import strategies as st

import frazil as fz
import frazil.tensor as ft
from frazil.tensor.ranges import ARange

steps = st.integers(-3, 3).filter(bool)
bounds = st.integers(-6, 6)


@given(bounds, bounds, steps, st.sampled_from([None, "int8", "int64", "float32"]), modes)
def test_static_ranges(start, stop, step, dtype, mode):
    check(ft.arange(start, stop, step, dtype), {}, np.arange(start, stop, step, dtype), mode)
    check(ft.arange(stop, dtype=dtype), {}, np.arange(stop, dtype=dtype), mode)
    start, stop, step = start / 2, stop / 3, step / 4
    check(ft.arange(start, stop, step), {}, np.arange(start, stop, step), mode)


@given(bounds, bounds, steps, st.sampled_from(["int64", "int8", "float64", "float32"]), modes)
@settings(max_examples=50)
def test_symbolic_ranges(start, stop, step, dtype, mode):
    a, b, c = (ft.scalar(name, dtype=dtype) for name in "abc")
    values = {a: start, b: stop, c: step}
    check(ft.arange(a, b, c), values, np.arange(start, stop, step, dtype), mode)
    values = {a: start, b: stop}
    check(ft.arange(a, b, step, dtype), values, np.arange(start, stop, step, dtype), mode)


def test_ranges_over_lengths(mode):
    x = ft.matrix("x")
    values = {x: np.zeros((3, 2))}
    check(ft.arange(x.shape[0]) * 1.5, values, np.arange(3) * 1.5, mode)
    check(ft.arange(x.shape[0] - x.shape[1] + 1), values, np.arange(2), mode)


def test_a_range_that_a_value_tells(mode):
    """Its bounds are computed by what no size can be."""
    x = ft.vector("x", dtype="int64")
    check(ft.arange(ft.sum(x)), {x: [1, 2]}, np.arange(3), mode)


def test_gradients(mode):
    a, c = ft.scalar("a"), ft.scalar("c")
    cost = ft.sum(ft.arange(a, 2.0, c) ** 2)
    f = fz.function([a, c], fz.grad(cost, [a, c]), mode=mode)
    values = np.arange(0.5, 2.0, 0.25)
    np.testing.assert_allclose(f(0.5, 0.25), [2 * values.sum(), 2 * values @ np.arange(6)])


@pytest.mark.parametrize("dtype", ["int64", "float64"])
def test_a_step_of_zero(dtype, mode):
    c = ft.scalar("c", dtype=dtype)
    with pytest.raises(ValueError, match="cannot be zero"):
        ft.arange(0, 3, 0)
    with pytest.raises(ValueError, match="cannot be zero"):
        compiled(ft.arange(0, 3, c), {c: 0}, mode)


def test_errors():
    with pytest.raises(TypeError, match="makes no sense"):
        ft.arange(3, dtype="bool")
    with pytest.raises(TypeError, match="without dimensions"):
        ft.arange(ft.vector())
    with pytest.raises(TypeError, match="of type int64"):
        ARange("int64")(ft.scalar(), ft.lscalar(), ft.lscalar())
