"""How kernels walk memory: lengths, strides, what does not move, rests of blocks, outputs."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from native import call, kernel, run

from frazil.link.c import CCompiler
from frazil.link.cranelift import CraneliftCompiler
from frazil.link.kernel.loop_kernel import LoopKernel, Read, Status, Write
from frazil.link.numba import NumbaCompiler
from frazil.scalar import add, cast, exp, gammaln, lt, mod, mul, pow, sin, sqr, sub, truediv, where

COMPILERS = {"c": CCompiler, "cranelift": CraneliftCompiler, "numba": NumbaCompiler}
SCALAR, VECTOR = Read("float64", inner=False), Read("float64", inner=True)

AXPY = kernel([SCALAR, VECTOR, VECTOR], [(mul, (0, 1)), (add, (3, 2))], [4, 3])
BYTES = kernel(["int8", "int8"], [(add, (0, 1)), (lt, (0, 1))], [2, 3])
SINE = kernel([VECTOR], [(sin, (0,))], [1])
UNIFORM = kernel([SCALAR, SCALAR], [(add, (0, 1)), (exp, (2,))], [Write(3, "float64", False, None)])
STAGES = kernel(
    ["float64", "int64"],
    [(gammaln, (0,)), (exp, (0,)), (sin, (2,)), (gammaln, (4,)), (mul, (3, 5)), (sqr, (1,))],
    [6, 4, 7],
)
POWER = kernel(["int64", "int64"], [(pow, (0, 1))], [2])
SHIFTED_POWER = kernel(["int64", "int64"], [(sub, (1, 2)), (pow, (0, 3))], [4], [("int64", 1)])
REMAINDER = kernel(["bool"], [(truediv, (0, 0)), (mod, (1, 1))], [1, 2])
CONSTANT = kernel([], [], [0], [("float64", 2.5)])
KERNELS = {name: value for name, value in list(globals().items()) if isinstance(value, LoopKernel)}


@pytest.fixture(scope="module", params=COMPILERS)
def native(request):
    compiler = COMPILERS[request.param]()
    return dict(zip(KERNELS, compiler.compile(list(KERNELS.values())), strict=True))


@pytest.mark.parametrize("n", [0, 1, 2, 7, 8, 9, 15, 16, 17, 100])
def test_lengths(native, n):
    x, y = np.arange(n, dtype=float), np.ones(n)
    total, product = run(native["AXPY"], AXPY, [np.array(3.0), x, y])
    np.testing.assert_array_equal(product, 3 * x)
    np.testing.assert_array_equal(total, 3 * x + 1)


@pytest.mark.parametrize("n", [0, 1, 63, 64, 65, 129, 1000])
def test_small_types(native, n):
    rng = np.random.default_rng(n)
    x, y = (rng.integers(-128, 128, n).astype(np.int8) for _ in range(2))
    total, less = run(native["BYTES"], BYTES, [x, y])
    np.testing.assert_array_equal(total, x + y)
    np.testing.assert_array_equal(less, x < y)


def test_nothing_is_written_outside(native):
    for n in range(20):
        out = np.full((2, n + 40), 7.0)
        x = np.ones(n)
        views = [row[20 : 20 + n] for row in out]
        call(native["AXPY"], [np.array(2.0), x, x, *views], 1, n)
        np.testing.assert_array_equal(out[:, :20], 7)
        np.testing.assert_array_equal(out[:, 20 + n :], 7)
        np.testing.assert_array_equal(out[:, 20 : 20 + n], np.array([3.0, 2.0])[:, None] * x)


def test_rows_have_strides_of_their_own(native):
    """A scalar for each row, an operand for all rows, one read backwards, a spread output."""
    a, x, y = np.arange(3.0), np.arange(5.0), np.random.default_rng(0).random((3, 5))
    total, product = np.zeros((3, 9)), np.zeros((3, 5))
    strides = [8, 0, -y.strides[0], total.strides[0], product.strides[0]]
    call(native["AXPY"], [a, x, y[2], total, product], 3, 5, strides)
    np.testing.assert_array_equal(product, a[:, None] * x)
    np.testing.assert_array_equal(total[:, :5], product + y[::-1])
    np.testing.assert_array_equal(total[:, 5:], 0)


def test_no_rows(native):
    x = np.ones(4)
    outs = [np.zeros(4), np.zeros(4)]
    assert call(native["AXPY"], [np.array(1.0), x, x, *outs], 0, 4) == 0
    np.testing.assert_array_equal(outs, 0)


def test_nothing_moves(native):
    out = np.zeros(3)
    a, b = np.arange(3.0), np.array(1.0)
    call(native["UNIFORM"], [a, b, out], 3, 1, [8, 0, 8])
    np.testing.assert_allclose(out, np.exp(a + 1), rtol=1e-15)


def test_nothing_is_read(native):
    [out] = run(native["CONSTANT"], CONSTANT, [])
    np.testing.assert_array_equal(out, [2.5])
    out = np.zeros(11)
    call(native["CONSTANT"], [out], 1, 11)
    np.testing.assert_array_equal(out, 2.5)


def test_unaligned_operands(native):
    """Aligned to their own size, and to nothing more."""
    for offset in range(8):
        x = np.empty(20 + offset)[offset:]
        x[:] = np.arange(20)
        total, _ = run(native["AXPY"], AXPY, [np.array(2.0), x, x])
        np.testing.assert_array_equal(total, 3 * x)


def test_an_element_does_not_depend_on_its_neighbours(native):
    """It is the same value wherever it stands, also in the rest that makes no whole block."""
    x = np.random.default_rng(0).normal(size=50) * 100
    [whole] = run(native["SINE"], SINE, [x])
    for start in range(0, 50, 3):
        for n in (1, 5, 8):
            part = np.ascontiguousarray(x[start : start + n])
            [out] = run(native["SINE"], SINE, [part])
            np.testing.assert_array_equal(out, whole[start : start + n])


def test_an_output_may_replace_an_operand(native):
    for n in (3, 8, 30):
        x, y = np.linspace(1, 2, n), np.arange(n)
        want = run(native["STAGES"], STAGES, [x, y])
        sines, squares = np.empty(n), np.empty(n, dtype=np.int64)
        call(native["STAGES"], [x, y, x, sines, squares], 1, n)
        np.testing.assert_array_equal(x, want[0])
        np.testing.assert_array_equal(sines, want[1])


def test_stages(native):
    from scipy.special import gammaln as reference

    x = np.linspace(0.1, 5, 37)
    product, sines, squares = run(native["STAGES"], STAGES, [x, np.arange(37)])
    np.testing.assert_allclose(sines, np.sin(reference(x)), rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(product, np.exp(x) * reference(np.sin(reference(x))), rtol=1e-10)
    np.testing.assert_array_equal(squares, np.arange(37) ** 2)


def test_a_remainder_of_nan_is_nan(native):
    """Also where a compiler can tell that an operand is neither zero nor infinite."""
    quotient, rest = run(native["REMAINDER"], REMAINDER, [np.array([True, False])])
    np.testing.assert_array_equal(quotient, [1, np.nan])
    np.testing.assert_array_equal(rest, [0, np.nan])


@pytest.mark.parametrize("n", [1, 8, 11])
def test_a_negative_power_of_an_integer_is_told(native, n):
    out = np.zeros(n, dtype=np.int64)
    for position in range(n):
        exponents = np.ones(n, dtype=np.int64)
        assert call(native["POWER"], [exponents, exponents, out], 1, n) == Status.OK
        exponents[position] = -1
        status = call(native["POWER"], [exponents, exponents, out], 1, n)
        assert status == Status.NEGATIVE_POWER
        status = call(native["SHIFTED_POWER"], [abs(exponents), exponents, out], 1, n)
        assert status == Status.NEGATIVE_POWER
    ones = np.ones(n, dtype=np.int64)
    assert call(native["SHIFTED_POWER"], [ones, ones, out], 1, n) == Status.OK


def test_many_threads_call_one_kernel(native):
    x = np.random.default_rng(0).random(501)
    [want] = run(native["SINE"], SINE, [x])

    def work(_):
        return np.array_equal(run(native["SINE"], SINE, [x])[0], want)

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(200)))


MIXED = kernel(
    ["bool", SCALAR, "float32", "int16"],
    [(where, (0, 1, 2)), (add, (4, 3)), (cast("int32"), (3,))],
    [5, 6, (5, "add")],
)


@pytest.fixture(scope="module", params=COMPILERS)
def mixed(request):
    [native] = COMPILERS[request.param]().compile([MIXED])
    return native


@given(n_outer=st.integers(0, 4), n_inner=st.integers(0, 40), seed=st.integers(0, 9))
def test_any_shape(mixed, n_outer, n_inner, seed):
    rng = np.random.default_rng(seed)
    shape = (n_outer, n_inner)
    flag, a = rng.random(shape) < 0.5, rng.random(n_outer)
    x, k = rng.random(shape).astype("f4"), rng.integers(-9, 9, shape).astype("i2")
    outs = [np.zeros(shape), np.zeros(shape, "i4"), np.zeros(n_outer)]
    arrays = [flag, a, x, k, *outs]
    call(mixed, arrays, n_outer, n_inner, [array.strides[0] for array in arrays])
    want = np.where(flag, a[:, None], x) + k
    np.testing.assert_array_equal(outs[0], want)
    np.testing.assert_array_equal(outs[1], k)
    np.testing.assert_allclose(outs[2], want.sum(1), rtol=1e-12, atol=1e-12)
