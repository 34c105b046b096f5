"""Elements of several widths in one loop, and folds of bools, which may end early."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from native import call
from reference import evaluate

import frazil as fz
import frazil.tensor as ft
from frazil.link.c import CCompiler
from frazil.link.c.search import Toolchain, find_toolchain
from frazil.link.kernel.loop_kernel import Literal, LoopKernel, Read, Statement, Write
from frazil.link.numba import NumbaCompiler
from frazil.scalar import gt, where

PAIRS = (
    *(("bool", "float64"), ("int8", "int64"), ("uint16", "float64"), ("float32", "float64")),
    ("int16", "int32"),
)
LENGTHS = st.one_of(st.integers(0, 140), st.sampled_from((255, 256, 257, 1000, 20_000)))


def values_of(narrow, wide, flag):
    """What reads, writes and folds elements of several widths."""
    x, y = narrow.astype("float64"), wide.astype("float64")
    return [
        *(x < y, ft.eq(narrow, wide), wide.astype(narrow.dtype), narrow.astype(wide.dtype)),
        *(ft.where(flag, x, y), ft.where(x > y, narrow, wide), (x > 3) & flag),
        *(
            narrow.sum(),
            ft.sum(narrow, dtype=wide.dtype),
            ft.max(narrow),
            ft.where(flag, y, 0).sum(),
        ),
        *(ft.any(x > y), ft.all(flag), flag.sum(), ft.mean(narrow)),
    ]


_functions = {}


def function_of(narrow, wide, mode):
    key = narrow, wide, mode
    if key not in _functions:
        given_types = ((narrow, "x"), (wide, "y"), ("bool", "flag"))
        inputs = [ft.vector(name, dtype=dtype) for dtype, name in given_types]
        _functions[key] = inputs, fz.function(inputs, values_of(*inputs), mode=mode)
    return _functions[key]


def draw(dtype, n, rng):
    if dtype == "bool":
        return rng.random(n) < 0.5
    low = 0 if dtype.startswith("u") else -9
    return rng.integers(low, 9, n).astype(dtype)


@pytest.mark.parametrize("mode", ["c", "cranelift", "numba"])
@settings(max_examples=40)
@given(
    pair=st.sampled_from(PAIRS),
    n=LENGTHS,
    offset=st.integers(0, 9),
    step=st.sampled_from((1, 1, 2, -1)),
    seed=st.integers(0, 2**32 - 1),
)
def test_elements_of_two_widths(mode, pair, n, offset, step, seed):
    rng = np.random.default_rng(seed)
    inputs, function = function_of(*pair, mode)
    drawn = [draw(dtype, 2 * n + offset, rng) for dtype in (*pair, "bool")]
    arrays = [whole[offset:][::step][:n] for whole in drawn]
    if n == 0:
        arrays[0] = np.ones(1, pair[0])  # a maximum of nothing is none
        arrays[1:] = [np.ones(1, dtype) for dtype in (pair[1], "bool")]
    found = function(*arrays)
    known = dict(zip(inputs, arrays, strict=True))
    for variable, value in zip(values_of(*inputs), found, strict=True):
        expected = evaluate(variable, known)
        assert (value.dtype, value.shape) == (expected.dtype, expected.shape)
        np.testing.assert_allclose(value, expected, rtol=1e-6)


@pytest.mark.parametrize("mode", ["c", "cranelift", "numba"])
@settings(max_examples=60)
@given(
    shape=st.sampled_from(
        ((1,), (100_000,), (3, 30_000), (70, 100), (9, 64), (200, 3), (300_000,))
    ),
    positions=st.lists(st.floats(0, 1, exclude_max=True), max_size=2),
    axis=st.sampled_from((None, 0, -1)),
    value=st.booleans(),
    threads=st.sampled_from((1, 2)),
)
def test_any_and_all_are_decided_wherever_the_deciding_element_stands(
    mode, shape, positions, axis, value, threads
):
    array = np.full(shape, value)
    for position in positions:
        array.flat[int(position * array.size)] = not value
    key = "any", len(shape), axis, mode, threads
    if key not in _functions:
        x = ft.tensor("x", dtype="bool", shape=(None,) * len(shape))
        y = ft.tensor("y", shape=(None,) * len(shape))
        outputs = [ft.any(x, axis), ft.all(x, axis), ft.any(y > 0.5, axis)]
        _functions[key] = fz.function([x, y], outputs, mode=mode, threads=threads)
    some, each, above = _functions[key](array, array.astype("float64"))
    np.testing.assert_array_equal(some, array.any(axis))
    np.testing.assert_array_equal(each, array.all(axis))
    np.testing.assert_array_equal(above, array.any(axis))


@pytest.mark.parametrize("mode", ["c", "cranelift", "numba"])
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int64"])
def test_rows_of_any_length_fold_what_they_have(mode, dtype):
    """Shorter than a block, of several, and of more than there are partial results.

    Rows of parts of a matrix, folded to one number, go on with the partial results of others.
    """
    x = ft.tensor("x", dtype=dtype, shape=(None, None))
    reductions = [
        *(lambda n, x: n.any(x, axis=1), lambda n, x: n.all(x, axis=1)),
        *(lambda n, x: n.sum(x, axis=1), lambda n, x: n.prod(x, axis=1)),
        *(lambda n, x: n.max(x, axis=1, initial=0), lambda n, x: n.min(x, axis=1, initial=1)),
        *(lambda n, x: n.sum(x[:, :-1]), lambda n, x: n.any(x[:, 1:]), lambda n, x: n.all(x[1:])),
        lambda n, x: n.max(x[:, 1:], initial=0),
    ]
    f = fz.function([x], [reduction(ft, x) for reduction in reductions], mode=mode)
    rng = np.random.default_rng(0)
    for n in (0, 1, 2, 7, 8, 15, 16, 17, 31, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 600):
        for some in (0.0, 0.02, 0.98, 1.0):
            array = (rng.random((5, n)) < some).astype(dtype)
            for reduction, found in zip(reductions, f(array), strict=True):
                np.testing.assert_array_equal(found, reduction(np, array), err_msg=f"{n} {some}")


MIXED = LoopKernel(
    reads=(Read("bool", inner=True), Read("float64", inner=True), Read("int8", inner=True)),
    literals=(Literal("float64", 0.0),),
    statements=(
        Statement(where, (0, 1, 3), "float64"),
        Statement(gt, (1, 3), "bool"),
    ),
    writes=(
        Write(4, "float64", inner=True, reduce=None),
        Write(5, "bool", inner=True, reduce=None),
        Write(4, "float64", inner=False, reduce="add"),
        Write(2, "int64", inner=False, reduce="add"),
        Write(5, "bool", inner=False, reduce="or_"),
    ),
)


def test_a_block_is_of_the_narrowest_elements():
    assert MIXED.lanes == 64


@pytest.mark.parametrize("n", [1, 63, 64, 65, 300, 5000])
def test_registers_of_any_width_give_the_same_bits(monkeypatch, n):
    [wide] = CCompiler().compile([MIXED])
    [other] = NumbaCompiler().compile([MIXED])
    monkeypatch.setattr(Toolchain, "register_bits", 0)
    monkeypatch.setattr(Toolchain, "_processor_flags", ())
    found = find_toolchain()
    [narrow] = CCompiler(Toolchain(found.command, f"{found.version} narrow")).compile([MIXED])
    rng = np.random.default_rng(n)
    reads = [rng.random((3, n)) < 0.7, rng.normal(size=(3, n)), draw("int8", 3 * n, rng)]
    results = []
    for native in (wide, narrow, other):
        writes = [np.zeros((3, n)), np.zeros((3, n), bool), np.full(3, -0.0), np.zeros(3, "int64")]
        writes.append(np.zeros(3, bool))
        steps = [n, 8 * n, n, 8 * n, n, 8, 8, 1]
        assert call(native, [*reads, *writes], 3, n, steps) == 0
        results.append(writes)
    for written in results[1:]:
        for one, two in zip(results[0], written, strict=True):
            np.testing.assert_array_equal(one, two)
    np.testing.assert_array_equal(results[0][3], reads[2].reshape(3, n).sum(axis=1))


NARROW = (
    *(("int8", "int8"), ("uint8", "uint8"), ("int16", "int16"), ("uint16", "uint16")),
    *(("bool", "bool"), ("int8", "uint16"), ("int32", "int16"), ("uint32", "uint8")),
    *(("float16", "float16"), ("float16", "int8"), ("bool", "float16"), ("float32", "int16")),
)


def mixed_values(x, y, flag):
    """Ops on elements of one or two dtypes, conversions between them, and folds."""
    values = [x + y, ft.maximum(x, y), ft.where(flag, x, y), ft.lt(x, y), ft.eq(x, y) & flag]
    values += [ft.cast(x, y.dtype), ft.cast(y, "float64"), ft.cast(y, "float16"), x * y + x]
    values += [ft.max(x), ft.min(y), ft.sum(x), ft.prod(y > 0), ft.any(x > y), ft.all(x < y)]
    kinds = np.dtype(x.dtype).kind + np.dtype(y.dtype).kind
    if set(kinds) <= set("iu"):
        values += [x // y, x % y, x << 3, x >> y, x & y, x ^ y]
    if "b" not in kinds:
        values += [x - y, ft.abs(x), ft.clip(x, 3, 100)]
    return values


def any_bits(dtype, n, rng):
    """Elements of all bits but NaN, which has several forms; many are small, some the least."""
    if dtype == "bool":
        return rng.random(n) < 0.5
    drawn = rng.integers(0, 256, n * np.dtype(dtype).itemsize, dtype="uint8").view(dtype)
    small = rng.integers(0, 8, n).astype(dtype)
    if drawn.dtype.kind == "f":
        drawn, least = np.where(np.isnan(drawn), small, drawn), -np.inf
    else:
        least = np.iinfo(dtype).min
    drawn = np.where(rng.random(n) < 0.05, np.array(least, dtype), drawn)
    return np.where(rng.random(n) < 0.3, small, drawn)


def bits(array):
    """The bits of an array, those of NaN alike."""
    if array.dtype.kind == "f":
        array = np.where(np.isnan(array), np.array(np.nan, array.dtype), array)
    return array.dtype, array.shape, array.tobytes()


@pytest.mark.parametrize(("narrow", "wide"), NARROW)
def test_narrow_elements_have_the_same_bits_in_both_linkers(narrow, wide):
    dtypes = (narrow, wide, "bool")
    inputs = [ft.vector(dtype=dtype) for dtype in dtypes]
    outputs = mixed_values(*inputs)
    by_c, by_cranelift = (fz.function(inputs, outputs, mode=mode) for mode in ("c", "cranelift"))
    rng = np.random.default_rng(0)
    for n in (1, 7, 16, 63, 64, 65, 300, 5000):
        arrays = [any_bits(dtype, n, rng) for dtype in dtypes]
        for k, (one, two) in enumerate(zip(by_c(*arrays), by_cranelift(*arrays), strict=True)):
            assert bits(one) == bits(two), (k, n)


ALONE = {
    "add": lambda n, x, y, flag: x + y,
    "mul": lambda n, x, y, flag: x * y,
    "maximum": lambda n, x, y, flag: n.maximum(x, y),
    "minimum": lambda n, x, y, flag: n.minimum(x, y),
    "xor": lambda n, x, y, flag: x ^ y,
    "invert": lambda n, x, y, flag: ~x & y,
    "equal": lambda n, x, y, flag: n.equal(x, y),
    "less": lambda n, x, y, flag: n.logical_not(n.less(x, y)),
    "greater_equal": lambda n, x, y, flag: n.greater_equal(x, y) & flag,
    "where": lambda n, x, y, flag: n.where(n.less_equal(x, y) | flag, x, y),
    "neg": lambda n, x, y, flag: -x * x + y,
    "abs": lambda n, x, y, flag: abs(x),
    "sign": lambda n, x, y, flag: n.sign(x),
    "clip": lambda n, x, y, flag: n.clip(x, 3, 100),
    "scalar": lambda n, x, y, flag: x * y[0, 0] + y[0],
    "as_bool": lambda n, x, y, flag: n.logical_and(x, y),
    "max": lambda n, x, y, flag: n.max(n.maximum(x, y), axis=1),
    "min": lambda n, x, y, flag: n.min(x),
    "columns": lambda n, x, y, flag: n.max(x * y, axis=0),
    "any": lambda n, x, y, flag: n.any(n.greater(x, y), axis=1),
    "all": lambda n, x, y, flag: n.all(n.less_equal(x, y) | flag),
}
OF_NUMBERS = {"neg", "abs", "sign", "clip"}


CASES = [
    *((name, dtype) for name in ALONE for dtype in ("int8", "uint8", "int16", "uint16")),
    *((name, "bool") for name in ALONE if name not in OF_NUMBERS),
]


@pytest.mark.parametrize(("name", "dtype"), CASES)
def test_loops_over_narrow_elements_alone_are_those_of_numpy(name, dtype):
    """Whole registers, and what is left of rows; elements with gaps between them, or backwards."""
    x, y, flag = (ft.matrix(dtype=own) for own in (dtype, dtype, "bool"))
    made = ALONE[name](ft, x, y, flag)
    f = fz.function([x, y, flag], made, mode="cranelift", on_unused_input="ignore")
    rng = np.random.default_rng(7)
    for n in (1, 7, 15, 16, 17, 40, 63, 64, 65, 100, 129, 300, 1000):
        given = [any_bits(own, 3 * 2 * n + 6, rng)[2:] for own in (dtype, dtype, "bool")]
        rows = [own[: 3 * n].reshape(3, n) for own in given]
        gaps = [own[: 6 * n].reshape(3, 2 * n)[:, ::2] for own in given]
        for arrays in (rows, gaps, [own[:, ::-1] for own in rows]):
            with np.errstate(all="ignore"):
                expected = np.asarray(ALONE[name](np, *arrays))
            assert bits(np.asarray(f(*arrays))) == bits(expected), n
