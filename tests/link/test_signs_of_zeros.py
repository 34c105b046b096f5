"""The signs of zeros are NumPy's, whatever a compiler makes of a difference."""

import numpy as np
import pytest

import frazil as fz
import frazil.tensor as ft
from frazil.scalar import second
from frazil.scalar.elemwise import Elemwise

MODES = ["c", "cranelift", "numba", "py"]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dtype", ["bool", "int8", "int64", "uint32"])
def test_a_zero_without_an_integer_zero_is_positive(mode, dtype):
    x, zero = ft.vector("x", dtype=dtype), ft.constant(0.0)
    outputs = [zero - x, Elemwise(second)(x, zero) - x, zero - abs(ft.cast(x, "float64"))]
    value = np.array([1, 0, 1, 0, 0] * 7, dtype)
    for found in fz.function([x], outputs, mode=mode)(value):
        assert found.tobytes() == (0.0 - value).tobytes()
