"""Large graphs: bounded kernels, and as many as the graph is long, not more."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import frazil as fz
import frazil.tensor as ft
from frazil.link.fusion.registry import find_fusion
from frazil.link.fusion.segments import Segmentation
from frazil.link.lowering.loop_kernels import kernel_calls

NATIVE = ["c", "cranelift", "numba"]


def chain(n):
    """``n`` nodes, each of the one before and of an early one."""
    x = ft.dvector("x")
    made = [x]
    for k in range(n):
        made.append(ft.sin(made[-1]) if k % 2 else made[-1] * (0.5 + k) + made[k // 16])
    return fz.FrozenFunctionGraph([x], [made[-1]])


def counts(graph, linker):
    """The statements of each kernel, those included that are computed again."""
    cut = Segmentation(graph, find_fusion(linker))
    return [len(call.kernel.statements) for call in kernel_calls(cut).values()]


@pytest.mark.parametrize("linker", NATIVE)
def test_a_long_graph_becomes_bounded_kernels(linker):
    limit = find_fusion(linker).statement_limit
    for n in (2_500, 5_000, 10_000):
        graph = chain(n)
        nodes = len(graph.toposort())
        found = counts(graph, linker)
        assert max(found) <= 1.25 * limit
        assert nodes / limit <= len(found) <= 2 + 1.5 * nodes / limit
        assert nodes <= sum(found) <= 1.1 * nodes


def test_a_chain_of_ten_thousand_ops_compiles_and_is_right(monkeypatch):
    monkeypatch.setenv("FRAZIL_CACHE", "off")
    x = ft.dvector("x")
    y = x
    for k in range(5_000):
        y = ft.sin(y) * (1.0 + 1.0 / (1 + k))
    f = fz.function([x], y, mode="c")
    kernels = [len(segment.nodes()) for segment in f.optimized.segment("c")]
    limit = find_fusion("c").statement_limit
    assert max(kernels) <= limit
    assert len(kernels) <= 2 + 1.5 * 10_000 / limit
    value = np.linspace(-1, 1, 7)
    expected = value
    for k in range(5_000):
        expected = np.sin(expected) * (1.0 + 1.0 / (1 + k))
    np.testing.assert_allclose(f(value), expected, rtol=1e-9)


@pytest.mark.parametrize("mode", ["c", "cranelift", "numba", "py"])
def test_forty_inputs_are_one_or_two_kernels(mode):
    inputs = [ft.dvector(f"x{k}") for k in range(40)]
    total = inputs[0]
    for x in inputs[1:]:
        total = ft.tanh(total * x) + x
    f = fz.function(inputs, total, mode=mode)
    segments = f.optimized.segment(mode)
    if mode == "py":
        assert len(segments) == len(f.optimized.toposort())
    else:
        assert len(segments) == f.explain().kernels
        assert f.explain().kernels in (1, 2)
    values = np.random.default_rng(0).normal(size=(40, 3))
    expected = values[0]
    for value in values[1:]:
        expected = np.tanh(expected * value) + value
    np.testing.assert_allclose(f(*values), expected)


@settings(max_examples=25)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(1, 120),
    linker=st.sampled_from([*NATIVE, "debug", "py"]),
)
def test_segments_never_wait_for_one_another_in_a_circle(seed, n, linker):
    """Each reads only what those before it made, whatever was fused."""
    choose = random.Random(seed)
    x = ft.dmatrix("x")
    made = [x]
    kinds = [
        lambda a, b: a + b,
        lambda a, b: ft.tanh(a) * b,
        lambda a, b: a / b.sum(),
        lambda a, b: a - b.max(axis=0),
        lambda a, b: a * ft.exp(b).sum(axis=1, keepdims=True),
        lambda a, b: a @ b.T @ a,
        lambda a, b: ft.cumsum(a, axis=0) + b[::-1],
    ]
    for _ in range(n):
        a, b = (made[choose.randrange(max(0, len(made) - 6), len(made))] for _ in range(2))
        made.append(choose.choice(kinds)(a, b))
    graph = fz.FunctionGraph([x], choose.sample(made, min(2, len(made))))
    known = {x}
    for segment in graph.segment(linker):
        assert all(y in known or (y.ndim == 0 and y.dtype == "int64") for y in segment.inputs)
        known.update(segment.outputs)
    assert known.issuperset(graph.outputs)
