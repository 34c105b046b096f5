"""Gradients agree with finite differences, take no needless work, and say what is wrong."""

import sys
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import evaluate, evaluate_all

import frazil as fz
import frazil.tensor as ft
from frazil import _core, pp, scalar
from frazil._core import toposort
from frazil.gradient import (
    DisconnectedInputError,
    NotDifferentiableError,
    disconnected_grad,
    elementwise,
    grad,
    pullback_of,
    zero_grad,
)
from frazil.scalar import ScalarOp
from frazil.scalar.elemwise import Elemwise


def differences(f, points, eps=1e-6):
    """Return central differences of the scalar function ``f`` in each element of each point."""
    results = []
    for position, point in enumerate(points):
        result = np.zeros_like(point)
        for index in np.ndindex(point.shape):
            sides = []
            for step in (eps, -eps):
                moved = [p.copy() for p in points]
                moved[position][index] += step
                sides.append(f(*moved))
            result[index] = (sides[0] - sides[1]) / (2 * eps)
        results.append(result)
    return results


def check(build, *points, rtol=1e-5, atol=1e-7):
    """Check the gradient of a random projection of ``build(*inputs)``, whatever is static."""
    rng = np.random.default_rng(1)
    points = [np.asarray(point, dtype="float64") for point in points]
    for static in (False, True):
        inputs = [
            ft.tensor(f"x{i}", shape=[n if static or n == 1 else None for n in p.shape])
            for i, p in enumerate(points)
        ]
        output = build(*inputs)
        value = evaluate(output, dict(zip(inputs, points, strict=True)))
        weights = rng.uniform(0.5, 1.5, value.shape)
        cost = ft.sum(output * weights)

        def cost_at(*at, inputs=inputs, cost=cost):
            return evaluate(cost, dict(zip(inputs, at, strict=True)))

        expected = differences(cost_at, points)
        gradients = grad(cost, inputs, disconnected_inputs="ignore")
        values = evaluate_all(gradients, dict(zip(inputs, points, strict=True)))
        for x, gradient, found, want in zip(inputs, gradients, values, expected, strict=True):
            assert (gradient.dtype, found.shape) == (x.dtype, want.shape)
            np.testing.assert_allclose(found, want, rtol=rtol, atol=atol)


M = np.array([[0.3, -1.2, 0.7], [1.5, 0.4, -0.6]])
V = np.array([0.2, -0.5, 1.1])

# ------------------------------------------------------------------------------ values


EXPRESSIONS = [
    lambda x: ft.sum(x, axis=0),
    lambda x: ft.sum(x, axis=1, keepdims=True) * x,
    lambda x: ft.mean(x),
    lambda x: ft.mean(x, axis=1),
    lambda x: ft.var(x, axis=0, ddof=1),
    lambda x: ft.std(x),
    lambda x: ft.max(x, axis=1) * ft.min(x),
    lambda x: ft.prod(x, axis=1),
    lambda x: ft.prod(x * (x > 0.35), axis=1),
    lambda x: ft.prod(x * (x > 1)),
    lambda x: x.T * 2,
    lambda x: x.reshape(3, 2)[1:],
    lambda x: x.ravel()[::-2],
    lambda x: x[0] * x[:, 1:].sum(),
    lambda x: x[:, None] + x,
    lambda x: ft.set_subtensor(x[0, 1:], x[1, :2] ** 2),
    lambda x: ft.inc_subtensor(x[:, 1], x[:, 0]),
    lambda x: ft.inc_subtensor(x[:, 1:], x[0, 0]),
    lambda x: ft.broadcast_to(x[:, None], (2, 4, 3)),
    lambda x: ft.full((2, 3), x[0, 0]) * x,
    lambda x: ft.squeeze(ft.expand_dims(x, 1), 1) * 3,
    lambda x: x @ x.T,
    lambda x: x @ x[0],
    lambda x: x[:, 0] @ x,
    lambda x: x[0] @ x[1],
    lambda x: ft.outer(x[0], x[1]),
    lambda x: ft.where(x > 0, x**2, ft.exp(x)),
    lambda x: ft.clip(x, -1, 0.5) + ft.maximum(x, 0.1) * ft.minimum(x, x[0]),
]


@pytest.mark.parametrize("build", EXPRESSIONS)
def test_agrees_with_differences(build):
    check(build, M)


def test_linkers_agree_with_the_reference(mode):
    x = ft.matrix("x")
    outputs = [build(x) for build in EXPRESSIONS]
    variables = [*outputs, *(grad(ft.sum(output * 0.7), x) for output in outputs)]
    for variable, found in zip(variables, fz.function([x], variables, mode=mode)(M), strict=True):
        expected = evaluate(variable, {x: M})
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-14, err_msg=pp(variable))


@pytest.mark.parametrize(
    "build",
    [
        lambda a, b: a * b,
        lambda a, b: a / (b + 2),
        lambda a, b: ft.logaddexp(a, b) - a,
        lambda a, b: ft.arctan2(a, b),
        lambda a, b: (a + 3) ** b,
        lambda a, b: ft.mod(a, b + 4),
        lambda a, b: ft.sum(a - b),
        lambda a, b: ft.mean(a + b, axis=0),
    ],
)
@pytest.mark.parametrize("b", [np.array(0.7), V, V[:1], M[:, :1], M[:1], M])
def test_broadcast_operands(build, b):
    check(build, M, b)
    check(lambda b, a: build(a, b), b, M)


CONTINUOUS = ("arithmetic", "arithmetic_no_bool", "division", "float", "floor")
STOPS = ("disconnected_grad", "zero_grad")
UNARY = [
    name
    for name, row in scalar.TABLE.items()
    if row.nin == 1 and row.rule in CONTINUOUS and row.gradient is not None and name not in STOPS
]


@pytest.mark.parametrize("name", UNARY)
def test_every_scalar_function(name):
    points = {"arccosh": [1.5, 3.0], "log1mexp": [-0.2, -0.8]}.get(name, [0.2, 0.8])
    check(lambda x: _core.elemwise(getattr(scalar, name), x), points)


def test_gradient_stops():
    x = ft.scalar("x")
    y = zero_grad(x) * x
    assert evaluate(grad(y, x), {x: 3.0}) == 3.0
    assert evaluate(disconnected_grad(x) * 2.0, {x: 3.0}) == 6.0
    assert evaluate(grad(zero_grad(x) ** 2, x), {x: 3.0}) == 0.0
    with pytest.raises(DisconnectedInputError):
        grad(disconnected_grad(x) ** 2, x)


def test_ties_get_the_whole_gradient():
    x = ft.vector("x")
    found = evaluate(grad(ft.max(x), x), {x: [2.0, 1.0, 2.0]})
    np.testing.assert_array_equal(found, [1.0, 0.0, 1.0])


@pytest.mark.parametrize("zeros", [0, 1, 2])
def test_product_of_zeros(zeros):
    values = np.array([0.0] * zeros + [2.0, 3.0, 4.0])
    x = ft.vector("x")
    found = evaluate(grad(ft.prod(x), x), {x: values})
    others = [np.prod(np.delete(values, i)) for i in range(len(values))]
    np.testing.assert_allclose(found, others)


def test_second_derivative():
    x = ft.vector("x")
    first = grad(ft.sum(x**3), x)
    np.testing.assert_allclose(evaluate(grad(ft.sum(first), x), {x: [1.0, 2.0]}), [6.0, 12.0])


def test_gradient_has_the_dtype_of_its_variable():
    x, y = ft.vector("x", dtype="float32"), ft.vector("y")
    cost = ft.sum(x * y) + ft.sum(ft.exp(x)).astype("float64")
    g_x, g_y = grad(cost, [x, y])
    assert (g_x.dtype, g_y.dtype) == ("float32", "float64")


def test_intermediate_variables():
    x = ft.vector("x")
    y = ft.exp(x)
    cost = ft.sum(y**2)
    g_y, g_x = grad(cost, [y, x])
    given = {x: [0.5]}
    np.testing.assert_allclose(evaluate(g_y, given), 2 * np.exp([0.5]))
    np.testing.assert_allclose(evaluate(g_x, given), 2 * np.exp([1.0]))


def test_known_grads():
    x, g = ft.vector("x"), ft.vector("g")
    y = x**2
    found = grad(None, x, known_grads={y: g})
    np.testing.assert_allclose(evaluate(found, {x: [3.0], g: [5.0]}), [30.0])


def test_a_known_gradient_is_the_whole_of_it():
    x, g = ft.vector("x"), ft.vector("g")
    y = x**2
    given = {x: [3.0], g: [5.0]}
    cost = ft.sum(y**2 + x)
    found = grad(cost, [x, y], known_grads={y: g})
    assert [evaluate(each, given).tolist() for each in found] == [[31.0], [5.0]]
    known = {y: g, ft.exp(y): g, x: 7 * g}
    assert evaluate(grad(None, y, known_grads=known), given).tolist() == [5.0]
    assert evaluate(grad(cost, x, known_grads=known), given).tolist() == [35.0]
    assert evaluate(grad(cost, y, known_grads={cost: ft.constant(2.0)}), given).tolist() == [36.0]


def test_what_lies_behind_a_known_gradient_needs_none():
    class Opaque(fz.Op):
        def make_node(self, x):
            return fz.FrozenApply(self, [x], [x.type])

        def perform(self, node, inputs):
            return [inputs[0]]

    x = ft.vector("x")
    y = 3 * x
    behind = Opaque()(y)
    with pytest.raises(NotDifferentiableError):
        grad(ft.sum(behind), x)
    found = grad(ft.sum(behind), x, known_grads={y: ft.constant([2.0, 4.0])})
    assert evaluate(found, {x: [1.0, 1.0]}).tolist() == [6.0, 12.0]


def test_a_row_vector_for_outputs_that_depend_on_each_other():
    x = ft.vector("x")
    y = x**2
    given = {x: [3.0]}
    assert evaluate(fz.Lop([y, y**2], x, [[2.0], [1.0]]), given).tolist() == [2 * 6 + 4 * 27.0]
    assert evaluate(fz.Lop([y, y], x, [[2.0], [1.0]]), given).tolist() == [3 * 6.0]
    assert evaluate(fz.Rop(y, [x, x], [[2.0], [1.0]]), given).tolist() == [3 * 6.0]


def test_consider_constant():
    x = ft.scalar("x")
    y = x**2
    assert evaluate(grad(x * y, x, consider_constant=[y]), {x: 3.0}) == 9.0


@st.composite
def expressions(draw):
    """A function of a matrix and a vector from smooth steps, in any shapes."""
    steps = draw(st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=8))

    def build(m, v):
        h = m
        for step in steps:
            match step:
                case "a":
                    h = ft.sin(h) + v
                case "b":
                    h = h * ft.tanh(ft.mean(h, axis=0))
                case "c":
                    h = ft.tanh(h.T @ h)[:, 0] + h
                case "d":
                    h = ft.sigmoid(h - ft.sum(v))
                case "e":
                    h = ft.sum(h, axis=1, keepdims=True) * v / 8
                case "f":
                    h = h.reshape(v.shape[0], -1).T
                case "g":
                    h = ft.inc_subtensor(h[::-1][:1], v) if h.ndim == 2 else h
                case "h":
                    h = h[::-1] * 0.5
        return h

    return build


@settings(max_examples=settings.default.max_examples // 4)
@given(expressions())
def test_random_expressions(build):
    check(build, M[:, :3], V, rtol=1e-4, atol=1e-6)


# ------------------------------------------------------------------------------ work


def count(variables):
    return len(_core.toposort(variables))


def test_chain_takes_five_nodes_a_step_back():
    x = h = ft.vector("x")
    for i in range(20):
        h = h + 0.01 * ft.sin(1.0001**i * h)
    cost = ft.sum(h)
    before = count([cost])
    after = count([cost, grad(cost, x)])
    assert after - before <= 20 * 5 + 1


def test_logistic_regression_is_one_product_each_way():
    X, y, w = ft.matrix("X"), ft.vector("y"), ft.vector("w")
    z = X @ w
    cost = ft.sum(ft.softplus(z) - y * z)
    assert pp(grad(cost, w)) == "X.T @ (sigmoid(X @ w) - y)"


@pytest.mark.parametrize(
    ("build", "text"),
    [
        (lambda x, y: ft.sum(x * y), "y"),
        (lambda x, y: ft.sum(2 * x), "BroadcastTo(2.0, x.shape[0])"),
        (lambda x, y: ft.sum(y - x), "BroadcastTo(-1.0, x.shape[0])"),
        (lambda x, y: ft.sum(y - x * y), "-y"),
        (lambda x, y: ft.sum(ft.exp(x)), "exp(x)"),
        (lambda x, y: ft.sum(x[1:] * y), "inc_subtensor(BroadcastTo(0.0, x.shape[0])[1:], y)"),
        (lambda x, y: ft.sum((x[None] * y).T), "y"),
        (lambda x, y: ft.sum(ft.reshape(x * y, (2, -1))), "y"),
        (lambda x, y: ft.sum(x * y) + ft.sum(x[1:]), "inc_subtensor(y[1:], 1.0)"),
    ],
)
def test_gradients_have_no_needless_nodes(build, text):
    x, y = ft.vector("x"), ft.vector("y")
    assert pp(grad(build(x, y), x)) == text


def test_mean_of_a_known_length_is_folded():
    x = ft.vector("x", shape=(4,))
    assert pp(grad(ft.mean(x * 2), x)) == "BroadcastTo(0.5, 4)"


# ------------------------------------------------------------------------------ errors


def test_cost_must_be_a_floating_scalar():
    x = ft.vector("x")
    with pytest.raises(TypeError, match=r"'x' of type .* with 1 dimensions"):
        grad(x, x)
    with pytest.raises(TypeError, match="must be floating-point"):
        grad(ft.sum(x > 0), x)
    with pytest.raises(TypeError, match="cost must be a variable"):
        grad(1.0, x)
    with pytest.raises(ValueError, match="known_grads"):
        grad(None, x)


def test_integers_have_no_gradient():
    n = ft.lvector("n")
    with pytest.raises(TypeError, match=r"'n' of type .* only floating-point"):
        grad(ft.sum(n * 1.0), n)


@pytest.mark.parametrize(
    "build", [lambda x: ft.scalar("c"), lambda x: ft.sum((x > 0) * 1.0), lambda x: x.size * 1.0]
)
def test_disconnected(build):
    x = ft.vector("x")
    cost = build(x)
    with pytest.raises(DisconnectedInputError, match="'x'"):
        grad(cost, x)
    for differentiate in (grad, fz.grad):
        with pytest.warns(UserWarning, match="'x'") as told:
            zeros = differentiate(cost, x, disconnected_inputs="warn")
        assert told[0].filename == __file__
    assert evaluate(zeros, {x: [1.0, 2.0]}).tolist() == [0.0, 0.0]
    assert grad(cost, [x], None, "ignore", return_disconnected="none") == [None]


def test_own_op_without_gradient_is_named():
    from dataclasses import dataclass

    @dataclass(frozen=True, eq=False)
    class Opaque(fz.Op):
        def make_node(self, x):
            return fz.FrozenApply(self, [x], [x.type])

    x = ft.vector("x")
    with pytest.raises(NotDifferentiableError, match=r"Opaque \(first built at .*test_gradient.py"):
        grad(ft.sum(Opaque()(x)), x)
    # No gradient is asked for through it: nothing to complain about.
    assert pp(grad(ft.sum(x * Opaque()(x)), x, consider_constant=[Opaque()(x)])) == "Opaque(x)"


def test_arguments_are_checked():
    x = ft.vector("x")
    with pytest.raises(ValueError, match="disconnected_inputs must be"):
        grad(ft.sum(x), x, disconnected_inputs="maybe")
    with pytest.raises(ValueError, match="return_disconnected must be"):
        grad(ft.sum(x), x, return_disconnected="maybe")
    with pytest.raises(TypeError, match="wrt must be"):
        grad(ft.sum(x), [1.0])


def test_elementwise_ops_can_be_pulled_back_by_hand():
    x, y = ft.matrix("x"), ft.vector("y")
    node = (x * y).owner
    assert isinstance(node.op, Elemwise)
    g = ft.matrix("g")
    assert [pp(v) for v in pullback_of(node.op)(node.inputs, node.outputs, [g])] == [
        "g * y",
        "sum(g * x, axis=(0,))",
    ]


@pytest.mark.parametrize(
    "build",
    [
        lambda m: ft.dot(m, ft.constant([[2.0]])),
        lambda m: ft.dot(ft.constant([[2.0]]), m),
        lambda m: ft.dot(m, ft.constant([2.0])),
        lambda m: ft.concatenate([m, ft.constant([[2.0]])], axis=0),
        lambda m: ft.concatenate([ft.constant([[2.0]]), m], axis=1),
        lambda m: ft.stack([m, ft.constant([[2.0]])]),
        lambda m: ft.block([[m, ft.constant([[2.0]])], [ft.constant([[1.0, 2.0]])]]),
        lambda m: ft.matmul(ft.constant([[[2.0]]]), m),
        lambda m: ft.linalg.solve(m, ft.constant([[2.0]])),
        lambda m: ft.linalg.solve(ft.constant([[2.0]]), m),
        lambda m: ft.linalg.solve_triangular(m, ft.constant([[2.0]])),
        lambda m: ft.linalg.solve_sylvester(ft.constant([[2.0]]), m, ft.constant([[1.0]])),
        lambda m: ft.linalg.lstsq(m, ft.constant([2.0]))[0],
    ],
)
def test_an_operand_may_tell_the_length_one_of_another(build):
    m = ft.dmatrix("m")
    cost = ft.sum(ft.sin(build(m)))
    slope = fz.grad(cost, m)
    curvature = fz.grad(ft.sum(slope), m)
    f = fz.function([m], [cost, slope, curvature], mode="py")
    up, at, down = f([[0.7 + 1e-5]]), f([[0.7]]), f([[0.7 - 1e-5]])
    for order in (0, 1):
        assert at[order + 1].shape == (1, 1)
        difference = (np.sum(up[order]) - np.sum(down[order])) / 2e-5
        np.testing.assert_allclose(at[order + 1], [[difference]], rtol=1e-6)


def test_rows_of_a_scan_take_gradients_that_tell_no_length():
    x, y = ft.tensor("x", shape=(4,)), ft.vector("y")
    rows = fz.map(lambda e: x * e + ft.sin(x), ft.constant([2.0]))[0]
    cost = ft.sum(fz.ifelse(ft.sum(x) > 0, ft.sum(rows, axis=0), y) ** 2)
    value = np.array([1.0, 2.0, -1.0, 0.5])
    found = fz.grad(cost, x).eval({x: value, y: np.ones(3)})
    np.testing.assert_allclose(found, 2 * (2 * value + np.sin(value)) * (2 + np.cos(value)))


def test_constants_of_a_walk_are_folded_once(monkeypatch):
    folded = []
    fold = elementwise._folded

    def counted(x, leaves):
        result = fold(x, leaves)
        folded.append((x, isinstance(result, fz.Constant)))
        return result

    monkeypatch.setattr(elementwise, "_folded", counted)
    x = ft.vector("x")
    total = 0.0
    for k in range(20):
        total = total - 0.5 * (x[k] - k) ** 2
    fz.grad(total, x)
    constants = [variable for variable, is_constant in folded if is_constant]
    assert constants
    assert len(constants) == len({*constants})


@dataclass(frozen=True, eq=False)
class OwnTriple(fz.Op):
    def make_node(self, x):
        return fz.FrozenApply(self, [x], [x.type])

    def perform(self, node, inputs):
        return (inputs[0] * 3,)

    def L_op(self, inputs, outputs, output_gradients):
        return [ft.sinh(output_gradients[0] * 3)]


@dataclass(frozen=True, eq=False)
class OwnSquare(ScalarOp):
    nin = 1
    rule = "float"

    def impl(self, x):
        return x * x

    def gradient(self, inputs, output, g):
        return [lambda: ft.cosh(g * inputs[0])]


def test_lines_of_gradients_are_those_of_grad_and_of_users_rules():
    x, w = ft.vector("x"), ft.matrix("w")
    y = ft.sin(OwnSquare()(OwnTriple()(ft.tanh(w @ x))))
    line = sys._getframe().f_lineno + 1
    first = fz.grad(ft.sum(y), x)
    second = fz.grad(ft.sum(first), w)
    before = {*toposort([y])}
    lines = {}
    for node in toposort([second]):
        if node not in before:
            assert node.source[0] == __file__
            lines.setdefault(node.source[1:], set()).add(str(node.op).split("{")[0])
    here = "test_lines_of_gradients_are_those_of_grad_and_of_users_rules"
    assert {"cos", "Transpose", "sub"} <= lines[line, here]
    assert lines[line + 1, here]
    rule = OwnTriple.L_op.__code__
    assert lines.pop((rule.co_firstlineno + 1, rule.co_qualname)) == {"mul", "sinh"}
    rule = OwnSquare.gradient.__code__
    name = f"{rule.co_qualname}.<locals>.<lambda>"
    assert lines.pop((rule.co_firstlineno + 1, name)) == {"mul", "cosh"}
    assert {*lines} == {(line, here), (line + 1, here)}


def test_a_rule_that_raises_leaves_the_lines_of_others():
    x = ft.vector("x")
    with pytest.raises(fz.gradient.NotDifferentiableError):
        fz.grad(ft.sum(ft.sort(ft.isnan(x) * x) ** OwnFloor()(x)), x)
    line = sys._getframe().f_lineno + 1
    assert ft.sinh(x * 17.25).owner.source[1] == line


@dataclass(frozen=True, eq=False)
class OwnFloor(ScalarOp):
    nin = 1
    rule = "float"

    def impl(self, x):
        return np.floor(x)
