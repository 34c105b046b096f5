"""Nodes that become one, where that is no circle, and with work that grows as the graph does."""

import sys
from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import frazil as fz
import frazil.tensor as ft
from frazil.inner.ifelse import IfElse
from frazil.inner.sinking import sink_into_branches
from frazil.rewrite.merging.grouping import in_groups
from frazil.rewrite.merging.ifelse import merge_ifelses
from frazil.rewrite.merging.scalar_loops import optimize_scalar_loops
from frazil.scalar import ScalarLoop


@st.composite
def graphs_with_kinds(draw):
    """A graph, the kinds of some of its nodes, and nodes that belong to one of those."""
    made = [ft.vector(), ft.vector()]
    for k in range(draw(st.integers(1, 14))):
        x, y = (made[draw(st.integers(max(0, len(made) - 6), len(made) - 1))] for _ in range(2))
        made.append(draw(st.sampled_from([ft.add, ft.mul, ft.sub]))(ft.sin(x) if k % 3 else x, y))
    graph = fz.FrozenFunctionGraph(made[:2], made[2:][-draw(st.integers(1, 3)) :])
    order = graph.toposort()
    kinds = {
        node: kind for node in order if (kind := draw(st.sampled_from([None, None, "a", "b"])))
    }
    uses = Counter(x.owner for node in order for x in node.inputs)
    uses.update(y.owner for y in graph.outputs)
    whole = {}
    for node in kinds:
        for x in node.inputs:
            if x.owner and x.owner not in kinds and uses[x.owner] == 1 and draw(st.booleans()):
                whole[x.owner] = node
    return order, kinds, whole


@settings(max_examples=200)
@given(graphs_with_kinds())
def test_groups_are_in_an_order_and_of_one_kind(case):
    order, kinds, whole = case
    groups = in_groups(order, kinds, whole)
    assert {node for group in groups for node in group} == set(order) - set(whole)
    assert sum(map(len, groups)) == len(order) - len(whole)
    inside = {node: set() for node in order}
    for part, node in whole.items():
        inside[node].add(part)
    done = set()
    for group in groups:
        assert len(group) == 1 or {kinds[group[0]]} == {kinds.get(node) for node in group}
        before = set(done)
        for node in group:
            needed = {x.owner for part in (node, *inside[node]) for x in part.inputs} - {None}
            assert needed - inside[node] <= done
            assert needed - inside[node] - before <= set(group)  # by way of no other node
            done |= {node, *inside[node]}


@given(graphs_with_kinds())
def test_nodes_of_one_kind_stay_apart_only_for_what_lies_between(case):
    order, kinds, _ = case
    kinds = dict.fromkeys(kinds, "a")
    groups = [group for group in in_groups(order, kinds) if group[0] in kinds]
    for earlier, later in pairwise(groups):
        between = set()
        for node in order:
            owners = {x.owner for x in node.inputs}
            if node not in kinds and owners & ({*earlier} | between):
                between.add(node)
        assert any({x.owner for x in node.inputs} & between for node in later)


def one_condition(n):
    c, x = ft.iscalar(), ft.dvector()
    return [c, x], [fz.ifelse(c, ft.sin(x * (k + 1)), x + k) for k in range(n)], 1


def pairs_of_conditions(n):
    x, conditions = ft.dvector(), [ft.iscalar() for _ in range(n)]
    made = [
        fz.ifelse(c, f(x * (k + 1)), x + k)
        for f in (ft.sin, ft.cos)
        for k, c in enumerate(conditions)
    ]
    return [x, *conditions], made, n


def one_after_another(n):
    c, x = ft.iscalar(), ft.dvector()
    made = [x]
    for k in range(n):
        made.append(ft.exp(fz.ifelse(c, ft.sin(made[-1]), made[-1] + k)))
    return [c, x], made[1:], n


def private_between(n):
    """Each choice computes a sine, as all do, and both of its branches need an exp of the last."""
    c, x = ft.iscalar(), ft.dvector()
    y = x
    for k in range(n):
        e = ft.exp(y)
        y = fz.ifelse(c, ft.sin(x) * e, e + k)
    return [c, x], [y], 1


def count_work(function, graph):
    """The calls, of Python's own functions too, that it takes to apply ``function``."""
    calls = 0

    def count(frame, event, argument):
        nonlocal calls
        calls += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        result = function(graph)
    finally:
        sys.setprofile(None)
    return calls, result


@pytest.mark.parametrize(
    "choices", [one_condition, pairs_of_conditions, one_after_another, private_between]
)
def test_choices_are_joined_with_work_in_proportion(choices):
    found = []
    for n in (20, 40):
        inputs, outputs, count = choices(n)
        graph = sink_into_branches(fz.FrozenFunctionGraph(inputs, outputs))
        calls, joined = count_work(merge_ifelses, graph)
        assert sum(isinstance(node.op, IfElse) for node in joined.toposort()) == count
        found.append(calls)
    assert found[1] <= 2.3 * found[0]


def nothing_in_common(n):
    s, x = ft.scalar(), ft.dvector()
    return x, [ScalarLoop([s], [ft.sin(s) * float(k + 2)])(5, x) for k in range(n)], n


def a_count_in_common(n):
    s, i, x = ft.scalar(), ft.scalar(), ft.dvector()
    loops = [ScalarLoop([s, i], [ft.sin(ft.exp(s * i)) * (k + 0.5) - s, i + 1]) for k in range(n)]
    return x, [loop(5, x, 0.0)[0] for loop in loops], n


def half_in_common(n):
    s, t, x = ft.scalar(), ft.scalar(), ft.dvector()
    loops = [
        ScalarLoop([s, t], [ft.sin(s) * float(k + 2), ft.cos(t) * ft.exp(t)]) for k in range(n)
    ]
    return x, [loop(5, x, x)[0] + loop(5, x, x)[1] for loop in loops], 1


@pytest.mark.parametrize("loops", [nothing_in_common, a_count_in_common, half_in_common])
def test_loops_of_elements_are_joined_with_work_in_proportion(loops):
    found = []
    for n in (20, 40):
        x, outputs, count = loops(n)
        calls, joined = count_work(optimize_scalar_loops, fz.FrozenFunctionGraph([x], outputs))
        made = [node for node in joined.toposort() if isinstance(node.op, fz.scalar.Elemwise)]
        assert sum(isinstance(node.op.scalar_op, ScalarLoop) for node in made) == count
        found.append(calls)
    assert found[1] <= 2.3 * found[0]


@pytest.mark.parametrize("swapped", [False, True])
def test_a_loop_that_changes_nothing_joins_one_that_does(swapped):
    s, t, x = ft.scalar(), ft.scalar(), ft.dvector()
    idle, busy = ScalarLoop([s], [s]), ScalarLoop([s, t], [s, ft.sin(t) + s])
    outputs = [idle(3, x), *busy(3, x, x)]
    graph = fz.FrozenFunctionGraph([x], outputs[::-1] if swapped else outputs)
    assert [len(graph.toposort()), len(optimize_scalar_loops(graph).toposort())] == [2, 1]
