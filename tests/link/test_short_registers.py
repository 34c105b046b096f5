"""Functions that C's kernels compute by the runtime's steps where registers are those of AVX2."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import frazil as fz
import frazil.tensor as ft
from frazil._core import elemwise, vector_bits
from frazil.link.c import CCompiler
from frazil.link.c.short_registers import short_form
from frazil.link.kernel.runtime_functions import OF_BLOCKS
from frazil.link.linkers.tiered import replaceable

pytestmark = [
    pytest.mark.skipif(CCompiler.find() is None, reason="there is no C"),
    pytest.mark.skipif(vector_bits() < 256, reason="C calls the C library"),
]

WIDTHS = {"float64": 64, "float32": 32}


def functions(dtype):
    """The ops of one operand that C computes so; with AVX-512 others as well."""
    found = [op for op in OF_BLOCKS if short_form(op, dtype) is not None]
    assert len(found) > 6
    return sorted(found, key=str)


def outputs(dtype, x, m):
    """The functions along a row, of one element, in sums, between other steps, and formulas."""
    made = [elemwise(op, x) for op in functions(dtype)]
    made += [elemwise(op, x[0]) for op in functions(dtype)]
    made += [ft.sigmoid(x), ft.sigmoid(x).sum(), ft.exp(m).sum(1), ft.expm1(m).max(0)]
    made += [ft.exp(m - m.max(1, keepdims=True)).sum(1), ft.tanh(ft.exp(m) * 0.25) + m]
    made += [ft.expm1(m[:, ::-1]), ft.exp(-x) * ft.exp(x[0]), ft.where(x > 0, ft.exp(x), x)]
    # Blocks of as many elements as those of the wider operand.
    return [*made, ft.exp(x) * ft.cast(ft.expm1(x.astype("float32")), "float64")]


def both(dtype):
    if dtype not in _compiled:
        x, m = ft.vector("x", dtype=dtype), ft.matrix("m", dtype=dtype)
        made = outputs(dtype, x, m)
        _compiled[dtype] = [fz.function([x, m], made, mode=mode) for mode in ("c", "cranelift")]
    return _compiled[dtype]


_compiled = {}


def bits(arrays):
    """Their bits, of all NaNs the same."""
    return [np.where(made != made, np.nan, made).astype(made.dtype).tobytes() for made in arrays]


def assert_same(dtype, x, m):
    with np.errstate(all="ignore"):
        c, quick = (bits(call(x, m)) for call in both(dtype))
    assert [at for at, (a, b) in enumerate(zip(c, quick, strict=True)) if a != b] == []


@pytest.mark.parametrize("dtype", WIDTHS)
def test_they_have_the_same_bits_at_every_exponent(dtype):
    integer = np.dtype(dtype.replace("float", "uint"))
    rng = np.random.default_rng(4)
    x = rng.integers(0, np.iinfo(integer).max, 30_001, integer, endpoint=True).view(dtype)
    assert_same(dtype, x, x[:30_000].reshape(100, 300))


@pytest.mark.parametrize("dtype", WIDTHS)
def test_they_have_the_same_bits_of_common_numbers(dtype):
    """Of all of a block, so that no block goes the way of the rare ones."""
    rng = np.random.default_rng(5)
    x = np.concatenate([rng.normal(size=20_000) * size for size in (1e-9, 0.3, 3, 20)])
    assert_same(dtype, x.astype(dtype), rng.normal(size=(70, 70)).astype(dtype))


@pytest.mark.parametrize("dtype", WIDTHS)
def test_they_have_the_same_bits_at_edges_and_ties(dtype):
    """Zeros, infinities, where results overflow or become subnormal, and halves of sixteenths."""
    info = np.finfo(dtype)
    edges = [0.0, 1.0, 1.5, np.inf, np.nan, info.tiny, info.smallest_subnormal, info.max]
    for edge in (708.0, 709.782712893384, 745.1332191019412, 87.0, 88.72284, 103.97208, 50.0):
        near = np.array(edge, dtype)
        edges += [near, np.nextafter(near, np.inf), np.nextafter(near, -np.inf)]
    ties = (np.arange(400) + 0.5) / 16 * np.log(2)
    values = np.concatenate([edges, ties, np.arange(60) / 4]).astype(dtype)
    values = np.concatenate([values, -values])
    # Each edge alone among common numbers, and all of them together.
    blocks = np.full((len(values), 16), 0.75, dtype)
    blocks[np.arange(len(values)), np.arange(len(values)) % 16] = values
    assert_same(dtype, np.concatenate([values, blocks.ravel()]), blocks)


@pytest.mark.parametrize("dtype", WIDTHS)
def test_they_have_the_same_bits_at_every_length(dtype):
    rng = np.random.default_rng(6)
    for length in range(1, 71):
        x = (rng.normal(size=length) * 4).astype(dtype)
        x[rng.random(length) < 0.05] = np.nan
        x[rng.random(length) < 0.05] = -np.inf
        assert_same(dtype, x, (rng.normal(size=(3, length)) * 4).astype(dtype))


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_they_have_the_same_bits_of_any_floats(data):
    dtype = data.draw(st.sampled_from([*WIDTHS]))
    width = WIDTHS[dtype]
    some = st.one_of(st.floats(-30, 30, width=width), st.floats(width=width))
    x = data.draw(hnp.arrays(dtype, st.integers(1, 40), elements=some))
    assert_same(dtype, x, np.stack([x, -x, x[::-1]]))


@pytest.mark.parametrize("dtype", WIDTHS)
def test_kernels_with_them_alone_wait_for_c(dtype):
    x = ft.vector("x", dtype=dtype)
    for op in functions(dtype):
        f = fz.function([x], elemwise(op, x) + x, mode="tiered")
        assert len(replaceable(f.program)) == len(f.program.kernels) == 1, op
