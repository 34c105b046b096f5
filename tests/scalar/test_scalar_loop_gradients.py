"""Gradients through loops of elements: as finite differences, and as the implicit function theorem
says, in every linker.
"""

import numpy as np
import pytest
from element_loops import newton
from hypothesis import given, settings
from hypothesis import strategies as st

import frazil as fz
import frazil.tensor as ft
from frazil.scalar import ScalarLoop
from frazil.scalar.elemwise import Elemwise
from frazil.testing import verify_grad

MODES = ("py", "c", "cranelift", "numba", "debug")
NATIVE = ("c", "cranelift", "numba")
FEW = settings(max_examples=10)  # as all of them compile


@st.composite
def smooth_loops(draw):
    """A loop of floats whose results depend smoothly on what it is given."""
    states = [ft.scalar() for _ in range(draw(st.integers(1, 3)))]
    constants = [ft.scalar() for _ in range(draw(st.integers(0, 2)))]
    made = [*states, *constants]
    for _ in range(draw(st.integers(1, 5))):
        x, y = draw(st.sampled_from(made)), draw(st.sampled_from(made))
        choice = draw(st.integers(0, 4))
        made.append([ft.sin(x), ft.tanh(x), x * y * 0.5, x - y, ft.exp(-x * x)][choice])
    updates = [draw(st.sampled_from(made)) for _ in states]
    count = ft.scalar(dtype="int64")
    until = count >= draw(st.integers(1, 5)) if draw(st.booleans()) else None
    return ScalarLoop([*states, count], [*updates, count + 1], constants, until)


def float_results(op, n_steps, *operands):
    states = op(n_steps, *operands[: op.n_states - 1], 0, *operands[op.n_states - 1 :])
    return states[: op.n_states - 1]


@FEW
@given(smooth_loops(), st.integers(0, 4))
def test_gradients_agree_with_finite_differences(op, n_steps):
    rng = np.random.default_rng(7)
    shapes = [(3,), (2, 3), (), (1,), (3,)]
    values = [rng.uniform(-1, 1, shape) for shape in shapes[: op.nin - 2]]
    for mode in NATIVE:
        verify_grad(
            lambda *operands: sum(ft.sum(y) for y in float_results(op, n_steps, *operands)),
            values,
            mode=mode,
        )


@FEW
@given(smooth_loops(), st.integers(0, 3))
def test_second_derivatives_agree_with_finite_differences(op, n_steps):
    rng = np.random.default_rng(8)
    values = [rng.uniform(-1, 1, (2,)) for _ in range(op.nin - 2)]

    def slope(*operands):
        cost = sum(ft.sum(y) for y in float_results(op, n_steps, *operands))
        slopes = fz.grad(cost, list(operands), disconnected_inputs="ignore")
        return sum(ft.sum(g * (k + 1)) for k, g in enumerate(slopes))

    verify_grad(slope, values, mode="c")


@pytest.mark.parametrize("mode", MODES)
def test_the_gradient_of_a_root_is_that_of_the_implicit_function(mode):
    m, e = ft.vector("m"), ft.vector("e")
    anomaly, done = newton()(50, m, m, e)
    by_loop = fz.grad(ft.sum(anomaly), [m, e])
    curvature = 1 - e * ft.cos(anomaly)
    implicit = [1 / curvature, ft.sin(anomaly) / curvature]
    f = fz.function([m, e], [done, *by_loop, *implicit], mode=mode)
    ended, *found = f(np.linspace(0.1, 3, 9), np.linspace(0, 0.8, 9))
    assert ended.all()
    np.testing.assert_allclose(found[:2], found[2:], rtol=1e-10)


@FEW
@given(smooth_loops(), st.integers(0, 3))
def test_products_with_jacobians_agree(op, n_steps):
    x = ft.vector()
    v, w = np.array([0.3, -0.7]), np.array([1.1, 0.4])

    def results_of(x):
        return float_results(op, n_steps, *[x * (k + 1) for k in range(op.nin - 2)])

    for y in results_of(x):
        forwards = ft.sum(fz.Rop(y, x, v, disconnected_outputs="ignore") * w)
        backwards = ft.sum(fz.Lop(y, x, w, disconnected_inputs="ignore") * v)
        f = fz.function([x], [forwards, backwards], mode="c", on_unused_input="ignore")
        np.testing.assert_allclose(*f([0.2, -0.5]), rtol=1e-10, atol=1e-14)


def test_states_and_steps_that_are_not_floats_have_no_gradient():
    x, k = ft.scalar(), ft.scalar(dtype="int64")
    op = ScalarLoop([x, k], [x * k, k + 1], until=x > 1e6)
    start = ft.vector("start")
    last, count, done = op(3, start, 2)
    assert fz.grad(ft.sum(last), start).eval({start: [1.0, 3.0]}).tolist() == [24, 24]
    with pytest.raises(fz.DisconnectedInputError):
        fz.grad(ft.sum(ft.cast(count, "float64")), start)
    n = ft.vector("n")
    with pytest.raises(fz.DisconnectedInputError):
        fz.grad(ft.sum(op(ft.cast(n, "int64"), start, 2)[0]), n)
    del done


def test_the_loop_of_a_gradient_carries_what_is_not_zero_only():
    x, y, c = ft.scalar(), ft.scalar(), ft.scalar()
    op = ScalarLoop([x, y], [x * c, y + 1.0], [c])
    start = ft.vector("start")
    last, other = op(3, start, start, 2.0)
    slope = fz.grad(ft.sum(last), start)
    loops = [
        node.op.scalar_op
        for node in fz.FrozenFunctionGraph([start], [slope]).toposort()
        if isinstance(node.op, Elemwise) and isinstance(node.op.scalar_op, ScalarLoop)
    ]
    assert [loop.n_states for loop in loops] == [3]  # x, y and dx/dstart
    assert slope.eval({start: [1.0]}) == [8.0]
    del other


def test_gradients_in_another_container():
    op = newton()
    with fz.Container():
        m = ft.vector("m")
    anomaly, _ = op(30, m, m, 0.5)
    slope = fz.grad(ft.sum(anomaly), m)
    assert slope.container is m.container
    f = fz.function([m], [anomaly, slope])
    found, by_loop = f(np.array([0.5, 1.5]))
    np.testing.assert_allclose(by_loop, 1 / (1 - 0.5 * np.cos(found)))
