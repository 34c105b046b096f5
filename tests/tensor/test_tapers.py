"""Window functions have NumPy's values, of lengths that are known before and those that are not."""

import numpy as np
import pytest
from agreement import compiled

import frazil as fz
import frazil.tensor as ft
from frazil.testing import verify_grad


@pytest.mark.parametrize("name", ["bartlett", "blackman", "hamming", "hanning"])
@pytest.mark.parametrize("count", [-2, 0, 1, 2, 5, 8])
def test_values(mode, name, count):
    n, expected = ft.lscalar("n"), getattr(np, name)(count)
    of_constant, of_variable = (getattr(ft, name)(count), getattr(ft, name)(n))
    found = compiled([of_constant, of_variable], {n: count}, mode)
    for one in found:
        assert (one.dtype, one.shape) == (expected.dtype, expected.shape)
        np.testing.assert_allclose(one, expected, rtol=1e-14, atol=1e-15)


@pytest.mark.parametrize("beta", [0.0, 0.5, 14.0])
def test_kaiser(mode, beta):
    n, b = ft.lscalar("n"), ft.scalar("b")
    for count in (-2, 0, 1, 2, 5, 8):
        found = compiled(ft.kaiser(n, b), {n: count, b: beta}, mode)
        np.testing.assert_allclose(found, np.kaiser(count, beta), rtol=1e-13)


def test_gradient_by_beta(mode):
    verify_grad(lambda beta: ft.kaiser(5, beta), [np.array(1.3)], mode=mode)


def test_errors():
    with pytest.raises(TypeError, match="a length must be an int"):
        ft.hanning(2.5)
    assert fz.function([], ft.hamming(0))().shape == (0,)
