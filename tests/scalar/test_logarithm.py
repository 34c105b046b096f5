"""The logarithms of arrays: within a few ulp, and exact where there is nothing to round."""

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
NAMES = ("log", "log1p")


def function(name, dtype, mode):
    x = ft.vector("x", dtype=dtype)
    return fz.function([x], getattr(ft, name)(x), mode=mode)


BUILT = {
    (name, dtype, mode): function(name, dtype, mode)
    for name in NAMES
    for dtype in DTYPES
    for mode in MODES
}


def errors(name, got, x):
    """In units of the last place, against a logarithm of more precision."""
    with np.errstate(all="ignore"):
        want = getattr(np, name)(x.astype(np.longdouble))
        rounded = want.astype(x.dtype)
        wrong = np.abs(got.astype(np.longdouble) - want) / np.spacing(np.abs(rounded))
    settled = ~np.isfinite(rounded) | ~np.isfinite(got) | (rounded == 0)
    agree = (got == rounded) | (np.isnan(got) & np.isnan(rounded))
    return np.where(settled, np.where(agree, 0, np.inf), wrong)


def limit(name, mode):
    """In ulp. Other compilers, processors and linkers call the C library, which keeps within 4."""
    toolchain = find_toolchain()
    ours = toolchain.is_gcc and toolchain.has_wide_registers
    precise = mode == "cranelift" or (mode == "c" and ours)
    return {"log": 0.7, "log1p": 1.7}[name] if precise else 4.0


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
def test_error_of_any_values(name, dtype, mode, data):
    width = 64 if dtype == "float64" else 32
    near = st.floats(-1, 2, width=width)
    drawn = st.one_of(st.floats(width=width), near)
    x = data.draw(arrays(dtype, st.integers(0, 40), elements=drawn))
    assert (errors(name, BUILT[name, dtype, mode](x), x) <= limit(name, mode)).all()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", NAMES)
def test_error_over_the_whole_range(name, dtype, mode):
    rng = np.random.default_rng(0)
    info = np.finfo(dtype)
    low, high = np.log(float(info.smallest_subnormal)), np.log(float(info.max))
    for a, b in ((low, high), (low, low + 40), (-1, 1), (-0.1, 0.1), (-4, 0)):
        x = np.exp(rng.uniform(a, b, 20_001)).astype(dtype)
        if name == "log1p":
            x = np.concatenate([x, x - 1, -np.minimum(x, 1 - info.epsneg)])
        assert errors(name, BUILT[name, dtype, mode](x), x).max() <= limit(name, mode)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_every_sixteenth_and_its_neighbours(dtype, mode):
    middle = np.arange(1, 65, dtype=dtype) / 32
    middle = np.concatenate([middle, middle * 2, middle / 1024])
    x = np.concatenate([np.nextafter(middle, 0), middle, np.nextafter(middle, 9)]).astype(dtype)
    for name in NAMES:
        given = x if name == "log" else np.concatenate([x, x - 1])
        assert errors(name, BUILT[name, dtype, mode](given), given).max() <= limit(name, mode)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_values_without_rounding(dtype, mode):
    inf, nan = np.inf, np.nan
    cases = {
        "log": ([1, 0, -0.0, inf, -inf, nan, -1, -1e-40], [0, -inf, -inf, inf, nan, nan, nan, nan]),
        "log1p": ([0, -0.0, -1, inf, -inf, nan, -1.5], [0, -0.0, -inf, inf, nan, nan, nan]),
    }
    for name, (x, want) in cases.items():
        with np.errstate(all="ignore"):
            got = BUILT[name, dtype, mode](np.tile(np.array(x, dtype), 5))
        want = np.tile(np.array(want, dtype), 5)
        np.testing.assert_array_equal(got, want)
        known = ~np.isnan(want)
        np.testing.assert_array_equal(np.signbit(got[known]), np.signbit(want[known]))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_log1p_of_numbers_too_small_to_be_seen_beside_one(dtype, mode):
    info = np.finfo(dtype)
    least = float(info.smallest_subnormal)
    powers = np.exp(np.linspace(np.log(least), np.log(float(info.epsneg) / 4), 41))
    x = np.concatenate([powers, -powers]).astype(dtype)
    np.testing.assert_array_equal(BUILT["log1p", dtype, mode](x), x)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
def test_a_value_does_not_depend_on_where_it_stands(name, dtype, data):
    width = 64 if dtype == "float64" else 32
    x = data.draw(arrays(dtype, st.integers(1, 70), elements=st.floats(-1, 8, width=width)))
    at = data.draw(st.integers(0, x.size - 1))
    run = BUILT[name, dtype, "c"]
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(run(x)[at:], run(x[at:]))
