"""Cumulative sums and products in loops."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_fusion import steps

import frazil as fz
import frazil.tensor as ft
from frazil import scalar
from frazil.link.lowering.scalarize import Emitter

MODES = ["c", "cranelift", "numba"]


@pytest.mark.parametrize("mode", MODES)
def test_what_is_summed_and_what_uses_it_share_the_loop(mode):
    x = ft.matrix("x")
    walk = ft.cumsum(ft.exp(x), axis=1)
    f = fz.function(
        [x], [walk * 2, walk.sum(), (walk - ft.max(x, axis=1, keepdims=True))], mode=mode
    )
    assert steps(f) == ["loop"]
    value = np.random.default_rng(0).normal(size=(7, 103))
    want = np.cumsum(np.exp(value), axis=1)
    for got, expected in zip(
        f(value), [want * 2, want.sum(), want - value.max(axis=1, keepdims=True)], strict=True
    ):
        np.testing.assert_allclose(got, expected, rtol=1e-12)


SHAPES = [(5,), (1,), (0,), (3, 4), (2, 1), (9, 40), (2, 3, 4), (3, 1, 5), (4, 0, 2)]


def agree(shape, seed, dtype, order, mode):
    x = ft.tensor("x", dtype=dtype, shape=tuple(1 if n == 1 and seed % 2 else None for n in shape))
    outputs = [
        cumulative(x, axis=axis, dtype=dtype)
        for axis in range(len(shape))
        for cumulative in (ft.cumsum, ft.cumprod)
    ]
    f = fz.function([x], outputs, mode=mode)
    assert "call" not in steps(f)
    rng = np.random.default_rng(seed)
    value = np.asarray(rng.integers(-3, 4, shape).astype(dtype), order=order)
    wanted = fz.function([x], outputs, mode="py")(value)
    for got, want in zip(f(value), wanted, strict=True):
        np.testing.assert_array_equal(got, want)


CASES = (
    st.sampled_from(SHAPES),
    st.integers(0, 2**16),
    st.sampled_from(["float64", "float32", "int64", "int8", "uint16"]),
    st.sampled_from("CF"),
)


@settings(max_examples=40)
@given(*CASES)
def test_along_every_axis(shape, seed, dtype, order):
    agree(shape, seed, dtype, order, "c")


@settings(max_examples=40)
@given(*CASES)
def test_along_every_axis_by_cranelift(shape, seed, dtype, order):
    agree(shape, seed, dtype, order, "cranelift")


@settings(max_examples=4)
@given(*CASES)
def test_along_every_axis_by_numba(shape, seed, dtype, order):
    agree(shape, seed, dtype, order, "numba")


@pytest.mark.parametrize("mode", MODES)
def test_gradients(mode):
    x = ft.matrix("x")
    cost = (ft.cumsum(x, axis=0) * ft.cumprod(x, axis=1)).sum()
    value = np.random.default_rng(0).normal(size=(4, 5))
    got, want = (fz.function([x], fz.grad(cost, x), mode=m)(value) for m in (mode, "py"))
    np.testing.assert_allclose(got, want, rtol=1e-12)


def test_a_compiler_is_asked_once_for_an_op_and_its_dtypes():
    asked = []
    emit = Emitter(lambda *question: asked.append(question) or True, 10)
    a, b, n = (emit.new_value(dtype) for dtype in ("float64", "float64", "int64"))
    made = [emit.apply(scalar.mul, args, "float64") for args in ((a, b), (b, a), (a, b), (a, n))]
    assert made[0] == made[2]
    assert len(set(made)) == 3
    assert [dtypes for _, dtypes, _ in asked] == [("float64",) * 2, ("float64", "int64")]
