"""The exponential of arrays: within an ulp, and exact where there is nothing to round."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import frazil as fz
import frazil.tensor as ft
from frazil.link.c.search import find_toolchain

DTYPES = ("float32", "float64")
MODES = ("c", "cranelift", "numba", "py")


def function(dtype, mode):
    x = ft.vector("x", dtype=dtype)
    return fz.function([x], ft.exp(x), mode=mode)


BUILT = {(dtype, mode): function(dtype, mode) for dtype in DTYPES for mode in MODES}


def errors(got, x):
    """In units of the last place, against an exponential of more precision."""
    with np.errstate(all="ignore"):
        want = np.exp(x.astype(np.longdouble))
        rounded = want.astype(x.dtype)
        wrong = np.abs(got.astype(np.longdouble) - want) / np.spacing(rounded)
    settled = ~np.isfinite(rounded) | ~np.isfinite(got)
    agree = (got == rounded) | (np.isnan(got) & np.isnan(rounded))
    # At the end of the range rounding decides whether it is infinity.
    edge = np.isfinite(rounded) != np.isfinite(got)
    edge &= np.isclose(x, np.log(np.finfo(x.dtype).max), rtol=4 * np.finfo(x.dtype).eps)
    return np.where(settled, np.where(agree | edge, 0, np.inf), wrong)


def limit(mode):
    """In ulp. Other compilers, processors and linkers call the C library, which keeps within 4."""
    toolchain = find_toolchain()
    ours = toolchain.is_gcc and toolchain.has_wide_registers
    return 1.0 if mode == "cranelift" or (mode == "c" and ours) else 4.0


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dtype", DTYPES)
@given(data=st.data())
def test_error_of_any_values(dtype, mode, data):
    width = 64 if dtype == "float64" else 32
    drawn = st.one_of(st.floats(width=width), st.floats(-110, 110, width=width))
    x = data.draw(arrays(dtype, st.integers(0, 40), elements=drawn))
    assert (errors(BUILT[dtype, mode](x), x) <= limit(mode)).all()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_error_over_the_whole_range(dtype, mode):
    rng = np.random.default_rng(0)
    info = np.finfo(dtype)
    low, high = np.log(float(info.smallest_subnormal)), np.log(float(info.max))
    for a, b in ((low - 1, high + 1), (low - 1, low + 40), (high - 1e-3, high + 1e-3), (-1, 1)):
        x = rng.uniform(a, b, 20_001).astype(dtype)
        assert errors(BUILT[dtype, mode](x), x).max() <= limit(mode)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_values_without_rounding(dtype, mode):
    most = np.finfo(dtype).max
    x = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, most, -most, 2.0**40, -(2.0**40)], dtype)
    want = np.array([1, 1, np.inf, 0, np.nan, np.inf, 0, np.inf, 0], dtype)
    with np.errstate(all="ignore"):
        got = BUILT[dtype, mode](np.tile(x, 5))
    np.testing.assert_array_equal(got, np.tile(want, 5))
    assert not np.signbit(got[~np.isnan(got)]).any()
