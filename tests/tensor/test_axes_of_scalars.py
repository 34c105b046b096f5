"""What has no dimensions takes the axes 0 and -1 wherever NumPy takes them of it."""

import numpy as np
import pytest
from agreement import compiled

import frazil as fz
import frazil.tensor as ft

FUNCTIONS = {
    **dict.fromkeys(("sum", "prod", "max", "min", "any", "all", "mean", "std", "var"), ()),
    **dict.fromkeys(("nansum", "nanprod", "nanmax", "nanmin", "nanmean", "nanstd"), ()),
    **dict.fromkeys(("nanvar", "argmax", "argmin", "nanargmax", "nanargmin", "ptp"), ()),
    **dict.fromkeys(("cumsum", "cumprod", "nancumsum", "nancumprod", "count_nonzero"), ()),
    **dict.fromkeys(("sort", "argsort", "squeeze", "median", "flip", "average"), ()),
    "repeat": (2,),
    "take": ([0, 0],),
    "partition": (0,),
    "argpartition": (0,),
    "quantile": (0.3,),
    "delete": (0,),
    "roll": (1,),
}


@pytest.mark.parametrize("axis", [0, -1, 1, -2])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_numbers_are_as_numpy_takes_them(mode, name, axis):
    array, rest, x = np.array(2.5), FUNCTIONS[name], ft.scalar("x")
    try:
        expected = np.asarray(getattr(np, name)(array, *rest, axis=axis))
    except ValueError as error:  # AxisError is one
        with pytest.raises(type(error)):
            getattr(ft, name)(x, *rest, axis=axis)
        return
    found = compiled(getattr(ft, name)(x, *rest, axis=axis), {x: array}, mode)
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("name", ["sum", "max", "all", "argmax", "ptp", "nansum", "nanmax"])
def test_dimensions_are_kept_where_there_are_none(mode, name):
    x = ft.scalar("x")
    found = compiled(getattr(ft, name)(x, axis=0, keepdims=True), {x: np.array(2.5)}, mode)
    np.testing.assert_array_equal(found, getattr(np, name)(np.array(2.5), axis=0, keepdims=True))


def test_gradients_go_through(mode):
    x = ft.scalar("x")
    cost = ft.sum(x**2, axis=0) + ft.cumsum(x, axis=-1).sum() + ft.max(x, axis=-1)
    assert compiled(fz.grad(cost, x), {x: np.array(3.0)}, mode) == 8.0


def test_traced_arrays_do_as_plain_ones():
    total = fz.jit(lambda x: x.sum().sum(axis=0) + np.max(x.max(), axis=-1))
    assert total(np.ones(3)) == 4.0
