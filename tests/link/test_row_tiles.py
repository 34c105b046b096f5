"""Rows of any length and number: taken together they are what each of them is alone."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from native import call, same

import frazil as fz
import frazil.tensor as ft
from frazil.link.c import CCompiler
from frazil.link.c.search import Toolchain, find_toolchain
from frazil.link.kernel.loop_kernel import Literal, LoopKernel, Read, RowFold, Statement, Write
from frazil.scalar import exp, mul, sub

LENGTHS = (0, 1, 2, 7, 8, 9, 15, 16, 17, 31, 97, 100, 503, 504, 505, 512, 521, 1009, 9000)
SPECIAL = (np.nan, np.inf, -np.inf, 0.0, -0.0)


def outputs_of(x):
    """Values of all that kernels of rows do: one a row, one an element, one a column."""
    top = ft.max(x, axis=1, keepdims=True)
    weights = ft.exp(x - top)
    total = ft.sum(weights, axis=1, keepdims=True)
    share = weights / total
    off = x - ft.mean(x, axis=1, keepdims=True)
    return [
        *(top[:, 0], ft.min(x, axis=1), total[:, 0], share, off * off, share.sum(axis=0)),
        *(ft.log(total[:, 0]), ft.prod(share + 0.5, axis=1)),
    ]


@cache
def built(mode, dtype, **options):
    x = ft.matrix("x", dtype=dtype)
    return fz.function([x], outputs_of(x), mode=mode, **options)


TOLERANCE = {"float32": {"rtol": 2e-4, "atol": 2e-5}, "float64": {"rtol": 1e-10, "atol": 1e-12}}


def draw_rows(rows, length, dtype, seed, special):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(rows, length)) * 3
    for _ in range(special * (length > 0)):
        values[rng.integers(rows), rng.integers(length)] = rng.choice(SPECIAL)
    return values.astype(dtype)


ROWS = st.tuples(
    st.sampled_from((1, 2, 7, 8, 9, 17)),
    st.one_of(st.sampled_from(LENGTHS[1:]), st.integers(1, 200)),
    st.sampled_from(("float32", "float64")),
    st.integers(0, 99),
    st.integers(0, 3),
)


@settings(max_examples=60)
@given(ROWS, st.sampled_from(("C", "F", "steps")))
def test_linkers_agree_on_rows(drawn, order):
    value = draw_rows(*drawn)
    if order == "steps":
        value = np.repeat(value, 2, axis=1)[:, ::2]
    value = np.asarray(value, order="F" if order == "F" else "K")
    dtype = value.dtype.name
    with np.errstate(all="ignore"):
        expected = built("py", dtype)(value)
        for mode in ("c", "cranelift", "numba"):
            for got, want in zip(built(mode, dtype)(value), expected, strict=True):
                np.testing.assert_allclose(got, want, **TOLERANCE[dtype])


@pytest.mark.parametrize("mode", ["c", "cranelift", "numba"])
@settings(max_examples=60)
@given(drawn=ROWS)
def test_a_row_among_others_is_the_row_alone(mode, drawn):
    value = draw_rows(*drawn)
    f = built(mode, value.dtype.name)
    together = f(value)
    for row in {0, len(value) // 2, len(value) - 1}:
        alone = f(value[row : row + 1])
        for k in (0, 1, 2, 3, 4, 6, 7):
            assert same(together[k][row], alone[k][0]).all()


@settings(max_examples=60)
@given(ROWS)
def test_it_is_the_same_zero_that_is_the_largest_and_the_smallest(drawn):
    rows, length, dtype, seed, _ = drawn
    rng = np.random.default_rng(seed)
    for zeros in ([0.0, -0.0], [0.0, -0.0, -1.0], [0.0, -0.0, 1.0]):
        value = rng.choice(zeros, (rows, length)).astype(dtype)
        c, *others = (built(mode, dtype)(value) for mode in ("c", "cranelift", "numba"))
        for own in others:
            assert same(c[0], own[0]).all()
            assert same(c[1], own[1]).all()


@cache
def short_rows(mode):
    """Rows made of a column and a vector, which fold, keep values, and gather all rows to one."""
    x, centres, level = ft.vector("x"), ft.vector("centres"), ft.vector("level")
    apart = x[:, None] - centres
    near = level - apart * apart
    weights = ft.exp(near - ft.max(near, axis=1, keepdims=True))
    share = weights / ft.sum(weights, axis=1, keepdims=True)
    least, product = ft.min(near, axis=1), ft.prod(share + 0.5, axis=1)
    outputs = [share, least, product, (share * apart).sum(axis=0), share.sum(), share.sum(axis=0)]
    return fz.function([x, centres, level], outputs, mode=mode)


@cache
def gathered_rows(mode):
    """Such rows that leave nothing of each: numbers of all rows, and rows into which all go."""
    x, centres, level = ft.vector("x"), ft.vector("centres"), ft.vector("level")
    apart = x[:, None] - centres
    near = level - apart * apart
    weights = ft.exp(near - ft.max(near, axis=1, keepdims=True))
    share = weights / ft.sum(weights, axis=1, keepdims=True)
    pull = share * apart
    outputs = [pull.sum(axis=0), share.sum(), share.sum(axis=0), ft.max(pull), ft.min(pull, axis=0)]
    return fz.function([x, centres, level], outputs, mode=mode)


@cache
def folded_rows(mode):
    """Rows that are folded in one pass, and nothing else."""
    x, row, level = ft.matrix("x"), ft.vector("row"), ft.vector("level")
    apart = x * row - level[:, None] / 3
    outputs = [
        *(x.sum(axis=1), ft.max(x, axis=1), ft.min(apart, axis=1), ft.prod(apart, axis=1)),
        (ft.where(x > row, apart, x) * 2).sum(axis=1),
    ]
    return [fz.function([x, row, level], y, mode=mode, on_unused_input="ignore") for y in outputs]


@pytest.mark.parametrize("length", [1, 2, 3, 8, 9, 16, 17])
@pytest.mark.parametrize("rows", [7, 11, 700])
@pytest.mark.parametrize("layout", ["C", "F", "steps", "reversed", "one row", "zeros"])
def test_short_rows_of_one_pass_have_the_bits_of_rows_one_by_one(length, rows, layout):
    rng = np.random.default_rng(length + rows)
    x = rng.normal(size=(2 * rows if layout == "steps" else rows, length))
    x[rng.random(x.shape) < 0.02] = np.nan
    match layout:
        case "F":
            x = np.asfortranarray(x)
        case "steps":
            x = x[::2]
        case "reversed":
            x = x[::-1]
        case "one row":
            x = np.broadcast_to(x[0], x.shape)
        case "zeros":
            x = rng.choice([0.0, -0.0, np.nan, -1.0], x.shape)
    given = x, rng.normal(size=length), rng.normal(size=rows)
    made = [[f(*given) for f in folded_rows(mode)] for mode in ("c", "cranelift", "numba")]
    for c, *others in zip(*made, strict=True):
        for own in others:
            assert same(c, own).all()


# Without registers of 512 bits, C calls the exp of the C library, which has other bits.
OWN_EXP = find_toolchain().has_wide_registers


@pytest.mark.parametrize("length", [1, 2, 5, 7, 8, 9, 10, 15, 16, 17, 24])
@pytest.mark.parametrize("rows", [7, 8, 9, 30, 72, 700])
@pytest.mark.parametrize("special", [0, 2])
@pytest.mark.parametrize("made", [short_rows, gathered_rows], ids=["kept", "gathered"])
def test_short_rows_side_by_side_have_the_bits_of_rows_one_by_one(made, length, rows, special):
    rng = np.random.default_rng(length + rows)
    x, centres, level = rng.normal(size=rows), rng.normal(size=length), rng.normal(size=length)
    x[:special], level[: special // 2] = (np.nan, 0.0)[:special], -np.inf
    c, cranelift, numba = (made(m)(x, centres, level) for m in ("c", "cranelift", "numba"))
    with np.errstate(all="ignore"):
        expected = made("py")(x, centres, level)
    for a, b, n, e in zip(c, cranelift, numba, expected, strict=True):
        for own in (b, n):
            if OWN_EXP:
                assert same(a, own).all()
            else:
                np.testing.assert_allclose(a, own, rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(a, e, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("mode", ["c", "cranelift", "numba"])
@pytest.mark.parametrize("rows", [7, 8, 9, 17, 1001])
def test_integers_of_all_rows_are_those_of_tiles_and_of_the_rows_after(mode, rows):
    x = ft.matrix("x")
    near = ft.exp(x - ft.max(x, axis=1, keepdims=True))
    tenths = ft.cast(near / ft.sum(near, axis=1, keepdims=True) * 10, "int64")
    f = fz.function([x], [tenths.sum(), ft.max(tenths), (tenths > 4).sum()], mode=mode)
    values = np.random.default_rng(rows).normal(size=(rows, 5))
    near = np.exp(values - values.max(axis=1, keepdims=True))
    expected = (near / near.sum(axis=1, keepdims=True) * 10).astype(int)
    total, most, many = f(values)
    assert (total, most, many) == (expected.sum(), expected.max(), (expected > 4).sum())


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_rows_are_the_same_with_any_number_of_threads(dtype):
    value = draw_rows(3001, 97, dtype, 5, 3)
    one, two, three = (built("c", dtype, threads=n)(value) for n in (1, 2, 3))
    for a, b, c in zip(one, two, three, strict=True):
        assert same(a, b).all()
        assert same(a, c).all()


@pytest.mark.parametrize("mode", ["c", "cranelift", "numba", "py"])
@pytest.mark.parametrize("rows", [1, 8, 11])
def test_rows_of_integers(mode, rows):
    x = ft.matrix("x", dtype="int32")
    top = ft.max(x, axis=1, keepdims=True)
    total = ft.sum(x - top, axis=1, keepdims=True)
    f = fz.function(
        [x], [x * total, ft.min(x - total, axis=1), (x > top - 3).any(axis=1)], mode=mode
    )
    for length in LENGTHS[1:]:
        value = np.random.default_rng(length).integers(-99, 99, (rows, length)).astype("int32")
        highest = value.max(axis=1, keepdims=True)
        sums = (value - highest).sum(axis=1, keepdims=True)
        product, least, near = f(value)
        np.testing.assert_array_equal(product, value * sums)
        np.testing.assert_array_equal(least, (value - sums).min(axis=1))
        np.testing.assert_array_equal(near, (value > highest - 3).any(axis=1))


@pytest.mark.parametrize("mode", ["c", "cranelift", "numba", "py"])
@pytest.mark.parametrize("rows", [1, 3, 8, 9])
def test_rows_that_a_tile_lacks_do_not_fail(mode, rows):
    """What stands for the largest of no elements would be a negative power."""
    x = ft.matrix("x", dtype="int64")
    powers = ft.constant(2, "int64") ** ft.max(x, axis=1, keepdims=True)
    f = fz.function([x], [x + powers, powers], mode=mode)
    value = np.arange(11 * rows).reshape(rows, 11) % 7
    sums, powers = f(value)
    np.testing.assert_array_equal(powers, 2 ** value.max(axis=1, keepdims=True))
    np.testing.assert_array_equal(sums, value + powers)
    value[rows - 1] = -3
    with pytest.raises(ValueError, match="negative"):
        f(value)


# ---------------------------------------------------------------- where registers are narrow


def narrow_compiler(monkeypatch):
    """A compiler for the same processor as if its registers held no block."""
    monkeypatch.setattr(Toolchain, "register_bits", 0)
    monkeypatch.setattr(Toolchain, "_processor_flags", ())
    found = find_toolchain()
    return CCompiler(Toolchain(found.command, f"{found.version} narrow"))


FOLDED = LoopKernel(
    reads=(Read("float64", inner=True), Read("float64", inner=False)),
    literals=(Literal("float64", 0.0), Literal("float64", -np.inf)),
    statements=(
        RowFold("maximum", 3, 0, "float64"),
        Statement(sub, (0, 4), "float64"),
        Statement(mul, (5, 1), "float64"),
        RowFold("add", 2, 6, "float64"),
        Statement(mul, (6, 7), "float64"),
    ),
    writes=(
        Write(8, "float64", inner=True, reduce=None),
        Write(7, "float64", inner=False, reduce=None),
        Write(6, "float64", inner=False, reduce="add"),
        Write(6, "float64", inner=True, reduce="add"),
    ),
)
"""Folds of one row, of all rows, and of all columns."""


@pytest.mark.parametrize("rows", [1, 8, 11])
def test_registers_of_any_width_give_the_same_bits(monkeypatch, rows):
    [wide] = CCompiler().compile([FOLDED])
    [narrow] = narrow_compiler(monkeypatch).compile([FOLDED])
    for n in LENGTHS:
        x = np.random.default_rng(n).normal(size=(rows, n))
        scale = np.linspace(1, 2, rows)
        made = []
        for native in (wide, narrow):
            outs = [np.zeros((rows, n)), np.zeros(rows), np.full((), -0.0), np.zeros(n)]
            steps = [8 * n, 8, 8 * n, 8, 0, 0]
            assert call(native, [x, scale, *outs], rows, n, steps) == 0
            made.append(outs)
        for a, b in zip(*made, strict=True):
            assert same(a, b).all()
        if n:
            shifted = (x - x.max(axis=1, keepdims=True)) * scale[:, None]
            np.testing.assert_allclose(made[0][1], shifted.sum(axis=1), rtol=1e-12)
            np.testing.assert_allclose(made[0][3], shifted.sum(axis=0), rtol=1e-12)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_exponentials_where_registers_are_narrow(monkeypatch, dtype):
    kernel = LoopKernel(
        reads=(Read(dtype, inner=True),),
        literals=(),
        statements=(Statement(exp, (0,), dtype),),
        writes=(Write(1, dtype, inner=True, reduce=None),),
    )
    [native] = narrow_compiler(monkeypatch).compile([kernel])
    x = np.linspace(-20, 20, 101).astype(dtype)
    out = np.empty_like(x)
    assert call(native, [x, out], 1, len(x), [0, 0]) == 0
    np.testing.assert_allclose(out, np.exp(x), rtol=4 * np.finfo(dtype).eps)
