"""Ops that hold frozen graphs: one op for equal graphs, wherever they were built; nothing stays."""

import copy
import gc
import pickle
import random
import threading
import weakref
from dataclasses import dataclass

import numpy as np
import pytest
from agreement import MODES
from hypothesis import given
from hypothesis import strategies as st
from terms import Run, build, read_elsewhere, recipes, roots

import frazil as fz
import frazil.tensor as ft

MOST_NESTED = 32


def freeze(recipe):
    inputs = roots()
    return fz.FrozenFunctionGraph(inputs, build(inputs, recipe)[-2:])


def nest(levels):
    """A graph that applies the innermost recipe's graph, which ..., one recipe a level."""
    graph = freeze(levels[0])
    for recipe in levels[1:]:
        inputs = roots()
        made = Run(graph)(*inputs)
        graph = fz.FrozenFunctionGraph(inputs, build([*made, inputs[-1]], recipe)[-2:])
    return graph


nested = st.lists(recipes(4), min_size=1, max_size=4).map(nest)


def settled_count():
    """Live nodes of the default container, once garbage is gone."""
    gc.collect()
    return fz.Container.default().stats().nodes


@given(recipes(5), recipes(5))
def test_ops_are_one_exactly_if_their_graphs_are(one, other):
    a, b = freeze(one), freeze(other)
    assert Run(freeze(one)) is Run(a)
    assert Run(a).fgraph is a
    assert (Run(a) is Run(b)) == (Run(a) == Run(b)) == (a is b)
    assert (Run(a).digest == Run(b).digest) == (a is b)
    assert hash(Run(a)) == hash(Run(freeze(one)))
    x = roots()
    assert (Run(a)(*x)[0] is Run(b)(*x)[0]) == (a is b)


@given(st.lists(recipes(4), min_size=1, max_size=3))
def test_an_op_is_the_same_wherever_its_graph_was_built(levels):
    here = nest(levels)
    with fz.Container() as container:
        there = nest(levels)
        op = Run(there)
        assert op is Run(here)
        # Its nodes live where their operands do, and freeze to the same graph as anywhere.
        inputs = roots()
        graph = fz.FrozenFunctionGraph(inputs, op(*inputs))
        assert graph.container is there.container is container
    assert op.fgraph is here
    inputs = roots()
    assert graph.digest == fz.FrozenFunctionGraph(inputs, op(*inputs)).digest


@given(nested)
def test_nested_graphs_come_back_from_bytes_text_and_copies(graph):
    assert fz.FrozenFunctionGraph.from_bytes(graph.to_bytes()) is graph
    assert fz.FrozenFunctionGraph.parse(str(graph)) is graph
    assert pickle.loads(pickle.dumps(graph)) is graph
    assert copy.deepcopy(Run(graph)) is Run(graph)
    assert pickle.loads(pickle.dumps(Run(graph))) is Run(graph)
    assert graph.unfreeze().freeze() is graph
    with fz.Container():
        there = pickle.loads(pickle.dumps(graph))
        assert there.digest == graph.digest
        assert str(there) == str(graph)
        assert Run(there) is Run(graph)


@given(nested, st.randoms(use_true_random=False))
def test_altered_bytes_give_the_graph_or_an_error(graph, rng):
    stream = bytearray(graph.to_bytes())
    for _ in range(rng.randint(1, 3)):
        stream[rng.randrange(len(stream))] ^= 1 << rng.randrange(8)
    del stream[len(stream) - rng.choice([0, 0, 1, 9]) :]
    try:
        assert fz.FrozenFunctionGraph.from_bytes(bytes(stream)) is graph
    except ValueError:
        return


@given(nested, st.randoms(use_true_random=False))
def test_altered_text_gives_a_graph_or_an_error(graph, rng):
    words = str(graph).split(" ")
    at = rng.randrange(len(words))
    words[at] = rng.choice(["", "graph", "inner", "%0", "*9", "return", words[at - 1]])
    try:
        made = fz.FrozenFunctionGraph.parse(" ".join(words))
        assert fz.FrozenFunctionGraph.parse(str(made)) is made
    except (ValueError, TypeError, fz.MissingInputError):
        return


def test_the_text_names_inner_graphs():
    x = ft.dvector("x")
    inner = fz.FrozenFunctionGraph([x], [ft.exp(x)])
    outer = fz.FrozenFunctionGraph([x], [Run(inner)(x) + x])
    lines = str(outer).splitlines()
    assert [line.split(" = ")[0] for line in lines if " = " in line][:2] == ["exp", "inner"]
    assert any(line.endswith("terms.Run [graph inner]") for line in lines)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Run = terms.Run [graph inner]\ngraph\nreturn", "no graph inner is defined above"),
        ("g = graph\nreturn\ng = graph\nreturn\ngraph\nreturn", "g is defined twice"),
        ("g = graph\nreturn %3\ngraph\nreturn", "does not exist"),
        ("g = graph\nreturn", "expected the name of an op, or `graph`"),
    ],
)
def test_texts_that_define_graphs_badly_are_errors(text, message):
    with pytest.raises(ValueError, match=message):
        fz.FrozenFunctionGraph.parse(text)


def test_another_process_makes_the_same_graph():
    steps = [("exp", 0, 0), ("fresh", 3, 0), ("mul", 3, 4)]
    graph = nest([steps, steps, [*steps, ("two", 0, 0)]])
    script = (
        "import pickle, sys\n"
        "from terms import Run\n"
        "op = pickle.load(sys.stdin.buffer)\n"
        "assert pickle.loads(pickle.dumps(op)) is op and Run(op.fgraph) is op\n"
        "print(op.digest, op.fgraph, sep='\\n', end='')\n"
    )
    digest, text = read_elsewhere(Run(graph), script).split("\n", 1)
    assert digest == Run(graph).digest
    assert text == str(graph)


def test_a_node_keeps_its_op_and_nothing_else_does():
    x = ft.dvector("x")
    before = settled_count()
    y = Run(fz.FrozenFunctionGraph([x], [ft.exp(x) * 3.5]))(x)
    gc.collect()
    op = y.owner.op
    assert isinstance(op, Run)
    assert op is y.owner.op is Run(op.fgraph)
    assert op.fgraph.inputs[0].type == x.type
    (gone,) = [weakref.ref(op)]
    del op
    gc.collect()
    assert gone() is None
    assert y.owner.op.fgraph is y.owner.op.fgraph
    del y
    assert settled_count() == before


def test_nothing_stays_of_many_ops():
    x = ft.dvector("x")
    before = settled_count()
    for round_ in range(30):
        y = x
        for at in range(20):
            y = Run(fz.FrozenFunctionGraph([x], [ft.exp(x) * (round_ * 20.5 + at)]))(y)
        graph = fz.FrozenFunctionGraph([x], [y])
        assert len(graph.toposort()) == 20
        del y, graph
        assert settled_count() == before


def test_graphs_nest_so_deep_and_no_deeper():
    before = settled_count()
    x = ft.dvector("x")
    graph = fz.FrozenFunctionGraph([x], [ft.exp(x)])
    for _ in range(MOST_NESTED):
        graph = fz.FrozenFunctionGraph([x], [Run(graph)(x)])
    assert fz.FrozenFunctionGraph.from_bytes(graph.to_bytes()) is graph
    assert fz.FrozenFunctionGraph.parse(str(graph)) is graph
    with pytest.raises(ValueError, match="nests graphs 33 deep, at most 32 are allowed"):
        fz.FrozenFunctionGraph([x], [Run(graph)(x)])
    del graph, x
    assert settled_count() == before


def test_an_inner_op_of_this_process_alone_is_named():
    @dataclass(frozen=True, eq=False)
    class Local(fz.Op):
        def make_node(self, x):
            return fz.FrozenApply(self, [x], [x.type])

    x = ft.dvector("x")
    inner = fz.FrozenFunctionGraph([x], [Local()(x)])
    outer = fz.FrozenFunctionGraph([x], [Run(inner)(x)])
    with pytest.raises(pickle.PicklingError, match=r"^Local cannot be persisted"):
        pickle.dumps(outer)


@pytest.mark.parametrize("mode", MODES)
def test_an_op_with_a_graph_runs(mode):
    x, y = ft.dvector("x"), ft.dvector("y")
    inner = fz.FrozenFunctionGraph([x, y], [x * y, x - y])
    product, difference = Run(inner)(x + 1.0, y)
    run = fz.function([x, y], product + difference, mode=mode)
    a, b = np.array([1.0, -2.0]), np.array([0.5, 3.0])
    np.testing.assert_allclose(run(a, b), (a + 1) * b + (a + 1 - b))


def test_threads_make_one_op():
    recipe = [
        (random.Random(at).choice(["add", "mul", "exp", "fresh"]), at * 7, at * 13)
        for at in range(20)
    ]
    made, start = [], threading.Barrier(8)

    def work():
        start.wait()
        for _ in range(20):
            op = Run(nest([recipe, recipe]))
        made.append(op)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 8
    assert len(set(map(id, made))) == 1


def test_a_parameter_of_another_kind_is_refused():
    @dataclass(frozen=True, eq=False)
    class Holds(fz.Op):
        what: object

    for other in (fz.FunctionGraph([], []), [1], ("a", [1]), {}, {1}, np.zeros(2), object()):
        with pytest.raises(TypeError, match="parameter what of Holds is of <class"):
            Holds(other)
    with pytest.raises(OverflowError, match=f"must fit in 64 bits, given {2**70}"):
        Holds(2**70)
    x = ft.dvector("x")
    graph = fz.FrozenFunctionGraph([x], [x])
    assert Holds((1, graph)) is Holds((1, graph))
    assert Holds((1, graph)) is not Holds((2, graph))


def held(value):
    """The ops that a graph, an op or a tuple of parameters holds, at any depth."""
    if isinstance(value, fz.FrozenFunctionGraph):
        return {one for node in value.toposort() for one in held(node.op)}
    if isinstance(value, tuple):
        return {one for own in value for one in held(own)}
    return {value} | held(value._params()) if isinstance(value, fz.Op) else set()


@given(nested, st.booleans())
def test_kinds_are_the_classes_of_all_ops(graph, in_scan):
    if in_scan:
        own = roots()
        rows, _ = fz.scan(lambda a: ft.exp(Run(graph)(a, *own[1:])[0]), None, own[0], n_steps=2)
        graph = fz.FrozenFunctionGraph(own, [rows])
    classes = {type(op) for op in held(graph)}
    assert sorted(graph.kinds()) == sorted(f"{c.__module__}.{c.__qualname__}" for c in classes)
