"""The table of scalar ops: complete, and what it says of types and values."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import frazil as fz
from frazil import _core
from frazil.scalar import TABLE, Elementary, cast, eq, floordiv, lt, mod, sigmoid, tri_gamma, where
from frazil.scalar.elementary import define
from frazil.scalar.op import lowering_for

DTYPES = ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
DTYPES += ("float32", "float64")
WANTED = {
    *("add", "sub", "mul", "truediv", "floordiv", "mod", "neg", "reciprocal", "sqr", "sqrt", "pow"),
    *("exp", "expm1", "exp2", "log", "log1p", "log2", "abs", "sign", "minimum", "maximum", "clip"),
    *("where", "eq", "neq", "lt", "le", "gt", "ge", "and_", "or_", "xor", "invert", "isnan"),
    *("isinf", "sigmoid", "softplus", "tanh", "sin", "cos", "tan", "arctan", "erf", "gammaln"),
    *("psi", "tri_gamma", "cast"),
}


def test_the_table_is_complete():
    assert set(TABLE) >= WANTED
    assert all(name == row.name for name, row in TABLE.items())


def test_ops_are_one_object_by_name():
    for name in TABLE.keys() - {"cast"}:
        assert Elementary(name) is Elementary(name)
    assert cast("float32") is Elementary("cast", "float32")
    assert cast("float32") is not cast("float64")
    assert str(cast("float32")) == "cast{float32}"


@pytest.mark.parametrize("arguments", [("no_such_op",), ("cast",), ("add", "float32")])
def test_what_is_no_op_is_refused(arguments):
    with pytest.raises(ValueError, match=r"no scalar op named|takes a dtype"):
        Elementary(*arguments)


def test_a_name_is_taken_once():
    with pytest.raises(ValueError, match="'add' exists already"):
        define("add", "float", np.add, nin=2, c="", numba="", gradient=None)


@pytest.mark.parametrize("name", sorted(TABLE.keys() - {"cast"}))
def test_the_reference_computes_what_the_rule_says(name):
    """For every dtype that an op takes its result has the dtype that the core infers."""
    op = Elementary(name)
    taken = 0
    for dtype in DTYPES:
        operands = [dtype] * op.nin
        if op is where:
            operands[0] = "bool"
        types = [fz.TensorType(operand, (2,)) for operand in operands]
        try:
            result = _core.elemwise_type(op, *types)
        except TypeError:
            continue
        taken += 1
        values = [np.ones(2, dtype=operand) for operand in operands]
        got = op.compute(result.dtype, *values)
        assert got.dtype == result.dtype
        assert got.shape == (2,)
        computed = op.operand_dtypes(operands, result.dtype)[-1]
        assert all(lowering_for(language, computed) for language in (op.c, op.numba))
    assert taken


@given(st.integers(-(2**63), 2**63 - 1), st.integers(0, 2**64 - 1))
def test_signed_and_unsigned_compare_exactly(a, b):
    x, y = np.int64(a), np.uint64(b)
    assert lt.compute("bool", x, y) == (a < b)
    assert eq.compute("bool", y, x) == (a == b)


@given(st.integers(-128, 127), st.integers(-128, 127))
def test_integer_division_is_pythons(a, b):
    quotient, rest = (int(op.compute("int8", np.int8(a), np.int8(b))) for op in (floordiv, mod))
    if b == 0:
        assert (quotient, rest) == (0, 0)
    else:
        assert (quotient, rest) == ((a // b + 128) % 256 - 128, a % b)


def test_impl():
    assert sigmoid.impl(0.0) == 0.5
    assert cast("int8").impl(3.7) == 3
    assert isinstance(cast("int8").impl(3.7), np.int8)


def test_tri_gamma_far_below_zero():
    x = np.array([-1e300, -1e9 - 0.5, -0.5, 0.0, -3.0, np.nan, np.inf])
    want = [np.inf, np.pi**2 - 1e-9, 8.934802200544679, np.inf, np.inf, np.nan, 0]
    np.testing.assert_allclose(tri_gamma.compute("float64", x), want, rtol=1e-12)
