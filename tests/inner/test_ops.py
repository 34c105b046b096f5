"""The ops of a graph, and the replacement of nodes by their ops."""

import gc
import weakref

import frazil as fz
import frazil.tensor as ft
from frazil.inner.ops import ops_of
from frazil.inner.rebuild import replace_ops


def test_the_ops_of_a_graph_are_found_once():
    x = ft.vector("x")
    graph = fz.FrozenFunctionGraph([x], [ft.exp(ft.exp(x)) + x])
    found = ops_of(graph)
    assert found == {node.op for node in graph.toposort()}
    assert len(found) == 2
    assert ops_of(graph) is found
    assert ops_of(fz.FrozenFunctionGraph([x], [x])) == frozenset()


def test_a_list_of_ops_keeps_no_graph():
    x = ft.vector("x")
    inner = fz.OpFromGraph([x], [ft.exp(x) * 3.0])
    graph = fz.FrozenFunctionGraph([x], [inner(x) + 1.0])
    ops_of(graph)
    gone = weakref.ref(graph), weakref.ref(inner)
    del graph, inner
    gc.collect()
    assert [one() for one in gone] == [None, None]


def test_each_op_is_asked_for_once():
    asked = []

    def chosen(op):
        asked.append(op)
        return str(op) == "exp"

    x = ft.vector("x")
    graph = fz.FrozenFunctionGraph([x], [ft.exp(ft.sin(ft.exp(x)) + ft.sin(x))])
    made = replace_ops(graph, chosen, lambda node, inputs: [ft.cos(inputs[0])])
    assert fz.pp(made) == "cos(sin(cos(*0)) + sin(*0))"
    assert sorted(map(str, asked)) == ["add", "exp", "sin"]
    assert replace_ops(graph, lambda op: False, lambda node, inputs: inputs) is graph
