"""Segments: what linkers cut a graph into, and what is in the container for it."""

import gc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import evaluate
from segmented_graphs import RECIPES, build

import frazil as fz
import frazil.tensor as ft
from frazil.link import compiled_kernels
from frazil.link.fusion.fused_loop import FusedLoop
from frazil.link.fusion.registry import find_fusion
from frazil.link.fusion.segments import Segmentation
from frazil.link.fusion.views import REPEATED

LINKERS = ["c", "cranelift", "numba", "py", "debug"]
linkers = st.sampled_from(LINKERS)


def is_length(x):
    return x.ndim == 0 and x.dtype == "int64"


def run(segments, given):
    """The values of variables after the segments have run, each given only what it asks for."""
    known = dict(given)
    for segment in segments:
        values = {}
        for x in segment.inputs:
            # What only gives lengths is in no segment: it is evaluated for all of them.
            assert x in known or is_length(x), x
            values[x] = known[x] if x in known else evaluate(x, given)
        for node in segment.toposort():
            operands = [x.data if isinstance(x, fz.Constant) else values[x] for x in node.inputs]
            values.update(zip(node.outputs, node.op.perform(node, operands), strict=True))
        known.update((x, values[x]) for x in segment.outputs)
    return known


@given(recipe=RECIPES, linker=linkers, frozen=st.booleans())
def test_segments_one_after_the_other_compute_the_graph(recipe, linker, frozen):
    inputs, outputs = build(recipe)
    graph = (fz.FrozenFunctionGraph if frozen else fz.FunctionGraph)(inputs, outputs)
    rng = np.random.default_rng(0)
    given_values = dict(zip(graph.inputs, rng.normal(size=(2, 3, 4)), strict=True))
    segments = graph.segment(linker)
    known = run(segments, given_values)
    for output in graph.outputs:
        np.testing.assert_allclose(known[output], evaluate(output, given_values), rtol=1e-10)
    nodes = set(graph.toposort())
    for segment in segments:
        assert isinstance(segment, fz.FunctionGraph)
        assert segment.container is graph.container
        assert nodes.issuperset(segment.nodes())


@given(recipe=RECIPES, linker=linkers)
@settings(max_examples=settings.default.max_examples // 6)  # four collections each
def test_segments_hold_no_nodes_of_their_own(recipe, linker):
    container = fz.Container()
    with container:
        inputs, outputs = build(recipe)
        graph = fz.FunctionGraph(inputs, outputs)
    del inputs, outputs
    gc.collect()
    before = container.stats().nodes
    segments = graph.segment(linker)
    gc.collect()
    kept = [
        length for node in graph.toposort() for own in node.lengths or () for length in own or ()
    ]
    for length in kept:
        kept += [] if length.owner is None else length.owner.inputs
    after = container.stats().nodes
    assert after <= before + len(set(kept)), "there is more than lengths and what they are made of"
    again = graph.segment(linker)
    gc.collect()
    assert container.stats().nodes == after
    assert len(again) == len(segments)
    del again
    gc.collect()
    assert len(container.graphs()) == len(segments) + 1


def waves(n):
    x = ft.dvector("x")
    y = x
    for k in range(n):
        y = ft.sin(y) * (1.0 + k) if k % 10 else y / (1.0 + y.sum())
    return fz.FrozenFunctionGraph([x], [y])


@pytest.mark.parametrize("linker", LINKERS)
def test_any_number_of_segments_over_one_set_of_nodes(linker):
    container = fz.Container()
    seen = []
    with container:
        for n in (20, 200, 1000):
            graph = waves(n)
            gc.collect()
            before = container.stats().nodes
            segments = graph.segment(linker)
            after = container.stats().nodes
            seen.append(len(segments))
            assert before >= 2 * n
            assert after <= before + 1  # the length of x
    assert seen[0] < seen[1] < seen[2]
    assert seen[1] >= 20


@given(recipe=RECIPES, linker=linkers)
def test_order_of_construction_changes_no_segment(recipe, linker):
    made = []
    for backwards in (False, True):
        with fz.Container():
            inputs, outputs = build(recipe)
            if backwards:
                # The same nodes, born in another order.
                graph = fz.FrozenFunctionGraph(inputs, outputs)
                nodes = graph.toposort()
                with fz.Container():
                    renewed = [x.type(x.name) for x in graph.inputs]
                    for node in reversed(nodes):
                        fz.FrozenFunctionGraph(graph.inputs, node.outputs).bind(renewed)
                    graph = fz.FunctionGraph(renewed, graph.bind(renewed))
            else:
                graph = fz.FunctionGraph(inputs, outputs)
        made.append([segment.freeze().digest for segment in graph.segment(linker)])
    assert made[0] == made[1]


@settings(max_examples=20)
@given(recipe=RECIPES, mode=st.sampled_from(["c", "py", "debug"]))
def test_functions_run_the_segments_of_their_graph(recipe, mode):
    inputs, outputs = build(recipe)
    f = fz.function(inputs, outputs, mode=mode, on_unused_input="ignore")
    explained = f.explain().segments
    segments = f.optimized.segment(mode)
    assert len(segments) == len(explained)
    for segment, told in zip(segments, explained, strict=True):
        assert set(told.nodes) <= set(segment.nodes())
        assert {x.owner for x in segment.outputs} <= set(told.nodes)
    loops = {
        segment.freeze(): told.kernel
        for segment, told in zip(segments, explained, strict=True)
        if told.kernel is not None
    }
    for segment, told in zip(segments, explained, strict=True):
        assert loops.get(segment.freeze()) == told.kernel


@pytest.mark.parametrize("mode", ["c", "cranelift", "numba"])
def test_equal_segments_compile_once(mode, monkeypatch):
    monkeypatch.setenv("FRAZIL_CACHE", "off")

    def step(x, y):
        return ft.tanh(x) * 1.25 + y / 3.5

    x, y = ft.dvector("x"), ft.dvector("y")
    apart = fz.function([x], [step(x, x * 0.0), ft.softmax(x, axis=-1)], mode=mode)
    start = compiled_kernels()[mode]
    # Sums keep the steps apart.
    outputs = [x]
    for _ in range(5):
        outputs.append(step(outputs[-1] / outputs[-1].sum(), y))
    f = fz.function([x, y], outputs[1:], mode=mode)
    segments = f.optimized.segment(mode)
    different = len({segment.freeze() for segment in segments})
    made = compiled_kernels()[mode] - start
    assert f.explain().kernels <= different < len(segments)
    assert made <= f.explain().kernels
    # Across graphs: another function, of which each segment is known.
    z, w = ft.dvector("z"), ft.dvector("w")
    start = compiled_kernels()[mode]
    again = [z]
    for _ in range(3):
        again.append(step(again[-1] / again[-1].sum(), w))
    g = fz.function([w, z], [*again[1:], w], mode=mode)
    known = {segment.freeze() for segment in segments}
    unknown = {s.freeze() for s in g.optimized.segment(mode)} - known
    assert compiled_kernels()[mode] - start <= len(unknown) <= 1
    assert g.fgraph != f.fgraph
    del apart


@pytest.mark.parametrize("mode", ["c", "cranelift", "numba"])
def test_kernels_are_not_kept_for_functions_that_are_gone(mode, monkeypatch):
    monkeypatch.setenv("FRAZIL_CACHE", "off")
    x = ft.dvector("x")
    y = ft.tanh(x) * 0.987654
    start = compiled_kernels()[mode]
    for expected in (1, 2):
        f = fz.function([x], y, mode=mode)
        assert compiled_kernels()[mode] - start == expected
        del f
        gc.collect()


@pytest.mark.parametrize("linker", LINKERS)
def test_a_graph_over_intermediate_variables_ends_there(linker):
    x, y = ft.dmatrix("x"), ft.dvector("y")
    row, total = ft.exp(y)[None, :], ft.tanh(x)
    n = x.shape[0] * 2
    graph = fz.FunctionGraph([total, row, n], [total * row + ft.zeros((n, 1))])
    segments = graph.segment(linker)
    own = {node for segment in segments for node in segment.nodes()}
    assert own <= set(graph.nodes())
    inputs = {x for segment in segments for x in segment.inputs}
    made = {x for segment in segments for x in segment.outputs}
    assert {total, row} <= inputs
    assert inputs - made <= {total, row, n}


@pytest.mark.parametrize("linker", LINKERS)
def test_lengths_are_shared_by_all_segments(linker):
    x, y = ft.dmatrix("x"), ft.dvector("y")
    n = x.shape[0] * 2
    a = ft.broadcast_to(y.sum(), (n,)) + 1.0
    graph = fz.FunctionGraph([x, y], [a * 2.0, ft.cumsum(a * 2.0) / a.sum()])
    lengths = {s for segment in graph.segment(linker) for s in segment.inputs if is_length(s)}
    assert lengths <= {n, *(node.outputs[0] for node in graph.nodes())}
    assert n in lengths


@given(recipe=RECIPES, linker=st.sampled_from(["c", "cranelift", "numba", "debug"]))
def test_a_loop_makes_what_it_reads_or_finds_it_in_memory(recipe, linker):
    inputs, outputs = build(recipe)
    cut = Segmentation(fz.FunctionGraph(inputs, outputs), find_fusion(linker))
    in_memory = {*inputs}
    for part in cut.segments:
        if isinstance(part.task, FusedLoop):
            loop, body = part.task, part.task.body
            rank = len([n for n in loop.domain.type.shape if n != 1])
            assert loop.row_nodes < {*loop.nodes}
            assert loop.row_values <= {node.outputs[0] for node in loop.nodes}
            assert [*body.own] == sorted(body.own)
            for base, axes in body.reads:
                assert len(axes) == rank
                assert {*axes} <= {REPEATED, *range(base.ndim)}
                assert isinstance(base, fz.Constant) or is_length(base) or base in in_memory
            for step, (kind, operands) in enumerate(zip(body.kinds, body.operands, strict=True)):
                assert len(operands) == len(cut.kinds[kind].operands)
                leaves = [2 * len(body.literals), 2 * len(body.reads) - 1]
                assert all(-leaves[k % 2] <= k < step for k in operands)
            steps = dict(zip(body.own, loop.nodes, strict=True))
            assert {x for _, x, _ in body.stored} == {*part.outputs}
            assert all(x in steps[step].outputs for step, x, _ in body.stored)
        in_memory.update(part.outputs)


def test_every_length_operand_beneath_a_loop_is_an_input_of_its_segment():
    x, s = ft.matrix("x"), ft.scalar("s")
    graph = fz.FunctionGraph([x, s], [ft.exp(ft.broadcast_to(s, x.shape)) * 2])
    (loop,) = graph.segment("c")
    assert {str(y) for y in loop.inputs} == {"s", "Shape_i{0}.out", "Shape_i{1}.out"}


def test_what_nothing_needs_is_in_no_segment():
    x = ft.dvector("x")
    y = ft.exp(x)
    graph = fz.FunctionGraph([x], [ft.zeros(y.shape) + x])
    nodes = {node for segment in graph.segment("c") for node in segment.nodes()}
    assert y.owner in graph.nodes()
    assert y.owner not in nodes
    assert y.owner in {node for segment in graph.segment("py") for node in segment.nodes()}


@pytest.mark.parametrize("linker", LINKERS)
def test_graphs_of_one_node_and_of_none(linker):
    x = ft.dvector("x")
    assert fz.FunctionGraph([x], [x]).segment(linker) == ()
    assert fz.FunctionGraph([], []).segment(linker) == ()
    assert fz.FunctionGraph([], [ft.constant(2.0)]).segment(linker) == ()
    (only,) = fz.FunctionGraph([x], [ft.exp(x)]).segment(linker)
    assert (only.inputs, only.outputs) == ((x,), (ft.exp(x),))
