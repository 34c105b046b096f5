"""Numba's kernels work on blocks of elements, and have the bits of the other linkers' kernels."""

import numpy as np
import pytest

import frazil as fz
import frazil.tensor as ft
from frazil.link.kernel.loop_kernel import (
    Literal,
    LoopKernel,
    Put,
    Read,
    RowFold,
    Source,
    Statement,
    Take,
    Write,
)
from frazil.link.kernel.runtime_functions import OF_BLOCKS
from frazil.link.numba import vectors
from frazil.link.numba.compiler import kernel_text
from frazil.scalar import ScalarLoop, exp, mul, second
from frazil.scalar.elemwise import Elemwise

LENGTHS = (0, 1, 2, 7, 8, 9, 15, 16, 17, 33)


def bits(mode, inputs, outputs, values):
    """The bytes of what a function gives. The sign of a NaN is not specified."""
    found = [np.array(each) for each in fz.function(inputs, outputs, mode=mode)(*values)]
    for each in found:
        each[each != each] = np.nan if each.dtype.kind == "f" else 0
    return [each.tobytes() for each in found]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("op", sorted(OF_BLOCKS, key=str), ids=str)
def test_functions_have_the_bits_of_cranelift_wherever_elements_stand(op, dtype):
    operands = [ft.vector(f"x{k}", dtype=dtype) for k in range(op.nin)]
    drawn = np.random.default_rng(3).uniform(-2, 2, (op.nin, max(LENGTHS)))
    drawn[:, :5] = [0.0, -0.0, np.inf, -np.inf, np.nan]
    for length in LENGTHS:
        values = [row[:length].astype(dtype) for row in drawn]
        outputs = [Elemwise(op)(*operands)]
        with np.errstate(all="ignore"):
            assert bits("numba", operands, outputs, values) == bits(
                "cranelift", operands, outputs, values
            )


@pytest.mark.parametrize("dtype", ["float32", "float64", "int16", "bool"])
@pytest.mark.parametrize("shape", [(3, 1), (3, 7), (5, 8), (2, 100), (3, 700), (2, 20_000)])
def test_folds_have_the_bits_of_cranelift(shape, dtype):
    """Also where sums are carried to other levels, and where zeros have signs."""
    x = ft.matrix("x", dtype=dtype)
    drawn = np.random.default_rng(4).normal(size=shape)
    drawn[0] = np.where(np.arange(shape[1]) % 3, -0.0, 0.0)
    value = drawn.astype(dtype)
    outputs = [x.sum(), x.sum(axis=1), x.sum(axis=0), x.max(axis=1), x.min(), x.prod(axis=1)]
    outputs += [x - x.max(axis=1, keepdims=True)] if dtype != "bool" else []
    assert bits("numba", [x], outputs, [value]) == bits("cranelift", [x], outputs, [value])


def test_more_folds_than_registers_have_the_same_bits():
    x = ft.vector("x")
    outputs = [(x * k).sum() for k in range(9)] + [ft.exp(x - k).max() for k in range(3)]
    for length in (0, 5, 8, 600, 9001):
        value = np.random.default_rng(5).normal(size=length)
        outputs_here = outputs if length else outputs[:9]
        inputs = [x]
        assert bits("numba", inputs, outputs_here, [value]) == bits(
            "cranelift", inputs, outputs_here, [value]
        )


@pytest.mark.parametrize("dtype", ["float64", "int8", "float16", "bool"])
def test_ends_of_rows_without_masks(dtype, monkeypatch):
    """As on processors that cannot load some lanes of a vector."""
    monkeypatch.setattr(vectors, "has_masks", lambda size: False)
    x, y = ft.vector("x", dtype=dtype), ft.vector("y", dtype=dtype)
    f = fz.function([x, y], [x * y, ft.maximum(x, y).max()], mode="numba")
    for length in (1, 7, 32, 63, 65):
        a, b = (np.arange(length) % 3).astype(dtype), (np.arange(length) % 2).astype(dtype)
        product, most = f(a, b)
        np.testing.assert_array_equal(product, a * b)
        assert most == np.maximum(a, b).max()


@pytest.mark.parametrize("has_masks", [True, False])
def test_lanes_behind_the_end_of_a_row_do_not_fail(has_masks, monkeypatch):
    """What they hold would be negative powers: of sums and of gathered elements."""
    if not has_masks:
        monkeypatch.setattr(vectors, "has_masks", lambda size: False)
    x, places = ft.vector("x", dtype="int64"), ft.vector("places", dtype="int64")
    two = ft.constant(2, "int64")
    f = fz.function([x, places], [two ** ft.cumsum(x), two ** (x[places] - 1)], mode="numba")
    for length in (1, 9, 13, 16, 17):
        value = np.where(np.arange(length) % 8, 1, -1)
        value[0] = 5
        powers = f(value, np.where(value > 0, np.arange(length), 0))
        np.testing.assert_array_equal(powers[0], 2 ** np.cumsum(value))
        np.testing.assert_array_equal(powers[1], 2 ** (np.where(value > 0, value, 5) - 1))
    with pytest.raises(ValueError, match="negative"):
        f(np.full(9, -1), np.zeros(9, dtype="int64"))


def test_an_element_that_has_ended_fails_no_more():
    """Its next step would be a negative power, while other elements go on."""
    n, total = ft.scalar("n", dtype="int64"), ft.scalar("total", dtype="int64")
    loop = ScalarLoop([n, total], [n - 1, total + ft.constant(2, "int64") ** n], until=n <= 0)
    x = ft.vector("x", dtype="int64")
    _, totals, ended = loop(50, x, ft.zeros_like(x))
    f = fz.function([x], [totals, ended], mode="numba")
    value = np.array([0, 5, 1, 40, 3, 3, 7, 0, 2, 11])
    made, ended = f(value)
    np.testing.assert_array_equal(made, 2 ** (value + 1) - 1)
    assert ended.all()
    with pytest.raises(ValueError, match="negative"):
        f(np.array([1, -1, 3]))


@pytest.mark.parametrize("puts", [False, True])
def test_rows_of_whole_blocks_that_indices_choose_have_a_loop_without_ends(puts):
    reads, source = (Read("int64", False), Read("float64", True)), Source("float64", True, 1)
    statements = (Take(0, (0,), "float64"), Statement(mul, (1, 2), "float64"))
    write = Write(3, "float64", False, "add", of_rows=True)
    put = Put(1, (0,), "float64", True, "add")
    taking = LoopKernel(reads, (), statements, (write,), sources=(source,))
    kernel = LoopKernel(reads, (), (), (), puts=(put,)) if puts else taking
    _, own, other, _ = kernel_text(kernel).split("return status")
    assert "mask" not in own
    assert "mask" in other


def test_rows_of_whole_blocks_that_are_put_and_folded():
    """What is folded is prefetched, also where rows have no end."""
    x, index = ft.matrix("x"), ft.lvector("index")
    doubled = x * 2
    outputs = [ft.inc_subtensor(ft.zeros((5, 16))[index], doubled), doubled.sum(axis=0)]
    value, places = np.random.default_rng(9).normal(size=(4, 16)), np.array([1, -1, 1, 3])
    assert bits("numba", [x, index], outputs, [value, places]) == bits(
        "cranelift", [x, index], outputs, [value, places]
    )


def test_an_operand_that_is_the_value_of_a_block():
    """Kept for another pass, it is a vector like what is computed."""
    x, number = ft.matrix("x"), ft.scalar("number")
    exponents = Elemwise(second)(x, number) - x.max(axis=1, keepdims=True)
    outputs, value = [ft.softmax(exponents, axis=1)], np.arange(18.0).reshape(2, 9)
    assert bits("numba", [x, number], outputs, [value, 2.0]) == bits(
        "cranelift", [x, number], outputs, [value, 2.0]
    )


@pytest.mark.parametrize("dtype", ["float64", "float32", "int8", "bool", "float16"])
@pytest.mark.parametrize("length", [1, 9, 64, 65, 600, 5000])
def test_rows_of_a_tile_have_the_bits_of_cranelift(length, dtype):
    """Also those that are longer than a tile has, and those of several reductions."""
    x = ft.matrix("x", dtype=dtype)
    folds = [ft.max(x, axis=1), ft.min(x, axis=1), ft.sum(x, axis=1), ft.prod(x, axis=1)]
    rows = [x < folds[0][:, None], x > folds[1][:, None]]
    if dtype != "bool":
        rows += [x - folds[2][:, None], x * folds[3][:, None], ft.exp(-abs(x - folds[0][:, None]))]
    outputs = [*rows, *folds, rows[-1].sum(axis=0)]
    for count in (1, 8, 11):
        drawn = np.random.default_rng(length + count).normal(size=(count, length)) * 2
        values = [drawn.astype(dtype)]
        assert bits("numba", [x], outputs, values) == bits("cranelift", [x], outputs, values)


def test_what_is_done_once_a_row_is_done_for_all_rows_of_a_tile():
    reads, start = (Read("float64", True),), Literal("float64", -0.0)
    statements = (RowFold("add", 1, 0, "float64"), Statement(exp, (2,), "float64"))
    text = kernel_text(LoopKernel(reads, (start,), statements, (Write(3, "float64", False, None),)))
    assert text.index("for r in range(rows)") < text.index("exp") < text.rindex("for r in")


@pytest.mark.parametrize("count", [100, 400])
def test_loops_are_cut_where_those_of_c_are(count):
    x = ft.vector("x")
    y = x
    for k in range(count // 2):
        y = ft.sin(y) + (k + 2)
    graph = fz.FunctionGraph([x], [y, y.sum()])
    own, of_c = (len(graph.segment(linker)) for linker in ("numba", "c"))
    assert own == of_c
