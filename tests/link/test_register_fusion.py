"""What linkers fuse, as backends register it."""

import gc
import weakref

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from segmented_graphs import RECIPES, build

import frazil as fz
import frazil.tensor as ft
from frazil.compile import register_linker
from frazil.link import compiled_kernels, register_fusion
from frazil.link.c import CCompiler
from frazil.link.fusion.registry import LoweredOps, find_fusion
from frazil.link.linkers.native import NativeLinker
from frazil.scalar import Composite, add, exp, tanh
from frazil.scalar.elemwise import Elemwise


def sizes(graph, linker):
    return [len(segment.nodes()) for segment in graph.segment(linker)]


def test_a_linker_that_registered_nothing_is_named_with_those_that_did():
    x = ft.dvector("x")
    with pytest.raises(ValueError, match=r"'tpu' has registered.*'c', .*'numba', .*'py'"):
        fz.FunctionGraph([x], [x + 1]).segment("tpu")
    with pytest.raises(TypeError, match="name of a linker"):
        register_fusion(CCompiler)


def test_a_name_is_registered_once():
    @register_fusion("registered_once")
    class One:
        statement_limit = 3

        def fuses(self, node):
            return True

    register_fusion("registered_once")(One)  # a cell that runs twice
    with pytest.raises(ValueError, match=r"registered already, by .*One; give"):

        @register_fusion("registered_once")
        class Other(One):
            pass

    assert find_fusion("registered_once").statement_limit == 3


@settings(max_examples=settings.default.max_examples // 3)
@given(recipe=RECIPES, limit=st.integers(1, 6))
def test_fusion_of_ones_own_is_kept_to(recipe, limit):
    class Own:
        statement_limit = limit

        def fuses(self, node):
            return isinstance(node.op, Elemwise) and node.op.scalar_op is not tanh

    own = Own()
    compiler = CCompiler()
    inputs, outputs = build(recipe)
    graph = fz.FrozenFunctionGraph(inputs, outputs)
    linker = NativeLinker(compiler, own)
    program = linker.compile(graph)
    loops = [line for line in program.instructions if " = loop " in line]
    known = {origin.nodes for origin in program.origins}
    # A check of lengths before a loop names one of its nodes.
    origins = [nodes for nodes in known if not any({*nodes} < {*other} for other in known)]
    assert all(len(nodes) <= limit for nodes in origins)
    alone = [nodes for nodes in origins if not all(own.fuses(node) for node in nodes)]
    assert all(len(nodes) == 1 for nodes in alone)
    assert len(loops) + len(alone) == len(origins)


def test_an_op_is_asked_for_once_for_its_dtypes():
    asked = []

    def lowers(op, operands, result):
        asked.append((op, tuple(operands), result))
        return op is not tanh

    fusion = LoweredOps(lowers, 100)
    name = "asks_once"
    register_fusion(name)(lambda: fusion)
    for kind in (ft.dvector, ft.fvector, ft.dvector, ft.dmatrix):
        x = kind("x")
        graph = fz.FunctionGraph([x], [ft.tanh(ft.exp(x) + x) + x])
        assert sizes(graph, name) == [2, 1, 1]
    assert len(asked) == len(set(asked)) == 6
    assert (exp, ("float64",), "float64") in asked
    assert (add, ("float32", "float32"), "float32") in asked


def test_answers_keep_no_op_alive():
    fusion = LoweredOps(CCompiler.lowers, 100)
    a = ft.dscalar("a")
    op = Composite(fz.FrozenFunctionGraph([a], [ft.exp(a) * 3.25 - 1.75]))
    x = ft.dvector("x")
    assert not fusion.fuses(op(x).owner)
    kept = weakref.ref(op)
    del op, a
    gc.collect()
    assert kept() is None


def test_a_fusion_is_asked_once_for_nodes_of_the_same_op_and_types():
    asked = []

    @register_fusion("asked_once")
    class Asked:
        statement_limit = 100

        def fuses(self, node):
            asked.append((node.op, *(x.type for x in (*node.inputs, *node.outputs))))
            return True

    x, m = ft.dvector("x"), ft.dmatrix("m")
    y = x
    for k in range(5):
        y = ft.sin(y) * (k + 0.5)
    parts = fz.FunctionGraph([x, m], [y + ft.sin(m)]).segment("asked_once")
    assert sum(len(part.nodes()) for part in parts) == 12
    assert len(asked) == len(set(asked)) == 4


def test_py_never_fuses_and_debug_has_a_kernel_a_node():
    x = ft.dvector("x")
    graph = fz.FunctionGraph([x], [(ft.exp(x) + x[:1].sum()).sum()])
    assert sizes(graph, "py") == [1] * len(graph.nodes())
    assert sizes(graph, "debug") == [1] * len(graph.nodes())
    assert sizes(graph, "c") == sizes(graph, "numba")
    assert max(sizes(graph, "c")) > 1


def test_a_linker_that_has_loops_fuses_something():
    with pytest.raises(ValueError, match="statement_limit is 0"):
        NativeLinker(CCompiler(), find_fusion("py"))


def test_a_composite_leaves_the_loop_only_where_it_must():
    a = ft.dscalar("a")
    op = Composite(fz.FrozenFunctionGraph([a], [ft.exp(a), ft.sin(a)]))
    x = ft.dvector("x")
    first, second = op(x * 2.0)
    graph = fz.FunctionGraph([x], [first + second])
    assert sizes(graph, "c") == [1, 1, 1]
    f = fz.function([x], first + second, mode="c")
    assert sizes(f.optimized, "c") == [4]
    value = np.linspace(-1, 1, 5)
    np.testing.assert_allclose(f(value), np.exp(2 * value) + np.sin(2 * value))


class OwnCompiler(CCompiler):
    name = "own_linker"


@register_fusion("own_linker")
class OwnFusion:
    statement_limit = 2

    def fuses(self, node):
        return isinstance(node.op, Elemwise)


@register_linker("own_linker")
def own_linker():
    return NativeLinker(OwnCompiler())


def test_a_linker_of_ones_own_is_a_mode():
    x = ft.dvector("x")
    y = ft.exp(ft.tanh(ft.sin(x) / 3.5)).sum()
    start = compiled_kernels()["own_linker"]
    f = fz.function([x], y, mode="own_linker")
    assert f.mode == "own_linker"
    told = f.explain()
    assert told.linker == "own_linker"
    assert max(len(part.nodes) for part in told.segments) == 2
    assert len(told.segments) == len(f.optimized.segment("own_linker"))
    assert sum(part.kernel is not None for part in told.segments) == 2
    assert compiled_kernels()["own_linker"] - start <= 2
    value = np.linspace(0, 1, 4)
    np.testing.assert_allclose(f(value), np.exp(np.tanh(np.sin(value) / 3.5)).sum())
    with pytest.raises(ValueError, match="linker 'own_linker' already"):
        register_linker("own_linker")(own_linker)


def test_a_linker_that_lacks_something_is_not_available():
    register_linker("lacking")(lambda: None)
    x = ft.dvector("x")
    with pytest.raises(RuntimeError, match="'lacking' is not available here"):
        fz.function([x], x + 1, mode="lacking")
