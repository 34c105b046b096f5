"""Frozen graphs: one object for isomorphic graphs, bound, unfrozen, copied, pickled, printed."""

import copy
import gc
import pickle
import random
import sys
import threading
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from terms import Fresh, Update, build, canonical, read_elsewhere, recipes, roots, terms

import frazil as fz
import frazil.tensor as ft


def freeze(recipe, outputs=2, dedup_nodes=False):
    inputs = roots()
    made = build(inputs, recipe)
    return fz.FunctionGraph(inputs, made[-outputs:]).freeze(dedup_nodes=dedup_nodes)


@given(recipes(5), recipes(5), st.booleans())
def test_graphs_are_one_object_exactly_if_they_are_isomorphic(one, other, fold):
    a, b = freeze(one, dedup_nodes=fold), freeze(other, dedup_nodes=fold)
    assert freeze(one, dedup_nodes=fold) is a
    same = canonical(terms(one)[-2:], fold) == canonical(terms(other)[-2:], fold)
    assert (a is b) == (a == b) == (a.digest == b.digest) == same
    assert not same or hash(a) == hash(b)


@given(recipes(), st.randoms(use_true_random=False))
def test_the_order_of_building_does_not_matter(recipe, rng):
    first = freeze(recipe)
    inputs = roots()
    made = dict(enumerate(inputs))
    left = list(enumerate(recipe, len(inputs)))
    while left:
        # Any step whose operands are there may be next.
        ready = [(at, step) for at, step in left if step[1] % at in made and step[2] % at in made]
        at, step = rng.choice(ready)
        left.remove((at, step))
        (made[at],) = build([made[step[1] % at], made[step[2] % at]], [(step[0], 0, 1)])[2:]
    count = len(inputs) + len(recipe)
    outputs = [made[at] for at in range(count)][-2:]
    assert fz.FrozenFunctionGraph(inputs, outputs) is first


@given(recipes())
def test_what_comes_back_is_the_same_object(recipe):
    graph = freeze(recipe)
    assert graph.unfreeze().freeze() is graph
    inputs = roots()
    assert fz.FrozenFunctionGraph(inputs, graph.bind(inputs)) is graph
    by_name = dict(zip(graph.inputs, inputs, strict=True))
    assert fz.FrozenFunctionGraph(inputs, graph.bind(by_name)) is graph
    assert copy.copy(graph) is graph
    assert copy.deepcopy([graph])[0] is graph
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(graph, protocol)) is graph
    assert fz.FrozenFunctionGraph.parse(str(graph)) is graph
    assert fz.FrozenFunctionGraph.from_bytes(graph.to_bytes()) is graph


@given(recipes())
def test_other_containers_hold_graphs_with_the_same_digest(recipe):
    graph = freeze(recipe)
    container = fz.Container()
    with container:
        other = freeze(recipe)
        assert pickle.loads(pickle.dumps(graph)) is other
        assert fz.FrozenFunctionGraph.parse(str(graph)) is other
    assert other is not graph
    assert other.digest == graph.digest
    assert other.container is container


def test_distinct_nodes_are_counted():
    x = ft.dscalar("x")
    e = ft.exp(x)
    assert freeze_of([x], e + e) is freeze_of([x], ft.exp(x) + ft.exp(x))
    f = Fresh()(x)
    one, two = f + f, f + Fresh()(x)
    assert freeze_of([x], one) is not freeze_of([x], two)
    assert freeze_of([x], two) is freeze_of([x], Fresh()(x) + Fresh()(x))
    folded = fz.FunctionGraph([x], [two]).freeze(dedup_nodes=True)
    assert folded is freeze_of([x], one)


def freeze_of(inputs, *outputs):
    return fz.FrozenFunctionGraph(inputs, outputs)


def test_bindings_have_buffers_of_their_own():
    x = ft.dscalar("x")
    graph = freeze_of([x], Fresh()(x))
    assert graph.bind([x])[0] is not graph.bind([x])[0]


def test_folding_a_destroyed_buffer_is_refused():
    x, y = ft.dscalar("x"), ft.dscalar("y")
    a, b = Fresh()(x), Fresh()(x)
    graph = fz.FunctionGraph([x, y], [Update()(a, y), ft.exp(b)])
    with pytest.raises(ValueError, match="stands for several distinct buffers"):
        graph.freeze(dedup_nodes=True)
    order = [node.op for node in graph.freeze().toposort()]
    assert order.count(Fresh()) == 2


def test_a_destroyer_runs_last():
    x, y = ft.dscalar("x"), ft.dscalar("y")
    a = Fresh()(x)
    graph = freeze_of([x, y], Update()(a, y), ft.exp(a))
    assert graph.toposort()[-1].op is Update()
    destroyer, readers = next(iter(graph.unfreeze().orderings().items()))
    assert destroyer.op is Update()
    assert [str(node.op) for node in readers] == ["exp"]
    with pytest.raises(fz.InconsistencyError):
        freeze_of([x, y], Update()(a, y), Update()(a, x))


def test_inputs_are_checked():
    x, y = ft.dscalar("x"), ft.dscalar("y")
    with pytest.raises(fz.MissingInputError, match="needs input y of type float64"):
        freeze_of([x], x + y)
    with pytest.raises(ValueError, match="x is listed twice"):
        freeze_of([x, x], x)
    with pytest.raises(TypeError, match="cannot be an input"):
        freeze_of([ft.constant(1.0)], x)
    with pytest.raises(TypeError, match="expected a Variable"):
        freeze_of(["x"], x)
    assert freeze_of([x, y], x) is not freeze_of([x], x)


def test_binding_names_what_is_missing():
    x, y = ft.dscalar("x"), ft.dscalar("y")
    graph = freeze_of([x, y], x + y)
    with pytest.raises(KeyError, match=r"\*1"):
        graph.bind({graph.inputs[0]: x})
    with pytest.raises(KeyError, match=r"\*1"):
        graph.bind([x])
    with pytest.raises(KeyError, match="not in the graph"):
        graph.bind({**dict.fromkeys(graph.inputs, x), x: y})
    with pytest.raises(ValueError, match="3 values"):
        graph.bind([x, y, x])
    with pytest.raises(TypeError, match="value of input 1"):
        graph.bind([x, ft.lscalar()])
    assert graph.bind([x, y]) == [x + y]


def test_expressions_and_constants_are_lifted_by_structure():
    x, a, b = ft.dscalar("x"), ft.dscalar("a"), ft.dscalar("b")
    graph = fz.FrozenFunctionGraph.from_structural_inputs(
        [ft.exp(x), ft.constant(2.0), x], [ft.exp(x) * 2.0 + x]
    )
    assert graph is freeze_of([a, b, x], a * b + x)


def test_nothing_can_be_set():
    x = ft.dscalar("x")
    for thing in (freeze_of([x], x + x), (x + x).owner, x + x):
        with pytest.raises(AttributeError):
            thing.anything = 1
        with pytest.raises(AttributeError):
            thing.outputs = ()


def test_a_long_chain_is_pickled():
    x = ft.dscalar("x")
    chain = x
    for _ in range(200_000):
        chain = chain + x
    graph = freeze_of([x], chain)
    assert pickle.loads(pickle.dumps(graph)) is graph


def test_pickles_mean_the_same_in_another_process():
    x = ft.matrix("x")
    graph = freeze_of([x], Fresh()(ft.exp(x)).sum(axis=0) + np.float32(2), Fresh()(x))
    script = (
        "import pickle, sys\n"
        "graph = pickle.load(sys.stdin.buffer)\n"
        "assert graph.unfreeze().freeze() is graph\n"
        "print(graph.digest)\n"
        "print(graph, end='')\n"
    )
    digest, text = read_elsewhere(graph, script).split("\n", 1)
    assert digest == graph.digest
    assert text == str(graph)


def test_an_op_of_this_process_alone_says_so_when_pickled():
    @dataclass(frozen=True, eq=False)
    class Local(fz.Op):
        def make_node(self, x):
            return fz.FrozenApply(self, [x], [x.type])

    x = ft.dscalar("x")
    graph = freeze_of([x], Local()(x))
    with pytest.raises(pickle.PicklingError, match="Local cannot be persisted"):
        pickle.dumps(graph)
    # Within the process its text names it.
    assert fz.FrozenFunctionGraph.parse(str(graph)) is graph


@given(recipes(4), st.integers(0), st.integers(0, 7))
def test_altered_pickles_are_refused(recipe, at, bit):
    graph = freeze(recipe)
    data = bytearray(graph.to_bytes())
    data[at % len(data)] ^= 1 << bit
    try:
        altered = fz.FrozenFunctionGraph.from_bytes(bytes(data))
    except ValueError:
        pass
    else:
        assert altered is graph
    load, (data,) = graph.__reduce__()
    with pytest.raises(pickle.UnpicklingError, match="no graph"):
        load(data[: at % len(data)])


@given(recipes(4), st.integers(0), st.characters())
def test_altered_text_is_refused_or_a_graph(recipe, at, character):
    text = str(freeze(recipe))
    at %= len(text)
    try:
        graph = fz.FrozenFunctionGraph.parse(text[:at] + character + text[at + 1 :])
    except ValueError:
        return
    assert fz.FrozenFunctionGraph.parse(str(graph)) is graph


@given(st.text())
def test_no_text_or_bytes_do_harm(text):
    with pytest.raises(ValueError, match=r"line|graph|op"):
        fz.FrozenFunctionGraph.parse(text)
    with pytest.raises(ValueError, match="no graph"):
        fz.FrozenFunctionGraph.from_bytes(text.encode())


def test_text_calls_nothing_but_ops():
    for kind in ("os.system", "builtins.print", "subprocess.Popen", "terms.build"):
        with pytest.raises(ValueError, match="no op"):
            fz.FrozenFunctionGraph.parse(f'f = {kind} ["true"]\ngraph\nreturn')
    # Nor does it import.
    with pytest.raises(ValueError, match="no op"):
        fz.FrozenFunctionGraph.parse("f = antigravity.fly []\ngraph\nreturn")
    assert "antigravity" not in sys.modules


def test_threads_freeze_to_one_object():
    recipe = [
        (random.Random(at).choice(["add", "mul", "exp", "fresh"]), at * 7, at * 13)
        for at in range(60)
    ]
    barrier = threading.Barrier(8)
    found = []

    def work():
        barrier.wait()
        for _ in range(20):
            freeze(recipe)
        found.append(freeze(recipe))

    before = fz.Container.default().stats().nodes
    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert all(graph is found[0] for graph in found)
    found.clear()
    gc.collect()
    assert fz.Container.default().stats().nodes <= before + 1


@pytest.mark.parametrize("start", ["nowhere", "frazil", "os"])
def test_an_op_name_of_many_parts_is_refused_at_once(start, monkeypatch):
    """No module is sought beyond the first that is not there."""
    imported = []
    monkeypatch.setattr(
        "builtins.__import__",
        lambda name, *rest, real=__import__: imported.append(name) or real(name, *rest),
    )
    kind = ".".join([start, *["nothing"] * 20_000])
    with pytest.raises(ValueError, match="nothing"):
        fz.FrozenFunctionGraph.parse(f"f = {kind} []\ngraph\nreturn")
    x = ft.dvector("x")
    graph = fz.FrozenFunctionGraph([x], [ft.exp(x)])
    rebuild, (data, *rest) = graph.__reduce__()
    name = b"frazil.scalar.elemwise.Elemwise"
    assert data.count(name) == 1
    at = data.index(name)
    assert data[at - 1] == len(name)
    size = len(kind)
    length = bytes([size & 127 | 128, size >> 7 & 127 | 128, size >> 14])
    imported.clear()
    with pytest.raises(pickle.UnpicklingError, match="nothing"):
        rebuild(data[: at - 1] + length + kind.encode() + data[at + len(name) :], *rest)
    assert len(imported) <= 5
