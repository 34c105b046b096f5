"""Sorting agrees with NumPy."""

import numpy as np
import pytest
from agreement import check, compiled, like, modes
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import frazil.tensor as ft
from frazil.tensor.sorting import ArgSort
from frazil.testing import verify_grad


@given(st.data(), modes, st.sampled_from(["float64", "float32", "int8", "uint64", "bool"]))
def test_agrees_with_numpy(data, mode, dtype):
    shape = data.draw(hnp.array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=4))
    array = data.draw(hnp.arrays(dtype, shape, elements=st.integers(0, 1 + 2 * (dtype != "bool"))))
    axis = data.draw(st.none() | st.integers(-len(shape), len(shape) - 1))
    x = like(data.draw, array)
    expected = np.argsort(array, axis=axis, kind="stable")
    check(ft.argsort(x, axis), {x: array}, expected, mode)
    check(ft.sort(x, axis), {x: array}, np.sort(array, axis=axis), mode)
    assert x.argsort(axis) is ft.argsort(x, axis)


def drawn(data, dtype, length):
    """Few values, so that many are equal; zeros of both signs and NaN among those of floats."""
    values = [0, 1, 1, np.iinfo(dtype).max if "int" in dtype else 1]
    if dtype.startswith("float"):
        values = [0.0, -0.0, np.nan, -np.nan, np.inf, -np.inf, 1.5, -1.5, 1e-310]
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    return rng.choice(np.array(values, dtype), length)


@given(
    st.data(),
    modes,
    st.sampled_from(["float64", "float32", "int16", "int64", "uint64", "uint32", "bool"]),
    st.sampled_from([0, 1, 2, 20, 21, 1000]),
    st.sampled_from([slice(None), slice(None, None, -2)]),
)
def test_equal_elements_keep_their_order(data, mode, dtype, length, window):
    array = drawn(data, dtype, 2 * length)[window]
    x = ft.tensor("x", dtype=dtype, shape=(None,))
    order = np.argsort(array, kind="stable")
    check(ft.argsort(x), {x: array}, order, mode)
    found = compiled(ft.sort(x), {x: array}, mode)
    # Bit for bit: zeros have signs, and NaN too.
    assert found.tobytes() == array[order].tobytes()


def test_nan_comes_last(mode):
    array = np.array([[np.nan, 1.0, -np.inf], [0.0, np.nan, np.inf]])
    check(ft.sort(array), {}, np.sort(array), mode)


@pytest.mark.parametrize("axis", [0, 1, None])
def test_gradients(axis, mode):
    point = np.array([[0.3, -1.2, 0.7], [1.5, 0.4, -0.6]])
    weights = np.arange(6.0) if axis is None else np.arange(6.0).reshape(2, 3)
    verify_grad(lambda x: ft.sort(x, axis) ** 2 * weights, [point], mode=mode)


def test_errors():
    with pytest.raises(np.exceptions.AxisError):
        ft.sort(ft.vector(), axis=1)
    with pytest.raises(np.exceptions.AxisError):
        ArgSort(-1)(ft.vector())
