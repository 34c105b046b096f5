"""ifelse: branches of which only the taken one runs."""

import numpy as np
import pytest
from counted import Counted, counts
from hypothesis import given, settings
from hypothesis import strategies as st

import frazil as fz
import frazil.tensor as ft
from frazil.inner.ifelse import IfElse
from frazil.testing import verify_grad

LINKERS = ["c", "cranelift", "numba", "py", "debug"]
C, X, Y = ft.iscalar("c"), ft.vector("x"), ft.vector("y")


@pytest.mark.parametrize("linker", LINKERS)
def test_only_the_taken_branch_runs(linker):
    y = fz.ifelse(C, Counted("then")(ft.exp(X)) + 1, Counted("else")(Counted("else")(X)))
    f = fz.function([C, X], y, mode=linker)
    assert counts(f, 1, [1.0, 2.0]) == {"then": 1}
    assert counts(f, 0, [1.0, 2.0]) == {"else": 2}
    np.testing.assert_allclose(f(1, [0.0, 0.0]), [3.0, 3.0])
    np.testing.assert_allclose(f(0, [1.0, 0.5]), [4.0, 2.0])


@pytest.mark.parametrize("linker", LINKERS)
def test_only_the_gradient_of_the_taken_branch_runs(linker):
    y = fz.ifelse(C, ft.exp(Counted("then")(X)), ft.tanh(Counted("else")(X)) ** 2)
    f = fz.function([C, X], fz.grad(ft.sum(y**2), X), mode=linker)
    then = counts(f, 1, [0.1, 0.2])
    assert set(then) == {"then", "gradient of then"}
    assert then["gradient of then"] == 1
    assert set(counts(f, 0, [0.1, 0.2])) == {"else", "gradient of else"}
    with_value = fz.function([C, X], [y, fz.grad(ft.sum(y**2), X)], mode=linker)
    assert set(counts(with_value, 1, [0.1, 0.2])) == {"then", "gradient of then"}


@pytest.mark.parametrize("linker", LINKERS)
def test_what_is_needed_elsewhere_is_computed_once(linker):
    both, one = Counted("both")(X), Counted("one")(X)
    y = fz.ifelse(C, both * Counted("then")(one), both + 1)
    f = fz.function([C, X], [y, one], mode=linker)
    assert counts(f, 1, [1.0]) == {"both": 1, "one": 1, "then": 1}
    assert counts(f, 0, [1.0]) == {"both": 1, "one": 1}


@pytest.mark.parametrize("linker", LINKERS)
def test_choices_within_choices(linker):
    d = ft.iscalar("d")
    inner = fz.ifelse(d, Counted("a")(X), Counted("b")(X))
    y = fz.ifelse(C, inner + 1, Counted("c")(X))
    f = fz.function([C, d, X], y, mode=linker)
    assert counts(f, 1, 1, [1.0]) == {"a": 1}
    assert counts(f, 1, 0, [1.0]) == {"b": 1}
    assert counts(f, 0, 1, [1.0]) == {"c": 1}
    np.testing.assert_array_equal(f(1, 0, [1.5]), [4.0])


def expressions(leaves):
    def extend(inner):
        two = st.tuples(inner, inner)
        return st.one_of(
            two.map(lambda ab: ab[0] + ft.tanh(ab[1])),
            two.map(lambda ab: ab[0] * ab[1]),
            two.map(lambda ab: fz.ifelse(C, ab[0], ab[1])),
            two.map(lambda ab: fz.ifelse(ft.sum(X) > 1, ab[0], ft.cos(ab[1]))),
            inner.map(lambda a: ft.sum(a) * a),
        )

    return st.recursive(st.sampled_from(leaves), extend, max_leaves=12)


def eager(y):
    """The same with both branches computed."""
    while True:
        node = next(
            (
                node
                for node in fz.FunctionGraph(None, [y]).toposort()
                if isinstance(node.op, IfElse)
            ),
            None,
        )
        if node is None:
            return y
        bound = node.op.expand(node.inputs[1:])
        half = len(bound) // 2
        pairs = zip(node.outputs, bound[:half], bound[half:], strict=True)
        (y,) = fz.graph_replace(
            [y], {out: ft.where(ft.neq(node.inputs[0], 0), a, b) for out, a, b in pairs}
        )


@settings(max_examples=20)
@given(expressions([X, Y, X + Y]), st.booleans(), st.sampled_from(LINKERS))
def test_values_and_gradients_are_those_of_where(y, condition, linker):
    options = {"disconnected_inputs": "ignore"}
    other = eager(y)
    ours = [y, *fz.grad(ft.sum(y), [X, Y], **options)]
    theirs = [other, *fz.grad(ft.sum(other), [X, Y], **options)]
    f = fz.function([C, X, Y], ours, mode=linker, on_unused_input="ignore")
    g = fz.function([C, X, Y], theirs, mode="py", on_unused_input="ignore")
    values = int(condition), [0.3, 0.5], [-0.25, 1.0]
    for result, expected in zip(f(*values), g(*values), strict=True):
        np.testing.assert_allclose(result, expected, rtol=1e-9, atol=1e-12)


def test_gradients_agree_with_finite_differences():
    for condition in (True, False):
        verify_grad(
            lambda x, y, condition=condition: ft.sum(
                fz.ifelse(ft.constant(condition), ft.exp(x) * y, ft.tanh(x + y))
            ),
            [[0.1, 0.7], [0.2, -0.4]],
        )


@settings(max_examples=10)
@given(expressions([X, Y, X + Y]), st.booleans(), st.sampled_from(LINKERS))
def test_gradients_of_gradients_are_those_of_where(y, condition, linker):
    options = {"disconnected_inputs": "ignore"}

    def second(value):
        first = fz.grad(ft.sum(ft.sin(value)), [X, Y], **options)
        return fz.grad(sum(ft.sum(g * ft.cos(g)) for g in first), [X, Y], **options)

    f = fz.function([C, X, Y], second(y), mode=linker, on_unused_input="ignore")
    g = fz.function([C, X, Y], second(eager(y)), mode="py", on_unused_input="ignore")
    values = int(condition), [0.3, 0.5], [-0.25, 1.0]
    for result, expected in zip(f(*values), g(*values), strict=True):
        np.testing.assert_allclose(result, expected, rtol=1e-9, atol=1e-12)


def test_a_gradient_goes_to_what_a_branch_computes_as_its_neighbours_do():
    def cost(choose, x):
        return choose(x > 0, ft.sin(x) ** 2, x) + ft.cos(x)

    def second(choose, x):
        return fz.grad(fz.grad(cost(choose, x), x), x)

    x = ft.dscalar("x")
    for value in (0.3, -0.3):
        expected = fz.function([x], second(ft.where, x), mode="py")(value)
        np.testing.assert_allclose(second(fz.ifelse, x).eval({x: value}), expected)


def test_what_both_branches_compute_has_a_gradient():
    y = fz.ifelse(C, X / 2 + ft.sin(Y), Y / 2 + ft.sin(X))
    slope = fz.grad(ft.sum(ft.sin(y)), X)
    f = fz.function([C, X, Y], fz.grad(ft.sum(slope), X))
    x, b = np.array([0.3, -0.4]), np.array([0.6, 0.2])
    np.testing.assert_allclose(f(1, x, b), -np.sin(x / 2 + np.sin(b)) / 4)


def test_gradients_of_what_lies_between():
    between = ft.exp(X)
    y = fz.ifelse(C, between * 2, X)
    f = fz.function([C, X], fz.grad(ft.sum(y), between))
    np.testing.assert_array_equal(f(1, [0.0, 1.0]), [2.0, 2.0])
    np.testing.assert_array_equal(f(0, [0.0, 1.0]), [0.0, 0.0])


@pytest.mark.parametrize("linker", LINKERS)
def test_branches_of_other_lengths(linker):
    y = fz.ifelse(C, X, ft.concatenate([X, Y]))
    assert y.type.shape == (None,)
    f = fz.function([C, X, Y], [y * 2, y.shape[0]], mode=linker)
    np.testing.assert_array_equal(f(1, [1.0], [2.0, 3.0])[0], [2.0])
    result, length = f(0, [1.0], [2.0, 3.0])
    np.testing.assert_array_equal(result, [2.0, 4.0, 6.0])
    assert length == 3


def test_several_outputs():
    a, b = fz.ifelse(ft.sum(X), [X, ft.sum(X)], [Y, ft.prod(Y)])
    f = fz.function([X, Y], [a, b])
    np.testing.assert_array_equal(f([1.0, 2.0], [3.0, 5.0])[1], 3.0)
    np.testing.assert_array_equal(f([1.0, -1.0], [3.0, 5.0])[1], 15.0)


def test_numbers_take_the_dtype_of_the_other_branch():
    z = ft.tensor("z", dtype="float32", shape=())
    assert fz.ifelse(C, z, 0.5).dtype == "float32"
    assert fz.ifelse(C, 1, z).dtype == "float32"


def test_bad_input_is_told():
    with pytest.raises(TypeError, match=r"float64\[\?\] in then_branch and int64.*cast one"):
        fz.ifelse(C, X, ft.tensor("i", dtype="int64", shape=(None,)))
    with pytest.raises(TypeError, match="as many dimensions"):
        fz.ifelse(C, X, ft.matrix("m"))
    with pytest.raises(TypeError, match=r"has no dimensions.*ft\.where"):
        fz.ifelse(X > 0, X, Y)
    with pytest.raises(ValueError, match="then_branch has 2, else_branch 1"):
        fz.ifelse(C, [X, Y], [X])


def test_a_choice_is_the_same_wherever_it_is_built():
    a, b = fz.ifelse(C, ft.exp(X), Y), fz.ifelse(C, ft.exp(X), Y)
    assert a is b


def test_a_constant_condition_leaves_no_choice():
    for condition, expected in [(True, [1.0]), (0, [2.0])]:
        y = fz.ifelse(condition, X, fz.ifelse(ft.constant(True), X * 2, Y))
        f = fz.function([X, Y], y, mode="c", on_unused_input="ignore")
        assert not any(" if " in line for line in f.program.instructions)
        np.testing.assert_array_equal(f([1.0], [5.0]), expected)


def test_conditions_that_are_shared_and_nested():
    first = fz.ifelse(C, Counted("a")(X), Counted("b")(X))
    second = fz.ifelse(C, Counted("c")(first), Counted("d")(first))
    f = fz.function([C, X], [first, second], mode="c")
    assert counts(f, 1, [1.0]) == {"a": 1, "c": 1}
    assert counts(f, 0, [1.0]) == {"b": 1, "d": 1}
    np.testing.assert_array_equal(f(1, [1.5]), [[3.0], [6.0]])


@pytest.mark.parametrize("linker", LINKERS)
def test_choices_with_the_same_condition_are_made_together(linker):
    """A value and its gradient compute once in a branch what both need."""
    shared, other = Counted("then")(X), Counted("else")(ft.sin(X))
    y = fz.ifelse(C, shared**2, ft.exp(other))
    z = fz.ifelse(C, Y * shared, Y + other)
    gradient = fz.grad(ft.sum(y**3), X)
    f = fz.function([C, X, Y], [y, gradient, z], mode=linker)
    assert counts(f, 1, [1.0], [2.0]) == {"then": 1, "gradient of then": 1}
    assert counts(f, 0, [1.0], [2.0]) == {"else": 1, "gradient of else": 1}
    assert sum(isinstance(node.op, IfElse) for node in f.optimized.toposort()) == 1
    for taken in (1, 0):
        plain = fz.function([C, X, Y], [eager(v) for v in (y, gradient, z)], mode="py")
        for found, wanted in zip(f(taken, [0.3], [2.0]), plain(taken, [0.3], [2.0]), strict=True):
            np.testing.assert_allclose(found, wanted)


@pytest.mark.parametrize("linker", LINKERS)
def test_what_lies_between_two_choices_keeps_them_apart(linker):
    first = fz.ifelse(C, Counted("a")(X), X)
    between = Counted("between")(first)
    second = fz.ifelse(C, between + 1, Counted("b")(between))
    f = fz.function([C, X], [first, between, second], mode=linker)
    assert counts(f, 1, [1.0]) == {"a": 1, "between": 1}
    assert counts(f, 0, [1.0]) == {"between": 1, "b": 1}
    np.testing.assert_array_equal(f(0, [1.0]), [[1.0], [2.0], [4.0]])
    g = fz.function([C, X], [first, second], mode=linker)
    assert counts(g, 1, [1.0]) == {"a": 1, "between": 1}
    assert counts(g, 0, [1.0]) == {"between": 1, "b": 1}


@pytest.mark.parametrize("linker", LINKERS)
def test_choices_together_are_as_lazy_as_alone(linker):
    """A choice within a branch that is not taken is not made because another one is."""
    d = ft.iscalar("d")
    y = fz.ifelse(d, fz.ifelse(C, Counted("inner")(X), X), X * 3)
    z = fz.ifelse(C, Counted("outer")(Y), Y)
    f = fz.function([C, d, X, Y], [y, z], mode=linker)
    assert counts(f, 1, 0, [1.0], [1.0]) == {"outer": 1}
    assert counts(f, 1, 1, [1.0], [1.0]) == {"outer": 1, "inner": 1}
    assert counts(f, 0, 1, [1.0], [1.0]) == {}


@settings(max_examples=20)
@given(
    st.lists(expressions([X, Y, X + Y]), min_size=2, max_size=3),
    st.booleans(),
    st.sampled_from(LINKERS),
)
def test_several_values_and_gradients_are_those_of_where(ys, condition, linker):
    options = {"disconnected_inputs": "ignore"}
    cost = sum((ft.sum(ft.sin(y)) for y in ys), start=ft.constant(0.0))
    ours = [*ys, *fz.grad(cost, [X, Y], **options)]
    theirs = [eager(y) for y in ours]
    f = fz.function([C, X, Y], ours, mode=linker, on_unused_input="ignore")
    g = fz.function([C, X, Y], theirs, mode="py", on_unused_input="ignore")
    values = int(condition), [0.3, 0.5], [-0.25, 1.0]
    for result, expected in zip(f(*values), g(*values), strict=True):
        np.testing.assert_allclose(result, expected, rtol=1e-9, atol=1e-12)
