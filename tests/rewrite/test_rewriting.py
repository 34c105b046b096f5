"""Rewriting seen from Python: what rules may be, forms of graphs, traces and errors."""

import gc
import threading
from dataclasses import dataclass
from typing import Annotated

import numpy as np
import pytest
from reference import evaluate

import frazil as fz
import frazil.tensor as ft
from frazil import pp, scalar
from frazil.rewrite import (
    ALGEBRA,
    CONSTANT_FOLDING,
    Bool,
    Float,
    Integer,
    Known,
    Number,
    Sort,
    Tensor,
    any_kind,
    any_of,
    holds,
    is_nonnegative,
    one_ring,
    rewrite,
    rule,
)
from frazil.rewrite.rewriting import rewrite_by, rule_sets
from frazil.tensor.transposition import Transpose


@dataclass(frozen=True, eq=False)
class Halves(fz.Op):
    """The two halves of a vector: an op with two outputs."""

    def make_node(self, x):
        return fz.FrozenApply(self, [x], [x.type, x.type])

    def perform(self, node, inputs):
        (x,) = inputs
        return x[: len(x) // 2], x[len(x) // 2 :]


@dataclass(frozen=True, eq=False)
class Total(fz.Op):
    """The sum of any number of tensors of one type."""

    commutative = True

    def make_node(self, *inputs):
        return fz.FrozenApply(self, inputs, [inputs[0].type])

    def perform(self, node, inputs):
        return (np.sum(inputs, axis=0),)


@rule
def double_neg(x: Number):
    """-(-x) == x."""
    return ft.neg(-x), x


@rule
def exp_of_log(x: Float):
    """exp(log(x)) == x, for positive x."""
    return ft.exp(ft.log(x)), x


x, y, z = (ft.vector(name) for name in "xyz")
i, j = (ft.lvector(name) for name in "ij")


class TestForms:
    def test_a_variable_gives_a_variable(self):
        assert rewrite(ft.neg(-x), [double_neg]).graph is x

    def test_a_sequence_gives_a_list(self):
        assert rewrite((ft.neg(-x), y), [double_neg]).graph == [x, y]

    def test_a_frozen_graph_gives_a_frozen_graph(self):
        frozen = fz.FrozenFunctionGraph([x, y], [ft.neg(-x) + y])
        graph, trace = rewrite(frozen, [double_neg])
        assert graph == fz.FrozenFunctionGraph([x, y], [x + y])
        assert [step.rule for step in trace] == ["double_neg"]
        assert frozen.outputs[0].owner.inputs[0].owner is not None

    def test_a_function_graph_gives_a_clone(self):
        graph = fz.FunctionGraph([x, y], [ft.exp(ft.neg(-x)) + y, x])
        result, trace = rewrite(graph, [double_neg])
        assert result.outputs == (ft.exp(x) + y, x)
        assert result.inputs == graph.inputs
        assert graph.outputs == (ft.exp(ft.neg(-x)) + y, x)
        assert [step.rule for step in trace] == ["double_neg"]

    def test_what_an_input_is_computed_from_does_not_count(self):
        total = -x
        graph = fz.FunctionGraph([total], [-total * 1])
        result = rewrite(graph).graph
        assert result.outputs == (-total,)

    def test_any_container_will_do(self):
        container = fz.Container()
        v = container.input(ft.vector("v").type, "v")
        result = rewrite(ft.neg(-v) * 1 + 0.5 + ft.exp(container.constant(0.0)) * v**0).graph
        assert result in container
        assert pp(result) == "v + 0.5 + 1.0"

    def test_the_result_compiles(self, mode):
        values = np.array([-1.5, 0.0, np.inf])
        rules = [double_neg, exp_of_log, *ALGEBRA]
        result = rewrite(ft.exp(ft.log(ft.neg(-x))) * 1 + y, rules).graph
        assert result is x + y
        np.testing.assert_array_equal(
            fz.function([x, y], result, mode=mode)(values, values), values + values
        )

    def test_nothing_to_do_changes_nothing(self):
        expression = ft.exp(x) + y
        graph, trace = rewrite(expression)
        assert graph is expression
        assert len(trace) == 0

    def test_other_things_are_refused(self):
        with pytest.raises(TypeError, match="expected a variable"):
            rewrite(3, [double_neg])
        with pytest.raises(TypeError, match="expected rules"):
            rewrite(x, [lambda x: x])


class TestTraces:
    def test_text(self):
        _, trace = rewrite(ft.exp(ft.log(ft.neg(-x))), [double_neg, exp_of_log])
        first, second = str(trace).splitlines()
        assert first.startswith("double_neg: --x -> x  [")
        assert second.startswith("exp_of_log: exp(log(x)) -> x  [")
        assert __file__ in first

    def test_a_remembered_result_has_the_same_trace(self):
        expression = ft.neg(-(x * y)) - z
        first = rewrite(expression, [double_neg])
        second = rewrite(expression, [double_neg])
        assert second.graph is first.graph
        assert str(second.trace) == str(first.trace)
        assert len(second.trace) == 1

    def test_where_is_the_users_line(self):
        (step,) = rewrite(ft.neg(-x), [double_neg]).trace
        assert step.where is not None
        assert step.where[0] == __file__
        assert (step.before, step.after) == (ft.neg(-x), x)

    def test_a_new_node_remembers_the_line_of_the_one_it_replaces(self):
        @rule
        def to_difference(x: Number, y: Number):
            """x + -y == x - y."""
            return x + -y, x - y, one_ring(x, y)

        expression = z + -(x * y * 17)
        result = rewrite(expression, [to_difference]).graph
        assert result.owner.source == expression.owner.source


class TestForeignRightSides:
    def test_it_gets_the_node_and_the_parameters(self):
        seen = []

        def right(node, x, c):
            seen.append((node, x, c))
            return x

        @rule
        def foreign(x: Tensor, c: Known):
            """Seen from Python."""
            return x * c, right

        expression = x * 5.0
        assert rewrite(expression, [foreign]).graph is x
        assert seen == [(expression.owner, x, ft.constant(5.0))]

    def test_none_means_no(self):
        asked = []

        @rule
        def declines(x: Tensor, y: Tensor):
            """Never holds."""
            return x + y, lambda node, x, y: asked.append((x, y))

        assert rewrite(x + y, [declines]).graph is x + y
        assert asked == [(x, y), (y, x)]

    def test_an_exception_comes_through(self):
        @rule
        def fails(x: Tensor):
            """Fails."""
            return ft.sin(x), lambda node, x: 1 / 0

        with pytest.raises(ZeroDivisionError) as failed:
            rewrite(ft.sin(x), [fails])
        (note,) = failed.value.__notes__
        assert note.startswith("in the right side of rule fails, for sin(x), first built at ")

    def test_an_exception_of_a_guard_names_the_rule(self):
        @rule
        def guarded(x: Tensor):
            """Has a guard that fails."""
            return ft.sin(x), x, holds(lambda x: 1 / 0, x)

        with pytest.raises(ZeroDivisionError) as failed:
            rewrite(ft.sin(x), [guarded])
        (note,) = failed.value.__notes__
        assert note.startswith("in a guard of rule guarded, for ")

    def test_what_is_no_variable_is_refused(self):
        @rule
        def number(x: Tensor):
            """Gives a number."""
            return ft.sin(x), lambda node, x: 0.0

        with pytest.raises(TypeError, match="rule number must give a Variable or None"):
            rewrite(ft.sin(x), [number])

    def test_what_does_not_fit_is_refused(self):
        @rule
        def narrow(x: Tensor):
            """Gives another dtype."""
            return ft.sin(x), lambda node, x: ft.cast(x, "float32")

        with pytest.raises(TypeError, match=r"rule narrow .* float32\[\?\] .* float64\[\?\]"):
            rewrite(ft.sin(x), [narrow])

    def test_it_may_rewrite_itself(self):
        @rule
        def nested(x: Float):
            """Rewrites what it gives."""
            return ft.sin(x), lambda node, x: rewrite(ft.cos(ft.neg(-x)), [double_neg]).graph

        assert rewrite(ft.sin(x), [nested]).graph is ft.cos(x)

    def test_threads_get_one_result(self):
        @rule
        def slow(x: Float):
            """exp2 by exp."""
            return ft.exp2(x), lambda node, x: ft.exp(x * np.log(2))

        expression = sum((ft.exp2(x * n) for n in range(50)), ft.exp2(y))
        results = []
        threads = [
            threading.Thread(target=lambda: results.append(rewrite(expression, [slow]).graph))
            for _ in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(results) == 8
        assert len(set(results)) == 1


class TestGuards:
    def test_a_predicate_decides(self):
        @rule
        def drop_abs(x: Float):
            """|x| == x where x has no sign."""
            return ft.abs(x), x, holds(is_nonnegative, x)

        assert rewrite(ft.abs(ft.exp(x)), [drop_abs]).graph is ft.exp(x)
        assert rewrite(ft.abs(x), [drop_abs]).graph is ft.abs(x)

    def test_is_nonnegative_knows_signs(self):
        for known in (ft.exp(x), ft.sqr(x) + ft.abs(y), ft.constant([0.0, 1.0]), 1 / ft.exp(x)):
            assert is_nonnegative(known)
        for unknown in (x, ft.sqrt(x), ft.constant([-0.0]), ft.exp(x) - 1, ft.abs(i), ft.sqr(i)):
            assert not is_nonnegative(unknown)

    def test_integers_of_two_widths_are_not_one_ring(self):
        short = fz.TensorType("int8", (None,))("short")
        expression = i - -short
        result = rewrite(expression).graph
        values = [np.array([1]), np.array([-128], dtype="int8")]
        f = fz.function([i, short], [expression, result])
        before, after = f(*values)
        assert before == after == 129


class TestWildcardsAndShapes:
    def test_any_kind_matches_whatever_its_parameters(self):
        transpose = any_kind(Transpose)
        of = Sort("matrices", ("float64",), "float64", ndim=2, any_rank=True)
        matrix = Annotated[fz.Variable, of]

        def neg_outside(x):
            return -transpose(x)

        def moved(x):
            return transpose(-x), neg_outside(x)

        moved.__annotations__ = {"x": matrix}
        moved.__doc__ = "A transpose moves elements, whatever they are."
        m, t = ft.matrix("m"), ft.tensor3("t")
        law = rule(moved)
        assert pp(rewrite((-m).T, [law]).graph) == "-m.T"
        assert rewrite((-t).transpose((1, 2, 0)), [law]).graph is -t.transpose((1, 2, 0))

    def test_any_of_is_the_same_op_everywhere(self):
        f = any_of("f", scalar.floor, scalar.ceil)

        @rule
        def idempotent(x: Tensor):
            """f(f(x)) == f(x)."""
            return f(f(x)), f(x)

        assert rewrite(ft.floor(ft.floor(x)), [idempotent]).graph is ft.floor(x)
        assert rewrite(ft.floor(ft.ceil(x)), [idempotent]).graph is ft.floor(ft.ceil(x))

    def test_commutative_variadic_operands(self):
        @rule
        def drop_zero(*rest: Tensor):
            """A total without its zeros."""
            return Total()(ft.constant(0.0), *rest), lambda node, rest: Total()(*rest)

        zero = ft.constant(np.zeros(3))
        v, w = (ft.tensor(name, shape=(3,)) for name in "vw")
        result = rewrite(Total()(v, zero, w, zero), [drop_zero]).graph
        assert result.owner.inputs == (v, w)

    def test_outputs_of_one_node(self):
        first, second = Halves()(x)

        @rule
        def swap(x: Tensor):
            """Both outputs at once."""
            low, high = Halves()(x)
            return [low, high], [x, -x]

        assert rewrite([first, second], [swap]).graph == [x, -x]
        assert rewrite(second, [swap]).graph is -x

        @rule
        def by_function(x: Tensor):
            """Both outputs by a function."""
            return Halves()(x), lambda node, x: [None, node.outputs[0]]

        assert rewrite([first, second], [by_function]).graph == [first, first]


@rule
def to_product(x: Float):
    """x + x == 2 * x."""
    return x + x, x * 2


@rule
def to_sum(x: Float):
    """2 * x == x + x."""
    return x * 2, x + x


class TestCycles:
    def test_rules_that_undo_one_another_are_named(self):
        with pytest.raises(
            fz.rewrite.RuleCycleError, match=r"to_product -> to_sum|to_sum -> to_pr"
        ):
            rewrite(ft.exp(x + x), [to_product, to_sum])

    def test_rules_that_grow_are_named(self):
        @rule
        def grow(x: Float, y: Float):
            """x - y == -y - x, which is wrong."""
            return x - y, -y - x

        with pytest.raises(fz.rewrite.RuleCycleError, match="grow"):
            rewrite(x - y, [grow])

        with pytest.warns(fz.rewrite.RuleCycleWarning, match=r"test_rewriting.py:\d+.*grow"):
            graph = rewrite(ft.exp(ft.neg(-x) - y), [grow, double_neg], leave_cycles=True).graph
        assert graph is ft.exp(x - y)

    def test_where_rules_lead_back_the_node_is_left_with_a_warning(self):
        rules = [double_neg, to_product, to_sum]
        total = ft.exp(ft.neg(-(y + y))) * ft.neg(-z)
        with pytest.warns(fz.rewrite.RuleCycleWarning, match="compiled as it is written"):
            graph, trace = rewrite(fz.FunctionGraph([y, z], [total]), rules, leave_cycles=True)
        assert graph.outputs == (ft.exp(y + y) * z,)
        assert {step.rule for step in trace} == {"double_neg"}


class TestMistakes:
    def test_a_guard_is_made_of_a_function_by_holds(self):
        def guarded(x: Float):
            """|x| == x where x has no sign."""
            return ft.abs(x), x, is_nonnegative

        with pytest.raises(TypeError, match=r"must be a Guard, .*: holds\(predicate, x, \.\.\.\)"):
            rule(guarded)

    def test_a_rule_says_its_law(self):
        with pytest.raises(ValueError, match="must say its law"):

            @rule
            def silent(x: Tensor):
                return -x, x

    def test_a_parameter_says_what_it_stands_for(self):
        with pytest.raises(TypeError, match="parameter x of rule vague must be annotated"):

            @rule
            def vague(x):
                """Vague."""
                return -x, x

    def test_a_rule_has_two_sides(self):
        with pytest.raises(TypeError, match="must return its left side"):

            @rule
            def half(x: Tensor):
                """Half."""
                return -x

    @pytest.mark.parametrize(
        ("sides", "message"),
        [
            (lambda x, y: (x, x), "must apply an op"),
            (lambda x, y: (-x, x), "does not contain y"),
            (lambda x, y: (x + z, y), "z is no parameter|does not contain"),
            (lambda x, y: (x + y, z), "needs z"),
            (
                lambda x, y: (any_kind(Transpose)(x) + y, -Halves()(any_kind(Transpose)(x))[0]),
                "write the right side as a function",
            ),
        ],
    )
    def test_a_side_that_makes_no_sense(self, sides, message):
        def mistaken(x: Tensor, y: Tensor):
            """Mistaken."""
            return sides(x, y)

        with pytest.raises((ValueError, TypeError), match=message):
            rule(mistaken)


class TestMemory:
    def test_results_are_remembered_while_alive(self):
        asked = []

        def right(node, x):
            asked.append(x)
            return -x

        @rule
        def counted(x: Float):
            """Counted."""
            return ft.sinh(x), right

        first = ft.sinh(x) + y
        kept = rewrite(first, [counted]).graph
        assert rewrite(ft.exp(ft.sinh(x)), [counted]).graph is ft.exp(-x)
        assert len(asked) == 1
        assert kept is -x + y

    def test_nothing_is_kept_alive(self):
        def build():
            last = ft.vector()
            for n in range(2000):
                last = ft.neg(-last) * 1 + float(n + 2)
            return last

        rewrite(build())
        gc.collect()
        before = x.container.stats().nodes
        for _ in range(3):
            rewrite(build())
        gc.collect()
        assert x.container.stats().nodes <= before


class TestFolding:
    @pytest.mark.parametrize(
        ("expression", "value"),
        [
            (ft.exp(ft.constant(0.0)) + 1, 2.0),
            (ft.constant([1.0, 2.0]) * ft.constant(3), [3.0, 6.0]),
            (ft.constant([[1, 2], [3, 4]]).sum(axis=0), [4, 6]),
            (ft.broadcast_to(0.0, (2, 2)) + 1, [[1.0, 1.0], [1.0, 1.0]]),
            (ft.constant([1, 2, 3])[1:], [2, 3]),
        ],
    )
    def test_constants(self, expression, value):
        result = rewrite(expression, CONSTANT_FOLDING).graph
        assert isinstance(result, fz.Constant)
        np.testing.assert_array_equal(result.data, value)
        assert result.dtype == expression.dtype

    def test_a_buffer_of_its_own_is_no_constant(self):
        for expression in (ft.zeros((2, 2)), ft.zeros((2, 3)).T, ft.distinct(ft.constant(2.0))):
            assert rewrite(expression, CONSTANT_FOLDING).graph is expression

    def test_what_raises_is_left_to_the_run(self):
        expression = ft.constant([2, 3]) ** ft.constant(-1)
        assert rewrite(expression, CONSTANT_FOLDING).graph is expression

    @pytest.mark.parametrize(
        "function",
        [
            lambda data: ft.gammaln(data + 1.0),
            lambda data: data.astype("float32"),
            lambda data: data.sum(),
            lambda data: data[[3, 0, 3]],
        ],
    )
    def test_functions_of_data_that_make_no_more_of_them(self, function):
        expression = function(ft.constant(np.arange(5000.0)))
        result = rewrite(expression, CONSTANT_FOLDING).graph
        assert isinstance(result, fz.Constant)
        np.testing.assert_array_equal(result.data, evaluate(expression))

    @pytest.mark.parametrize(
        "function",
        [
            lambda data: ft.outer(data, data),
            lambda data: data[:, None] - data,
            lambda data: data[1:],
            lambda data: data.reshape((50, 100)).T,
            lambda data: ft.concatenate([data, data]),
            lambda data: fz.map(lambda x: x + 1.0, data)[0],
        ],
    )
    def test_what_is_larger_than_the_data_or_a_view_of_them_is_left_to_the_run(self, function):
        expression = function(ft.constant(np.arange(5000.0)))
        assert not isinstance(rewrite(expression, CONSTANT_FOLDING).graph, fz.Constant)

    def test_very_large_arrays_are_left_to_the_run(self):
        expression = ft.constant(np.zeros(2**20 + 1)) + 1
        assert rewrite(expression, CONSTANT_FOLDING).graph is expression

    @pytest.mark.parametrize("n", [3, 5000, 2**20 + 1])
    def test_a_negative_multiple_of_data_of_any_size(self, n):
        x = ft.vector("x")
        data = np.linspace(-1.0, 1.0, n)
        cost = ft.sum(-(x * ft.constant(data)))
        f = fz.function([x], [cost, fz.grad(cost, x), -x * ft.constant(data)], mode="py")
        found = f(np.ones(n))
        np.testing.assert_allclose(found[0], -data.sum(), atol=1e-9)
        np.testing.assert_array_equal(found[1], -data)
        np.testing.assert_array_equal(found[2], -data)

    def test_every_output_of_a_node(self):
        @dataclass(frozen=True, eq=False)
        class Divmod(fz.Op):
            def make_node(self, x, y):
                return fz.FrozenApply(self, [x, y], [x.type, x.type])

            def perform(self, node, inputs):
                return divmod(*map(np.asarray, inputs))

        outputs = Divmod()(ft.constant(17), ft.constant(5))
        assert rewrite(outputs, CONSTANT_FOLDING).graph == [ft.constant(3), ft.constant(2)]

    def test_a_deep_chain_of_constants(self):
        last = ft.constant(1.0)
        for _ in range(3000):
            last = last * 1.0 + 1.0
        result = rewrite(last).graph
        assert result.data == 3001.0

    def test_impure_ops_are_not_folded(self):
        @dataclass(frozen=True, eq=False)
        class Noise(fz.Op):
            pure = False

            def make_node(self, x):
                return fz.FrozenApply(self, [x], [x.type])

            def perform(self, node, inputs):
                raise AssertionError("an impure op is not run ahead of time")

        noise = Noise()(ft.constant(1.0))
        assert rewrite(noise, CONSTANT_FOLDING).graph is noise


def test_a_bool_condition_is_not_a_number():
    @rule
    def chosen(c: Bool, x: Integer):
        """Choosing x either way."""
        return ft.where(c, x, x), x

    c = fz.TensorType("bool", (None,))("c")
    assert rewrite(ft.where(c, i, i), [chosen]).graph is i
    assert rewrite(ft.where(c, x, x), [chosen]).graph is ft.where(c, x, x)
    assert rewrite(ft.where(c, j, i), [chosen]).graph is ft.where(c, j, i)


def test_gradients_come_out_simple():
    cost = (ft.exp(-x) * y).sum()
    gradient = fz.grad(cost, x)
    simple = rewrite(gradient).graph
    values = np.array([0.5, -1.0]), np.array([2.0, 3.0])
    f = fz.function([x, y], [gradient, simple])
    before, after = f(*values)
    np.testing.assert_allclose(before, after, rtol=1e-15)
    assert len(fz._core.toposort([simple])) <= len(fz._core.toposort([gradient]))


def test_a_phase_tries_rules_of_earlier_phases_on_new_nodes_alone():
    asked = []

    def decline(node, x):
        asked.append(node.op)

    def made(node, x):
        return ft.sin(x + 1) if asked else None

    @rule
    def early(x: Float):
        """A rule that is tried on each sine."""
        return ft.sin(x), decline

    @rule
    def late(x: Float):
        """Not a law: it makes another sine."""
        return ft.cos(x), made

    first, second = rule_sets(((early,), (late,)))
    assert [one.name for one in second.rules] == ["early", "late"]
    x = ft.dvector("x")
    graph = fz.FrozenFunctionGraph([x], [ft.cos(ft.sin(x))])
    graph = rewrite_by(graph, first)[0]
    assert len(asked) == 1
    graph = rewrite_by(graph, second)[0]
    assert pp(graph) == "sin(sin(*0) + 1.0)"
    assert len(asked) == 2
