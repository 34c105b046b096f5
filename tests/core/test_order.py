"""Order and destruction, by running the orders with real arrays that are really written over."""

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import frazil as fz
import frazil.tensor as ft
from frazil import _core
from frazil.graph import inplace

LENGTH = 3


class Unary(fz.Op):
    def make_node(self, x):
        return fz.FrozenApply(self, [x], [x.type])


class Binary(fz.Op):
    def make_node(self, x, y):
        return fz.FrozenApply(self, [x, y], [x.type])


@dataclass(frozen=True, eq=False)
class See(Unary):
    """A view of its operand."""

    view_map = {0: [0]}  # noqa: RUF012

    def perform(self, node, inputs):
        return (inputs[0][:],)


@dataclass(frozen=True, eq=False)
class Either(Binary):
    """A view of the operand with the larger sum."""

    view_map = {0: [0, 1]}  # noqa: RUF012

    def perform(self, node, inputs):
        return (max(inputs, key=np.sum)[:],)


@dataclass(frozen=True, eq=False)
class Mix(Binary):
    """Element by element, so that an operand may be written over that is both operands."""

    destroy_tolerates_same = ((0, 1), (1, 0))

    def perform(self, node, inputs):
        return (0.5 * inputs[0] + inputs[1] + 1.0,)


@dataclass(frozen=True, eq=False)
class Turn(Binary):
    """Reads elements that it would have written over already."""

    def perform(self, node, inputs):
        return (inputs[0] - 0.5 * inputs[1][::-1],)


@dataclass(frozen=True, eq=False)
class Fresh(Unary):
    """A buffer of its own."""

    distinct = True

    def perform(self, node, inputs):
        return (inputs[0].copy(),)


@dataclass(frozen=True, eq=False)
class Update(Binary):
    """Adds its second operand to its first, in place."""

    destroy_map = {0: [0]}  # noqa: RUF012

    def perform(self, node, inputs):
        return (inputs[0] + inputs[1],)


@dataclass(frozen=True, eq=False)
class UpdateSame(Update):
    destroy_tolerates_same = ((0, 1),)


@dataclass(frozen=True, eq=False)
class UpdateAliased(Update):
    destroy_tolerates_aliased = ((0, 1),)


PURE = {"see": (See(), 1), "either": (Either(), 2), "mix": (Mix(), 2), "turn": (Turn(), 2)}
PURE["fresh"] = (Fresh(), 1)
ALL = PURE | {"update": (Update(), 2), "same": (UpdateSame(), 2), "aliased": (UpdateAliased(), 2)}
NUMBERS = st.integers(0, 63)


def recipes(ops):
    return st.lists(
        st.tuples(st.sampled_from(sorted(ops)), NUMBERS, NUMBERS), min_size=1, max_size=9
    )


def build(recipe):
    """Inputs x and y, and what each step makes of the variables so far."""
    made = [ft.dvector("x"), ft.dvector("y")]
    for name, left, right in recipe:
        op, arity = ALL[name]
        recent = made[-4:]
        made.append(op(*[recent[at % len(recent)] for at in (left, right)[:arity]]))
    return made[:2], made[2:]


def values():
    return [np.arange(LENGTH) + 1.0, np.array([5.0, -2.0, 0.25])]


def pure_values(inputs, nodes, outputs):
    """What the graph computes if nothing is ever written over."""
    known = dict(zip(inputs, values(), strict=True))
    for node in nodes:
        operands = [known[operand].copy() for operand in node.inputs]
        known[node.outputs[0]] = node.op.perform(node, operands)[0]
    return [known[output] for output in outputs]


def run(inputs, order, outputs, over, releases=None):
    """What an order computes that writes outputs over inputs; released buffers become nan."""
    known = dict(zip(inputs, values(), strict=True))
    for position, node in enumerate(order):
        (output,) = node.outputs
        operands = [known[operand] for operand in node.inputs]
        (value,) = node.op.perform(node, operands)
        if node in over:
            target = operands[over[node]]
            np.copyto(target, value)
            value = target
        known[output] = value
        for variable in releases[position] if releases else ():
            known[variable].fill(np.nan)
    return known, [known[output] for output in outputs]


def graph_of(recipe, extra):
    inputs, made = build(recipe)
    outputs = [made[-1], *(made[at % len(made)] for at in extra)]
    return fz.FunctionGraph(inputs, outputs), inputs, outputs


def order_or_error(graph):
    try:
        return graph.toposort(), None
    except fz.InconsistencyError as error:
        return None, error


@given(recipes(ALL), st.lists(NUMBERS, max_size=2))
def test_an_order_of_destroyers_computes_what_copies_would(recipe, extra):
    graph, inputs, outputs = graph_of(recipe, extra)
    nodes = _core.toposort(outputs, inputs)
    order, error = order_or_error(graph)
    if error:
        assert error.destroyer in nodes
        assert error.path[0][-1] is error.path[1][-1]
        assert error.path[0][0] in error.destroyer.inputs
        assert error.reader is None or error.reader in nodes
        with pytest.raises(fz.InconsistencyError):
            graph.freeze()
        return
    assert set(order) == set(nodes)
    over = {node: 0 for node in order if node.op.destroy_map}
    assert set(graph.orderings()) == set(over)
    for destroyer, readers in graph.orderings().items():
        assert all(order.index(reader) < order.index(destroyer) for reader in readers)
    _, computed = run(inputs, order, outputs, over)
    np.testing.assert_array_equal(computed, pure_values(inputs, nodes, outputs))
    frozen = graph.freeze()
    assert [node.op for node in frozen.toposort()] == [node.op for node in order]


@given(
    recipes(PURE),
    st.lists(NUMBERS, max_size=1),
    st.lists(st.tuples(NUMBERS, NUMBERS), max_size=12),
    st.tuples(st.booleans(), st.booleans()),
    st.lists(NUMBERS, max_size=1),
)
def test_a_plan_computes_what_the_pure_graph_does(recipe, extra, picks, given_away, protected):
    graph, inputs, outputs = graph_of(recipe, extra)
    nodes = graph.toposort()
    variables = [*inputs, *(node.outputs[0] for node in nodes)]
    protected = [variables[at % len(variables)] for at in protected]
    donated = [v for v, away in zip(inputs, given_away, strict=True) if away]
    candidates = [
        (node, 0, position % len(node.inputs))
        for at, position in (picks if nodes else ())
        for node in [nodes[at % len(nodes)]]
    ]
    schedule = inplace.plan(graph, candidates, donated=donated, protected=protected)
    assert len(schedule.reuses) + len(schedule.refusals) == len(candidates)
    over = {node: position for node, _, position in schedule.reuses}
    assert len(over) == len(schedule.reuses)
    assert not any(node.distinct for node in over)
    known, computed = run(inputs, schedule.order, outputs, over, schedule.releases)
    np.testing.assert_array_equal(computed, pure_values(inputs, nodes, outputs))
    kept = [*protected, *(v for v in inputs if v not in donated)]
    np.testing.assert_array_equal(
        [known[variable] for variable in kept], pure_values(inputs, nodes, kept)
    )
    buffers = [*schedule.kept, *schedule.unread, *(v for each in schedule.releases for v in each)]
    assert len(set(buffers)) == len(buffers)
    assert set(donated) <= set(buffers)
    for refusal in schedule.refusals:
        node, _, position = refusal.candidate
        assert str(refusal)
        if refusal.path:
            mine, other = refusal.path
            assert mine[0] is node.inputs[position]
            assert mine[-1] is other[-1]
    # A frozen graph has the same plan.
    frozen = graph.freeze()
    moved = dict(zip(nodes, frozen.toposort(), strict=True)) if not protected else None
    if moved:
        again = inplace.plan(
            frozen,
            [(moved[node], output, position) for node, output, position in candidates],
            donated=[v for v, away in zip(frozen.inputs, given_away, strict=True) if away],
        )
        assert [moved[node] for node in schedule.order] == list(again.order)
        assert len(schedule.reuses) == len(again.reuses)


def test_an_impossible_graph_names_destroyer_reader_and_the_views_between():
    x, y = ft.dvector("x"), ft.dvector("y")
    seen = See()(x)
    written = Update()(seen, y)
    read = Mix()(x, written)
    with pytest.raises(fz.InconsistencyError, match="Mix reads x, and cannot run") as info:
        fz.FunctionGraph([x, y], [read]).toposort()
    assert info.value.destroyer is written.owner
    assert info.value.reader is read.owner
    assert info.value.path == ([seen, x], [x])


@pytest.mark.parametrize(
    ("make", "protected", "message"),
    [
        (lambda x, y: [Update()(ft.constant(np.ones(3)), x)], [], "never changes"),
        (lambda x, y: [Update()(See()(x), y)], ["x"], "x is protected"),
        (lambda x, y: [Update()(x, y), x], [], "output 1 of the graph, x, is read after all nodes"),
        (lambda x, y: [Update()(x, x)], [], r"name \(0, 1\) in destroy_tolerates_same"),
        (lambda x, y: [Update()(x, y), UpdateSame()(x, x)], [], "give one of them a copy"),
        (
            lambda x, y: [UpdateSame()(x, See()(x))],
            [],
            r"name \(0, 1\) in destroy_tolerates_aliased",
        ),
        (lambda x, y: [Update()(x, y), Update()(y, x)], [], "cannot run before"),
    ],
)
def test_what_cannot_run_is_refused(make, protected, message):
    x, y = ft.dvector("x"), ft.dvector("y")
    graph = fz.FunctionGraph([x, y], make(x, y))
    with pytest.raises(fz.InconsistencyError, match=message):
        graph.verify(protected=[{"x": x, "y": y}[name] for name in protected])
    if not protected:
        # Inputs have names there too, though those of the frozen graph would have none.
        with pytest.raises(fz.InconsistencyError, match=message):
            graph.freeze()


def test_what_an_op_tolerates_runs():
    x, y = ft.dvector("x"), ft.dvector("y")
    for output in (UpdateSame()(x, x), UpdateAliased()(x, See()(x)), UpdateAliased()(See()(x), x)):
        assert len(fz.FunctionGraph([x, y], [output]).toposort()) in (1, 2)


def test_updates_of_distinct_buffers_are_planned_in_place():
    x, y = ft.dvector("x"), ft.dvector("y")
    buffers = [Fresh()(x), Fresh()(x)]
    updates = [Turn()(buffer, y) for buffer in buffers]
    graph = fz.FunctionGraph([x, y], updates)
    candidates = [(update.owner, 0, 0) for update in updates]
    assert inplace.plan(graph, candidates).reuses == tuple(candidates)
    (refusal,) = inplace.plan(graph, [(buffers[0].owner, 0, 0)], donated=[x]).refusals
    assert "a buffer of its own" in str(refusal)
    assert refusal.path is None
    assert refusal.reader is None


def test_a_map_must_name_positions_that_exist():
    @dataclass(frozen=True, eq=False)
    class Wrong(Unary):
        view_map = {0: [1]}  # noqa: RUF012

    with pytest.raises(ValueError, match="view_map of Wrong names input 1 of a node that has 1"):
        Wrong()(ft.dvector("x"))


def test_nonsense_for_the_planner_is_refused():
    x, y = ft.dvector("x"), ft.dvector("y")
    inner = Mix()(x, y)
    graph = fz.FunctionGraph([x, y], [Mix()(inner, y)])
    node = graph.outputs[0].owner
    with pytest.raises(ValueError, match="is not a node of the graph"):
        inplace.plan(graph, [(Turn()(x, y).owner, 0, 0)])
    with pytest.raises(ValueError, match="cannot be written over input 2"):
        inplace.plan(graph, [(node, 0, 2)])
    with pytest.raises(ValueError, match="cannot be donated"):
        inplace.plan(graph, [], donated=[inner])
    with pytest.raises(TypeError):
        inplace.plan(graph, [node])
    with pytest.raises(OverflowError):
        inplace.plan(graph, [(node, -1, 0)])
