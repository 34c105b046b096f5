"""The table of scalar ops: complete, and what it says of types and values."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special

import frazil as fz
import frazil.tensor as ft
from frazil import _core
from frazil.scalar import (
    TABLE,
    Elementary,
    cast,
    eq,
    floordiv,
    lt,
    mod,
    polygamma,
    sigmoid,
    tri_gamma,
    where,
)
from frazil.scalar.elementary import define
from frazil.scalar.op import lowering_for

DTYPES = ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
DTYPES += ("float16", "float32", "float64")
WANTED = {
    *("add", "sub", "mul", "truediv", "floordiv", "mod", "neg", "reciprocal", "sqr", "sqrt", "pow"),
    *("exp", "expm1", "exp2", "log", "log1p", "log2", "abs", "sign", "minimum", "maximum", "clip"),
    *("where", "eq", "neq", "lt", "le", "gt", "ge", "and_", "or_", "xor", "invert", "isnan"),
    *("isinf", "sigmoid", "softplus", "tanh", "sin", "cos", "tan", "arctan", "erf", "gammaln"),
    *("psi", "tri_gamma", "polygamma", "cast"),
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


def test_a_cast_to_no_dtype_is_refused_each_time():
    for name in ("complex256", "float128", "complex256", "float128"):
        with pytest.raises(TypeError, match=f'unknown dtype "{name}": expected one of bool'):
            ft.cast(ft.vector("x"), name)


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


def harmonic(n, x, steps):
    """The sum of ``(x + k)**-(n + 1)`` for k below ``steps``, and the sum of their absolutes."""
    terms = (x + np.arange(steps)[:, None]) ** -(n + 1.0)
    return terms.sum(axis=0), np.abs(terms).sum(axis=0)


@pytest.mark.parametrize("order", [0, 1, 2, 3, 7, 30, 120])
def test_polygamma_is_scipys(order, mode):
    x = np.concatenate([np.geomspace(1e-2, 1e2, 150), np.geomspace(1e2, 1e6, 20)])
    with np.errstate(all="ignore"):
        want = special.polygamma(order, x)
    usual = np.isfinite(want) & (np.abs(want) > 1e-290)
    assert usual.sum() > 100
    v = ft.dvector()
    found = fz.function([v], ft.polygamma(order, v), mode=mode)(x)
    # Digamma is zero near 1.46, where the last digits of SciPy's own are rounding.
    np.testing.assert_allclose(found[usual], want[usual], rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("order", [1, 2, 3, 4, 9])
def test_polygamma_below_zero(order, mode):
    """Against the recurrence, in proportion to what it adds up."""
    x = -np.linspace(0.01, 40.3, 300)
    steps = 60
    lost, size = harmonic(order, x, steps)
    factor = (-1.0) ** (order + 1) * special.gamma(order + 1)
    want = factor * lost + special.polygamma(order, x + steps)
    v = ft.dvector()
    found = fz.function([v], ft.polygamma(order, v), mode=mode)(x)
    assert (np.abs(found - want) <= 3e-14 * (order + 1) * np.abs(factor) * size).all()


def test_polygamma_at_the_ends(mode):
    n, x = ft.lvector("n"), ft.dvector("x")
    cases = [
        *((0, 0.0, -np.inf), (1, 0.0, np.inf), (2, 0.0, -np.inf), (1, -3.0, np.inf)),
        *((2, -3.0, -np.inf), (3, -1e300, np.inf), (1, np.inf, 0), (2, np.inf, 0)),
        *((1, np.nan, np.nan), (3, -np.inf, np.nan), (-1, 2.0, np.nan), (2**40, 2.0, np.nan)),
        # Where the factorial or the power alone would overflow: n! / x**(n + 1), and what follows.
        *((1, 1e200, 1e-200), (1, 1e-200, np.inf), (200, 1.0, -np.inf)),
        (171, 2.0, np.exp(special.gammaln(172) - 172 * np.log(2))),
        (170, 1e3, -np.exp(special.gammaln(170) - 170 * np.log(1e3)) * (1.085 + 170 * 171 / 12e6)),
    ]
    orders, points, want = map(np.array, zip(*cases, strict=True))
    found = fz.function([n, x], ft.polygamma(n, x), mode=mode)(orders, points)
    np.testing.assert_allclose(found[:-1], want[:-1], rtol=1e-12)
    np.testing.assert_allclose(found[-1], want[-1], rtol=1e-5)


def test_polygamma_follows_the_dtypes(mode):
    x, n = ft.vector("x", dtype="float32"), ft.vector("n", dtype="int8")
    outputs = [ft.polygamma(2, x), ft.polygamma(n, x), ft.polygamma(n, n), ft.polygamma(n, 1.0)]
    assert [y.dtype for y in outputs] == ["float32", "float32", "float32", "float64"]
    found = fz.function([x, n], outputs, mode=mode)([0.5, 2.0], [1, 3])
    for got, (order, point) in zip(
        found, [(2, [0.5, 2]), ([1, 3], [0.5, 2]), ([1, 3], [1, 3]), ([1, 3], 1.0)], strict=True
    ):
        np.testing.assert_allclose(got, special.polygamma(order, point), rtol=1e-6)
    for order in (1.0, x, np.array([1.0])):
        with pytest.raises(TypeError, match="must be of integers"):
            ft.polygamma(order, x)


def test_polygamma_is_a_scalar_op():
    assert polygamma.compute("float64", np.float64(1), np.float64(1)) == pytest.approx(np.pi**2 / 6)
