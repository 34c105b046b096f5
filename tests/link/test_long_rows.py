"""Kernels that take whole rows ask while they go through a long one whether to stop."""

import ctypes

import numpy as np
import pytest
from native import call

import frazil.link.c.library as c_library
import frazil.link.cranelift.compiler as cranelift_compiler
import frazil.link.numba.externals as numba_externals
from frazil.link.c import CCompiler
from frazil.link.cranelift import CraneliftCompiler
from frazil.link.kernel.loop_kernel import (
    PATIENCE,
    Cumulate,
    Literal,
    LoopKernel,
    Read,
    RowFold,
    Statement,
    Status,
    Write,
)
from frazil.link.numba import NumbaCompiler
from frazil.scalar import sub

LENGTH = 6 * PATIENCE + 3
COMPILERS = {"c": CCompiler, "numba": NumbaCompiler, "cranelift": CraneliftCompiler}
READ = Read("float64", inner=True)
KERNELS = {
    "prefixes": LoopKernel(
        (READ,), (), (Cumulate("add", (0,), "float64"),), (Write(1, "float64", True, None),)
    ),
    "folded rows": LoopKernel(
        (READ,),
        (Literal("float64", -np.inf),),
        (RowFold("maximum", 1, 0, "float64"), Statement(sub, (0, 2), "float64")),
        (Write(3, "float64", True, None),),
    ),
}


@pytest.fixture(params=COMPILERS)
def asked(request, monkeypatch):
    """A compiler, and a list of what is done whenever a kernel of it asks."""
    answers = []
    question = ctypes.CFUNCTYPE(ctypes.c_int32)(lambda: answers[-1]())
    address = ctypes.cast(question, ctypes.c_void_p).value

    def given(original):
        return lambda name: address if name == "loop_stops" else original(name)

    for module in (c_library, numba_externals, cranelift_compiler):
        monkeypatch.setattr(module, "function_address", given(module.function_address))
    named = cranelift_compiler.scipy_functions
    monkeypatch.setattr(
        cranelift_compiler, "scipy_functions", lambda texts: {*named(texts), "loop_stops"}
    )
    numba_externals.address_of.cache_clear()
    yield COMPILERS[request.param](), answers
    numba_externals.address_of.cache_clear()
    del question


@pytest.mark.parametrize("name", KERNELS)
def test_a_long_row_is_left_soon(asked, name):
    compiler, answers = asked
    [native] = compiler.compile([KERNELS[name]])
    x, out = np.linspace(0, 1, LENGTH), np.full(LENGTH, np.nan)
    progress = []

    def go_on():
        progress.append(LENGTH - np.count_nonzero(np.isnan(out)))
        return 0

    answers.append(go_on)
    assert call(native, [x, out], 1, LENGTH) == Status.OK
    wanted = np.cumsum(x) if name == "prefixes" else x - 1
    np.testing.assert_allclose(out, wanted)
    # A walk along the row for each pass; half as often would do.
    passes = 1 if name == "prefixes" else 2
    assert len(progress) >= passes * (LENGTH // (2 * PATIENCE))
    assert np.diff([0, *progress, LENGTH]).max() <= 2 * PATIENCE
    answers.append(lambda: len(progress) > 2 or go_on())
    progress.clear()
    out[:] = np.nan
    assert call(native, [x, out], 1, LENGTH) == Status.STOPPED
    assert np.isnan(out[6 * PATIENCE :]).all()


@pytest.mark.parametrize("name", KERNELS)
def test_short_rows_ask_nothing(asked, name):
    compiler, answers = asked
    [native] = compiler.compile([KERNELS[name]])
    rows, length = 100, 1000
    x, out = np.random.default_rng(0).normal(size=(rows, length)), np.empty((rows, length))
    answers.append(lambda: pytest.fail("a short row asks"))
    assert call(native, [x, out], rows, length, [8 * length] * 2) == Status.OK
    wanted = x.cumsum(axis=1) if name == "prefixes" else x - x.max(axis=1, keepdims=True)
    np.testing.assert_allclose(out, wanted)
