"""ScalarLoop: as a Python loop over steps for each element, in every linker."""

import gc
import pickle
import subprocess
import sys
import weakref
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import pytest
from element_loops import newton
from hypothesis import given, settings
from hypothesis import strategies as st

import frazil as fz
import frazil.tensor as ft
from frazil.compile.inner import rewrite_inner_graph
from frazil.compile.mode import find_linker
from frazil.link.toolchain import keeping
from frazil.scalar import Composite, ScalarLoop, ScalarOp

MODES = ("py", "c", "cranelift", "numba", "debug")
NATIVE = ("c", "cranelift", "numba")
FEW = settings(max_examples=10)  # as all of them compile
DTYPES = ("float64", "float32", "int64", "int32", "int8", "bool")
BY_KIND = {
    "f": (ft.add, ft.sub, ft.mul, ft.maximum, lambda x, y: ft.where(x > y, x / 2, y)),
    "i": (ft.add, ft.sub, ft.mul, ft.minimum, lambda x, y: x % (abs(y) + 3)),
    "b": (ft.logical_and, ft.logical_or, ft.logical_xor, lambda x, y: ft.logical_not(x)),
}


@st.composite
def loops(draw, dtypes=DTYPES):
    """A loop of one to three states and up to two constants, with or without ``until``."""
    states = [
        ft.scalar(dtype=d) for d in draw(st.lists(st.sampled_from(dtypes), min_size=1, max_size=3))
    ]
    constants = [ft.scalar(dtype=d) for d in draw(st.lists(st.sampled_from(dtypes), max_size=2))]
    made = [*states, *constants]

    def of_kind(kind):
        found = [x for x in made if np.dtype(x.dtype).kind == kind]
        if kind == "f":
            found += [ft.cast(x, "float32") for x in made if x.dtype == "bool"]
        if kind == "b":
            found += [ft.gt(x, 2) for x in made if x.dtype != "bool"]
        return found

    for _ in range(draw(st.integers(1, 6))):
        kind = draw(st.sampled_from("fib"))
        own = of_kind(kind)
        if own:
            op = draw(st.sampled_from(BY_KIND[kind]))
            made.append(op(draw(st.sampled_from(own)), draw(st.sampled_from(own))))
    updates = [
        ft.cast(draw(st.sampled_from(of_kind(np.dtype(x.dtype).kind))), x.dtype) for x in states
    ]
    until = draw(st.sampled_from(of_kind("b"))) if draw(st.booleans()) else None
    return ScalarLoop(states, updates, constants, until)


def drawn_values(data, op, length):
    numbers = st.lists(st.integers(-3, 4), min_size=length, max_size=length)
    return [np.array(data.draw(numbers), "int64")] + [
        np.array(data.draw(numbers)).astype(x.dtype) for x in op.fgraph.inputs
    ]


def results(made):
    return made if isinstance(made, list) else [made]


def in_python(op, n_steps, *operands):
    """What the loop gives for one element, step by step."""
    inputs = [x.type() for x in op.fgraph.inputs]
    step = fz.function(inputs, op.fgraph.bind(inputs), mode="py", on_unused_input="ignore")
    states, constants = list(operands[: op.n_states]), operands[op.n_states :]
    done = False
    for _ in range(int(n_steps)):
        made = step(*states, *constants)
        states = made[: op.n_states]
        if op.is_while and made[-1]:
            done = True
            break
    return [*states, done] if op.is_while else states


@FEW
@given(loops(), st.data())
def test_it_is_a_loop_over_steps_for_each_element(op, data):
    length = data.draw(st.integers(1, 11))
    values = drawn_values(data, op, length)
    wanted = [in_python(op, *row) for row in zip(*values, strict=True)]
    operands = [ft.vector(dtype=value.dtype) for value in values]
    outputs = results(op(*operands))
    for mode in MODES:
        f = fz.function(operands, outputs, mode=mode, on_unused_input="ignore")
        for at, (output, got) in enumerate(zip(outputs, f(*values), strict=True)):
            assert got.dtype == output.dtype
            np.testing.assert_array_equal(got, [np.asarray(row[at]) for row in wanted])


@FEW
@given(loops(), st.data())
def test_operands_broadcast(op, data):
    shapes = [data.draw(st.sampled_from([(), (1, 3), (2, 1), (2, 3)])) for _ in range(op.nin)]
    values = [
        np.resize(value, shape)
        for value, shape in zip(drawn_values(data, op, 6), shapes, strict=True)
    ]
    whole = np.broadcast_shapes(*shapes)
    spread = [np.broadcast_to(value, whole).ravel() for value in values]
    wanted = [in_python(op, *row) for row in zip(*spread, strict=True)]
    static = data.draw(st.booleans())
    operands = [
        ft.tensor(
            dtype=value.dtype.name,
            shape=tuple(n if n == 1 or static else None for n in value.shape),
        )
        for value in values
    ]
    for mode in MODES:
        f = fz.function(operands, results(op(*operands)), mode=mode, on_unused_input="ignore")
        for at, got in enumerate(f(*values)):
            expected = np.array([np.asarray(row[at]) for row in wanted], got.dtype)
            np.testing.assert_array_equal(got, expected.reshape(whole))


@FEW
@given(loops(), st.data())
def test_it_shares_a_kernel_with_its_neighbours(op, data):
    values = drawn_values(data, op, 9)
    operands = [ft.vector(dtype=value.dtype) for value in values]

    def neighbours(made):
        totals = [(x * 2).sum() for x in made if x.dtype != "bool"]
        return [ft.cast(x, "float64") + 1 for x in made] + totals

    doubled = [operands[0] + 1, *(ft.maximum(x, x * x) for x in operands[1:])]
    outputs = neighbours(results(op(*doubled)))
    wanted = fz.function(operands, outputs, mode="py", on_unused_input="ignore")(*values)
    for mode in NATIVE:
        f = fz.function(operands, outputs, mode=mode, on_unused_input="ignore")
        for got, want in zip(f(*values), wanted, strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-5)
        assert "call" not in str(f.explain())


def test_a_while_loop_and_a_for_loop_differ():
    x = ft.scalar()
    loop, until = ScalarLoop([x], [x + 1]), ScalarLoop([x], [x + 1], until=x > 3)
    assert loop is not until
    assert (loop.is_while, loop.nout) == (False, 1)
    assert (until.is_while, until.nout) == (True, 2)
    # A for-loop over the same graph: its last output is a state.
    flag = ft.scalar(dtype="bool")
    counted = ScalarLoop([x, flag], [x + 1, x > 3])
    ended = ScalarLoop([x], [x + 1], [flag], until=x > 3)
    assert counted.fgraph is ended.fgraph
    assert counted is not ended
    assert counted.fgraph.digest == ended.fgraph.digest
    for mode in MODES:
        assert [v.item() for v in fz.function([], counted(5, 0.0, False), mode=mode)()] == [5, True]
        assert [v.item() for v in fz.function([], ended(9, 0.0, False), mode=mode)()] == [5, True]


def test_two_built_alike_are_one():
    op = newton()
    assert op is newton()
    a, b = ft.scalar(), ft.scalar()
    named = ScalarLoop(init=[a], update=[a + b], constant=[b], until=a > 1, name="sum")
    assert named is ScalarLoop([a], [a + b], [b], a > 1, "sum")
    assert pickle.loads(pickle.dumps(op)) is op
    m = ft.vector()
    assert op(9, m, m, 0.5)[0] is newton()(9, m, m, 0.5)[0]
    with fz.Container():
        assert newton() is op
    assert op.fgraph is newton().fgraph


def test_it_is_the_same_op_in_another_process():
    m = ft.vector("m")
    graph = fz.FrozenFunctionGraph([m], newton()(20, m, m, 0.5))
    code = (
        "import pickle, sys; graph = pickle.load(sys.stdin.buffer); "
        "sys.stdout.write(graph.digest + graph.toposort()[0].op.scalar_op.fgraph.digest)"
    )
    answer = subprocess.run(
        [sys.executable, "-c", code], input=pickle.dumps(graph), capture_output=True, check=True
    )
    assert answer.stdout.decode() == graph.digest + newton().fgraph.digest
    assert fz.FrozenFunctionGraph.parse(str(graph)) is graph
    assert fz.FrozenFunctionGraph.from_bytes(graph.to_bytes()) is graph


def test_threads_compile_it_at_once():
    m = ft.vector("m")
    values = np.linspace(0.1, 3, 40)

    def work(_):
        op = newton()
        f = fz.function([m], [op(30, m, m, 0.25)[0], fz.grad(ft.sum(op(30, m, m, 0.25)[0]), m)])
        return op, f(values)

    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(work, range(8)))
    assert all(op is newton() for op, _ in made)
    for _, results in made:
        np.testing.assert_array_equal(results, made[0][1])
        np.testing.assert_allclose(results[0] - 0.25 * np.sin(results[0]), values)


def test_it_goes_with_its_last_handle():
    x = ft.scalar()
    op = ScalarLoop([x], [x * 0.123456789])
    fz.grad(op(3, v := ft.scalar()), v)
    gone = weakref.ref(op)
    fz.function([v], op(3, v), mode="py")
    del op, v
    keeping.finish()  # what is still to be written holds graphs
    gc.collect()
    assert gone() is None


def test_clones_share_it():
    m = ft.vector("m")
    graph = fz.FunctionGraph([m], newton()(20, m, m, 0.5))
    for one in (graph.clone(), graph.freeze(), graph.freeze().unfreeze()):
        (node,) = one.toposort()
        assert node.op.scalar_op is newton()


def test_printing_names_it():
    m = ft.vector("m")
    state = ft.scalar()
    op = ScalarLoop([state], [state * 2], name="doubling")
    assert fz.pp(op(3, m)) == "ScalarLoop{doubling}(3, m)"
    assert "ScalarLoop{doubling} [id A]" in fz.dprint(op(3, m), file="str")


@pytest.mark.parametrize("mode", MODES)
def test_steps_end_by_themselves_for_each_element(mode):
    x, limit = ft.scalar(), ft.scalar()
    op = ScalarLoop([x], [x * 2], [limit], until=x * 2 > limit)
    start, most, n = ft.vector(), ft.vector(), ft.vector(dtype="int64")
    f = fz.function([n, start, most], op(n, start, most), mode=mode)
    got, done = f([50, 2, 0, -1, 50], [1.0, 1.0, 1.0, 1.0, 0.0], [100.0, 100.0, 0.0, 0.0, 1.0])
    np.testing.assert_array_equal(got, [128, 4, 1, 1, 0])
    np.testing.assert_array_equal(done, [True, False, False, False, False])


@FEW
@given(
    dtype=st.sampled_from(["float32", "float64"]),
    shape=st.tuples(st.integers(1, 3), st.integers(1, 40)),
    same=st.booleans(),
    stops=st.booleans(),
    seed=st.integers(0, 2**32 - 1),
)
def test_elements_end_beside_others_that_go_on(dtype, shape, same, stops, seed):
    """What an element comes to has the same bits, whichever others it is computed with."""
    u, v, x = (ft.scalar(dtype=dtype) for _ in range(3))
    turns = ft.scalar(dtype="int64" if dtype == "float64" else "int32")
    odd = ft.scalar(dtype="bool")
    nexts = [u * u - v * v + x, 2 * u * v + x, turns + 1, ft.logical_not(odd)]
    loop = ScalarLoop([u, v, turns, odd], nexts, [x], until=u * u + v * v > 4 if stops else None)
    draws = np.random.default_rng(seed)
    value = draws.uniform(-2, 1, shape).astype(dtype)
    counts = draws.integers(-1, 30, () if same else shape)
    m, n = ft.matrix(dtype=dtype), ft.tensor(dtype="int64", shape=(None,) * counts.ndim)
    zero, none = np.zeros((), dtype), np.zeros((), turns.dtype)
    made = results(loop(n, zero, zero, none, np.False_, m))
    total = ft.where(made[3], made[0], made[1]).sum(axis=1)
    wanted = fz.function([n, m], made, mode="py")(counts, value)
    sums = []
    for mode in ("c", "cranelift"):
        f = fz.function([n, m], [*made, total], mode=mode)
        for points in (value, np.asfortranarray(value)):
            *got, total_of_rows = f(counts, points)
            for own, want in zip(got, wanted, strict=True):
                np.testing.assert_array_equal(own, want)
            sums.append(total_of_rows)
    np.testing.assert_array_equal(sums, [sums[0]] * len(sums))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "uint32", "int64"])
def test_the_number_of_steps_is_any_integer(mode, dtype):
    x = ft.scalar()
    n = ft.vector(dtype=dtype)
    f = fz.function([n], ScalarLoop([x], [x + 1])(n, 0.5), mode=mode)
    np.testing.assert_array_equal(f(np.array([0, 3, 100], dtype)), [0.5, 3.5, 100.5])


@pytest.mark.parametrize("mode", MODES)
def test_an_array_without_elements(mode):
    m = ft.vector()
    made = fz.function([m], newton()(20, m, m, 0.5), mode=mode)(np.zeros(0))
    assert [(x.shape, x.dtype.name) for x in made] == [((0,), "float64"), ((0,), "bool")]


@pytest.mark.parametrize("mode", MODES)
def test_results_without_dimensions(mode):
    m = ft.dscalar()
    got, done = fz.function([m], newton()(20, m, m, 0.5), mode=mode)(1.0)
    assert (got.shape, done.shape, done.item()) == ((), (), True)
    assert abs(got - 0.5 * np.sin(got) - 1.0) < 1e-12


def squares(n):
    """A loop whose step is a composite that has a loop in it, with two results each."""
    a, b, c = ft.scalar(), ft.scalar(), ft.scalar()
    inner = ScalarLoop([a, b], [a + c * 0.5, b * 0.5 + a], [c])
    x, y = ft.scalar(), ft.scalar()
    first, second = inner(n, x, y, y)
    step = Composite(fz.FrozenFunctionGraph([x, y], [first - y, ft.tanh(second)]))
    u, v = ft.scalar(), ft.scalar()
    next_u, next_v = step(u, v)
    return ScalarLoop([u, v], [next_u, next_v], until=next_u < -30.0)


@FEW
@given(st.integers(0, 3), st.integers(0, 5))
def test_they_nest(inner_steps, outer_steps):
    op = squares(inner_steps)
    values = np.linspace(-2, 3, 11), np.linspace(1, -2, 11)
    wanted = [in_python(op, outer_steps, *row) for row in zip(*values, strict=True)]
    x, y = ft.vector(), ft.vector()
    for mode in MODES:
        f = fz.function([x, y], op(outer_steps, x, y), mode=mode)
        for at, got in enumerate(f(*values)):
            np.testing.assert_allclose(got, [row[at] for row in wanted], rtol=1e-12)
        explained = str(f.explain())
        if mode == "cranelift":
            assert "has a loop in its steps" in explained
        elif mode in NATIVE:
            assert "call" not in explained


def test_a_loop_in_a_composite():
    a, b = ft.scalar(), ft.scalar()
    got, done = newton()(20, a, a, b)
    op = Composite(fz.FrozenFunctionGraph([a, b], [ft.exp(got), ft.cast(done, "float64") + a]))
    m = ft.vector()
    value = np.linspace(0.1, 3, 7)
    wanted = fz.function([m], op(m, 0.5), mode="py")(value)
    for mode in NATIVE:
        f = fz.function([m], op(m, 0.5), mode=mode)
        for one, other in zip(f(value), wanted, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-12)
        assert str(f.explain()).count(" loop ") == 1


@dataclass(frozen=True, eq=False)
class Shift(ScalarOp):
    """No native code: Numba makes no text of numbers of any kind."""

    nin = 1
    rule = "arithmetic"

    def impl(self, x):
        return float(str(x)) + 1


@pytest.mark.parametrize("mode", MODES)
def test_an_op_without_native_code_is_called_once_for_all_results(mode):
    a, b = ft.scalar(), ft.scalar()
    op = ScalarLoop([a, b], [Shift()(a) * 0.5, a + b], until=b > 10.0)
    x = ft.vector()
    f = fz.function([x], [ft.exp(y) for y in op(5, x, x)[:2]], mode=mode)
    for at, got in enumerate(f([1.0, 2.0, 3.0])):
        want = [np.exp(in_python(op, 5, value, value)[at]) for value in (1.0, 2.0, 3.0)]
        np.testing.assert_allclose(got, want)
    assert str(f.explain()).count("call ScalarLoop") == 1


@pytest.mark.parametrize("mode", NATIVE)
def test_results_of_one_loop_are_computed_once(mode):
    """Also where a later pass over the row needs one of them."""
    a, b = ft.scalar(), ft.scalar()
    op = ScalarLoop([a, b], [ft.sin(a) + b, ft.cos(b) * a])
    x = ft.matrix()
    first, second = op(3, x, x)
    soft = second / ft.sum(ft.exp(first), axis=1, keepdims=True)
    value = np.linspace(0, 2, 15).reshape(3, 5)
    f = fz.function([x], [soft, first], mode=mode)
    for got, want in zip(f(value), fz.function([x], [soft, first], mode="py")(value), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-12)


@pytest.mark.parametrize("mode", MODES)
def test_of_what_is_folded_along_rows(mode):
    a, b, n = ft.scalar(), ft.scalar(), ft.vector(dtype="int64")
    op = ScalarLoop([a, b], [ft.tanh(a) + b, b * 0.5])
    x = ft.matrix()
    first, second = op(n, ft.sum(x, axis=1), ft.max(x, axis=1))
    outputs = [x * first[:, None] - second[:, None], ft.sum(x * second[:, None], axis=1), first]
    value, steps = np.linspace(-1, 2, 33).reshape(3, 11), np.array([0, 2, 5])
    wanted = fz.function([n, x], outputs, mode="py")(steps, value)
    rows = [in_python(op, k, row.sum(), row.max()) for k, row in zip(steps, value, strict=True)]
    np.testing.assert_allclose(wanted[2], [row[0] for row in rows])
    f = fz.function([n, x], outputs, mode=mode)
    for got, want in zip(f(steps, value), wanted, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-12)


@pytest.mark.parametrize("mode", MODES)
def test_in_a_scan(mode):
    op = newton()
    m = ft.dvector("m")
    stack, _ = fz.scan(
        lambda x, e: op(20, x, x, e)[0] * 0.25, sequences=m, outputs_info=ft.constant(0.3)
    )
    value = np.linspace(0.1, 2, 6)
    e, wanted = 0.3, []
    for x in value:
        e = in_python(op, 20, x, x, e)[0] * 0.25
        wanted.append(e)
    np.testing.assert_allclose(fz.function([m], stack, mode=mode)(value), wanted)


def test_it_is_improved_as_part_of_the_outer_graph():
    x, c = ft.scalar(), ft.scalar()
    op = ScalarLoop([x], [ft.log(1 + ft.exp(x * 1 + (ft.constant(2.0) - 2.0)))], [c])
    better = rewrite_inner_graph(op, find_linker("py"))
    assert better is not op
    assert fz.pp(better.fgraph) == "softplus(*0)"
    assert rewrite_inner_graph(op, find_linker("c")) is better
    assert rewrite_inner_graph(better, find_linker("py")) is better
    v = ft.vector()
    f = fz.function([v], op(3, v, v), mode="py")
    (node,) = f.optimized.toposort()
    assert node.op.scalar_op is better


def test_steps_that_never_end_by_themselves_are_bounded():
    x = ft.scalar()
    op = ScalarLoop([x], [x + 1], until=x < -1.0)
    for mode in MODES:
        got, done = fz.function([], op(1000, 0.0), mode=mode)()
        assert (got, done) == (1000, False)


@pytest.mark.parametrize("mode", MODES)
def test_powers_of_integers_are_checked_in_steps_that_are_made(mode):
    x, k = ft.scalar(dtype="int64"), ft.scalar(dtype="int64")
    op = ScalarLoop([x], [x * k**k], [k])
    n, v = ft.vector(dtype="int64"), ft.vector(dtype="int64")
    f = fz.function([n, v], op(n, 2, v), mode=mode)
    np.testing.assert_array_equal(f([2, 0, 1], [2, -1, 3]), [32, 2, 54])
    with pytest.raises(ValueError, match="negative integer powers"):
        f([2, 1, 1], [2, -1, 3])


def test_large_arrays_are_cut():
    m = ft.vector()
    values = np.linspace(0, 6, 200_000)
    made = {
        mode: fz.function([m], newton()(30, m, m, 0.7), mode=mode)(values) for mode in ("py", "c")
    }
    for got, want in zip(made["c"], made["py"], strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-9)


# ---------------------------------------------------------------- what is refused


def test_what_is_no_loop_is_refused():
    x, y = ft.scalar("x"), ft.scalar("y")
    with pytest.raises(TypeError, match=r"state 0 \(x\) .* type float64\[\].*bool\[\]"):
        ScalarLoop([x], [x > 1])
    z = ft.scalar(dtype="float32")
    with pytest.raises(TypeError, match="state 1 of a ScalarLoop has type float32"):
        ScalarLoop([x, z], [x, z * x])
    with pytest.raises(ValueError, match="2 states and 1 updates"):
        ScalarLoop([x, y], [x])
    with pytest.raises(ValueError, match="needs a state"):
        ScalarLoop([], [], until=ft.constant(True))
    with pytest.raises(TypeError, match="needs an output"):
        ScalarLoop([], [])
    with pytest.raises(TypeError, match="until of a ScalarLoop is a bool"):
        ScalarLoop([x], [x + 1], until=x)
    with pytest.raises(fz.MissingInputError, match="y"):
        ScalarLoop([x], [x + y])
    with pytest.raises(ValueError, match="must differ"):
        ScalarLoop([x, x], [x + 1, x])
    with pytest.raises(TypeError, match="are variables"):
        ScalarLoop([1.0], [x])
    v = ft.vector("v")
    with pytest.raises(TypeError, match="made of scalars"):
        ScalarLoop([v], [v + 1])
    with pytest.raises(TypeError, match="made of elementwise ops"):
        ScalarLoop([x], [x + ft.sum(ft.stack([x, x]))])
    graph = fz.FrozenFunctionGraph([x, y], [x * y])
    assert ScalarLoop(graph) is ScalarLoop([x], [x * y], [y])
    with pytest.raises(ValueError, match="needs a state, and an input"):
        ScalarLoop(fz.FrozenFunctionGraph([x], [x, x + 1]))


def test_operands_that_do_not_fit_are_refused():
    x, k = ft.scalar(), ft.scalar(dtype="int64")
    op = ScalarLoop([x, k], [x * 2, k + 1])
    v = ft.vector("v")
    with pytest.raises(TypeError, match="takes 3 arguments: the number of steps, 2 initial states"):
        op(3, v)
    with pytest.raises(TypeError, match="number of steps, an integer"):
        op(3.0, v, 1)
    with pytest.raises(TypeError, match="number of steps, an integer"):
        op(ft.vector(dtype="uint64"), v, 1)
    with pytest.raises(TypeError, match=r"initial state 1 of .* has dtype int64, given v"):
        op(3, v, v)
    single = ScalarLoop([z := ft.scalar(dtype="float32")], [z * 2])
    with pytest.raises(TypeError, match=r"initial state 0 of .* build the loop for float64"):
        single(3, v)
    assert single(3, 1.5).dtype == "float32"


INTERRUPTED = """
import os, signal, sys, threading, time
import frazil as fz, frazil.tensor as ft
from frazil.scalar import ScalarLoop

x = ft.scalar()
vectorised = {vectorised}
update = x * 0.5 + 1 if vectorised else ft.gammaln(x + 3)
op = ScalarLoop([x], [update], until=x < -1.0)
n, v = ft.lscalar(), ft.vector()
f = fz.function([n, v], ft.exp(op(n, v)[0]), mode={mode!r})
f(10, [1.0])
threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
start = time.perf_counter()
try:
    f(10**13, [1.0] * {length})
except KeyboardInterrupt:
    print("stopped", time.perf_counter() - start < 20, f(2, [0.0]).shape)
"""


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("vectorised", "length"), [(True, 3), (False, 1), (True, 200_000)])
def test_ctrl_c_ends_a_long_loop(mode, vectorised, length):
    code = INTERRUPTED.format(mode=mode, vectorised=vectorised, length=length)
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=90
    )
    assert answer.stdout == "stopped True (1,)\n", answer.stderr
