"""What shares a loop, told by the text of programs, and that splitting changes no result."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import frazil as fz
import frazil.tensor as ft
from frazil import _core
from frazil.link.c import CCompiler
from frazil.link.fusion.kinds import kinds_of
from frazil.link.fusion.registry import LoweredOps, find_fusion
from frazil.link.fusion.spaces import Spaces
from frazil.link.linkers.native import NativeLinker


def steps(function):
    """The instructions after the inputs, by name."""
    lines = function.program.instructions
    names = [re.search(r"= (\w+)", line) for line in lines if line.startswith("%")]
    return [name[1] for name in names if name[1] not in ("input", "constant")]


def test_a_chain_and_its_reductions_are_one_loop():
    x, y = ft.vector("x"), ft.vector("y")
    z = ft.exp(x) * y + 1
    f = fz.function([x, y], [z, z.sum(), (z * z).max()], mode="c")
    assert steps(f) == ["loop"]


def test_a_gradient_that_needs_no_sum_joins_its_loop():
    x = ft.vector("x")
    cost = (ft.sin(x) ** 2).sum()
    f = fz.function([x], [cost, fz.grad(cost, x)], mode="c")
    assert steps(f) == ["loop"]


def test_what_waits_for_a_sum_is_a_second_loop():
    x = ft.vector("x")
    e = ft.cosh(x)
    f = fz.function([x], e / e.sum(), mode="c")
    assert steps(f) == ["loop", "loop"]


def test_repeated_rows_and_columns_are_read_in_place():
    x, row, column = ft.matrix("x"), ft.vector("row"), ft.vector("column")
    f = fz.function([x, row, column], (x - row) * column[:, None], mode="c")
    assert steps(f) == ["loop"]
    a, r, c = np.arange(6.0).reshape(2, 3), np.arange(3.0), np.arange(2.0)
    np.testing.assert_array_equal(f(a, r, c), (a - r) * c[:, None])


def test_matrices_are_multiplied_by_blas():
    x, w = ft.matrix("x"), ft.vector("w")
    assert steps(fz.function([x, w], ft.tanh(x @ w), mode="c")) == ["dot", "loop"]


def test_lengths_alone_compute_nothing():
    x = ft.vector("x")
    f = fz.function([x], ft.exp(x).shape[0] * 2, mode="c")
    assert "loop" not in steps(f)[:-1]
    assert f(np.zeros(5)) == 10


def test_the_py_linker_never_fuses():
    x = ft.vector("x")
    assert steps(fz.function([x], ft.exp(x) + 1, mode="py")) == ["call", "call"]


def split_at(limit):
    return NativeLinker(CCompiler(), LoweredOps(CCompiler.lowers, limit))


@settings(max_examples=10)
@given(limit=st.integers(1, 12), seed=st.integers(0, 2**32 - 1))
def test_splitting_changes_no_bit(limit, seed):
    rng = np.random.default_rng(seed)
    x, y = ft.vector("x"), ft.vector("y")
    values = [x, y]
    for _ in range(12):
        a, b = (values[k] for k in rng.integers(0, len(values), 2))
        values.append([a + b, a * b, ft.tanh(a), ft.maximum(a, b), a - b][rng.integers(5)])
    outputs = [values[-1], values[-2].sum(), values[5]]
    graph = fz.FrozenFunctionGraph([x, y], outputs)

    def run(linker):
        program = linker.compile(graph)
        function = fz.Function(program, [("x", x.type), ("y", y.type)], [], [], None, lambda v: v)
        return function(*rng_values)

    rng_values = rng.normal(size=(2, 33))
    whole = run(split_at(1000))
    for a, b in zip(whole, run(split_at(limit)), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("mode", ["c", "py"])
def test_order_of_construction_changes_no_program(mode):
    def build(order):
        x, y = ft.vector("x"), ft.vector("y")
        makers = {"sin": lambda: ft.sin(x), "cos": lambda: ft.cos(y)}
        made = {name: makers[name]() for name in order}
        return fz.function([x, y], made["sin"] + made["cos"], mode=mode)

    one, other = build(["sin", "cos"]), build(["cos", "sin"])
    assert one.fgraph == other.fgraph
    assert one.program.instructions == other.program.instructions


def test_what_is_cheap_is_computed_again():
    x, y = ft.vector("x"), ft.vector("y")
    off = x[:, None] - y[None, :]
    f = fz.function([x, y], [(off * off).sum(axis=0), off.sum(axis=0)[None, :] * off], mode="c")
    text = str(f.explain())
    assert steps(f).count("loop") == 2
    a, b = np.arange(3.0), np.arange(4.0)
    want = a[:, None] - b[None, :]
    got = f(a, b)
    np.testing.assert_allclose(got[0], (want * want).sum(axis=0))
    np.testing.assert_allclose(got[1], want.sum(axis=0) * want)
    # The second loop reads the two vectors and the sum: the difference is never stored.
    last = [line for line in text.splitlines() if " = loop " in line][-1]
    assert last.count("[0, 1]") == 1, text


MODES = ["c", "cranelift", "numba"]


@pytest.mark.parametrize("mode", MODES)
def test_what_one_later_loop_reads_is_computed_there(mode):
    # The terms need no sum, but what reads them does.
    x, y = ft.vector("x"), ft.vector("y")
    terms = ft.exp(x) * ft.sin(y)
    f = fz.function([x, y], terms / ft.exp(x + y).sum(), mode=mode)
    assert steps(f).count("loop") == 2
    last = [line for line in str(f.explain()).splitlines() if " = loop " in line][-1]
    assert last.split(" -> ")[0].count("[0]") == 2, last  # x and y, no terms
    a, b = np.linspace(-1, 1, 11), np.linspace(0, 3, 11)
    want = np.exp(a) * np.sin(b) / np.exp(a + b).sum()
    np.testing.assert_allclose(f(a, b), want, rtol=1e-14)


def test_what_two_loops_read_is_written_once():
    x = ft.vector("x")
    terms = ft.tanh(x)
    f = fz.function([x], [terms.sum(), terms / terms.sum()], mode="c")
    text = [line for line in str(f.explain()).splitlines() if " = loop " in line]
    assert text[0].endswith("-> [0] [_] from 0.0") or text[0].endswith("-> [_] from 0.0 [0]"), text


@pytest.mark.parametrize("mode", MODES)
def test_rows_are_put_apart_from_values_that_are_in_memory(mode):
    i, t, w = ft.lvector("i"), ft.matrix("t"), ft.vector("w")
    y = ft.tanh(t[i])
    put = ft.inc_subtensor(ft.zeros_like(t)[i], (1 - y**2) * w)
    f = fz.function([i, t, w], [y @ w, put], mode=mode)
    assert steps(f).count("loop") == 2
    last = [line for line in str(f.explain()).splitlines() if " = loop " in line][-1]
    assert last.split(" -> ")[0].count("[0, 1]") == 1, last  # y, and no product
    # Nothing else reads `y`; `z` would be written for the put alone; a row is one element.
    assert steps(fz.function([i, t, w], put, mode=mode)).count("loop") == 1
    z = ft.exp(t[i])
    both = ft.inc_subtensor(ft.zeros_like(t)[i], z * y)
    assert steps(fz.function([i, t, w], [y @ w, both], mode=mode)).count("loop") == 1
    x, j = ft.vector("x"), ft.lvector("j")
    z = ft.exp(x[j])
    one = ft.inc_subtensor(ft.zeros_like(x)[j], z * 2)
    assert steps(fz.function([j, x], [z, one], mode=mode)).count("loop") == 1
    a, b = np.random.default_rng(0).integers(0, 5, 9), np.linspace(-1, 1, 15).reshape(5, 3)
    c, want = np.arange(3.0), np.zeros((5, 3))
    np.add.at(want, a, (1 - np.tanh(b[a]) ** 2) * c)
    value, gradient = f(a, b, c)
    np.testing.assert_allclose(value, np.tanh(b[a]) @ c, rtol=1e-14)
    np.testing.assert_allclose(gradient, want, rtol=1e-14)


def test_nothing_moves_where_more_would_be_written():
    # Two results of `u` and `v` would be saved, `u` and `v` written for them instead.
    x, y = ft.vector("x"), ft.vector("y")
    u, v = ft.exp(x), ft.exp(y)
    total = (u * v).sum()
    f = fz.function([x, y], ft.tanh(ft.sin(u) + ft.cos(v)) * total, mode="c")
    first, last = (line for line in str(f.explain()).splitlines() if " = loop " in line)
    assert first.split(" -> ")[1].count("[0]") == 1
    assert last.split(" -> ")[0].count("[0]") == 1


@pytest.mark.parametrize("mode", MODES)
@settings(max_examples=25)
@given(seed=st.integers(0, 2**32 - 1), length=st.sampled_from([0, 1, 5, 33]))
def test_loops_that_wait_for_sums_of_others(mode, seed, length):
    rng = np.random.default_rng(seed)
    x, y = ft.vector("x"), ft.vector("y")
    values = [x, y]
    for _ in range(14):
        a, b = (values[k] for k in rng.integers(0, len(values), 2))
        made = [
            a + b,
            a * ft.cos(b),
            ft.tanh(a),
            ft.maximum(a, b),
            a * b.sum(),
            a - ft.sin(b).sum(),
        ]
        values.append(ft.tanh(made[rng.integers(len(made))]))
    outputs = [values[-1], values[-2].sum(), values[int(rng.integers(2, 14))]]
    given = rng.normal(size=(2, length))
    # Sums in another order make other last digits, which steps may multiply.
    outputs.append(x + y)
    found = fz.function([x, y], outputs, mode=mode)(*given)
    for own, one in zip(found, fz.function([x, y], outputs, mode="py")(*given), strict=True):
        np.testing.assert_allclose(own, one, rtol=1e-9, atol=1e-11)


def test_numbers_need_no_loop_of_their_own():
    x, c = ft.vector("x"), ft.scalar("c")
    f = fz.function([x, c], [x.sum() * (c / 2 + 1), x * (c / 2 + 1)], mode="c")
    assert steps(f).count("loop") == 2


def test_a_chain_of_many_inputs_is_one_loop():
    inputs = [ft.vector(f"x{k}") for k in range(40)]
    chain = inputs[0]
    for x in inputs[1:]:
        chain = ft.tanh(chain * x) + x
    assert steps(fz.function(inputs, chain, mode="c")) == ["loop"]


def test_a_long_chain_is_cut_into_loops_of_bounded_size():
    x = ft.vector("x")
    chain = x
    for _ in range(500):
        chain = chain + 0.01 * ft.sin(3.0 * chain)
    limit = 100
    graph = fz.FrozenFunctionGraph([x], [chain])
    lines = split_at(limit).compile(graph).instructions
    loops = [line for line in lines if " = loop " in line]
    assert 2000 / limit <= len(loops) <= 3 * 2000 / limit
    assert all(line.count("%") <= 4 for line in loops)  # each reads what the one before left


@pytest.mark.parametrize(
    ("kind_of", "message"),
    [
        ([0], "1 positions of kinds for 2 nodes"),
        ([0, 1, 1], "3 positions of kinds for 2 nodes"),
        ([0, 2], "node 1 has kind 2 of 2"),
        ([1, 0], "node 0 has 1 operands, but its kind reads operand 1"),
    ],
)
def test_kinds_that_do_not_fit_the_nodes_are_refused(kind_of, message):
    x = ft.vector("x")
    graph = fz.FrozenFunctionGraph([x], [ft.exp(x) * x])
    order = graph.toposort()
    kinds = kinds_of(order, find_fusion("c"))
    spaces = Spaces(order, kinds)

    def cut(kind_of):
        ends = graph.inputs, graph.outputs
        told = order, kinds.kinds, kind_of, *ends, [], [], [], 10, (3, 20)
        return _core.cut_graph(*told, spaces.known, spaces)

    assert len(cut(kinds.of_nodes)) == 1
    with pytest.raises(ValueError, match=message):
        cut(kind_of)
