"""Nodes with the same op and the same types, and the ops of graphs, found by the core."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import frazil as fz
import frazil.tensor as ft
from frazil import _core

STEPS = {
    "add": lambda x, y: x + y,
    "sum": lambda x, y: x.sum(axis=0, keepdims=True) + y,
    "cast": lambda x, y: (x + y).astype("float32"),
    "max": lambda x, y: ft.maximum(x, y),
    "first": lambda x, y: x[:1] * y,
    "both": lambda x, y: ft.modf(x)[0] - y,
}


PROGRAMS = st.lists(
    st.tuples(st.sampled_from(sorted(STEPS)), st.integers(0, 20), st.integers(0, 20)),
    min_size=1,
    max_size=12,
)


def _made(steps):
    made = [ft.vector("x"), ft.vector("y", dtype="float32"), ft.vector("z", shape=(1,))]
    for name, left, right in steps:
        made.append(STEPS[name](made[left % len(made)], made[right % len(made)]))
    return made


@given(PROGRAMS)
def test_alike_are_nodes_with_one_op_and_one_list_of_types(steps):
    made = _made(steps)
    nodes = _core.toposort(made)
    described = [(node.op, tuple(x.type for x in node.inputs), node.output_types) for node in nodes]
    assert _core.first_alike(nodes) == [described.index(own) for own in described]
    assert _core.first_alike(nodes[::-1]) == [described[::-1].index(own) for own in described[::-1]]


def test_only_nodes_are_alike():
    with pytest.raises(TypeError):
        _core.first_alike([ft.vector("x")])
    assert _core.first_alike([]) == []


@given(PROGRAMS)
def test_ops_of_a_graph_come_once_and_in_order(steps):
    made = _made(steps)
    graph = fz.FrozenFunctionGraph(made[:3], made)
    assert graph.ops() == list(dict.fromkeys(node.op for node in graph.toposort()))
    assert fz.FrozenFunctionGraph(made[:3], made[:3]).ops() == []
