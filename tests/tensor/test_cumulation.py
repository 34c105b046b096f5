"""Cumulative sums and products agree with NumPy, and their gradients with differences."""

import numpy as np
import pytest
from agreement import agree, check, like, modes
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from reference import evaluate

import frazil as fz
import frazil.tensor as ft
from frazil.tensor.cumulation import CumOp
from frazil.testing import verify_grad

DTYPES = ["bool", "int8", "int32", "int64", "uint8", "uint64", "float16", "float32", "float64"]
X = np.array([[0.3, -1.2, 0.7], [1.5, 0.4, -0.6]])


@pytest.mark.parametrize("name", ["cumsum", "cumprod"])
@given(st.data())
def test_agrees_with_numpy(name, data):
    shape = data.draw(hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4))
    dtype = data.draw(st.sampled_from(DTYPES))
    array = data.draw(hnp.arrays(dtype, shape, elements=st.integers(0, 1 + (dtype != "bool"))))
    axis = data.draw(st.none() | st.integers(-len(shape), len(shape) - 1) if shape else st.none())
    x = like(data.draw, array)
    function, expected = getattr(ft, name), getattr(np, name)(array, axis=axis)
    check(function(x, axis), {x: array}, expected, "py")
    assert getattr(x, name)(axis) is function(x, axis)


@pytest.mark.parametrize("name", ["cumsum", "cumprod"])
@pytest.mark.parametrize("dtype", ["float64", "float32", "uint64"])
@given(st.data(), modes)
def test_in_all_linkers(name, dtype, data, mode):
    shape = data.draw(hnp.array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=4))
    array = (np.arange(np.prod(shape, dtype=int)) % 3).astype(dtype).reshape(shape)
    axis = data.draw(st.integers(0, len(shape) - 1))
    x = ft.tensor("x", dtype=dtype, shape=[None] * len(shape))
    expected = getattr(np, name)(array, axis=axis)
    check(getattr(ft, name)(x, axis), {x: array}, expected, mode)


@pytest.mark.parametrize("name", ["cumsum", "cumprod"])
def test_dtype(name):
    assert getattr(ft, name)(ft.ivector(), dtype="float32").dtype == "float32"


def test_nan_and_infinities(mode):
    array = np.array([1.0, np.inf, -np.inf, 0.0])
    with np.errstate(all="ignore"):
        check(ft.cumsum(array), {}, np.cumsum(array), mode)
        check(ft.cumprod(array), {}, np.cumprod(array), mode)


@pytest.mark.parametrize("name", ["cumsum", "cumprod"])
@pytest.mark.parametrize("axis", [None, 0, 1])
def test_gradients(name, axis):
    def function(x):
        return getattr(ft, name)(x, axis)

    verify_grad(lambda x: function(x) ** 2, [X], mode="py")
    verify_grad(lambda x: function(x), [X.astype("float32")], mode="py")
    verify_grad(lambda x: fz.grad(ft.sum(function(x) ** 2), x), [X], mode="py")


def test_gradients_in_all_linkers(mode):
    verify_grad(lambda x: ft.cumsum(x, 1) * ft.cumprod(x, 0), [X], mode=mode)


@pytest.mark.parametrize("name", ["prod", "cumprod"])
@settings(max_examples=settings.default.max_examples // 4)
@given(st.lists(st.sampled_from([0.0, 0.0, -1.5, 0.5, 2.0]), min_size=1, max_size=6))
def test_gradients_of_products_at_zeros(name, values):
    point = [np.array(values)]
    verify_grad(lambda x: getattr(ft, name)(x), point, mode="py")
    verify_grad(lambda x: fz.grad(ft.sum(getattr(ft, name)(x) ** 2), x), point, mode="py")


def test_no_elements(mode):
    x = ft.vector("x")
    gradient = fz.grad(ft.sum(ft.cumprod(x)), x)
    check(gradient, {x: np.zeros(0)}, np.zeros(0), mode)


def test_truth_so_far(mode):
    """Of dtype bool: whether any, or all, of the elements up to there are not 0."""
    array = np.array([[0, 0, 3], [2, 1, 0]])
    x = ft.lmatrix("x")
    calls = [
        lambda n, x, name=name, axis=axis: getattr(n, name)(x, axis, dtype="bool")
        for name in ("cumsum", "cumprod", "nancumsum", "nancumprod")
        for axis in (None, 0, 1)
    ]
    found = fz.function([x], [call(ft, x) for call in calls], mode=mode)(array)
    for call, one in zip(calls, found, strict=True):
        agree(one, call(np, array), 0)


def test_errors():
    with pytest.raises(np.exceptions.AxisError):
        ft.cumsum(ft.vector(), axis=1)
    with pytest.raises(np.exceptions.AxisError):
        CumOp(-1, "add")(ft.vector())
    with pytest.raises(ValueError, match="mode must be"):
        CumOp(0, "sub")(ft.vector())
    with pytest.raises(TypeError, match="takes numbers"):
        CumOp(0, "add")(ft.vector(dtype="bool"))
    assert evaluate(ft.cumsum([True, True])).dtype == "int64"
