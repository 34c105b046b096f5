"""What a user's op says is checked: the error names the op, and what it was said of."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import frazil as fz
import frazil.tensor as ft
from frazil.scalar import ScalarOp

MODES = ("py", "c", "cranelift", "numba")


def told(**methods: Any) -> Any:
    """An op of two operands, x + y of the type of x, that says what ``methods`` say."""

    def make_node(self: Any, x: Any, y: Any) -> fz.FrozenApply:
        return fz.FrozenApply(self, [x, y], [x.type])

    said = {
        "make_node": make_node,
        "perform": lambda self, node, inputs: (inputs[0] + inputs[1],),
        "infer_shape": lambda self, node, input_shapes: (input_shapes[0],),
        "L_op": lambda self, inputs, outputs, output_gradients: [output_gradients[0]] * 2,
        "__qualname__": "told.<locals>.Told",
    }
    return type("Told", (fz.Op,), said | methods)()


def gradient_of(result: Any, x: Any, y: Any) -> Any:
    op = told(L_op=lambda self, inputs, outputs, output_gradients: result(output_gradients[0]))
    return fz.grad(op(x, y).sum(), [x, y])


X, Y = ft.dvector("x"), ft.dvector("y")

WRONG_LISTS = [
    (lambda g: g, r"L_op of Told must return a list or tuple.*the bare variable"),
    (lambda g: None, "L_op of Told must return a list or tuple.*it returned None"),
    (lambda g: [g], "L_op of Told.*the node has 2 inputs, and 1 came back"),
    (lambda g: [g, g, g], "L_op of Told.*the node has 2 inputs, and 3 came back"),
    (lambda g: {0: g}, "L_op of Told.*it returned a dict"),
]
WRONG_TYPES = [
    (lambda g: g.sum(), r"must have the shape of y.*float64\[\?\]; given one of type float64\[\]"),
    (lambda g: g.sum(keepdims=True), r"given one of type float64\[1\]"),
    (lambda g: ft.stack([g, g]), r"given one of type float64\[2, \?\]"),
    (lambda g: g > 0, "must be floating-point, given one of type bool"),
    (lambda g: ft.cast(g, "int64"), "must be floating-point"),
    (lambda g: 1.0, "input 1 must be a variable, or None.*given 1.0 of type float"),
    (lambda g: np.ones(3), "input 1 must be a variable, or None.*of type ndarray"),
]


@pytest.mark.parametrize(("result", "message"), WRONG_LISTS)
def test_gradients_are_a_list(result: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        gradient_of(result, X, Y)


@pytest.mark.parametrize(("result", "message"), WRONG_TYPES)
def test_gradients_have_the_type_of_their_input(result: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message) as caught:
        gradient_of(lambda g: [g, result(g)], X, Y)
    assert "L_op of Told" in str(caught.value)


SHAPES = st.lists(st.sampled_from([None, 1, 2, 3]), max_size=3)


@given(SHAPES, SHAPES)
def test_a_gradient_is_refused_exactly_if_it_has_not_the_shape(own: Any, other: Any) -> None:
    x = ft.tensor("x", shape=tuple(own))
    g = ft.tensor("g", shape=tuple(other))
    fits = len(own) == len(other) and all(
        m is None or m == n or (n is None and m != 1) for n, m in zip(own, other, strict=True)
    )
    op = told(L_op=lambda self, inputs, outputs, output_gradients: [g, None])
    if fits:
        fz.grad(op(x, Y).sum(), x)
    else:
        with pytest.raises(TypeError, match="L_op of Told: the derivative for input 0 must have"):
            fz.grad(op(x, Y).sum(), x)


def test_float32_and_none_are_fine() -> None:
    for mode in MODES:
        first, second = gradient_of(lambda g: [ft.cast(g, "float32"), g * 2], X, Y)
        found = fz.function([X, Y], [first, second], mode=mode, on_unused_input="ignore")(
            [1.0], [2.0]
        )
        assert [y.tolist() for y in found] == [[1.0], [2.0]]
    op = told(L_op=lambda self, inputs, outputs, output_gradients: (output_gradients[0], None))
    assert fz.grad(op(X, Y).sum(), X).type == X.type


@pytest.mark.parametrize(
    ("result", "message"),
    [
        (lambda t: t, "R_op of Told must return a list or tuple.*the bare variable"),
        (lambda t: [t, t], "R_op of Told.*the node has 1 output, and 2 came back"),
        (lambda t: [t.sum()], r"R_op of Told: the derivative for output 0 must have the shape"),
        (lambda t: [ft.cast(t, "int8")], "R_op of Told.*must be floating-point"),
    ],
)
def test_tangents(result: Any, message: str) -> None:
    op = told(R_op=lambda self, inputs, tangents: result(tangents[0]))
    with pytest.raises(TypeError, match=message):
        fz.Rop(op(X, Y), X, X)


@pytest.mark.parametrize(
    ("result", "message"),
    [
        (lambda shape: shape, r"output 0: 1 lengths in a tuple for each output are needed"),
        (lambda shape: shape[0], "infer_shape of Told must return a list or tuple.*bare variable"),
        (lambda shape: [shape, shape], "infer_shape of Told.*has 1 output, and 2 came back"),
        (lambda shape: [shape + shape], r"output 0: 1 lengths are needed.*float64\[\?\]"),
        (lambda shape: [()], "output 0: 1 lengths are needed"),
        (lambda shape: [(2.5,)], "infer_shape of Told, output 0, axis 0: a length must be an int"),
        (lambda shape: [(X,)], "output 0, axis 0: a length must be an integer"),
    ],
)
def test_lengths(result: Any, message: str) -> None:
    op = told(infer_shape=lambda self, node, input_shapes: result(input_shapes[0]))
    with pytest.raises(TypeError, match=message):
        fz.function([X, Y], ft.exp(op(X, Y)) + 1, mode="c")


@pytest.mark.parametrize(
    ("result", "message"),
    [
        (lambda shape: None, "infer_shape of Told must return a list or tuple.*it returned None"),
        (lambda shape: shape, "infer_shape of Told, output 0: 1 lengths in a tuple"),
        (lambda shape: (), "infer_shape of Told.*has 1 output, and 0 came back"),
        (lambda shape: (7,), "infer_shape of Told, output 0: 1 lengths in a tuple.*given 7"),
    ],
)
def test_lengths_that_rules_ask_for(result: Any, message: str) -> None:
    op = told(infer_shape=lambda self, node, input_shapes: result(input_shapes[0]))
    for mode in MODES:
        with pytest.raises(TypeError, match=message) as failed:
            fz.function([X, Y], op(X, Y).shape[0], mode=mode, on_unused_input="ignore")
        assert "in infer_shape of Told(" in failed.value.__notes__[0]


def test_lengths_that_rules_ask_for_may_be_ints() -> None:
    op = told(infer_shape=lambda self, node, input_shapes: ((np.int32(2),),))
    for mode in MODES:
        f = fz.function([X, Y], op(X, Y).shape[0], mode=mode, on_unused_input="ignore")
        assert f([1.0, 2.0], [3.0, 4.0]) == 2


def test_lengths_that_the_type_contradicts() -> None:
    x = ft.tensor("x", shape=(3,))
    op = told(infer_shape=lambda self, node, input_shapes: [(2,)])
    with pytest.raises(ValueError, match="axis 0: the length is said to be 2, and 3 by the type"):
        fz.function([x, Y], ft.exp(op(x, Y)), mode="c")
    op = told(infer_shape=lambda self, node, input_shapes: [(3,)])
    f = fz.function([x, Y], ft.exp(op(x, Y)), mode="c")
    assert f(np.zeros(3), np.zeros(3)).tolist() == [1.0] * 3


WRONG_VALUES = [
    (lambda a: a, "perform of Told must return a list or tuple with an array.*returned a ndarray"),
    (lambda a: None, "perform of Told must return.*it returned None"),
    (lambda a: (a, a), "perform of Told.*the node has 1 output, and 2 came back"),
    (lambda a: (), "perform of Told.*the node has 1 output, and 0 came back"),
    (lambda a: (a.astype("f4"),), "Told has type float32.*declared"),
    (lambda a: (a[None],), r"Told has type float64\[1, 2\].*declared"),
    (lambda a: (a.sum(),), r"Told has type float64\[\].*declared"),
]


@pytest.mark.parametrize(("result", "message"), WRONG_VALUES)
@pytest.mark.parametrize("mode", MODES)
def test_values(mode: str, result: Any, message: str) -> None:
    op = told(perform=lambda self, node, inputs: result(inputs[0] + inputs[1]))
    for x, y in ((X, Y), (ft.constant([1.0, 2.0]), ft.constant([2.0, 3.0]))):
        f = fz.function([X, Y], op(x, y) * 2, mode=mode, on_unused_input="ignore")
        with pytest.raises(TypeError, match=message):
            f([1.0, 2.0], [1.0, 2.0])


@pytest.mark.parametrize("mode", MODES)
def test_values_in_inner_graphs(mode: str) -> None:
    op = told(perform=lambda self, node, inputs: inputs[0] + inputs[1])
    outer = fz.OpFromGraph([X, Y], [op(X, Y)])
    f = fz.function([X, Y], outer(X, Y), mode=mode)
    # Of length 1, so that it could be taken for a list of one.
    with pytest.raises(TypeError, match="perform of Told must return a list or tuple"):
        f([1.0], [2.0])
    wrong = told(perform=lambda self, node, inputs: [inputs[0].astype(int)])
    f = fz.function([X, Y], fz.OpFromGraph([X, Y], [wrong(X, Y)])(X, Y), mode=mode)
    with pytest.raises(TypeError, match="Told"):
        f([1.0], [2.0])


@dataclass(frozen=True, eq=False)
class Product(ScalarOp):
    what: str
    nin = 2
    rule = "float"

    def impl(self, x: Any, y: Any) -> Any:
        return x * y

    def gradient(self, inputs: Any, output: Any, g: Any) -> Any:
        x, y = inputs
        return {
            "right": [g * y, g * x],
            "late": [lambda: g * y, None],
            "bare": g,
            "few": [g * y],
            "number": [1.0, g * x],
            "wide": [ft.expand_dims(g * y, 0), g * x],
        }[self.what]


def test_gradients_of_scalar_ops() -> None:
    for what, message in [
        ("bare", "the gradient of Product.* must return a list or tuple.*bare variable"),
        ("few", "the gradient of Product.*: the node has 2 operands, and 1 came back"),
        ("number", "the gradient of Product.* for operand 0 must be a variable, or None"),
        ("wide", r"for operand 0 must have the shape of the result.*float64\[1, \?\]"),
    ]:
        with pytest.raises(TypeError, match=message):
            fz.grad(Product(what)(X, Y).sum(), X)
    for what in ("right", "late"):
        gradient = fz.function(
            [Y, X], fz.grad(Product(what)(X, Y).sum(), X), mode="py", on_unused_input="ignore"
        )
        assert gradient([2.0], [7.0]).tolist() == [2.0]


@pytest.mark.parametrize("made", [X * 2, None, [X]])
def test_make_node_returns_a_node(made: Any) -> None:
    op = told(make_node=lambda self, x, y: made)
    with pytest.raises(TypeError, match=r"make_node of Told must return a node.*it returned"):
        op(X, Y)


def _fail(*_: Any) -> Any:
    raise ZeroDivisionError("mine")


def _notes(act: Any) -> str:
    with pytest.raises(ZeroDivisionError, match="mine") as failed:
        act()
    return "\n".join(getattr(failed.value, "__notes__", ()))


@pytest.mark.parametrize("method", ["perform", "infer_shape", "L_op"])
def test_an_error_of_a_method_names_the_node_and_its_line(method: str) -> None:
    op = told(**{method: _fail})
    y, line = op(X, Y), sys._getframe().f_lineno
    if method == "L_op":
        notes = _notes(lambda: fz.grad(y.sum(), X))
    else:
        notes = _notes(lambda: fz.function([X, Y], y, mode="cranelift")(np.ones(2), np.ones(2)))
    assert "Told(" in notes
    assert f"first built at {__file__}:{line} in test_an_error" in notes
    assert method == "perform" or f"in {method} of" in notes


def scalar_op(impl: Any, rule: str, nout: int = 1, nin: int = 1) -> Any:
    said = {"impl": impl, "rule": rule, "nin": nin, "nout": nout}
    return type("Said", (ScalarOp,), said | {"__qualname__": "scalar_op.<locals>.Said"})()


@pytest.mark.parametrize("mode", [*MODES, "debug"])
@pytest.mark.parametrize("rule", ["float", "arithmetic", "predicate", "cast:bool"])
def test_impl_returns_something(mode: str, rule: str) -> None:
    for impl in (lambda self, x: None, lambda self, x: x if x > 1 else None):
        op = scalar_op(impl, rule)
        for kind in ("float64", "int64"):
            for x in (ft.tensor("x", dtype=kind, shape=(None,)), ft.scalar("s", dtype=kind)):
                f = fz.function([x], op(x), mode=mode)
                with pytest.raises(TypeError, match="impl of Said returned None"):
                    f(np.array([2, 1, 3] if x.ndim else 1, kind))


def test_impl_of_many_operands_returns_something() -> None:
    operands = [ft.dvector(f"x{k}") for k in range(33)]
    f = fz.function(
        operands, scalar_op(lambda self, *xs: None, "float", nin=33)(*operands), mode="py"
    )
    with pytest.raises(TypeError, match="impl of Said returned None"):
        f(*[[1.0, 2.0]] * 33)


def test_impl_may_return_nan_and_false() -> None:
    x = ft.dvector("x")
    for mode in MODES:
        f = fz.function([x], scalar_op(lambda self, x: math.nan, "float")(x), mode=mode)
        assert np.isnan(f([1.0, 2.0])).all()
        f = fz.function([x], scalar_op(lambda self, x: False, "predicate")(x), mode=mode)
        assert not f([1.0, 2.0]).any()


@pytest.mark.parametrize("mode", ["py", "c", "cranelift", "numba", "debug"])
def test_elements_that_are_no_numbers_of_the_type(mode: str) -> None:
    cases: list[tuple[Any, type[Exception], str]] = [
        (lambda self, x: 1.5, TypeError, "returned 1.5; .* int64 can hold.* has rule = "),
        (lambda self, x: math.nan, ValueError, "returned nan; .* int64 can hold"),
        (lambda self, x: "1.5", ValueError, "returned '1.5' of type str; .* int64 can hold"),
        (lambda self, x: (x, x), TypeError, r"returned \(.*\) of type tuple; .* int64 can hold"),
    ]
    i = ft.lvector("i")
    for impl, error, message in cases:
        f = fz.function([i], scalar_op(impl, "arithmetic")(i), mode=mode)
        for value in ([2], [3, 2, 1]):
            with pytest.raises(error, match=message):
                f(value)
    wrapped = scalar_op(lambda self, x: 2.0**40 * 2.0**10 + int(x), "arithmetic")
    assert fz.function([i], wrapped(i), mode=mode)([1]) == 2**50 + 1


@pytest.mark.parametrize("mode", ["py", "c", "cranelift", "numba", "debug"])
def test_results_that_are_no_arrays(mode: str) -> None:
    for value in (None, object(), X, [[1.0], [2.0, 3.0]]):
        told = Returning(value)
        with pytest.raises((TypeError, ValueError)) as raised:
            fz.function([X], told(X), mode=mode)([1.0])
        assert "result 0 of Returning" in "\n".join([str(raised.value), *raised.value.__notes__])


class Returning(fz.Op):
    """Returns what it was made for."""

    __props__ = ()
    values: Any = None

    def __init__(self, value: Any) -> None:
        type(self).values = value

    def make_node(self, x: fz.Variable) -> fz.FrozenApply:
        return fz.FrozenApply(self, [x], [x.type])

    def perform(self, node: fz.FrozenApply, inputs: Any) -> Any:
        return (self.values,)


def operand(value: Any, batched: bool = True) -> Any:
    return fz.batching.Operand(value, batched)


@pytest.mark.parametrize(
    ("result", "message"),
    [
        (
            lambda x: operand(x),
            "must return a list or tuple with an Operand.*it returned an Operand; w",
        ),
        (lambda x: x, "must return a list or tuple with an Operand.*the bare variable"),
        (lambda x: [operand(x)] * 2, "the node has 1 output, and 2 came back"),
        (lambda x: [], "the node has 1 output, and 0 came back"),
        (lambda x: [x], "must give an Operand as output 0; given"),
        (lambda x: [operand(np.ones((2, 2)))], "must give an Operand as output 0; given"),
        (lambda x: [operand(x[0])], r"output 0 as batches of type float64\[\?\]; each element"),
        (lambda x: [operand(x, False)], r"output 0 as one value of type float64\[\?, \?\]"),
        (lambda x: [operand(x > 0)], r"of type bool\[\?, \?\]; each element has type float64"),
    ],
)
def test_batches(result: Any, message: str) -> None:
    op = told()
    fz.batching.batch_rule.register(
        type(op), lambda op: lambda node, operands: result(operands[0].value)
    )
    with pytest.raises(TypeError, match=f"the batch rule of Told.*{message}"):
        fz.vectorize(op(X, Y), {X: ft.dmatrix("xs")})


def test_a_batch_rule_is_a_function() -> None:
    op = told()
    fz.batching.batch_rule.register(type(op), lambda op: [1])
    with pytest.raises(TypeError, match=r"batch_rule of Told must return a function.*\[1\]"):
        fz.vectorize(op(X, Y), {X: ft.dmatrix("xs")})


def test_an_error_of_a_batch_rule_names_the_node() -> None:
    for form in (_fail, lambda op: _fail):
        op = told()
        fz.batching.batch_rule.register(type(op), form)
        y = op(X, Y)
        notes = _notes(lambda y=y: fz.vectorize(y, {X: ft.dmatrix("xs")}))
        assert "in the batch rule of Told(x, y), first built at" in notes
