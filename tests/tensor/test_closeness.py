"""isclose and allclose agree with NumPy, infinities and NaN included."""

import numpy as np
import pytest
from agreement import check, modes
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import frazil.tensor as ft

HARD = [0.0, -0.0, 1.0, 1.0 + 1e-6, 1.0 + 2e-5, 1e-9, np.inf, -np.inf, np.nan, 1e300, -1e300]


def arrays(dtype):
    elements = st.sampled_from(HARD) if dtype == "float64" else st.integers(0, 1)
    return hnp.arrays(dtype, (3, 4), elements=elements)


@settings(max_examples=settings.default.max_examples // 2)
@given(
    a=st.sampled_from(["float64", "int8", "bool"]).flatmap(arrays),
    b=st.sampled_from(["float64", "uint8", "bool"]).flatmap(arrays),
    rtol=st.sampled_from([1e-5, 0.0, 0.5]),
    atol=st.sampled_from([1e-8, 0.0, 2.0]),
    equal_nan=st.booleans(),
    mode=modes,
)
def test_agrees_with_numpy(a, b, rtol, atol, equal_nan, mode):
    x, y = ft.matrix("x", dtype=a.dtype), ft.matrix("y", dtype=b.dtype)
    values = {x: a, y: b}
    with np.errstate(all="ignore"):
        expected = np.isclose(a, b, rtol, atol, equal_nan)
    check(ft.isclose(x, y, rtol, atol, equal_nan), values, expected, mode)
    check(ft.allclose(x, y, rtol, atol, equal_nan), values, expected.all(), mode)


@pytest.mark.parametrize("pair", [(2**62, 2**62 + 1), (-(2**63), 2**63 - 1)])
def test_whole_numbers_do_not_wrap_around(pair, mode):
    x, y = ft.lvector("x"), ft.lvector("y")
    a, b = (np.array([n]) for n in pair)
    check(ft.isclose(x, y), {x: a, y: b}, [pair[0] > 0], mode)
