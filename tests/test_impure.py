"""Ops that are not pure run exactly as often as the graph says, whatever is made of them."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import frazil as fz
import frazil.tensor as ft
from frazil.gradient import NotDifferentiableError
from frazil.scalar import ScalarOp

MODES = ("py", "c", "cranelift", "numba")
CALLS: list[int] = []


@dataclass(frozen=True, eq=False)
class Draw(fz.Op):
    """Its operand plus how often the op was called before."""

    pure = False

    def make_node(self, x: Any) -> fz.FrozenApply:
        x = ft.as_tensor(x)
        return fz.FrozenApply(self, [x], [x.type])

    def perform(self, node: fz.FrozenApply, inputs: Any) -> Any:
        CALLS.append(1)
        return (inputs[0] + np.asarray(len(CALLS) - 1, inputs[0].dtype),)

    def infer_shape(self, node: fz.FrozenApply, input_shapes: Any) -> Any:
        return [input_shapes[0]]

    def L_op(self, inputs: Any, outputs: Any, output_gradients: Any) -> Any:
        return [output_gradients[0]]


def draw(x: Any) -> Any:
    return Draw()(x)


def run(f: Callable[..., Any], *args: Any) -> tuple[Any, int]:
    CALLS.clear()
    return f(*args), len(CALLS)


i, x = ft.lscalar("i"), ft.dvector("x")


@pytest.mark.parametrize("mode", MODES)
def test_two_draws_are_two(mode: str) -> None:
    f = fz.function([i], [draw(i) - draw(i), draw(i)], mode=mode)
    for _ in range(2):
        (difference, last), calls = run(f, 7)
        assert abs(int(difference)) in (1, 2)
        assert 7 <= int(last) <= 9
        assert calls == 3


KINDS = ["draw", "draw", "+", "-", "*", "same", "where", "min"]
NODES = st.lists(
    st.tuples(st.sampled_from(KINDS), *[st.integers(0, 99)] * 3), min_size=1, max_size=12
)


def built(recipe: Any) -> list[Any]:
    terms: list[Any] = [i, ft.constant(0), ft.constant(1)]
    for kind, *numbers in recipe:
        a, b, c = (terms[number % len(terms)] for number in numbers)
        terms.append(
            {
                "draw": lambda a=a: draw(a),
                "+": lambda a=a, b=b: a + b,
                "-": lambda a=a, b=b: a - b,
                "*": lambda a=a, b=b: a * b,
                "same": lambda a=a: a - a,
                "where": lambda a=a, b=b, c=c: ft.where(ft.eq(c, c), a, b),
                "min": lambda a=a, b=b: ft.minimum(a, b) * 0 + b,
            }[kind]()
        )
    return terms


@given(NODES, st.sampled_from(["py", "c"]), st.booleans())
def test_each_draw_runs_once(recipe: Any, mode: str, whole: bool) -> None:
    outputs = built(recipe)[-1 if not whole else 3 :]
    expected = sum(isinstance(node.op, Draw) for node in fz._core.toposort(outputs))
    f = fz.function([i], outputs, mode=mode, on_unused_input="ignore")
    assert run(f, 3)[1] == expected
    graph = fz.FunctionGraph([i], outputs).freeze()
    assert graph is fz.FunctionGraph([i], built(recipe)[-len(outputs) :]).freeze()
    assert pickle.loads(pickle.dumps(graph)) is graph
    assert fz.FrozenFunctionGraph.parse(str(graph)) is graph
    again = fz.function([i], graph.bind([i]), mode=mode, on_unused_input="ignore")
    assert run(again, 3)[1] == expected


@pytest.mark.parametrize("mode", MODES)
def test_what_is_not_needed_for_the_value_stays(mode: str) -> None:
    zero = draw(i) * 0
    chosen = ft.where(True, i, draw(i))
    difference = (y := draw(i)) - y
    length = ft.shape(ft.exp(draw(x)))[0] * 0 + draw(i) * 0
    for output, calls in ((zero, 1), (chosen, 1), (difference, 1), (length, None)):
        f = fz.function([i, x], output, mode=mode, on_unused_input="ignore")
        found = run(f, 5, [1.0])
        assert int(found[0]) == (5 if output is chosen else 0)
        assert calls in (None, found[1])


@pytest.mark.parametrize("condition", [True, np.array(1), ft.constant(1) > 0])
@pytest.mark.parametrize("mode", MODES)
def test_a_settled_choice_keeps_what_it_does_not_take(condition: Any, mode: str) -> None:
    other = draw(i)
    lost = fz.ifelse(condition, i + 1, 2 * draw(i))
    taken = fz.ifelse(condition, draw(i) * 0, i)
    both = fz.ifelse(condition, other * 0, other)
    inner = fz.ifelse(condition, fz.ifelse(condition, i, draw(i)), draw(i))
    for output, value, count in ((lost, 4, 1), (taken, 0, 1), (both, 0, 1), (inner, 3, 2)):
        found, calls = run(fz.function([i], output, mode=mode), 3)
        assert (int(found), calls) == (value, count)


@pytest.mark.parametrize("mode", MODES)
def test_one_draw_is_one(mode: str) -> None:
    y = draw(x)
    outputs = [y + 1, ft.exp(y * 1.0), y * y, (y * x).sum(), y[::-1], fz.grad((y * y).sum(), x)]
    found, calls = run(fz.function([x], outputs, mode=mode), np.array([1.0, 2.0]))
    assert calls == 1
    np.testing.assert_allclose(found[0], [2.0, 3.0])
    np.testing.assert_allclose(found[-1], [2.0, 4.0])


@pytest.mark.parametrize("mode", MODES)
class TestScans:
    def test_in_each_step_or_before(self, mode: str) -> None:
        before = draw(i)

        def step(s: Any) -> Any:
            return s + draw(i) + before

        sums, _ = fz.scan(step, outputs_info=ft.constant(0), n_steps=4)
        found, calls = run(fz.function([i], sums, mode=mode), 0)
        assert calls == 5
        assert found.tolist() == [1, 3, 6, 10]

    def test_that_nothing_needs(self, mode: str) -> None:
        def step(row: Any, s: Any) -> Any:
            return s + row * draw(0), draw(1), row * 2

        (sums, ones, doubled), _ = fz.scan(
            step, ft.arange(4), [ft.constant(0), None, None], return_list=True
        )
        for output in ([sums[-1]], [ones], [doubled], [sums[-1], doubled]):
            assert run(fz.function([], output, mode=mode))[1] == 8

    def test_within_scans(self, mode: str) -> None:
        def inner(s: Any) -> Any:
            return s + draw(i)

        def outer(s: Any) -> Any:
            sums, _ = fz.scan(inner, outputs_info=s, n_steps=3)
            return sums[-1]

        sums, _ = fz.scan(outer, outputs_info=ft.constant(0), n_steps=2)
        found, calls = run(fz.function([i], sums, mode=mode), 0)
        assert calls == 6
        assert found.tolist() == [3, 15]

    def test_two_that_are_alike(self, mode: str) -> None:
        scans = [fz.scan(lambda s: s + draw(i), outputs_info=ft.constant(0), n_steps=3)[0]] * 2
        scans.append(fz.scan(lambda s: s + draw(i), outputs_info=ft.constant(0), n_steps=3)[0])
        found, calls = run(fz.function([i], scans, mode=mode), 0)
        assert calls == 6
        assert found[0].tolist() == found[1].tolist() != found[2].tolist()


@pytest.mark.parametrize("inline", [False, True])
@pytest.mark.parametrize("mode", MODES)
def test_graphs_of_ops(mode: str, inline: bool) -> None:
    op = fz.OpFromGraph([i], [draw(i), draw(i) + i], inline=inline)
    assert not op.pure
    (a, b), (c, d) = op(i), op(i)
    found, calls = run(fz.function([i], [a - c, b - d, a * 0], mode=mode), 3)
    assert calls == 4
    assert 0 not in map(int, found[:2])
    outer = fz.OpFromGraph([i], [op(i)[0] + op(i)[1]])
    # What is put in place is there as far as it is needed.
    expected = 4 if inline else 8
    assert run(fz.function([i], outer(i) - outer(i), mode=mode), 3)[1] == expected


@pytest.mark.parametrize("mode", MODES)
def test_choices(mode: str) -> None:
    c = ft.lscalar("c")
    y = draw(i)
    chosen = [fz.ifelse(c, y, i), fz.ifelse(c, draw(i), draw(i) + 1)]
    held = fz.OpFromGraph([c, i], [fz.ifelse(c, i, draw(i))])(c, i)
    f = fz.function([c, i], [*chosen, held], mode=mode)
    assert [run(f, condition, 3)[1] for condition in (0, 1)] == [4, 4]


def test_graphs_that_fold_distinct_nodes_keep_draws() -> None:
    graph = fz.FunctionGraph([i], [draw(i), draw(i), ft.distinct(i), ft.distinct(i)])
    nodes = graph.freeze(dedup_nodes=True).toposort()
    assert [isinstance(node.op, Draw) for node in nodes].count(True) == 2
    assert len(nodes) == 3
    first, second = graph.outputs[:2]
    graph.replace(first, second)
    assert graph.outputs[0] is graph.outputs[1]


@pytest.mark.parametrize("mode", MODES)
def test_draws_of_two_frozen_graphs_are_two(mode: str) -> None:
    one, other = (fz.FrozenFunctionGraph([], [draw(3) + k]) for k in range(2))
    outputs = [one.outputs[0], other.outputs[0], one.outputs[0]]
    values, calls = run(fz.function([], outputs, mode=mode))
    assert calls == 2
    assert values[0] == values[2]
    assert values[0] + values[1] == 3 + 3 + 1 + 1


def test_a_view_that_is_not_pure_is_a_view() -> None:
    @dataclass(frozen=True, eq=False)
    class Seen(Draw):
        view_map = {0: [0]}  # noqa: RUF012

        def perform(self, node: Any, inputs: Any) -> Any:
            return (inputs[0],)

    for mode in MODES:
        start = ft.exp(x)
        seen = Seen()(start)
        f = fz.function([x], [seen, ft.set_subtensor(start[0], 7.0)], mode=mode)
        found = f([0.0, 0.0])
        assert [y.tolist() for y in found] == [[1.0, 1.0], [7.0, 1.0]]


def test_derivatives_that_would_draw_again_are_refused() -> None:
    v = ft.dvector("v")
    op = fz.OpFromGraph([v], [v * draw(v)])
    rows, _ = fz.scan(lambda s: s * draw(v).sum(), outputs_info=ft.constant(1.0), n_steps=3)
    for cost in (op(v).sum(), rows[-1]):
        with pytest.raises(NotDifferentiableError, match=r"Draw\(.* in it is not pure"):
            fz.grad(cost, v)
    with pytest.raises(NotDifferentiableError, match="Apply it outside"):
        fz.Rop(op(v), v, v)
    # Drawn before the scan, it is one value for both ways.
    drawn = draw(v)
    rows, _ = fz.scan(lambda s: s * drawn.sum(), outputs_info=ft.constant(1.0), n_steps=3)
    for mode in MODES:
        f = fz.function([v], [rows[-1], fz.grad(rows[-1], v)], mode=mode)
        (value, gradient), calls = run(f, [1.0, 2.0])
        assert calls == 1
        assert float(value) == 27.0
        np.testing.assert_allclose(gradient, [27.0, 27.0])


def test_scalar_ops_are_pure() -> None:
    class Noise(ScalarOp):
        nin = 1
        rule = "float"
        pure = False

        def impl(self, x: Any) -> Any:
            return x

    with pytest.raises(TypeError, match="Noise is a scalar op, which must be pure"):
        Noise()
