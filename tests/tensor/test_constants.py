"""Constants are interned by content; anything array-like becomes one."""

import numpy as np
import pytest

import frazil.tensor as ft


def test_equal_constants_are_one():
    assert ft.constant([1.0, 2.0]) is ft.constant(np.array([1.0, 2.0]))
    assert ft.constant(1) is not ft.constant(1.0)


@pytest.mark.parametrize(
    ("value", "dtype"),
    [(1.0, "float64"), (1, "int64"), (True, "bool"), ([1, 2], "int64"), (np.float32(1), "float32")],
)
def test_dtype_is_what_numpy_chooses(value, dtype):
    assert ft.as_tensor(value).dtype == dtype


def test_variables_stay_themselves_or_are_cast():
    x = ft.vector("x")
    assert ft.as_tensor(x) is x
    assert ft.as_tensor(x, "float64") is x
    assert ft.as_tensor(x, "float32").dtype == "float32"
