"""Composite: as its expression written out, in every linker, and one object for one expression."""

import pickle
import subprocess
import sys
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import frazil as fz
import frazil.tensor as ft
from frazil.scalar import Composite, ScalarOp
from frazil.scalar.elemwise import Elemwise
from frazil.testing import verify_grad

MODES = ("py", "c", "cranelift", "numba")
UNARY = (ft.tanh, ft.sin, ft.abs, ft.neg, lambda x: x * x, lambda x: ft.exp(-ft.abs(x)))
BINARY = (ft.add, ft.sub, ft.mul, ft.maximum, ft.minimum, lambda x, y: x / (1 + y * y))


@st.composite
def composites(draw, dtypes=("float64",)):
    """A composite of one to three inputs and as many outputs."""
    inputs = [
        ft.scalar(dtype=dtype)
        for dtype in draw(st.lists(st.sampled_from(dtypes), min_size=1, max_size=3))
    ]
    made = [*inputs]
    for _ in range(draw(st.integers(1, 6))):
        x = draw(st.sampled_from(made))
        if draw(st.booleans()):
            made.append(draw(st.sampled_from(UNARY))(x))
        else:
            made.append(draw(st.sampled_from(BINARY))(x, draw(st.sampled_from(made))))
    outputs = draw(st.lists(st.sampled_from(made), min_size=1, max_size=3))
    return Composite(fz.FrozenFunctionGraph(inputs, outputs))


def _outputs(op, operands):
    made = op(*operands)
    return made if isinstance(made, list) else [made]


@settings(max_examples=settings.default.max_examples // 2)
@given(composites(dtypes=("float64", "float32", "int32")), st.data())
def test_it_is_its_expression_written_out(op, data):
    values = [
        np.array(data.draw(st.lists(st.integers(-3, 3), min_size=4, max_size=4)), nominal.dtype)
        for nominal in op.fgraph.inputs
    ]
    operands = [ft.vector(dtype=nominal.dtype) for nominal in op.fgraph.inputs]
    outputs = _outputs(op, operands)
    expected = fz.function(operands, op.expand(operands), mode="py", on_unused_input="ignore")
    wanted = expected(*values)
    for mode in MODES:
        f = fz.function(operands, outputs, mode=mode, on_unused_input="ignore")
        for output, got, want in zip(outputs, f(*values), wanted, strict=True):
            assert got.dtype == output.dtype == want.dtype
            np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


@settings(max_examples=settings.default.max_examples // 4)
@given(composites())
def test_nested_composites_are_composites(op):
    scalars = [ft.scalar() for _ in range(op.nin)]
    outer = Composite(fz.FrozenFunctionGraph(scalars, [x + 1 for x in _outputs(op, scalars)]))
    operands = [ft.vector() for _ in range(op.nin)]
    values = [np.linspace(-1, 2, 4) + k for k in range(op.nin)]
    wanted = fz.function(
        operands, [x + 1 for x in op.expand(operands)], mode="py", on_unused_input="ignore"
    )(*values)
    for mode in MODES:
        f = fz.function(operands, _outputs(outer, operands), mode=mode, on_unused_input="ignore")
        for got, want in zip(f(*values), wanted, strict=True):
            np.testing.assert_allclose(got, want)


def test_outputs_have_the_shape_of_all_operands():
    a, b = ft.scalar(), ft.scalar()
    op = Composite(fz.FrozenFunctionGraph([a, b], [a * 2, b + 1, a * b]))
    row, column = ft.tensor(shape=(1, None)), ft.tensor(shape=(None, 1))
    for mode in MODES:
        f = fz.function([row, column], op(row, column), mode=mode)
        results = f(np.ones((1, 3)), np.full((2, 1), 3.0))
        assert [result.shape for result in results] == [(2, 3)] * 3
        assert [result[0, 0] for result in results] == [2, 4, 3]


def test_one_expression_is_one_op():
    def build():
        a, b = ft.scalar(), ft.scalar()
        return Composite(fz.FrozenFunctionGraph([a, b], [ft.exp(a) - b]))

    op = build()
    assert op is build()
    assert pickle.loads(pickle.dumps(op)) is op
    x, y = ft.vector("x"), ft.vector("y")
    assert op(x, y) is build()(x, y)
    a, b = ft.scalar(), ft.scalar()
    assert op is not Composite(fz.FrozenFunctionGraph([a, b], [ft.exp(b) - a]))


def test_it_is_the_same_op_in_another_process():
    a = ft.scalar()
    op = Composite(fz.FrozenFunctionGraph([a], [ft.exp(a) * a]))
    x = ft.vector("x")
    graph = fz.FrozenFunctionGraph([x], [op(x)])
    code = (
        "import pickle, sys; graph = pickle.load(sys.stdin.buffer); "
        "sys.stdout.write(graph.digest + graph.toposort()[0].op.scalar_op.fgraph.digest)"
    )
    answer = subprocess.run(
        [sys.executable, "-c", code], input=pickle.dumps(graph), capture_output=True, check=True
    )
    assert answer.stdout.decode() == graph.digest + op.fgraph.digest


@given(composites())
def test_gradients_are_those_of_the_expression(op):
    operands = [ft.vector() for _ in range(op.nin)]
    cost = sum(x.sum() for x in _outputs(op, operands))
    written = sum(x.sum() for x in op.expand(operands))
    values = [np.linspace(-1.3, 2.1, 5) + k / 3 for k in range(op.nin)]
    got, want = (
        fz.function(
            operands,
            fz.grad(c, operands, disconnected_inputs="ignore"),
            mode="py",
            on_unused_input="ignore",
        )(*values)
        for c in (cost, written)
    )
    for one, other in zip(got, want, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-12)


def test_gradient_with_an_operand_at_two_places():
    a, b = ft.scalar(), ft.scalar()
    op = Composite(fz.FrozenFunctionGraph([a, b], [a * a * b]))
    verify_grad(lambda x: op(x, x), [np.array([0.5, -1.2])])


@dataclass(frozen=True, eq=False)
class Shift(ScalarOp):
    """No native code: Numba makes no text of numbers of any kind."""

    nin = 1
    rule = "arithmetic"

    def impl(self, x):
        return float(str(x)) + 1


@pytest.mark.parametrize("mode", MODES)
def test_an_op_without_native_code_leaves_the_loop_alone(mode):
    a = ft.scalar()
    op = Composite(fz.FrozenFunctionGraph([a], [ft.exp(Shift()(ft.sin(a)) * 2)]))
    x = ft.vector("x")
    f = fz.function([x], op(x), mode=mode)
    value = np.array([0.0, 1.0, -2.0])
    np.testing.assert_allclose(f(value), np.exp((np.sin(value) + 1) * 2))
    if mode != "py":
        text = str(f.explain())
        assert text.count("call") == 1
        assert text.count("loop") == 2


def test_what_is_no_scalar_graph_is_refused():
    x = ft.vector("x")
    with pytest.raises(TypeError, match="made of scalars"):
        Composite(fz.FrozenFunctionGraph([x], [x + 1]))
    with pytest.raises(TypeError, match="made of elementwise ops"):
        Composite(fz.FrozenFunctionGraph([x], [x.sum()]))
    with pytest.raises(TypeError, match="holds a FrozenFunctionGraph"):
        Composite(None)
    a = ft.scalar()
    op = Composite(fz.FrozenFunctionGraph([a], [a + 1]))
    with pytest.raises((TypeError, ValueError), match=r"1|operand"):
        Elemwise(op)(x, x)
