"""Sorting by NumPy's own functions, where those are quicker: the bits stay the same."""

import numpy as np
import pytest

import frazil as fz
import frazil.tensor as ft
from frazil.link.toolchain import sorts

DTYPES = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
FLOATS = ["float32", "float64"]
MODES = ["c", "cranelift", "numba"]


def test_numpy_has_a_function_for_each_type():
    table = sorts._exported()
    assert table is not None
    assert all(sorts._sorter(table, dtype) for dtype in sorts._DTYPES)


def numbers(dtype, shape):
    rng = np.random.default_rng(len(shape))
    if dtype in FLOATS:
        drawn = rng.normal(size=shape).astype(dtype)
        drawn[rng.random(shape) < 0.1] = np.nan
        drawn[rng.random(shape) < 0.1] = -0.0
        drawn[rng.random(shape) < 0.1] = 0.0
        return drawn
    limits = np.iinfo(dtype)
    return rng.integers(limits.min, limits.max, shape, dtype, endpoint=True)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dtype", DTYPES + FLOATS)
def test_sorted_numbers_have_the_bits_of_a_stable_sort(mode, dtype):
    x = ft.matrix("x", dtype=dtype)
    f = fz.function([x], [ft.sort(x, axis=0), ft.sort(x, axis=1)], mode=mode)
    shapes = [(0, 3), (3, 0), (1, 1), (2, 9), (33, 32), (1030, 3)]
    shapes += [(7, 2100), (40, 130), (1, 40_000)]
    for shape in shapes:
        drawn = numbers(dtype, shape)
        for given in (drawn, drawn[::-1, ::-1], np.asfortranarray(drawn)):
            for axis, found in enumerate(f(given)):
                assert found.tobytes() == np.sort(given, axis=axis, kind="stable").tobytes()


def test_programs_tell_that_they_sort():
    x = ft.vector("x")
    assert fz.function([x], ft.sort(x), mode="cranelift").program.sorts
    rows, _ = fz.scan(lambda s: ft.sort(ft.sin(s)), outputs_info=x, n_steps=3)
    assert fz.function([x], rows, mode="cranelift").program.sorts
    assert not fz.function([x], ft.exp(x), mode="cranelift").program.sorts
