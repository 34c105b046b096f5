"""Lengths that steps of scans need are asked of what the steps are given."""

import numpy as np
import pytest
from agreement import MODES
from hypothesis import given, settings
from hypothesis import strategies as st

import frazil as fz
import frazil.tensor as ft
from frazil.link.lowering.step_lengths import with_step_lengths
from frazil.scan.op import Scan
from frazil.tensor.basic_indexing import Subtensor
from frazil.tensor.lengths import Shape_i


def gated(xs, start, weights):
    """States that are parts of a product with the row and the state before, side by side."""

    def step(x, state, weights):
        both = ft.tanh(ft.dot(weights, ft.concatenate([x, state])))
        return both[: state.shape[0]] * state + both[x.shape[0] :][: state.shape[0]]

    return fz.scan(step, sequences=[xs], outputs_info=[start], non_sequences=[weights])[0]


def steps_of(function):
    """The graphs of the steps that a function does."""
    order = function.compiled.graph.toposort()
    return [node.op.fgraph for node in order if isinstance(node.op, Scan)]


def build():
    xs, start, weights = ft.matrix("xs"), ft.vector("start"), ft.matrix("weights")
    total = (gated(xs, start, weights) ** 2).sum()
    return [xs, start, weights], [total, *fz.grad(total, [xs, start, weights])]


@pytest.mark.parametrize("mode", ["c", "cranelift"])
def test_no_slice_of_a_step_is_between_numbers_that_it_is_handed(mode):
    steps = steps_of(fz.function(*build(), mode=mode))
    slices = [
        node
        for step in steps
        for node in step.toposort()
        if isinstance(node.op, Subtensor) and len(node.inputs) > 1
    ]
    assert len(slices) >= 2
    inputs = {x for step in steps for x in step.inputs}
    assert all(x not in inputs for node in slices for x in node.inputs[1:])


def python(xs, start, weights):
    state, total = start, 0.0
    for x in xs:
        both = np.tanh(weights @ np.concatenate([x, state]))
        state = both[: len(state)] * state + both[len(x) :][: len(state)]
        total += (state**2).sum()
    return total


@pytest.mark.parametrize("mode", MODES)
@given(st.integers(0, 4), st.integers(0, 3), st.integers(1, 4))
@settings(max_examples=20)
def test_values_are_those_of_a_loop(mode, steps, width, size):
    rng = np.random.default_rng(steps + 5 * width + 20 * size)
    xs, start = rng.normal(size=(steps, width)), rng.normal(size=size)
    weights = rng.normal(size=(width + size, width + size)) / 2
    total, *gradients = compiled(mode)(xs, start, weights)
    np.testing.assert_allclose(total, python(xs, start, weights), rtol=1e-12)
    epsilon = 1e-6
    for gradient, values in zip(gradients, (xs, start, weights), strict=True):
        assert gradient.shape == values.shape
        if values.size:
            at = tuple(0 for _ in values.shape)
            changed = []
            for sign in (1, -1):
                values[at] += sign * epsilon
                changed.append(python(xs, start, weights))
                values[at] -= sign * epsilon
            slope = (changed[0] - changed[1]) / (2 * epsilon)
            np.testing.assert_allclose(gradient[at], slope, rtol=1e-5, atol=1e-7)


FUNCTIONS = {}


def compiled(mode):
    if mode not in FUNCTIONS:
        FUNCTIONS[mode] = fz.function(*build(), mode=mode)
    return FUNCTIONS[mode]


def test_arithmetic_of_lengths_goes_along():
    xs, start = ft.matrix("xs"), ft.vector("start")
    n = xs.shape[1] + start.shape[0] * 2
    states, _ = fz.scan(
        lambda x, state, n: ft.concatenate([state, x, state])[1:n][: state.shape[0]],
        sequences=[xs],
        outputs_info=[start],
        non_sequences=[n],
    )
    graph = fz.FrozenFunctionGraph([xs, start], [states])
    (node,) = [node for node in with_step_lengths(graph).toposort() if isinstance(node.op, Scan)]
    step = node.op.fgraph
    assert any(isinstance(node.op, Shape_i) for node in step.toposort())
    (handed,) = step.inputs[2:]
    assert all(handed not in node.inputs for node in step.toposort())
    values = np.arange(6.0).reshape(2, 3), np.array([7.0, 8.0])
    want = fz.function([xs, start], states, mode="py")(*values)
    np.testing.assert_array_equal(fz.function([xs, start], states, mode="c")(*values), want)


def test_what_a_step_reads_as_a_value_stays():
    xs, start = ft.matrix("xs"), ft.scalar("start")
    states, _ = fz.scan(
        lambda x, state, n: state + x.sum() / n,
        sequences=[xs],
        outputs_info=[start],
        non_sequences=[xs.shape[1]],
    )
    graph = fz.FrozenFunctionGraph([xs, start], [states])
    assert with_step_lengths(graph) is graph


def test_lengths_that_a_step_has_nothing_of_stay():
    x, n, start = ft.vector("x"), ft.lscalar("n"), ft.vector("start")
    states, _ = fz.scan(
        lambda state, n: ft.concatenate([state[1:n], state])[: state.shape[0]],
        outputs_info=[start],
        non_sequences=[n],
        n_steps=x.shape[0],
    )
    values = np.ones(3), 2, np.array([1.0, 2.0, 3.0])
    want = fz.function([x, n, start], states, mode="py")(*values)
    np.testing.assert_array_equal(fz.function([x, n, start], states, mode="c")(*values), want)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("until", [False, True])
def test_no_rows_have_the_lengths_that_rows_would_have(mode, until):
    xs, start, n = ft.matrix("xs"), ft.vector("start"), ft.lscalar("n")

    def step(x, state, n):
        joined = ft.concatenate([state[:n], x])
        after = state + joined.sum()
        ends = fz.until(after[0] > 1e9) if until else {}
        return [after, joined], ends

    (_, rows), _ = fz.scan(step, sequences=[xs], outputs_info=[start, None], non_sequences=[n])
    f = fz.function([xs, start, n], [rows, fz.grad((rows**2).sum(), start)], mode=mode)
    for steps in (0, 1, 3):
        found, gradient = f(np.ones((steps, 2)), np.ones(4), 3)
        assert found.shape == (steps, 5)
        assert gradient.shape == (4,)
        assert (gradient[:3] > 0).all() == (steps > 0)
