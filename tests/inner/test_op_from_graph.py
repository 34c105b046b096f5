"""OpFromGraph: a graph as an op, compiled once, with gradients of its own where one wishes."""

import copy
import pickle
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import frazil as fz
import frazil.tensor as ft
from frazil.inner.inner_graph import compute
from frazil.inner.rebuild import expand_inline
from frazil.scalar import Composite
from frazil.testing import verify_grad

LINKERS = ["c", "cranelift", "numba", "py", "debug"]
X, Y = ft.vector("x"), ft.vector("y")
A, B = ft.vector("a"), ft.vector("b")


def bodies():
    """A body over two vectors: what it computes, from what was computed before."""
    operations = [
        lambda a, b: a + b,
        lambda a, b: a * ft.tanh(b),
        lambda a, b: ft.exp(-a * a) - b,
        lambda a, b: a * ft.sum(b),
        lambda a, b: a[::-1] + b,
        lambda a, b: a,
    ]
    steps = st.tuples(st.sampled_from(operations), st.integers(0, 9), st.integers(0, 9))
    return st.lists(steps, min_size=1, max_size=6)


def build(steps, inputs):
    made = list(inputs)
    for operation, first, second in steps:
        made.append(operation(made[first % len(made)], made[second % len(made)]))
    return [made[-1], made[len(made) // 2]]


@settings(max_examples=30)
@given(bodies(), st.sampled_from(LINKERS), st.booleans())
def test_an_op_computes_what_its_graph_does(steps, linker, inline):
    op = fz.OpFromGraph([X, Y], build(steps, [X, Y]), inline=inline)
    inner = fz.OpFromGraph([X, Y], op(X * 2, Y)[:1])
    values = np.linspace(-1, 1, 5), np.linspace(0, 3, 5)
    plain = build(steps, [A + 1, B])
    applied = op(A + 1, B)
    nested = inner(A, B)
    wanted = build(steps, [A * 2, B])[0]
    f = fz.function([A, B], [*applied, nested], mode=linker, on_unused_input="ignore")
    g = fz.function([A, B], [*plain, wanted], mode="py", on_unused_input="ignore")
    for result, expected in zip(f(*values), g(*values), strict=True):
        np.testing.assert_allclose(result, expected, rtol=1e-12)


@settings(max_examples=20)
@given(bodies(), st.sampled_from(LINKERS))
def test_gradients_are_those_of_the_graph(steps, linker):
    op = fz.OpFromGraph([X, Y], build(steps, [X, Y]))

    def cost(outputs):
        return ft.sum(outputs[0] * ft.cos(outputs[1]))

    options = {"disconnected_inputs": "ignore"}
    ours = fz.grad(cost(op(A, B)), [A, B], **options)
    theirs = fz.grad(cost(build(steps, [A, B])), [A, B], **options)
    again = fz.grad(ft.sum(ours[0] * ours[1]), [A, B], **options)
    once = fz.grad(ft.sum(theirs[0] * theirs[1]), [A, B], **options)
    values = np.linspace(-1, 1, 5), np.linspace(0, 2, 5)
    f = fz.function([A, B], [*ours, *again], mode=linker, on_unused_input="ignore")
    g = fz.function([A, B], [*theirs, *once], mode="py", on_unused_input="ignore")
    for result, expected in zip(f(*values), g(*values), strict=True):
        np.testing.assert_allclose(result, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("linker", LINKERS)
def test_gradients_agree_with_finite_differences(linker):
    op = fz.OpFromGraph([X, Y], [ft.sum(ft.tanh(X) * Y), X * ft.exp(Y)])
    verify_grad(lambda a, b: op(a, b)[0] + ft.sum(op(b, a)[1]), [[0.1, 0.7], [0.2, -0.4]])


def test_built_alike_is_the_same_op():
    op = fz.OpFromGraph([X], [ft.exp(X) + 1])
    assert op is fz.OpFromGraph([A], [ft.exp(A) + 1])
    assert op is not fz.OpFromGraph([A], [ft.exp(A) + 1], inline=True)
    assert op is not fz.OpFromGraph([A], [ft.exp(A) + 1], name="other")
    assert op is not fz.OpFromGraph([A], [ft.exp(A) + 2])
    assert pickle.loads(pickle.dumps(op)) is op
    assert copy.deepcopy(op) is op
    graph = fz.FrozenFunctionGraph([A], [op(A * 2)])
    assert pickle.loads(pickle.dumps(graph)) == graph

    def slope(inputs, outputs, gradients):
        return [gradients[0] * 3]

    first = fz.OpFromGraph([X], [ft.exp(X)], lop_overrides=slope)
    second = fz.OpFromGraph([A], [ft.exp(A)], lop_overrides=lambda i, o, g: [g[0] * 3])
    assert first is second
    assert first is not fz.OpFromGraph([A], [ft.exp(A)], lop_overrides=lambda i, o, g: [g[0] * 4])
    assert pickle.loads(pickle.dumps(first)) is first


def test_two_hundred_uses_compile_the_body_once():
    op = fz.OpFromGraph([X], [ft.sum(ft.tanh(X) ** 2) * ft.sqrt(1 + X * X)])
    a = A
    for _ in range(200):
        a = op(a)
    cost = ft.sum(a)
    few = fz.grad(ft.sum(op(op(A))), A)
    for linker in ("c", "cranelift", "numba"):
        many_f = fz.function([A], fz.grad(cost, A), mode=linker)
        few_f = fz.function([A], few, mode=linker)
        bodies = sum(line.endswith(":") for line in many_f.program.instructions)
        assert bodies == sum(line.endswith(":") for line in few_f.program.instructions)
        assert len(many_f.program.kernels) == len(few_f.program.kernels)


def test_shared_variables_are_passed_along():
    w = fz.shared(np.array([1.0, 2.0]), name="w")
    op = fz.OpFromGraph([X], [X * w])
    assert op.shared_inputs == (w,)
    f = fz.function([A], [op(A), fz.grad(ft.sum(op(A) ** 2), w)])
    np.testing.assert_array_equal(f([3.0, 4.0])[0], [3.0, 8.0])
    np.testing.assert_array_equal(f([3.0, 4.0])[1], [18.0, 64.0])
    w.set_value(np.array([0.0, 1.0]))
    np.testing.assert_array_equal(f([3.0, 4.0])[0], [0.0, 4.0])


@pytest.mark.parametrize("linker", LINKERS)
def test_overrides_take_the_place_of_gradients(linker):
    op = fz.OpFromGraph(
        [X, Y],
        [X * Y, X + Y],
        lop_overrides=lambda i, o, g: [g[0] * i[1] * 10 + o[0], None],
    )
    cost = ft.sum(op(A, B)[0])
    f = fz.function([A, B], fz.grad(cost, A), mode=linker)
    np.testing.assert_array_equal(f([1.0, 2.0], [3.0, 5.0]), [33.0, 60.0])
    with pytest.raises(fz.DisconnectedInputError, match="'b'"):
        fz.grad(cost, B)
    g = ft.vector("g")
    o = ft.vector("o")
    by_op = fz.OpFromGraph([X], [X**2], lop_overrides=fz.OpFromGraph([X, o, g], [g * X * 7]))
    f = fz.function([A], fz.grad(ft.sum(by_op(A)), A), mode=linker)
    np.testing.assert_array_equal(f([1.0, 2.0]), [7.0, 14.0])


def test_overrides_of_what_is_inlined_are_inlined():
    x, v = ft.vector("x"), ft.vector("v")
    op = fz.OpFromGraph(
        [x],
        [ft.exp(x)],
        inline=True,
        lop_overrides=lambda inputs, outputs, gradients: [3 * gradients[0] * outputs[0]],
        rop_overrides=lambda inputs, tangents: [5 * tangents[0]],
    )
    y = op(x)
    f = fz.function([x, v], [y, fz.grad(ft.sum(y), x), fz.Rop(y, x, v)])
    assert "call" not in str(f.explain())
    np.testing.assert_allclose(f([0.0, 0.0], [1.0, 2.0]), [[1, 1], [3, 3], [5, 10]])


def test_bad_input_is_told():
    with pytest.raises(fz.MissingInputError, match="need y of type"):
        fz.OpFromGraph([X], [X + Y])
    with pytest.raises(TypeError, match="takes 1 arguments, given 2"):
        fz.OpFromGraph([X], [X])(A, B)
    with pytest.raises(TypeError, match=r"argument 0 .* must have type float64\[\?\]"):
        fz.OpFromGraph([X], [X])(ft.matrix("m"))
    with pytest.raises(TypeError, match="input 0 of an OpFromGraph must be a variable"):
        fz.OpFromGraph([ft.constant(1.0)], [X])
    with pytest.raises(TypeError, match="leave it out"):
        fz.OpFromGraph([fz.shared(np.ones(2), name="w")], [X])
    with pytest.raises(ValueError, match="must differ"):
        fz.OpFromGraph([X, X], [X])
    with pytest.raises(ValueError, match="must return 1 results"):
        fz.OpFromGraph([X], [X], lop_overrides=lambda i, o, g: [g[0], g[0]])
    with pytest.raises(TypeError, match="must be a function"):
        fz.OpFromGraph([X], [X], lop_overrides=3)
    with pytest.raises(ValueError, match=r"an entry for each of 1 results.* given 2"):
        fz.OpFromGraph([X], [X], lop_overrides=[None, None])
    with pytest.raises(TypeError, match="entry 1 of rop_overrides must be a function"):
        fz.OpFromGraph([X], [X, X], rop_overrides=[None, 3])
    with pytest.raises(ValueError, match="entry 0 of lop_overrides must return one result"):
        fz.OpFromGraph([X], [X], lop_overrides=[lambda i, o, g: [g[0], g[0]]])
    with pytest.raises(TypeError, match="result 0 of lop_overrides must have 1 dimensions"):
        fz.OpFromGraph([X], [X], lop_overrides=lambda i, o, g: [ft.sum(g[0])])
    with pytest.raises(fz.MissingInputError, match="need y"):
        fz.OpFromGraph([X], [X], lop_overrides=lambda i, o, g: [g[0] * Y])


@pytest.mark.parametrize("linker", ["c", "cranelift", "numba"])
def test_an_error_within_names_the_line(linker):
    op = fz.OpFromGraph([X, Y], [ft.exp(X * 2)[: Y.shape[0]] @ Y])
    f = fz.function([A, B], op(A, B), mode=linker)
    with pytest.raises(ValueError, match=r"test_op_from_graph\.py"):
        f([1.0], [1.0, 2.0])


def test_outputs_that_are_inputs_are_copies():
    op = fz.OpFromGraph([X, Y], [X, Y[::-1], X])
    for linker in LINKERS:
        f = fz.function([A, B], op(A, B), mode=linker)
        a, b = np.arange(3.0), np.arange(4.0)
        results = f(a, b)
        np.testing.assert_array_equal(results[1], b[::-1])
        for at, result in enumerate(results):
            others = [a, b, *results[:at], *results[at + 1 :]]
            assert not any(np.shares_memory(result, other) for other in others)


def test_shapes_are_known_outside():
    op = fz.OpFromGraph([X, Y], [ft.outer(X, Y), X])
    f = fz.function([A, B], op(A, B)[0].shape, mode="c")
    assert not any("run" in line for line in f.program.instructions)
    np.testing.assert_array_equal(f([1.0, 2.0], [1.0, 2.0, 3.0]), [2, 3])


@pytest.mark.parametrize("linker", ["c", "cranelift", "numba"])
def test_many_threads_compile_one_op(linker):
    outcomes = []
    barrier = threading.Barrier(8)

    def work(number):
        barrier.wait()
        op = fz.OpFromGraph([X], [ft.tanh(X * 1.25) * ft.sum(X) + 0.375])
        f = fz.function([A], fz.grad(ft.sum(op(A) * float(number)), A), mode=linker)
        outcomes.append((number, f([0.5, 1.0])))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(1, 9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(outcomes) == 8
    for number, result in outcomes:
        np.testing.assert_allclose(result, number * dict(outcomes)[1], rtol=1e-12)


def test_the_graph_is_computed_by_perform():
    graph = fz.FrozenFunctionGraph([X], [ft.exp(X), ft.constant(2.0)])
    results = compute(graph, [np.zeros(2)])
    np.testing.assert_array_equal(results[0], [1.0, 1.0])
    assert results[1] == 2.0


def test_gradients_of_less_known_lengths():
    x = ft.tensor("x", dtype="float64", shape=(3,))
    w, c = ft.vector("w"), ft.iscalar("c")
    own = fz.OpFromGraph(
        [x],
        [ft.exp(x)],
        lop_overrides=lambda i, o, g: [g[0] * o[0]],
        rop_overrides=lambda i, t: [t[0] * ft.exp(i[0])],
    )
    for y in (fz.OpFromGraph([x], [ft.exp(x)])(x), own(x), fz.ifelse(c, ft.exp(x), x)):
        f = fz.function([c, x, w], fz.Lop(y, x, w), on_unused_input="ignore")
        np.testing.assert_array_equal(f(1, np.zeros(3), [1.0, 2.0, 3.0]), [1.0, 2.0, 3.0])
        with pytest.raises(ValueError, match="2"):
            f(1, np.zeros(3), [1.0, 2.0])
    f = fz.function([x, w], fz.Rop(own(x), x, w))
    np.testing.assert_array_equal(f(np.zeros(3), [1.0, 2.0, 3.0]), [1.0, 2.0, 3.0])


@pytest.mark.parametrize("mode", ["c", "cranelift", "numba"])
def test_composites_within_are_opened(mode):
    a = ft.scalar()
    composite = fz.scalar.Composite(fz.FrozenFunctionGraph([a], [a * a, ft.exp(a)]))
    x = ft.dvector("x")
    square, power = composite(x)
    op = fz.OpFromGraph([x], [square + power])
    f = fz.function([x], op(2 * x), mode=mode)
    assert not any("call" in line for line in f.program.instructions)
    np.testing.assert_allclose(f([0.0, 1.0]), [1.0, 4.0 + np.exp(2.0)])


@settings(max_examples=20)
@given(known=st.booleans(), elsewhere=st.booleans(), uses=st.integers(2, 4))
def test_what_no_argument_reaches_is_a_buffer_of_each_expansion(known, elsewhere, uses):
    x, y = ft.vector("x"), ft.vector("y")
    total = ft.zeros(5) + 1
    op = fz.OpFromGraph([x, y], [x * 2, ft.zeros(5), total, x.sum() + total], inline=True)
    container = fz.Container() if elsewhere else fz.Container.default()
    with container:
        a = ft.tensor("a", shape=(5 if known else None,))
        b = ft.vector("b")
    expanded = [op.expand([a, b]) for _ in range(uses)]
    assert len({results[1] for results in expanded}) == uses
    assert len({results[2] for results in expanded}) == uses
    assert len({results[0] for results in expanded}) == 1
    for results in expanded:
        # All of it can be used together.
        assert all(result.container is container for result in results)
        assert (results[1] + results[3]).container is container
    # A graph that has a buffer of its own keeps that, too.
    with container:
        own = ft.zeros(5)
        inner = op.expand([a, b])[1]
    graph = fz.FunctionGraph([a, b], [own, inner]).freeze()
    assert graph.outputs[0] is not graph.outputs[1]


def test_a_buffer_of_an_inlined_graph_is_none_of_the_graph_around():
    x, a = ft.vector("x"), ft.tensor("a", shape=(5,))
    buffer = ft.zeros(5)
    op = fz.OpFromGraph([x], [x + 1, ft.zeros(5)], inline=True)
    graph = fz.FunctionGraph([a], [buffer, *op(a)]).freeze()
    inlined = expand_inline(graph)
    assert len({inlined.outputs[0], inlined.outputs[2]}) == 2


def test_a_composite_expands_where_its_operands_are():
    s = ft.scalar("s")
    graph = fz.FrozenFunctionGraph([s], [s + ft.exp(ft.constant(2.0))])
    with fz.Container() as container:
        x = ft.vector("x")
    (expanded,) = Composite(graph).expand([x])
    assert expanded.container is container
