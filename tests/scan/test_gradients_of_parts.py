"""Gradients of steps that read parts of what stays the same: a step adds to these parts alone."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import frazil as fz
import frazil._core as core
import frazil.tensor as ft
from frazil.scan.op import Scan
from frazil.tensor.advanced_indexing import AdvancedIncSubtensor
from frazil.tensor.basic_indexing import IncSubtensor

MODES = ["py", "c", "cranelift", "numba"]
STEPS = 5
#: What a step reads of a matrix, by the index of its turn.
PARTS = {
    "row": lambda x, at: x[at],
    "column": lambda x, at: x[:, at][:4],
    "slice": lambda x, at: x[1:5, 2],
    "turned": lambda x, at: x[3::-1, at],
    "chosen": lambda x, at: x[0, np.array([3, 0, 3, 1])],
    "element": lambda x, at: x[at, at],
    "all": lambda x, at: x.sum(axis=0),
}


def is_increase(node):
    return isinstance(node.op, IncSubtensor | AdvancedIncSubtensor)


def step(names):
    def of(at, state, x):
        parts = [PARTS[name](x, at) for name in names]
        total = sum((part * (k + 1) for k, part in enumerate(parts[1:])), parts[0] * state)
        return 0.5 * state + total

    return of


@cache
def gradients(mode, names, steps, by_scan=True):
    """The gradient by a matrix of six rows of four, by a scan or by a graph without one."""
    order, start, x = ft.lvector("order"), ft.vector("start"), ft.matrix("x", shape=(6, 4))
    if by_scan:
        (last, _), _ = fz.scan(
            lambda at, state, x: (step(names)(at, state, x), state),
            sequences=order,
            outputs_info=[start, None],
            non_sequences=x,
            n_steps=steps,
        )
        last = last[-1]
    else:
        last = start
        for turn in range(steps):
            last = step(names)(order[turn], last, x)
    made = fz.grad((last**2).sum(), [start, x])
    f = fz.function([order, start, x], made, mode=mode, on_unused_input="ignore")
    return made, f


@pytest.mark.parametrize("mode", MODES)
@settings(max_examples=12, deadline=None)
@given(
    names=st.lists(st.sampled_from(sorted(PARTS)), min_size=1, max_size=3).map(tuple),
    steps=st.sampled_from([1, 2, STEPS]),
    seed=st.integers(0, 2**32 - 1),
)
def test_gradients_are_those_without_a_scan(mode, names, steps, seed):
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 4, STEPS), rng.normal(size=4), rng.normal(size=(6, 4))
    found = gradients(mode, names, steps)[1](*values)
    expected = gradients("py", names, steps, by_scan=False)[1](*values)
    for own, one in zip(found, expected, strict=True):
        np.testing.assert_allclose(own, one, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("names", [("row",), ("column", "slice"), ("chosen", "element")])
def test_a_step_adds_to_the_sum_and_not_to_zeros(names):
    made, _ = gradients("py", names, STEPS)
    scans = [node.op for node in core.toposort(made) if isinstance(node.op, Scan)]
    inner = next(op.fgraph for op in scans if any(map(is_increase, op.fgraph.toposort())))
    wholes = [node for node in inner.toposort() if is_increase(node) and node.outputs[0].ndim == 2]
    assert wholes
    for node in wholes:
        x = node.inputs[0]
        while x.owner is not None and is_increase(x.owner):
            x = x.owner.inputs[0]
        assert x in inner.inputs
