"""Reductions in kernels: over the inner dimension, over outer ones, beside other writes."""

import math

import numpy as np
import pytest
from native import DTYPES, call, kernel, run, samples

from frazil.link.c import CCompiler
from frazil.link.cranelift import CraneliftCompiler
from frazil.link.kernel.loop_kernel import Read, Write
from frazil.link.kernel.reduction import identity
from frazil.link.numba import NumbaCompiler
from frazil.scalar import add, exp, mul

UFUNCS = {
    "add": np.add,
    "mul": np.multiply,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "and_": np.bitwise_and,
    "or_": np.bitwise_or,
}
COMPILERS = {"c": CCompiler, "cranelift": CraneliftCompiler, "numba": NumbaCompiler}
CASES = [
    (reduce, dtype)
    for reduce in UFUNCS
    for dtype in DTYPES
    if not (reduce in ("and_", "or_") and dtype.startswith("float"))
]
FEW = [
    *((reduce, "float64") for reduce in ("add", "mul", "maximum", "minimum")),
    *(("add", "float32"), ("maximum", "float32"), ("minimum", "float32"), ("mul", "float32")),
    *(("add", "int64"), ("mul", "bool"), ("maximum", "int8"), ("and_", "uint16"), ("or_", "bool")),
]
LENGTHS = (0, 1, 2, 7, 8, 9, 63, 64, 65, 1000, 4097)


@pytest.fixture(scope="module", params=COMPILERS)
def compiler(request):
    return COMPILERS[request.param]()


@pytest.fixture(scope="module")
def compiled(compiler):
    """For each reduction and dtype, a kernel that folds rows and one that folds columns."""
    cases = FEW if compiler.name == "numba" else CASES
    made = []
    for reduce, dtype in cases:
        made.append(kernel([dtype], [], [(0, reduce)]))
        made.append(kernel([dtype], [], [Write(0, dtype, inner=True, reduce=reduce)]))
    native = compiler.compile(made)
    return {case: (native[2 * k], native[2 * k + 1]) for k, case in enumerate(cases)}


def moderate(dtype, shape, seed=0):
    """Values whose products stay finite."""
    rng = np.random.default_rng(seed)
    if dtype.startswith("float"):
        return np.exp(rng.normal(size=shape) * 0.1).astype(dtype)
    return samples(dtype, int(np.prod(shape)) + 40, seed)[: int(np.prod(shape))].reshape(shape)


def start(reduce, dtype, shape):
    return np.full(shape, identity(reduce, dtype), dtype=dtype)


def agree(got, want, reduce):
    if got.dtype.kind == "f" and reduce in ("add", "mul"):
        np.testing.assert_allclose(got, want, rtol=1e-3 if got.dtype == "f4" else 1e-11)
    else:
        np.testing.assert_array_equal(got, want)


def test_rows(compiled):
    for (reduce, dtype), (rows, _) in compiled.items():
        for n in LENGTHS:
            x = moderate(dtype, (3, n))
            out = start(reduce, dtype, 3)
            assert call(rows, [x, out], 3, n, [x.strides[0], out.itemsize]) == 0
            want = UFUNCS[reduce].reduce(x, axis=1, dtype=dtype, initial=identity(reduce, dtype))
            agree(out, want, reduce)


def test_columns(compiled):
    for (reduce, dtype), (_, columns) in compiled.items():
        for n in LENGTHS:
            x = moderate(dtype, (5, n))
            out = start(reduce, dtype, n)
            assert call(columns, [x, out], 5, n, [x.strides[0], 0]) == 0
            want = UFUNCS[reduce].reduce(x, axis=0, dtype=dtype, initial=identity(reduce, dtype))
            agree(out, want, reduce)


def test_everything(compiled):
    """An output that does not move from row to row gathers all of them."""
    for (reduce, dtype), (rows, _) in compiled.items():
        x = moderate(dtype, (7, 83))
        out = start(reduce, dtype, ())
        assert call(rows, [x, out], 7, 83, [x.strides[0], 0]) == 0
        want = UFUNCS[reduce].reduce(x, axis=None, dtype=dtype, initial=identity(reduce, dtype))
        agree(out, want, reduce)


def test_an_output_keeps_what_it_had(compiled):
    rows, _ = compiled["add", "float64"]
    x, out = np.array([1.0, 2.0]), np.array(10.0)
    call(rows, [x, out], 1, 2)
    assert out == 13
    call(rows, [x, out], 1, 0)
    assert out == 13


def test_nan_wins_wherever_it_stands(compiled):
    for reduce in ("maximum", "minimum", "add", "mul"):
        for dtype in ("float32", "float64"):
            rows, columns = compiled[reduce, dtype]
            for n in (1, 5, 8, 40, 300):
                for position in {0, n // 2, n - 1}:
                    x = np.ones(n, dtype)
                    x[position] = np.nan
                    out = start(reduce, dtype, ())
                    call(rows, [x, out], 1, n)
                    assert np.isnan(out), (reduce, dtype, n, position)
                    out = start(reduce, dtype, n)
                    call(columns, [x, out], 1, n)
                    np.testing.assert_array_equal(np.isnan(out), np.isnan(x))


def test_infinities(compiled):
    for n in (1, 9, 100):
        x = np.full(n, -np.inf)
        for reduce in ("maximum", "minimum", "add"):
            out = start(reduce, "float64", ())
            call(compiled[reduce, "float64"][0], [x, out], 1, n)
            assert out == -np.inf, reduce
    x = np.array([np.inf, -np.inf] * 20)
    out = np.array(0.0)
    call(compiled["add", "float64"][0], [x, out], 1, 40)
    assert np.isnan(out)


def test_a_sum_of_negative_zeros_is_one(compiled):
    for n in (1, 8, 13):
        out = np.array(-0.0)
        call(compiled["add", "float64"][0], [np.full(n, -0.0), out], 1, n)
        assert out == 0
        assert np.signbit(out)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_sums_are_as_exact_as_pairwise_ones(compiled, dtype):
    rows, _ = compiled["add", dtype]
    n = 300_001
    x = np.random.default_rng(0).random(n).astype(dtype)
    out = np.zeros((), dtype)
    call(rows, [x, out], 1, n)
    exact = math.fsum(x)
    assert abs(float(out) - exact) <= 8 * np.finfo(dtype).eps * exact


def test_a_sum_depends_on_its_values_alone(compiled):
    """Not on where they lie in memory."""
    rows, _ = compiled["add", "float64"]
    buffer = np.random.default_rng(0).random(1009)
    sums = set()
    for offset in range(9):
        shifted = np.empty(1009 + offset)[offset:]
        shifted[:] = buffer
        out = np.array(0.0)
        call(rows, [shifted, out], 1, 1009)
        sums.add(float(out))
    assert len(sums) == 1


def test_compilers_agree_to_the_bit():
    made = kernel(["float64"], [], [(0, "add"), (0, "mul"), (0, "maximum")])
    x = 1 + np.random.default_rng(0).normal(size=(3, 20_003)) * 1e-3
    outs = []
    for compiler in COMPILERS.values():
        [native] = compiler().compile([made])
        rows = [np.zeros(3), np.ones(3), np.full(3, -np.inf)]
        call(native, [x, *rows], 3, 20_003, [x.strides[0], 8, 8, 8])
        total = [np.array(0.0), np.array(1.0), np.array(-np.inf)]
        call(native, [x, *total], 3, 20_003, [x.strides[0], 0, 0, 0])
        outs.append([*rows, *total])
    for c, *others in zip(*outs, strict=True):
        for other in others:
            np.testing.assert_array_equal(other, c)


def test_beside_elementwise_writes(compiler):
    """One kernel: a * exp(x), its sums by rows and by columns, and all of it as float32."""
    made = kernel(
        [Read("float64", inner=False), "float64"],
        [(exp, (1,)), (mul, (0, 2))],
        [
            3,
            (3, "add"),
            Write(3, "float64", inner=True, reduce="add"),
            Write(3, "float32", inner=False, reduce="add"),
            Write(0, "float64", inner=False, reduce=None),
        ],
    )
    [native] = compiler.compile([made])
    for n in (1, 3, 8, 21, 640):
        a, x = np.arange(4.0), np.random.default_rng(n).normal(size=(4, n))
        outs = [
            *(np.empty((4, n)), np.zeros(4), np.zeros(n), np.zeros((), "float32"), np.empty(4)),
        ]
        status = call(native, [a, x, *outs], 4, n, [8, 8 * n, 8 * n, 8, 0, 0, 8])
        assert status == 0
        want = a[:, None] * np.exp(x)
        np.testing.assert_allclose(outs[0], want, rtol=1e-15)
        np.testing.assert_allclose(outs[1], want.sum(1), rtol=1e-13)
        np.testing.assert_allclose(outs[2], want.sum(0), rtol=1e-13)
        np.testing.assert_allclose(outs[3], want.sum(), rtol=1e-5)
        np.testing.assert_array_equal(outs[4], a)


def test_a_value_that_does_not_move_counts_for_every_element(compiler):
    made = kernel(
        [Read("float64", inner=False), "float64"], [(add, (0, 0))], [(2, "add"), (1, "add")]
    )
    [native] = compiler.compile([made])
    for n in (1, 8, 11):
        twice, total = run(native, made, [np.array(1.5), np.ones(n)])
        assert twice == 3 * n
        assert total == n


def test_zero_dimensional_reductions(compiler):
    made = kernel([Read("float64", inner=False)], [], [(0, "add"), (0, "maximum")])
    [native] = compiler.compile([made])
    total, most = np.array(1.0), np.array(-np.inf)
    assert call(native, [np.array(2.0), total, most], 1, 1) == 0
    assert (total, most) == (3, 2)


def test_long_sums_across_rows_of_any_length(compiled):
    """Sets of partial sums stay in turn where rows end within a block, and levels fill up."""
    rows, _ = compiled["add", "float64"]
    for n_outer, n_inner in ((300, 27), (3, 9001), (90, 97), (2, 40_000), (1, 8 * 64 * 16)):
        x = np.random.default_rng(n_inner).integers(-9, 9, (n_outer, n_inner)).astype(float)
        total, each = np.zeros(()), np.zeros(n_outer)
        call(rows, [x, total], n_outer, n_inner, [8 * n_inner, 0])
        assert total == x.sum()
        call(rows, [x, each], n_outer, n_inner, [8 * n_inner, 8])
        np.testing.assert_array_equal(each, x.sum(1))
