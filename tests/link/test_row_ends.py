"""Rows whose length is no multiple of what kernels take at a time: their ends are like the rest."""

import itertools
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import frazil as fz
import frazil.tensor as ft

x, i = ft.matrix("x"), ft.lvector("i")

VALUES = {
    "plain": x * 2,
    "elementary": ft.exp(x),
    "sums so far": ft.cumsum(ft.abs(x), axis=1),
    "products so far": ft.cumprod(x + 1.5, axis=1),
    "rows": x[i] + 1,
    "sums of rows": ft.cumsum(x[i] - 1, axis=1),
    "rows after sums": ft.exp(ft.cumsum(x, axis=1)) * x[i],
}
FOLDS = {
    "max": lambda y: ft.max(y, axis=1),
    "min": lambda y: ft.min(y, axis=1),
    "sum": lambda y: ft.sum(y, axis=1),
    "prod": lambda y: ft.prod(y, axis=1),
    "any": lambda y: ft.any(y > 1, axis=1),
    "all": lambda y: ft.all(y < 1, axis=1),
    "softmax": lambda y: ft.softmax(y, axis=1),
    "whole": ft.max,
}

_functions = {}


def _function(value, fold, mode):
    key = value, fold, mode
    if key not in _functions:
        y = FOLDS[fold](VALUES[value])
        _functions[key] = fz.function([x, i], y, mode=mode, on_unused_input="ignore")
    return _functions[key]


@pytest.mark.parametrize("mode", ["c", "cranelift", "numba"])
@pytest.mark.parametrize("value", VALUES)
@settings(max_examples=12)
@given(
    fold=st.sampled_from(sorted(FOLDS)),
    rows=st.integers(1, 3),
    columns=st.integers(1, 40),
    seed=st.integers(0, 2**32 - 1),
)
def test_ends_of_rows_count_once(value, mode, fold, rows, columns, seed):
    rng = np.random.default_rng(seed)
    given = rng.uniform(-1, 1, size=(rows, columns)), rng.integers(0, rows, rows)
    found = _function(value, fold, mode)(*given)
    expected = _function(value, fold, "py")(*given)
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("mode", ["c", "cranelift", "numba"])
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "int16", "int8", "bool"])
def test_ends_of_rows_are_written_over_operands_once(mode, dtype):
    rows, row = ft.matrix("rows", dtype=dtype), ft.vector("row", dtype=dtype)
    ordered = ft.sort(rows, axis=1)  # in memory of its own, as is what is ordered next
    changed = ft.not_equal(ordered, row) if dtype == "bool" else ordered * 3 - row
    ordered = ft.sort(changed, axis=0)
    f, reference = (fz.function([rows, row], ordered, mode=own) for own in (mode, "py"))
    rng = np.random.default_rng(0)
    for shape in itertools.product((1, 2, 3), range(1, 70)):
        given = rng.integers(0, 5, shape).astype(dtype), rng.integers(0, 5, shape[1]).astype(dtype)
        found, expected = f(*given), reference(*given)
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("mode", ["c", "cranelift", "numba"])
def test_ends_of_rows_are_written_over_many_operands_once(mode):
    products = [x @ (x + k) for k in range(10)]
    outputs = [(ft.exp(-p * p) * 3 - p) @ x for p in products]
    f, reference = (fz.function([x], outputs, mode=own) for own in (mode, "py"))
    assert sum(made.over is not None for made in f.memory_plan((13, 13)).buffers) >= 8
    rng = np.random.default_rng(0)
    for length in range(1, 40):
        given = rng.normal(size=(length, length)) / 4
        for found, expected in zip(f(given), reference(given), strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("mode", ["c", "cranelift", "numba"])
def test_indices_are_read_before_results_are_written_over_them(mode):
    row = ft.vector("row")
    # The indices die in the loop, and what it computes is in memory of its own.
    ordered = ft.sort(row[ft.argsort(row)] * 2)
    f, reference = (fz.function([row], ordered, mode=own) for own in (mode, "py"))
    rng = np.random.default_rng(0)
    for length in range(1, 70):
        given = rng.normal(size=length)
        np.testing.assert_array_equal(f(given), reference(given))


@pytest.mark.skipif(sys.platform != "linux", reason="mprotect of an anonymous map")
@pytest.mark.parametrize("mode", ["c", "cranelift", "numba"])
def test_nothing_is_read_behind_an_array(mode):
    script = f"""
        import ctypes, mmap
        import numpy as np
        import frazil as fz, frazil.tensor as ft

        def before_the_abyss(values):
            page = mmap.PAGESIZE
            whole = mmap.mmap(-1, 2 * page)
            start = ctypes.addressof(ctypes.c_char.from_buffer(whole))
            protect = ctypes.CDLL(None).mprotect
            assert protect(ctypes.c_void_p(start + page), ctypes.c_size_t(page), 0) == 0
            array = np.frombuffer(whole, values.dtype, values.size, page - values.nbytes)
            array = array.reshape(values.shape)
            array[...] = values
            return array

        x, i, v, rows = ft.matrix("x"), ft.lvector("i"), ft.vector("v"), ft.matrix("rows")
        arrays = [
            before_the_abyss(np.arange(15.0).reshape(3, 5)),
            before_the_abyss(np.array([2, 2, 0])),
            before_the_abyss(np.arange(5.0)),
            before_the_abyss(np.arange(90.0).reshape(30, 3)),
        ]
        outputs = [
            x[i], x[:, i], v[i], (x[i] * 2).sum(1), ft.max(x[i], axis=1), ft.inc_subtensor(x[i], 1),
            ft.exp(x), ft.exp(x.T), ft.exp(x[::-1, ::-1]), ft.softmax(x, axis=1), x.sum(0),
            ft.cumsum(x, axis=1), ft.max(ft.cumsum(ft.abs(v))), ft.concatenate([v, x[2]]), x @ v,
            rows.sum(1), ft.max(rows * v[:3], axis=1), rows[::-1].sum(1),
        ]
        for output in outputs:
            f, reference = (
                fz.function([x, i, v, rows], output, mode=mode, threads=1, on_unused_input="ignore")
                for mode in ({mode!r}, "py")
            )
            np.testing.assert_allclose(f(*arrays), reference(*arrays))
        print("done")
    """
    run = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, check=False
    )
    assert run.stdout == "done\n", run.stderr
