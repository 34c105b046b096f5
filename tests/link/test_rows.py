"""Rows walked several times by one kernel: what shares the loop, and what comes out."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from native import call
from test_fusion import steps

import frazil as fz
import frazil.tensor as ft
from frazil.link.c import CCompiler
from frazil.link.cranelift import CraneliftCompiler
from frazil.link.kernel.loop_kernel import Literal, LoopKernel, Read, RowFold, Statement, Write
from frazil.link.kernel.passes import plan
from frazil.link.numba import NumbaCompiler
from frazil.scalar import add, exp, mul, sub, truediv


def softmax(x):
    e = ft.exp(x - ft.max(x, axis=-1, keepdims=True))
    return e / ft.sum(e, axis=-1, keepdims=True)


def layer_norm(x, scale, bias):
    off = x - ft.mean(x, axis=-1, keepdims=True)
    return off / ft.sqrt(ft.mean(off * off, axis=-1, keepdims=True) + 1e-5) * scale + bias


def test_softmax_is_one_loop():
    x = ft.matrix("x")
    assert steps(fz.function([x], softmax(x), mode="c")) == ["loop"]


def test_layer_norm_and_its_gradient_are_one_loop():
    x, y = ft.matrix("x"), ft.matrix("y")
    scale, bias = ft.vector("scale"), ft.vector("bias")
    cost = (layer_norm(x, scale, bias) * y).sum()
    f = fz.function([x, y, scale, bias], [cost, *fz.grad(cost, [x, scale, bias])], mode="c")
    assert steps(f).count("loop") == 1


def test_a_sum_over_rows_of_what_rows_gave_is_a_loop_of_its_own():
    x = ft.matrix("x")
    shift = ft.max(x, axis=-1, keepdims=True)
    total = ft.log(ft.sum(ft.exp(x - shift), axis=-1, keepdims=True)) + shift
    f = fz.function([x], [x - total, total.sum()], mode="c")
    assert steps(f).count("loop") == 2


@pytest.mark.parametrize("mode", ["c", "cranelift", "numba"])
@pytest.mark.parametrize("shape", [(5, 100), (4, 3), (7, 1), (2, 3000), (0, 3), (1, 8)])
def test_values(mode, shape):
    x, y = ft.matrix("x"), ft.matrix("y")
    scale, bias = ft.vector("scale"), ft.vector("bias")
    cost = (layer_norm(x, scale, bias) * y).sum()
    outputs = [softmax(x), softmax(x.T), cost, *fz.grad(cost, [x, scale, bias])]
    if 0 in shape:
        outputs = outputs[2:]  # the largest of no elements is an error
    rng = np.random.default_rng(0)
    values = [rng.normal(size=s) for s in (shape, shape, shape[1], shape[1])]
    inputs = [x, y, scale, bias]
    native, plain = (fz.function(inputs, outputs, mode=m) for m in (mode, "py"))
    for order in "CF":
        values[0] = np.asarray(values[0], order=order)
        for a, b in zip(native(*values), plain(*values), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)


def widened(x, axes):
    return x if axes is None else ft.expand_dims(x, axes)


WIDENED = st.tuples(
    st.sampled_from([ft.exp, ft.sqrt, lambda x: x - ft.max(x)]),
    st.sampled_from([None, 0, 2, (0, 3)]),
    st.booleans(),
)


@pytest.mark.parametrize("mode", ["c", "cranelift", "numba"])
@settings(max_examples=15)
@given(parts=st.lists(WIDENED, min_size=2, max_size=4))
def test_rows_beside_others_that_have_dimensions_of_length_one(mode, parts):
    x = ft.matrix("x")
    largest = ft.max(x, axis=1, keepdims=True)
    outputs = [
        widened(function(x), axes) - (widened(largest, axes) if of_rows else 1.0)
        for function, axes, of_rows in parts
    ]
    native, plain = (fz.function([x], outputs, mode=m) for m in (mode, "py"))
    value = np.linspace(0.0, 1.0, 6).reshape(2, 3)
    for a, b in zip(native(value), plain(value), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)


@pytest.mark.parametrize("mode", ["c", "cranelift", "numba"])
def test_rows_without_elements(mode):
    x = ft.matrix("x")
    total = ft.sum(x, axis=-1, keepdims=True)
    f = fz.function([x], [x - total, ft.exp(total)], mode=mode)
    difference, of_total = f(np.zeros((3, 0)))
    assert difference.shape == (3, 0)
    np.testing.assert_array_equal(of_total, np.ones((3, 1)))


def grown(x, choices):
    """Values made of ``x`` and of each other: of its shape, and one a row."""
    full, row = [x, x * 0.5], [ft.sum(x, axis=-1, keepdims=True)]
    for kind, a, b in choices:
        left, right = full[a % len(full)], full[b % len(full)]
        at = row[b % len(row)]
        match kind:
            case 0:
                full.append(left * right)
            case 1:
                full.append(ft.tanh(left - at))
            case 2:
                row.append(ft.max(left - right, axis=-1, keepdims=True))
            case 3:
                row.append(ft.sum(left * at, axis=-1, keepdims=True))
            case 4:
                row.append(ft.cos(row[a % len(row)]) + at)
            case 5:
                full.append(left + at)
            case _:
                full.append(left - ft.sum(right, axis=0))
    return [full[-1], row[-1], full[len(full) // 2], row[-1].sum()]


CHOICES = st.lists(
    st.tuples(st.integers(0, 6), st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=12
)


def check(mode, choices, shape):
    x = ft.matrix("x")
    outputs = grown(x, choices)
    value = np.random.default_rng(1).normal(size=shape) / shape[1]
    native, plain = (fz.function([x], outputs, mode=m)(value) for m in (mode, "py"))
    for a, b in zip(native, plain, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-7, atol=1e-9)


@settings(max_examples=40)
@given(CHOICES, st.tuples(st.integers(1, 5), st.integers(1, 40)))
def test_rows_of_anything(choices, shape):
    check("c", choices, shape)


@settings(max_examples=40)
@given(CHOICES, st.tuples(st.integers(1, 5), st.integers(1, 40)))
def test_rows_of_anything_by_cranelift(choices, shape):
    check("cranelift", choices, shape)


@settings(max_examples=4)
@given(CHOICES, st.tuples(st.integers(1, 3), st.integers(1, 20)))
def test_rows_of_anything_by_numba(choices, shape):
    check("numba", choices, shape)


STANDARD = LoopKernel(
    reads=(Read("float64", inner=True), Read("float64", inner=False)),
    literals=(Literal("float64", 0.0),),
    statements=(
        RowFold("add", 2, 0, "float64"),
        Statement(mul, (3, 1), "float64"),
        Statement(sub, (0, 4), "float64"),
        Statement(mul, (5, 5), "float64"),
        RowFold("add", 2, 6, "float64"),
        Statement(truediv, (5, 7), "float64"),
        Statement(add, (8, 8), "float64"),
    ),
    writes=(
        Write(9, "float64", inner=True, reduce=None),
        Write(7, "float64", inner=False, reduce=None),
    ),
)
"""``2 (x - m) / sum((x - m)**2)``, and that sum, with ``m = c sum(x)``."""


def test_every_compiler_gives_the_same_bits():
    compilers = CCompiler(), CraneliftCompiler(), NumbaCompiler()
    natives = [compiler.compile([STANDARD])[0] for compiler in compilers]
    for n in (0, 1, 5, 8, 9, 31, 100, 700, 5000):
        x = np.random.default_rng(n).normal(size=(3, n))
        c = np.full(3, 1 / max(n, 1))
        made = []
        for native in natives:
            outs = [np.zeros((3, n)), np.zeros(3)]
            steps = [8 * n, 8, 8 * n, 8]
            assert call(native, [x, c, *outs], 3, n, steps) == 0
            made.append(outs)
        for own, *others in zip(*made, strict=True):
            for other in others:
                np.testing.assert_array_equal(other, own)
        off = x - x.sum(axis=1, keepdims=True) * c[:, None]
        np.testing.assert_allclose(made[0][1], (off * off).sum(axis=1), rtol=1e-12)


def test_functions_are_kept_and_the_rest_is_computed_again():
    assert plan(STANDARD).buffers == ()
    read, literal = Read("float64", inner=True), Literal("float64", 0.0)
    statements = (
        Statement(exp, (0,), "float64"),
        RowFold("add", 1, 2, "float64"),
        Statement(mul, (2, 3), "float64"),
    )
    write = Write(4, "float64", inner=True, reduce=None)
    passes = plan(LoopKernel((read,), (literal,), statements, (write,)))
    assert passes.buffers == (2,)
    assert [one.varying for one in passes.passes] == [(2,), (4,)]
