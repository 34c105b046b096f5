"""Methods of variables are the functions of the same name."""

import inspect

import numpy as np
import pytest
from agreement import compiled

import frazil.tensor as ft


@pytest.fixture
def x():
    return ft.tensor("x", shape=(2, None))


@pytest.mark.parametrize("name", ["sum", "prod", "mean", "var", "std", "max", "min", "all", "any"])
def test_reductions(x, name):
    method, function = getattr(x, name), getattr(ft, name)
    assert method() is function(x)
    assert method(axis=1, keepdims=True) is function(x, axis=1, keepdims=True)


def test_shapes(x):
    assert x.shape == ft.shape(x)
    assert x.size is ft.size(x)
    assert x.T is x.transpose() is x.transpose(1, 0) is x.transpose((1, 0)) is x.swapaxes(0, 1)
    assert x.mT is ft.matrix_transpose(x)
    assert x.reshape(3, -1) is x.reshape((3, -1)) is ft.reshape(x, (3, -1))
    assert x.ravel() is x.flatten() is ft.ravel(x)
    assert x.dimshuffle(1, "x", 0) is ft.dimshuffle(x, 1, "x", 0)
    assert x[:1].squeeze(0) is ft.squeeze(x[:1], 0)


def test_elements(x):
    assert x.astype("float32") is ft.cast(x, "float32")
    assert x.clip(0, 1) is ft.clip(x, 0, 1)
    assert x.round() is ft.rint(x)
    assert x.copy() is x


def test_iteration_needs_a_static_length(x):
    first, second = x
    assert len(x) == 2
    assert (first, second) == (x[0], x[1])
    with pytest.raises(TypeError, match=r"x\.shape\[0\]"):
        iter(x.T)
    with pytest.raises(TypeError, match="no length"):
        len(ft.scalar("s"))


def test_variables_have_no_value(x):
    with pytest.raises(TypeError, match="without a value"):
        np.asarray(x)
    with pytest.raises(TypeError):
        bool(x > 0)


def test_methods_take_the_arguments_of_functions(x):
    kind, other = type(x), {"dot"}  # its operand has a name of its own
    both = [name for name in dir(kind) if name in vars(ft) and name not in other]
    callables = [name for name in both if inspect.isfunction(getattr(kind, name))]
    for name in callables:
        _, *own = inspect.signature(getattr(kind, name)).parameters
        _, *functions = inspect.signature(getattr(ft, name)).parameters
        if name not in ("reshape", "transpose", "flatten"):  # they take lengths one by one, too
            assert own == functions, name
    assert {"var", "std", "argsort", "searchsorted"} <= set(callables)


@pytest.mark.parametrize("name", ["var", "std"])
def test_moments_in_a_dtype(x, name, mode):
    array = np.array([[1.0, 2.5], [4.0, 0.25]])
    found = compiled(getattr(x, name)(axis=0, dtype="float32"), {x: array}, mode)
    expected = getattr(array, name)(axis=0, dtype="float32")
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_methods_are_documented():
    for name in ("sum", "reshape", "T", "shape", "__getitem__", "eval"):
        assert getattr(type(ft.vector()), name).__doc__


def test_a_shape_is_not_assigned_to():
    x = ft.vector("x")
    with pytest.raises(AttributeError, match=r"shape of x does not change: write y = x\.reshape"):
        x.shape = (2, 3)
