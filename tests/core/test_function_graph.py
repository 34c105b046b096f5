"""Editable graphs against a plain model in which every graph has terms of its own."""

import copy
import gc
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from terms import Fresh, Update, build, recipes, roots, substitute, terms

import frazil as fz
import frazil.tensor as ft

NUMBERS = st.integers(0, 63)
ACTIONS = st.one_of(
    st.tuples(st.just("replace"), NUMBERS, NUMBERS, NUMBERS),
    st.tuples(st.just("swap"), NUMBERS, NUMBERS, NUMBERS),
    st.tuples(st.just("clone"), NUMBERS),
    st.tuples(st.just("take"), NUMBERS),
    st.tuples(st.just("clear"), NUMBERS),
    st.tuples(st.just("drop"), NUMBERS),
    st.tuples(st.just("rollback"), NUMBERS, NUMBERS, NUMBERS),
    st.tuples(st.just("nested"), NUMBERS, NUMBERS, NUMBERS),
)


@given(recipes(8), st.lists(ACTIONS, max_size=10))
def test_graphs_behave_as_if_each_had_terms_of_its_own(recipe, actions):
    inputs = roots()
    made = build(inputs, recipe)
    model = terms(recipe)
    variable_of = dict(zip(model, made, strict=True))

    def replace(graph, outputs, pairs):
        """Replaces in the graph; what the outputs are afterwards, by the model."""
        moved = {old: new for old, new in pairs.items() if old != new}
        replacements = {variable_of[old]: variable_of[new] for old, new in pairs.items()}
        graph.replace(replacements)
        return [substitute(output, moved) for output in outputs]

    graphs = [(fz.FunctionGraph(inputs, made[-2:]), model[-2:])]
    for kind, which, *numbers in actions:
        if not graphs:
            break
        at = which % len(graphs)
        graph, outputs = graphs[at]
        picked = [model[number % len(model)] for number in numbers]
        if kind == "replace":
            graphs[at] = graph, replace(graph, outputs, dict([picked]))
        elif kind == "swap":
            one, other = picked
            graphs[at] = graph, replace(graph, outputs, {one: other, other: one})
        elif kind == "clone":
            graphs.append((graph.clone(), outputs))
        elif kind == "take":
            graphs[at] = graph, []
            graphs.append((graph.take(), outputs))
        elif kind == "clear":
            graph.clear()
            graphs[at] = graph, []
        elif kind == "drop":
            del graphs[at], graph
        elif kind == "rollback":
            with pytest.raises(ZeroDivisionError), graph.transaction():  # noqa: PT012
                replace(graph, outputs, dict([picked]))
                graph.clear()
                raise ZeroDivisionError
        elif kind == "nested":
            with graph.transaction() as entered:
                assert entered is graph
                outputs = replace(graph, outputs, dict([picked]))
                inside = graph.outputs
                with pytest.raises(ZeroDivisionError), graph.transaction():  # noqa: PT012
                    graph.clear()
                    raise ZeroDivisionError
                assert graph.outputs == inside
            graphs[at] = graph, outputs
        graph = entered = None
        check_all(graphs, variable_of)


def check_all(graphs, variable_of):
    """Compares every graph with its model, and the owners of every variable with the graphs."""
    for graph, outputs in graphs:
        check(graph, outputs, variable_of)
    for variable in variable_of.values():
        owners = {graph for graph, _ in graphs if variable in graph.variables()}
        # Frozen graphs of others may have the same constants.
        found = variable.container.owners(variable)
        assert {graph for graph in found if isinstance(graph, fz.FunctionGraph)} == owners


def check(graph, outputs, variable_of):
    """Compares a graph with the outputs that the model says it has."""
    assert len(graph.outputs) == len(outputs)
    for output, term in zip(graph.outputs, outputs, strict=True):
        assert same(output, term, variable_of)
    graph.verify()
    variables = graph.variables()
    assert len(set(variables)) == len(variables)
    assert [v for v in variables if v.owner] == [v for n in graph.nodes() for v in n.outputs]
    seen = set(graph.inputs)
    for node in graph.nodes():
        assert all(x in seen or x.owner is None for x in node.inputs)
        seen.update(node.outputs)
    read = [client for v in variables for client in graph.clients(v)]
    assert len(read) == sum(len(node.inputs) for node in graph.nodes()) + len(outputs)


def same(variable, term, variable_of):
    """Whether a variable is what a term says."""
    if term in variable_of:
        return variable is variable_of[term]
    name, _, operands = term
    label = str(variable.owner.op).lower()
    return label == name and all(
        same(x, operand, variable_of)
        for x, operand in zip(variable.owner.inputs, operands, strict=True)
    )


def test_a_replacement_may_be_computed_from_what_it_replaces():
    x, y = ft.dscalar("x"), ft.dscalar("y")
    total = x + y
    z = ft.exp(total)
    graph = fz.FunctionGraph([x, y], [z, total * 2])
    # Between a variable and all that reads it, whether the graph has the node already or not.
    graph.replace(total, ft.tanh(total))
    assert graph.outputs == (ft.exp(ft.tanh(total)), ft.tanh(total) * 2)
    graph = fz.FunctionGraph([x, y], [z, total * 2])
    graph.replace(total, z)
    assert graph.outputs == (ft.exp(z), z * 2)
    graph.replace({x: ft.exp(y), y: ft.exp(x)})
    crossed = ft.exp(ft.exp(y) + ft.exp(x))
    assert graph.outputs == (ft.exp(crossed), crossed * 2)
    graph.replace(x, x)
    graph.replace({x: y, y: x})
    crossed = ft.exp(ft.exp(x) + ft.exp(y))
    assert graph.outputs == (ft.exp(crossed), crossed * 2)
    graph.replace(x, x + 1)
    outputs = fz.graph_replace([z], {x: x + 1})
    assert outputs == [ft.exp(x + 1 + y)]
    found = fz.function([x, y], list(graph.outputs), mode="py")(0.5, 0.25)
    assert float(found[1]) == 2 * np.exp(np.exp(1.5) + np.exp(0.25))
    graph.verify()


def test_bad_replacements_change_nothing():
    x, y = ft.dscalar("x"), ft.dscalar("y")
    graph = fz.FunctionGraph([x], [x * 2])
    with pytest.raises(fz.MissingInputError, match="input y"):
        graph.replace(x, y)
    with pytest.raises(TypeError, match="does not fit"):
        graph.replace(x, ft.lscalar())
    with pytest.raises(TypeError, match="only a variable is given"):
        graph.replace(x)
    with pytest.raises(TypeError, match="expected a Variable"):
        graph.replace(x, 1.0)
    with fz.Container():
        far = ft.dscalar("far")
    with pytest.raises(ValueError, match="far belongs to another container"):
        graph.replace(x, far)
    assert graph.outputs == (x * 2,)
    graph.replace(x, y, import_missing=True)
    assert (graph.inputs, graph.outputs) == ((x, y), (y * 2,))


def test_roots_are_found_or_checked():
    x, y = ft.dscalar("x"), ft.dscalar("y")
    assert fz.FunctionGraph(outputs=[y + x]).inputs == (y, x)
    assert fz.FunctionGraph().variables() == []
    with pytest.raises(fz.MissingInputError, match="input y"):
        fz.FunctionGraph([x], [x + y])
    with pytest.raises(ValueError, match="twice"):
        fz.FunctionGraph([x, x], [x])
    with pytest.raises(TypeError, match="cannot be an input"):
        fz.FunctionGraph([ft.constant(2.0)], [x])


def test_clones_are_independent_and_named_alike():
    x, y = ft.dscalar("x"), ft.dscalar("y")
    z = ft.exp(x + y)
    graph = fz.FunctionGraph([x, y], [z])
    graph.set_name(z, "z")
    clones = [graph.clone(), copy.copy(graph), copy.deepcopy(graph)]
    for clone in clones:
        assert clone is not graph
        names = [clone.name_of(v) for v in clone.variables()]
        assert names == [graph.name_of(v) for v in graph.variables()] == ["x", "y", "v2", "z"]
    clones[0].set_name(x + y, "sum")
    clones[1].clear()
    assert graph.name_of(x + y) == clones[2].name_of(x + y) == "v2"
    assert clones[0].name_of(x + y) == "sum"
    assert graph.outputs == (z,)
    with pytest.raises(KeyError, match="not in the graph"):
        clones[1].name_of(x)


def test_clients_are_nodes_and_outputs():
    x = ft.dscalar("x")
    y = x + x
    graph = fz.FunctionGraph([x], [y, x])
    assert graph.clients(x) == [(y.owner, 0), (y.owner, 1), ("output", 1)]
    assert graph.clients(y) == [("output", 0)]
    with pytest.raises(KeyError, match="not in the graph"):
        graph.clients(ft.exp(x))
    assert x in graph
    assert ft.exp(x) not in graph
    assert "x" not in graph


def test_destroyers_are_ordered_and_verified():
    x, y = ft.dscalar("x"), ft.dscalar("y")
    graph = fz.FunctionGraph([x, y], [Update()(x, y), ft.exp(x)])
    assert [str(node.op) for node in graph.toposort()] == ["exp", "Update"]
    (readers,) = graph.orderings().values()
    assert readers == [ft.exp(x).owner]
    graph.verify()
    with pytest.raises(fz.InconsistencyError):
        graph.verify(protected=[x])
    with pytest.raises(fz.InconsistencyError):
        graph.orderings([x])


def test_taking_leaves_an_empty_graph():
    x = ft.dscalar("x")
    graph = fz.FunctionGraph([x], [Fresh()(x)])
    frozen = graph.freeze()
    taken = graph.take()
    assert taken.freeze() is frozen
    assert graph.inputs == graph.outputs == ()
    assert graph.nodes() == graph.variables() == graph.toposort() == []
    graph.verify()
    graph.set_outputs([ft.constant(1.0)])
    assert graph.freeze() is fz.FunctionGraph([], [ft.constant(1.0)]).freeze()


def test_a_graph_is_not_pickled_but_frozen():
    x = ft.dscalar("x")
    with pytest.raises(TypeError, match=r"pickle graph\.freeze\(\)"):
        pickle.dumps(fz.FunctionGraph([x], [x]))


def test_a_transaction_is_left_once():
    x = ft.dscalar("x")
    transaction = fz.FunctionGraph([x], [x]).transaction()
    with pytest.raises(RuntimeError, match="not entered"):
        transaction.__exit__(None, None, None)


def test_rolling_back_leaves_the_container_as_it_was():
    with fz.Container() as container:
        x = ft.dscalar("x")
        graph = fz.FunctionGraph([x], [ft.exp(x)])
    gc.collect()
    before = container.stats().nodes
    with pytest.raises(ZeroDivisionError), graph.transaction():  # noqa: PT012
        graph.replace(x, container.constant(3.0))
        raise ZeroDivisionError
    assert container.stats().nodes == before


def test_a_node_over_operands_of_a_narrower_type_keeps_its_own():
    x, y = ft.vector("x"), ft.vector("y", shape=(3,))
    before = ft.exp(x) * 2.0 + 1.0
    [after] = fz.graph_replace([before], {x: y})
    built = ft.exp(y) * 2.0 + 1.0
    # Who reads a node may have been built for its type. What is compiled takes lengths from the
    # operands.
    assert after.type == before.type != built.type
    programs = [fz.function([y], out, mode="c").program.instructions for out in (after, built)]
    assert programs[0] == programs[1]
