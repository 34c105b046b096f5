"""Sorting agrees with NumPy."""

import numpy as np
import pytest
from agreement import check, compiled, like, modes
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import frazil as fz
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


def spread(rng, dtype, shape):
    """Numbers over all that the type holds; floats of all magnitudes, some of them zero or NaN."""
    if dtype.startswith("float"):
        numbers = rng.normal(size=shape) * 10.0 ** rng.integers(-30, 30, shape)
        odd = rng.choice([0.0, -0.0, np.nan, -np.nan, np.inf, -np.inf], shape)
        return np.where(rng.random(shape) < 0.02, odd, numbers).astype(dtype)
    if dtype == "bool":
        return rng.random(shape) < 0.5
    limits = np.iinfo(dtype)
    return rng.integers(limits.min, limits.max, shape, dtype=dtype, endpoint=True)


ALL = [
    "bool",
    "float64",
    "float32",
    *(s + w for s in ("int", "uint") for w in ["8", "16", "32", "64"]),
]


@pytest.mark.parametrize("dtype", ALL)
@given(data=st.data())
@settings(max_examples=60)
def test_all_ways_of_sorting(data, dtype):
    """Long lines and short, many and few, along any axis, of anything that NumPy sorts."""
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    lines, length = data.draw(
        st.sampled_from([(1, 255), (1, 256), (1, 5000), (2, 20000), (1, 40000), (3, 1025)])
        | st.tuples(st.integers(1, 70), st.integers(1, 130))
    )
    array = spread(rng, dtype, (lines, length))
    kind = data.draw(st.sampled_from(["spread", "narrow", "few outliers", "few", "sorted"]))
    if kind == "narrow":
        array = (array.view(f"u{array.itemsize}") >> (array.itemsize * 4)).astype(dtype)
    elif kind == "few outliers":
        array = np.where(rng.random(array.shape) < 0.01, array, array.dtype.type(1))
    elif kind == "few":
        array = rng.choice(array[0, :3], array.shape)
    elif kind == "sorted":
        array = np.sort(array, kind="stable")
    axis = data.draw(st.sampled_from([0, 1]))
    array = np.ascontiguousarray(array.T) if axis == 0 else array
    layout = data.draw(st.sampled_from(["C", "F", "reversed", "middle"]))
    x = ft.tensor("x", dtype=dtype, shape=(None, None))
    window = {
        "C": (x, array),
        "F": (x, np.asfortranarray(array)),
        "reversed": (x[::-1, ::-1], array),
        "middle": (ft.transpose(ft.stack([x, x, x]), (1, 0, 2))[:, 1], array),
    }
    variable, argument = window[layout]
    seen = array[::-1, ::-1] if layout == "reversed" else array
    order, found = function_of(variable, x, axis)(argument)
    expected = np.argsort(seen, axis=axis, kind="stable")
    np.testing.assert_array_equal(order, expected)
    assert found.tobytes() == np.take_along_axis(seen, expected, axis).tobytes()


def function_of(variable, x, axis):
    outputs = [ft.argsort(variable, axis), ft.sort(variable, axis)]
    return fz.function([x], outputs, mode="c")


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
