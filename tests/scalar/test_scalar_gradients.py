"""Gradients of scalar ops: finite differences where smooth, and what was chosen where not."""

from dataclasses import dataclass

import numpy as np
import pytest
from reference import evaluate
from scipy import special

import frazil as fz
from frazil import _core
from frazil.gradient import NotDifferentiableError, grad
from frazil.scalar import (
    TABLE,
    Elementary,
    ScalarOp,
    cast,
    clip,
    maximum,
    minimum,
    polygamma,
    pow,
    sqrt,
)

POINTS = {
    **dict.fromkeys(TABLE, (0.3, 0.7, 1.9)),
    "arccosh": (1.5, 2.5, 7.0),
    "log1mexp": (-0.3, -0.7, -1.9),
    "arctanh": (-0.6, 0.2, 0.8),
    "arcsin": (-0.6, 0.2, 0.8),
    "arccos": (-0.6, 0.2, 0.8),
    "erfinv": (-0.6, 0.2, 0.8),
    "ndtri": (0.1, 0.4, 0.95),
}
SHARES = ("gammaincinv", "gammainccinv", "betainc", "betaincinv", "hyp2f1")
"""What takes a number between 0 and 1 last."""

ORDERED = ("polygamma", "iv", "ive", "kv", "kve", "jv", "yv", "zeta")
"""What has no gradient in its first operand."""

STEPS = {"floordiv", "sign", "floor", "ceil", "trunc", "rint", "zero_grad"}
DIFFERENTIABLE = [
    name
    for name, row in TABLE.items()
    if row.gradient is not None
    and name not in STEPS | {"cast", "where", "second", "disconnected_grad", *ORDERED}
]


def variables(op, dtype="float64"):
    return [fz.Variable(fz.TensorType(dtype, (3,)), f"x{k}") for k in range(op.nin)]


def pull_back(inputs, output, g):
    """The gradients of variables, given that of what was computed from them."""
    return grad(None, inputs, known_grads={output: g}, disconnected_inputs="ignore")


def gradients(op, values, g=1.0):
    """The gradients of an op at some values, as arrays."""
    inputs = variables(op)
    output = _core.elemwise(op, *inputs)
    given = dict(zip(inputs, values, strict=True))
    found = pull_back(inputs, output, _core.constant(np.full(3, g, dtype=output.dtype)))
    return [evaluate(gradient, given) for gradient in found]


@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_finite_differences(name):
    op = Elementary(name)
    values = [np.array(POINTS[name]) + 0.37 * k for k in range(op.nin)]
    if name == "mod":
        values[1] = np.array([0.11, 0.4, 0.7])
    if name in SHARES:
        values[-1] = np.array([0.11, 0.4, 0.7])
    for k, found in enumerate(gradients(op, values, g=1.5)):
        step = 1e-6
        ends = []
        for sign in (1, -1):
            moved = list(values)
            moved[k] = values[k] + sign * step
            ends.append(op.compute("float64", *moved))
        np.testing.assert_allclose(
            found, 1.5 * (ends[0] - ends[1]) / (2 * step), rtol=2e-7, atol=1e-8
        )


@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_gradients_keep_the_dtype(name):
    op = Elementary(name)
    for dtype in ("float32", "float64"):
        inputs = variables(op, dtype)
        output = _core.elemwise(op, *inputs)
        for found in pull_back(inputs, output, output):
            assert found.dtype == dtype


def test_each_gradient_has_its_inputs_dtype():
    x, y = variables(pow)[0], variables(pow, "float32")[0]
    output = _core.elemwise(pow, x, y)
    assert [g.dtype for g in pull_back([x, y], output, output)] == ["float64", "float32"]
    k = variables(pow, "int64")[0]
    output = _core.elemwise(pow, x, k)
    [gx] = pull_back([x], output, output)
    assert gx.dtype == "float64"


@pytest.mark.parametrize("name", sorted(STEPS))
def test_steps_are_flat(name):
    op = Elementary(name)
    for found in gradients(op, [np.array([0.5, 1.5, np.inf])] * op.nin):
        np.testing.assert_array_equal(found, 0)


def test_casts_between_floats_pass_the_gradient_on():
    [found] = gradients(cast("float32"), [np.ones(3)])
    assert found.dtype == np.float64
    np.testing.assert_array_equal(found, 1)


def test_the_first_of_two_equal_operands_wins():
    """As in PyTensor."""
    values = [np.array([1.0, 2.0, 3.0]), np.array([1.0, 3.0, 2.0])]
    for op, wins in ((maximum, [1, 0, 1]), (minimum, [1, 1, 0])):
        first, second = gradients(op, values)
        np.testing.assert_array_equal(first, wins)
        np.testing.assert_array_equal(second, 1 - np.array(wins))


def test_clip_passes_gradients_on_at_its_ends():
    values = [np.array([0.0, 1.0, 2.0]), np.zeros(3), np.full(3, 1.0)]
    np.testing.assert_array_equal(gradients(clip, values), [[1, 1, 0], [0, 0, 0], [0, 0, 1]])


def test_clip_to_ends_in_the_wrong_order_is_the_upper_end():
    values = [np.array([-1.0, 0.5, 2.0]), np.full(3, 1.0), np.zeros(3)]
    np.testing.assert_array_equal(gradients(clip, values), [[0, 0, 0], [0, 0, 0], [1, 1, 1]])


def test_powers_of_zero():
    """No NaN where a factor is zero: 0**0, 0**2 and 0**3."""
    base, exponent = gradients(pow, [np.zeros(3), np.array([0.0, 2.0, 1.0])])
    np.testing.assert_array_equal(base, [0, 0, 1])
    np.testing.assert_array_equal(exponent, 0)


def test_where_takes_nothing_from_the_branch_not_taken():
    where = Elementary("where")
    condition = _core.constant(np.array([True, False, True]))
    x, y = (fz.Variable(fz.TensorType("float64", (3,)), name) for name in "xy")
    output = _core.elemwise(where, condition, x, y)
    gx, gy = pull_back([x, y], output, _core.constant(np.array([np.nan, np.inf, 2.0])))
    given = {x: np.ones(3), y: np.ones(3)}
    np.testing.assert_array_equal(evaluate(gx, given), [np.nan, 0, 2])
    np.testing.assert_array_equal(evaluate(gy, given), [0, np.inf, 0])


def test_the_root_of_zero_is_steep():
    [found] = gradients(sqrt, [np.array([0.0, 1.0, 4.0])])
    np.testing.assert_array_equal(found, [np.inf, 0.5, 0.25])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_each_polygamma_is_the_derivative_of_the_one_before(dtype):
    x = variables(polygamma, dtype)[0]
    y = _core.elemwise(Elementary("gammaln"), x)
    for order in range(5):
        [y] = pull_back([x], y, _core.constant(np.ones(3, dtype)))
        assert y.dtype == dtype
        values = np.array([0.3, 1.9, 25.0], dtype)
        want = special.polygamma(order, values.astype("float64"))
        rtol = 1e-13 if dtype == "float64" else 3e-7
        np.testing.assert_allclose(evaluate(y, {x: values}), want, rtol=rtol)


def test_the_gradient_of_polygamma():
    n = fz.Variable(fz.TensorType("int64", (3,)), "n")
    x = variables(polygamma)[0]
    output = _core.elemwise(polygamma, n, x)
    [found] = pull_back([x], output, _core.constant(np.full(3, 1.5)))
    orders, values = np.array([0, 1, 4]), np.array([0.3, -0.7, 1.9])
    step = 1e-6
    ends = [special.polygamma(orders, values + sign * step) for sign in (1, -1)]
    want = 1.5 * (ends[0] - ends[1]) / (2 * step)
    np.testing.assert_allclose(evaluate(found, {n: orders, x: values}), want, rtol=2e-7)


@pytest.mark.parametrize("name", ORDERED)
def test_gradients_by_orders_are_refused(name):
    op = Elementary(name)
    order, x = variables(op)
    output = _core.elemwise(op, order, x)
    with pytest.raises(NotDifferentiableError, match=f"{name} .*(order|exponent)"):
        grad(None, order, known_grads={output: x})
    # Without the error the part of the order would be missing from the sum.
    both = _core.elemwise(op, x + 1, x)
    with pytest.raises(NotDifferentiableError, match=f"{name} .*(order|exponent)"):
        grad(None, x, known_grads={both: x})
    with pytest.raises(NotDifferentiableError, match=f"{name} .*(order|exponent)"):
        fz.pushforward(both, x, x)


def test_what_has_no_gradient_is_named():
    @dataclass(frozen=True, eq=False)
    class Opaque(ScalarOp):
        nin = 1
        rule = "float"

        def impl(self, x):
            return x

    x = variables(polygamma)[0]
    with pytest.raises(NotDifferentiableError, match="Opaque"):
        pull_back([x], Opaque()(x), x)
