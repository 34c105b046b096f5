"""Scaled and accumulated products: values in all linkers, gradients, and what they refuse."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import evaluate

import frazil as fz
import frazil.tensor as ft
from frazil.tensor.blas import Gemm, Gemv, Ger
from frazil.testing import verify_grad

FACTORS = [0.0, 1.0, -1.0, 0.5]


def operands(op, m, k, n, dtype):
    """Variables and values for an op, of lengths that fit."""
    ranks = {Gemm: (2, 0, 2, 2, 0), Gemv: (1, 0, 2, 1, 0), Ger: (2, 0, 1, 1)}[type(op)]
    shapes = {
        Gemm: ((m, n), (), (m, k), (k, n), ()),
        Gemv: ((m,), (), (m, k), (k,), ()),
        Ger: ((m, n), (), (m,), (n,)),
    }[type(op)]
    rng = np.random.default_rng(m + 10 * k + 100 * n)
    variables = [ft.tensor(dtype=dtype, shape=(None,) * rank) for rank in ranks]
    return variables, [rng.integers(-3, 4, shape).astype(dtype) for shape in shapes]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("op", [Gemm(), Gemv(), Ger()], ids=str)
def test_values(mode, op, dtype):
    variables, _ = operands(op, 1, 1, 1, dtype)
    f = fz.function(variables, op(*variables), mode=mode)

    @given(st.data())
    def check(data):
        lengths = [data.draw(st.integers(0, 4)) for _ in range(3)]
        _, values = operands(op, *lengths, dtype)
        for at, value in enumerate(values):
            if value.ndim == 0:
                values[at] = np.array(data.draw(st.sampled_from(FACTORS)), dtype)
            elif data.draw(st.booleans()):
                values[at] = np.repeat(value, 2, axis=-1)[..., ::-2]
            elif data.draw(st.booleans()):
                values[at] = np.asfortranarray(value)
        expected = evaluate(op(*variables), dict(zip(variables, values, strict=True)))
        found = f(*values)
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)

    check()


@pytest.mark.parametrize("op", [Gemm(), Gemv()], ids=str)
def test_beta_zero_hides_z_and_alpha_zero_hides_nothing(mode, op):
    variables, values = operands(op, 3, 2, 4, "float64")
    f = fz.function(variables, op(*variables), mode=mode)
    z, _, x, y, _ = values
    nothing = np.full_like(z, np.nan)
    np.testing.assert_array_equal(f(nothing, 2.0, x, y, 0.0), 2 * (x @ y))
    np.testing.assert_array_equal(f(nothing, 2.0, x, y, 1.0), nothing)
    x[1, 0] = np.inf
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(np.isnan(f(z, 0.0, x, y, 1.0)), np.isnan(0.0 * (x @ y)))


@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
def test_the_reference_of_zero_times_what_is_not_finite():
    variables, values = operands(Gemm(), 3, 2, 4, "float64")
    values[1], values[2][0, 0] = np.zeros(()), np.nan
    found = evaluate(Gemm()(*variables), dict(zip(variables, values, strict=True)))
    assert np.isnan(found[0]).all()


@pytest.mark.parametrize("op", [Gemm(), Gemv(), Ger()], ids=str)
def test_gradients(op):
    _, values = operands(op, 3, 2, 4, "float64")
    verify_grad(op, [value + 0.25 for value in values])


def test_operands_are_checked():
    m, v, s = ft.matrix(), ft.vector(), ft.scalar()
    with pytest.raises(TypeError, match="2, 0, 2, 2, 0 dimensions, all float32 or all float64"):
        Gemm()(m, s, m, v, s)
    with pytest.raises(TypeError, match="Gemv takes"):
        Gemv()(v, s, ft.matrix(dtype="float32"), v, s)
    with pytest.raises(TypeError, match="Ger takes"):
        Ger()(ft.lmatrix(), ft.lscalar(), ft.lvector(), ft.lvector())
    row = ft.tensor(shape=(1, None))
    with pytest.raises(ValueError, match="nothing broadcasts here"):
        Gemm()(row, s, ft.tensor(shape=(3, 2)), m, s)


def test_shapes_are_checked_when_it_runs(mode):
    z, x = ft.matrix("z"), ft.matrix("x")
    f = fz.function([z, x], Gemm()(z, ft.constant(1.0), x, x, ft.constant(1.0)), mode=mode)
    with pytest.raises(ValueError, match=r"product has shape \(2, 2\), but what it is added to"):
        f(np.ones((1, 2)), np.ones((2, 2)))
    with pytest.raises(ValueError, match="3"):
        f(np.ones((2, 2)), np.ones((2, 3)))


def test_static_lengths_meet():
    z, x = ft.tensor(shape=(None, 3)), ft.tensor(shape=(2, None))
    one = ft.constant(1.0)
    assert Gemm()(z, one, x, ft.matrix(), one).type.shape == (2, 3)
