"""Constants are interned by content; anything array-like becomes one."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

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


@given(
    st.sampled_from(["bool", "int8", "uint64", "int64", "float16", "float32", "complex64"]),
    st.one_of(st.integers(-100, 100), st.sampled_from([np.nan, np.inf, -0.0, 0.1, 1 + 2j])),
)
def test_the_number_of_a_constant_is_its_element(dtype, value):
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        array = np.asarray(value).astype(dtype)
    number = ft.constant(array).number
    assert type(number) is type(array.item())
    np.testing.assert_array_equal(number, array.item())
    assert np.signbit(np.real(number)) == np.signbit(array.real)
    assert ft.constant([array]).number is None
