"""Positions of elements agree with NumPy."""

import numpy as np
import pytest
from agreement import check, compiled, like, modes
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import frazil as fz
import frazil.tensor as ft
from frazil.tensor.searching import Argmax

dtypes = st.sampled_from(["float64", "float32", "int8", "uint64", "bool"])


@st.composite
def drawn_array(draw, min_dims, min_side):
    shape = draw(hnp.array_shapes(min_dims=min_dims, max_dims=3, min_side=min_side, max_side=4))
    return draw(hnp.arrays(draw(dtypes), shape, elements=st.integers(0, 1)))


@given(drawn_array(1, 0), modes, st.data())
def test_nonzero_agrees_with_numpy(array, mode, data):
    x = like(data.draw, array)
    for found, expected in zip(ft.nonzero(x), np.nonzero(array), strict=True):
        check(found, {x: array}, expected, mode)
    check(ft.flatnonzero(x), {x: array}, np.flatnonzero(array), mode)


@pytest.mark.parametrize("name", ["argmax", "argmin"])
@given(
    modes,
    st.sampled_from(["float64", "float32", "int8", "uint64"]),
    st.sampled_from([1, 15, 16, 17, 1023, 1024, 1025, 3000]),
    st.sampled_from([slice(None), slice(None, None, 3), slice(None, None, -1)]),
    st.integers(0, 2**32 - 1),
    st.integers(0, 2),
)
def test_the_first_extreme_of_many_is_found(name, mode, dtype, length, window, seed, nans):
    rng = np.random.default_rng(seed)
    array = rng.integers(0, 3 * length, 3 * length).astype(dtype)
    if dtype.startswith("float"):
        array[rng.integers(0, len(array), nans)] = np.nan
    array = array[window][:length]
    x = ft.tensor("x", dtype=dtype, shape=(None,))
    check(getattr(ft, name)(x), {x: array}, getattr(np, name)(array), mode)


@pytest.mark.parametrize("name", ["argmax", "argmin"])
@given(drawn_array(0, 1), modes, st.booleans(), st.data())
def test_positions_of_extremes_agree_with_numpy(name, array, mode, keepdims, data):
    axes = st.integers(-array.ndim, array.ndim - 1) if array.ndim else st.none()
    axis = data.draw(st.none() | axes)
    x = like(data.draw, array)
    expected = getattr(np, name)(array, axis=axis, keepdims=keepdims)
    check(getattr(ft, name)(x, axis, keepdims), {x: array}, expected, mode)
    check(getattr(x, name)(axis, keepdims), {x: array}, expected, mode)


def test_nan_comes_first(mode):
    array = np.array([[1.0, np.nan, 3.0], [np.nan, np.nan, 0.0]])
    for name in ("argmax", "argmin"):
        check(getattr(ft, name)(array, 1), {}, getattr(np, name)(array, 1), mode)


def test_no_gradient_flows():
    x = ft.vector("x")
    with pytest.raises(fz.DisconnectedInputError):
        fz.grad(ft.cast(ft.argmax(x), "float64"), x)


def test_no_elements(mode):
    x = ft.vector("x")
    with pytest.raises(ValueError, match=r"empty|0 elements"):
        compiled(ft.argmax(x), {x: np.zeros(0)}, mode)
    with pytest.raises(ValueError, match="no elements"):
        ft.argmin(ft.tensor(shape=(2, 0)), axis=1)


def test_errors():
    with pytest.raises(ValueError, match="with dimensions have positions"):
        ft.nonzero(ft.scalar())
    with pytest.raises(np.exceptions.AxisError):
        ft.argmax(ft.vector(), axis=1)
    with pytest.raises(np.exceptions.AxisError):
        Argmax(-1)(ft.vector())
