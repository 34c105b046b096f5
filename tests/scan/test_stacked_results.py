"""Results of steps that a gradient takes from stacks, instead of computing them again."""

from functools import cache

import numpy as np
import pytest

import frazil as fz
import frazil.tensor as ft
from frazil.scan.costs import is_function
from frazil.scan.op import Scan
from frazil.tensor.reductions import Reduce
from frazil.testing import verify_grad

MODES = ["py", "c", "cranelift", "numba"]


def cost_of(moves, start, steps):
    """Steps that reduce a matrix, made of a vector and a matrix, to the next vector."""
    states, _ = fz.scan(
        lambda state, moves: ft.logsumexp(state[:, None] + moves, axis=0) / 2,
        outputs_info=start,
        non_sequences=moves,
        n_steps=steps,
    )
    return ft.tanh(states[-1]).sum() + states[0].sum()


@cache
def value_and_gradient(mode):
    moves, start, steps = ft.matrix("moves"), ft.vector("start"), ft.lscalar("steps")
    cost = cost_of(moves, start, steps)
    outputs = [cost, *fz.grad(cost, [moves, start])]
    return fz.function([moves, start, steps], outputs, mode=mode)


def test_no_matrix_is_reduced_again_on_the_way_back():
    f = value_and_gradient("c")
    nodes = f.optimized.toposort()
    forward, backward = (node.op for node in nodes if isinstance(node.op, Scan))
    assert [forward.backwards, backward.backwards] == [False, True]
    kinds = [node.op.fold for node in forward.fgraph.toposort() if isinstance(node.op, Reduce)]
    assert sorted(kinds) == ["add", "maximum"]
    makers = [y.owner.op for y in forward.stacked if y.owner is not None]
    assert [op.fold for op in makers if isinstance(op, Reduce)] == ["add"]
    again = [*nodes, *backward.fgraph.toposort()]
    found = [n.op for n in again if isinstance(n.op, Reduce) and n.inputs[0].ndim > 1]
    assert all(op.fold != "maximum" for op in found), found


def test_no_function_of_an_array_is_computed_again_on_the_way_back():
    f = value_and_gradient("c")
    nodes = f.optimized.toposort()
    forward, backward = (node.op for node in nodes if isinstance(node.op, Scan))
    stacked = [y.owner for y in forward.stacked if y.owner is not None]
    assert any(is_function(node) and node.outputs[0].ndim == 2 for node in stacked)
    again = [*(node for node in nodes if node.outputs[0].ndim > 1), *backward.fgraph.toposort()]
    assert not any(is_function(node) for node in again)


def test_a_number_that_a_vector_is_reduced_to_has_no_stack():
    x, start = ft.matrix("x"), ft.vector("start")
    states, _ = fz.scan(lambda x, s: ft.tanh(s + x) * s.max(), x, start)
    cost = states[-1].sum()
    f = fz.function([x, start], [cost, fz.grad(cost, start)], mode="c")
    forward = next(node.op for node in f.optimized.toposort() if isinstance(node.op, Scan))
    assert [y.ndim for y in forward.stacked] == [1, 1]


def by_numpy(moves, start, steps):
    states = [start]
    for _ in range(steps):
        states.append(np.logaddexp.reduce(states[-1][:, None] + moves, axis=0) / 2)
    return np.tanh(states[-1]).sum() + states[1].sum()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("size", [1, 2, 5, 8, 17])
@pytest.mark.parametrize("steps", [1, 2, 7])
def test_gradients_are_those_of_differences(mode, size, steps):
    rng = np.random.default_rng(size)
    moves, start = rng.normal(size=(size, size)), rng.normal(size=size)
    value, by_moves, by_start = value_and_gradient(mode)(moves, start, steps)
    np.testing.assert_allclose(value, by_numpy(moves, start, steps), rtol=1e-12)
    way = rng.normal(size=(size, size)), rng.normal(size=size)
    ahead, behind = (by_numpy(moves + h * way[0], start + h * way[1], steps) for h in (1e-5, -1e-5))
    slope = (by_moves * way[0]).sum() + (by_start * way[1]).sum()
    np.testing.assert_allclose(slope, (ahead - behind) / 2e-5, rtol=1e-6, atol=1e-8)


def test_second_gradients():
    rng = np.random.default_rng(1)

    def slopes(moves, start):
        cost = cost_of(moves, start, 3)
        return (fz.grad(cost, moves) ** 2).sum() + (fz.grad(cost, start) ** 2).sum()

    verify_grad(slopes, [rng.normal(size=(3, 3)), rng.normal(size=3)], rng=rng)
