"""Scalar ops on whole arrays without a compiler: each way gives what the ufunc gives."""

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import frazil as fz
import frazil.tensor as ft
from frazil.scalar import ScalarOp, add, eq, exp, sqrt
from frazil.scalar.elemwise import Elemwise
from frazil.scalar.evaluation import FROMPYFUNC_LIMIT, evaluate

MODES = ("py", "c", "cranelift", "numba")


@dataclass(frozen=True, eq=False)
class Cube(ScalarOp):
    """No ufunc: runs through ``impl``."""

    nin = 1
    rule = "arithmetic"

    def impl(self, x):
        return x * x * x


@dataclass(frozen=True, eq=False)
class Halves(ScalarOp):
    """Two results of different dtypes."""

    nin = 1
    nout = 2
    rule = "arithmetic"

    def impl(self, x):
        return x / 2, x > 0


@dataclass(frozen=True, eq=False)
class Total(ScalarOp):
    """As many operands as one likes."""

    nin: int
    rule = "arithmetic"

    def impl(self, *operands):
        return sum(operands)


@dataclass(frozen=True, eq=False)
class Unfinished(ScalarOp):
    nin = 1
    rule = "arithmetic"


@dataclass(frozen=True, eq=False)
class Untyped(ScalarOp):
    nin = 1

    def impl(self, x):
        return x


shapes = hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4)
integers = st.integers(-128, 127)
singles = st.floats(-9, 9, width=32)


def test_an_op_that_computes_nothing_cannot_be_made():
    with pytest.raises(TypeError, match="Unfinished is abstract: it must define impl"):
        Unfinished()
    with pytest.raises(TypeError, match="Untyped must define rule"):
        Untyped()


@given(shapes.flatmap(lambda shape: hnp.arrays("int8", shape, elements=integers)))
def test_impl_wraps_around_as_native_integers_do(x):
    (cubes,) = evaluate(Cube(), ["int8"], [x])
    assert cubes.dtype == "int8"
    np.testing.assert_array_equal(cubes, x * x * x)


@given(shapes.flatmap(lambda shape: hnp.arrays("float64", shape, elements=st.floats(-9, 9))))
def test_every_way_agrees(x):
    for count in (2, FROMPYFUNC_LIMIT - 1, FROMPYFUNC_LIMIT, 40):
        (total,) = evaluate(Total(count), ["float64"], [x] * count)
        assert total.shape == x.shape
        assert total.dtype == "float64"
        np.testing.assert_array_equal(total, sum([x] * count))


@given(
    shapes.flatmap(lambda shape: hnp.arrays("float32", shape, elements=st.floats(-9, 9, width=32)))
)
def test_several_results(x):
    for copies in (1, 40):
        op = Halves() if copies == 1 else ManyHalves()
        half, positive = evaluate(op, ["float32", "bool"], [x] * copies)
        np.testing.assert_array_equal(half, x / 2)
        np.testing.assert_array_equal(positive, x > 0)
        assert (half.dtype, positive.dtype) == (np.float32, np.bool_)


@dataclass(frozen=True, eq=False)
class ManyHalves(ScalarOp):
    nin = 40
    nout = 2
    rule = "arithmetic"

    def impl(self, *operands):
        return operands[0] / 2, operands[-1] > 0


def test_operands_broadcast_in_every_way():
    row, column = np.arange(3.0).reshape(1, 3), np.arange(2.0).reshape(2, 1)
    for count in (2, 40):
        operands = [row, column] * (count // 2)
        (total,) = evaluate(Total(count), ["float64"], operands)
        np.testing.assert_array_equal(total, (row + column) * (count // 2))


def test_a_ufunc_computes_in_the_results_dtype_without_copies():
    x = np.arange(4, dtype="int32")
    (root,) = evaluate(sqrt, ["float64"], [x])
    np.testing.assert_array_equal(root, np.sqrt(x.astype("float64")))
    (same,) = evaluate(eq, ["bool"], [x, x.astype("float64")])
    assert same.all()


def test_a_ufunc_writes_where_it_is_told():
    x = np.zeros(3)
    (y,) = evaluate(exp, ["float64"], [x], out=x)
    assert y is x
    assert (x == 1).all()
    (z,) = Elemwise(add).perform((ft.vector() + ft.vector()).owner, (x, x), out=x)
    assert z is x
    assert (x == 2).all()


def test_an_op_has_no_state():
    op = Cube()
    before = dict(vars(op))
    evaluate(op, ["float64"], [np.ones(3)])
    evaluate(op, ["float64"], [np.ones(())])
    assert vars(op) == before


@pytest.mark.parametrize("mode", MODES)
def test_an_op_without_native_code_runs_in_every_mode(mode):
    x = ft.vector("x")
    y = ft.exp(Cube()(x) / 10) + 1
    f = fz.function([x], y, mode=mode)
    value = np.array([-1.0, 0.0, 2.0])
    np.testing.assert_allclose(f(value), np.exp(value**3 / 10) + 1)
    assert Cube()(x).dtype == "float64"


@dataclass(frozen=True, eq=False)
class NativeCube(ScalarOp):
    """Joins native loops, and has a gradient."""

    nin = 1
    rule = "arithmetic"
    c = "{0} * {0} * {0}"
    numba = "{0} * {0} * {0}"

    def impl(self, x):
        return x * x * x

    @property
    def gradient(self):
        return lambda inputs, output, g: [g * 3 * inputs[0] ** 2]


@pytest.mark.parametrize("mode", MODES)
def test_an_op_with_native_code_joins_loops(mode):
    x = ft.vector("x")
    y = NativeCube()(x + 1).sum()
    f = fz.function([x], [y, fz.grad(y, x)], mode=mode)
    value = np.array([-1.0, 0.5, 2.0])
    total, slope = f(value)
    np.testing.assert_allclose(total, ((value + 1) ** 3).sum())
    np.testing.assert_allclose(slope, 3 * (value + 1) ** 2)
    # The code generator of the extension reads no texts of users.
    if mode not in ("py", "cranelift"):
        assert "call" not in str(f.explain())
