"""Buffers of their own: never one inside a graph, the same from one graph to the next."""

import pickle
from collections import Counter
from dataclasses import dataclass

import numpy as np
import pytest
from agreement import modes
from hypothesis import given
from hypothesis import strategies as st
from reference import evaluate

import frazil as fz
import frazil.tensor as ft
from frazil.graph import inplace
from frazil.link.fusion.in_place import updated_operand
from frazil.rewrite import CONSTANT_FOLDING, rewrite
from frazil.tensor.buffers import Distinct
from frazil.tensor.creation import Full
from frazil.testing import verify_grad

LENGTH = 3
MAKERS = {
    "zeros": lambda x: ft.zeros(LENGTH),
    "ones": lambda x: ft.ones(LENGTH),
    "empty": lambda x: ft.empty(LENGTH),
    "full": lambda x: ft.full(LENGTH, 2.0),
    "zeros_like": ft.zeros_like,
    "ones_like": ft.ones_like,
    "full_like": lambda x: ft.full_like(x, 2.0),
    "full of a variable": lambda x: ft.full(x.shape[0], x[0]),
    "distinct": ft.distinct,
    "distinct of a view": lambda x: ft.distinct(x[::-1]),
}


@dataclass(frozen=True, eq=False)
class Overwrite(fz.Op):
    """Adds its second operand to its first, in place."""

    destroy_map = {0: [0]}  # noqa: RUF012

    def make_node(self, x, y):
        return fz.FrozenApply(self, [x, y], [x.type])


@pytest.fixture(params=MAKERS)
def make(request):
    return MAKERS[request.param]


def count(graph):
    """The number of distinct nodes, each checked to have a tag."""
    nodes = [node for node in graph.toposort() if isinstance(node.op, Distinct | Full)]
    assert None not in [node.distinct for node in nodes]
    return len(nodes)


def test_each_call_is_a_node_of_its_own(make):
    x = ft.dvector("x")
    one, other = make(x), make(x)
    assert one is not other
    assert one.owner is not other.owner
    assert one.owner.op is other.owner.op
    assert one.type == other.type
    assert count(fz.FunctionGraph([x], [one + other])) == 2
    assert count(fz.FunctionGraph([x], [one + one])) == 1


def test_a_rebuilt_node_is_the_same_buffer():
    x, y = ft.dvector("x"), ft.dvector("y")
    node = ft.distinct(x).owner
    assert node.clone_with_new_inputs([x]) is node
    moved = node.clone_with_new_inputs([y])
    assert moved.distinct == node.distinct
    assert moved.outputs[0] is not ft.distinct(y)


def test_functions_built_alike_share_a_program(make, mode):
    def build():
        x = ft.dvector("x")
        return fz.function([x], [make(x) + make(x), make(x)], mode=mode, on_unused_input="ignore")

    f, g = build(), build()
    assert f.fgraph is g.fgraph
    assert f.program is g.program
    x = ft.dvector()
    value = np.array([1.0, -2.0, 4.0])
    expected = evaluate(make(x), {x: value})
    for result, wanted in zip(f(value), [expected + expected, expected], strict=True):
        np.testing.assert_array_equal(result, wanted)


@pytest.mark.parametrize("same", [False, True])
def test_updates_of_parts_are_done_each_in_its_own_buffer(same, mode):
    y, z = ft.dvector("y"), ft.dvector("z")
    first = ft.zeros(5)
    second = first if same else ft.zeros(5)
    updates = [ft.set_subtensor(first[1:], y), ft.set_subtensor(second[2:], z)]
    graph = fz.FunctionGraph([y, z], updates)
    assert count(graph) == (1 if same else 2)
    plan = inplace.plan(graph, [(update.owner, 0, 0) for update in updates])
    assert len(plan.reuses) == (1 if same else 2)
    f = fz.function([y, z], updates, mode=mode)
    one, two = f([1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0])
    np.testing.assert_array_equal(one, [0.0, 1.0, 2.0, 3.0, 4.0])
    np.testing.assert_array_equal(two, [0.0, 0.0, 5.0, 6.0, 7.0])
    assert not np.shares_memory(one, two)
    if mode != "py":
        fills = [line for line in f.program.instructions if " = full " in line]
        assert len(fills) == (1 if same else 2)


def test_frozen_graphs_come_back_as_the_same_object(make):
    x = ft.dvector("x")
    graph = fz.FrozenFunctionGraph([x], [make(x) * make(x), make(x)])
    assert count(graph) == 3
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(graph, protocol)) is graph
    assert fz.FrozenFunctionGraph.parse(str(graph)) is graph
    assert graph.unfreeze().freeze() is graph


def test_deduplication_folds_siblings(make):
    x = ft.dvector("x")
    one, other = make(x), make(x)
    folded = fz.FunctionGraph([x], [one + other]).freeze(dedup_nodes=True)
    assert count(folded) == 1
    assert folded is fz.FrozenFunctionGraph([x], [one + one])
    assert folded is not fz.FrozenFunctionGraph([x], [one + other])


def test_deduplication_refuses_what_is_destroyed(make):
    x = ft.dvector("x")
    graph = fz.FunctionGraph([x], [Overwrite()(make(x), x), ft.exp(make(x))])
    assert count(graph.freeze()) == 2
    with pytest.raises(ValueError, match="stands for several distinct buffers"):
        graph.freeze(dedup_nodes=True)


def test_distinct_shares_no_memory(mode):
    x = ft.matrix("x")
    views = [ft.distinct(x), ft.distinct(x.T), ft.distinct(x)[1:], ft.distinct(x[0])]
    f = fz.function([x], [x, *views], mode=mode)
    value = np.arange(6.0).reshape(2, 3)
    results = f(value)
    for result, wanted in zip(results, [value, value, value.T, value[1:], value[0]], strict=True):
        np.testing.assert_array_equal(result, wanted)
    arrays = [value, *results]
    for position, array in enumerate(arrays):
        assert not any(np.shares_memory(array, other) for other in arrays[position + 1 :])


@pytest.mark.parametrize("dtype", ["float64", "float32", "int8", "bool"])
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 1, 3)])
def test_distinct_changes_nothing_else(dtype, shape, mode):
    x = ft.tensor("x", dtype=dtype, shape=(None,) * len(shape))
    assert ft.distinct(x).type == x.type
    value = np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(dtype)
    result = fz.function([x], ft.distinct(x), mode=mode)(value)
    np.testing.assert_array_equal(result, value, strict=True)
    np.testing.assert_array_equal(evaluate(ft.distinct(x), {x: value}), value, strict=True)


def test_distinct_takes_what_becomes_a_tensor():
    assert ft.distinct(2).eval() == 2
    assert ft.distinct([1.0, 2.0]).eval().tolist() == [1.0, 2.0]


def test_a_destroyer_does_not_wait_for_readers_of_the_original():
    x, y = ft.dvector("x"), ft.dvector("y")
    with pytest.raises(fz.InconsistencyError):
        fz.FunctionGraph([x, y], [Overwrite()(x, y) + x]).verify()
    written = Overwrite()(ft.distinct(x), y)
    graph = fz.FunctionGraph([x, y], [written + x])
    graph.verify(protected=[x, y])
    assert graph.orderings() == {written.owner: []}


def test_rewriting_folds_no_buffers(make):
    x, y = ft.dvector("x"), ft.dvector("y")
    first, second = (Overwrite()(make(x), y * 1.0) for _ in range(2))
    graph = rewrite(fz.FunctionGraph([x, y], [first, second + make(x) * 1.0])).graph
    destroyed = {node.inputs[0] for node in graph.toposort() if isinstance(node.op, Overwrite)}
    assert len(destroyed) == 2
    graph.verify(protected=[x, y])
    graph.freeze()


def test_rewriting_takes_no_two_buffers_for_one():
    i = ft.lvector("i")
    a, b = ft.distinct(i), ft.distinct(i)
    assert rewrite(a - b).graph is a - b
    assert rewrite(a - a).graph is not a - a


def test_rewriting_may_drop_what_nobody_destroys():
    x = ft.dvector("x")
    assert rewrite(ft.where(True, x, ft.distinct(x))).graph is x


@pytest.mark.parametrize(
    ("read", "value"),
    [
        (lambda: ft.zeros((2, 2)) + 1, np.ones((2, 2))),
        (lambda: ft.zeros(3) - ft.zeros(3), np.zeros(3)),
        (lambda: ft.exp(ft.zeros((2, 3)).T[1:]), np.ones((2, 2))),
        (lambda: ft.ones(3) @ ft.distinct([1.0, 2.0, 3.0]), 6.0),
        (lambda: ft.concatenate([ft.full(1, 7), ft.ones(2, "int64")]), [7, 1, 1]),
    ],
)
def test_what_is_only_read_folds(read, value):
    expression = read()
    folded = rewrite(expression, CONSTANT_FOLDING).graph
    assert isinstance(folded, fz.Constant)
    assert folded.dtype == expression.dtype
    np.testing.assert_array_equal(folded.data, value)


def test_readers_share_one_value():
    x = ft.dvector("x")
    result = rewrite([ft.exp(ft.zeros_like(x)), x + ft.zeros((50, 50))]).graph
    again = rewrite([ft.exp(ft.zeros_like(x)), x + ft.zeros((50, 50))]).graph
    assert again == result
    assert count(fz.FunctionGraph([x], result)) == 0


def test_what_is_written_stays():
    y = ft.dvector("y")
    for target in (ft.zeros(4), ft.zeros((2, 4))[1], ft.distinct([1.0, 2.0, 3.0, 4.0])):
        for update in (ft.set_subtensor(target[1:], y), ft.inc_subtensor(target[::2], y)):
            assert rewrite(update).graph is update
    target, written = ft.zeros(4), ft.ones(3)
    update = rewrite(ft.set_subtensor(target[1:], written)).graph
    assert update.owner.inputs[:2] == (target, ft.constant([1.0, 1.0, 1.0]))
    assert rewrite(target).graph is target


@pytest.mark.parametrize("at", [0, 1])
def test_no_rule_reads_what_is_destroyed(at):
    y = ft.dvector("y")
    buffer = ft.zeros(4)
    operands = [y * 2.0, y * 2.0]
    operands[at] = buffer
    outputs = [operands[0] - operands[1], Overwrite()(buffer, y)]
    assert rewrite(outputs, CONSTANT_FOLDING).graph == outputs


def buffers_of(x):
    """The distinct nodes whose memory ``x`` may be, itself included."""
    while x.owner is not None and x.owner.distinct is None and x.owner.op.view_map:
        x = x.owner.inputs[0]
    return [x.owner] if x.owner is not None and x.owner.distinct is not None else []


READING = {
    "zeros": lambda a, b: ft.zeros(4),
    "full": lambda a, b: ft.full(4, 2.5),
    "ones_like": lambda a, b: ft.ones_like(a),
    "distinct": lambda a, b: ft.distinct(a),
    "constant": lambda a, b: ft.distinct([1.0, 2.0, 3.0, 4.0]),
    "reverse": lambda a, b: a[::-1],
    "transpose": lambda a, b: ft.reshape(a, (2, 2)).T.reshape((4,)),
    "add": lambda a, b: a + b,
    "mul": lambda a, b: a * b,
    "set": lambda a, b: ft.set_subtensor(a[1:3], b[:2]),
    "inc": lambda a, b: ft.inc_subtensor(a[[3, 0]], b[2:]),
}


@given(
    st.lists(
        st.tuples(st.sampled_from(sorted(READING)), st.integers(0, 9), st.integers(0, 9)),
        min_size=1,
        max_size=8,
    ),
    modes,
)
def test_folding_keeps_values_and_what_is_written(steps, mode):
    x = ft.tensor("x", dtype="float64", shape=(4,))
    made = [x]
    for name, left, right in steps:
        made.append(READING[name](made[left % len(made)], made[right % len(made)]))
    outputs = made[-2:]
    folded = rewrite(outputs, CONSTANT_FOLDING).graph
    assert rewrite(folded, CONSTANT_FOLDING).graph == folded

    def written(outputs):
        nodes = fz.FunctionGraph([x], outputs).toposort()
        updates = [node for node in nodes if updated_operand(node.op) is not None]
        return {buffer.distinct for node in updates for buffer in buffers_of(node.inputs[0])}

    assert written(folded) == written(outputs)
    for node in fz.FunctionGraph([x], folded).toposort():
        if node.distinct is None and not node.op.view_map:
            read = [y for at, y in enumerate(node.inputs) if at != updated_operand(node.op)]
            assert not [b for y in read for b in buffers_of(y) if isinstance(b.op, Full)]
    as_written = fz.Mode(mode).excluding("all")
    f = fz.function([x], [*outputs, *folded], mode=as_written, on_unused_input="ignore")
    values = f([1.0, -2.0, 0.5, 3.0])
    for one, other in zip(values[: len(outputs)], values[len(outputs) :], strict=True):
        np.testing.assert_array_equal(one, other, strict=True)


def test_rewriting_looks_below_a_buffer():
    x = ft.dvector("x")
    buffer = ft.distinct(x * 1.0)
    rewritten = rewrite(buffer).graph
    assert rewritten.owner.inputs == (x,)
    assert rewritten.owner.distinct == buffer.owner.distinct


STEPS = st.lists(
    st.tuples(st.sampled_from(["distinct", "zeros_like", "add", "mul"]), *[st.integers(0, 9)] * 2),
    max_size=6,
)


@given(STEPS, st.lists(st.integers(0, 9), min_size=1, max_size=3))
def test_what_is_destroyed_apart_stays_apart(steps, written):
    def build():
        x = ft.dvector("x")
        made = [x]
        for name, left, right in steps:
            a, b = made[left % len(made)], made[right % len(made)]
            operands = (a, b) if name in ("add", "mul") else (a,)
            made.append(getattr(ft, name)(*operands))
        outputs = [Overwrite()(ft.distinct(made[at % len(made)]), x) for at in written]
        return fz.FunctionGraph([x], [*outputs, made[-1]])

    graph = build()
    assert graph.freeze() is build().freeze()
    rewritten = rewrite(graph).graph
    rewritten.verify(protected=rewritten.inputs)
    frozen = rewritten.freeze()
    assert pickle.loads(pickle.dumps(frozen)) is frozen
    destroyed = [node.inputs[0] for node in frozen.toposort() if isinstance(node.op, Overwrite)]
    assert len(destroyed) == len(written)
    assert set(Counter(destroyed).values()) == {1}


@given(*[st.lists(st.sampled_from(sorted(MAKERS)), min_size=1, max_size=3)] * 2)
def test_buffers_of_two_frozen_graphs_stay_apart(names, others):
    def frozen(names):
        x = ft.dvector("x")
        return fz.FrozenFunctionGraph([x], [MAKERS[name](x) + k for k, name in enumerate(names)])

    one, other = frozen(names), frozen(others)
    assert one.container.owners(one.outputs[0]) == [one]
    both = fz.FunctionGraph(one.inputs, [*one.outputs, *other.outputs])
    assert count(both) == len(names) + len(others) * (one is not other)
    assert count(both.freeze()) == count(both)
    again = fz.FrozenFunctionGraph(other.inputs, other.outputs)
    assert again is other
    assert pickle.loads(pickle.dumps(other)).outputs == other.outputs


def test_gradient(mode):
    x = ft.dvector("x")
    value = np.array([1.0, 2.0, 3.0])
    cost = (ft.distinct(x) * ft.distinct(x) * x).sum()
    gradient = fz.function([x], fz.grad(cost, x), mode=mode)(value)
    np.testing.assert_allclose(gradient, 3 * value**2)
    verify_grad(lambda x: ft.distinct(x) * ft.exp(ft.distinct(x[::-1])), [value])


def test_gradients_bring_no_buffers():
    x, y = ft.dmatrix("x"), ft.dvector("y")
    cost = (x[1:] * y).sum() + ft.exp(x.sum(axis=0)).mean() + x[0, 0]
    gradients = fz.grad(cost, [x, y])
    assert count(fz.FunctionGraph([x, y], gradients)) == 0
    assert fz.grad(cost, [x, y]) == gradients
