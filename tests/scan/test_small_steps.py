"""Steps on few numbers: each op that a kernel takes apart by elements is tried as one does."""

import numpy as np
import pytest

import frazil as fz
import frazil.tensor as ft
from frazil.link.lowering.scalarize import Emitter, scalarize
from frazil.scan.op import Scan
from frazil.tensor.blas import Gemm, Gemv, Ger
from frazil.tensor.diagonals import AllocDiag, Eye
from frazil.tensor.lengths import Shape_i, literal

V = np.array([0.5, -1.25, 2.0])
M = np.array([[0.5, 1.0, -2.0], [3.0, -0.25, 1.5]])
EMPTY = np.zeros(0)
SMALL = np.array([[1, -2], [3, 4]], dtype="int8")
TWO, HALF = ft.constant(2.0), ft.constant(0.5)
CUBE = np.arange(12.0).reshape(2, 3, 2) - 5


def with_eye(offset):
    """An op whose graph has what a scan would be given, were it written in its step."""
    x = ft.tensor(dtype="float64", shape=(2, 3))
    eye = Eye(offset, "float64")(literal(2), literal(3))
    return fz.OpFromGraph([x], [x + eye], inline=True)


# For each op: functions that apply it, each with the values that its operands start as.
CASES = {
    "Elemwise": [
        (lambda x, y: ft.tanh(x) * y, V, M),
        (lambda x: -x, np.array(1.5)),
        (lambda x: x + 1, EMPTY),
        (lambda x: ft.where(x > 0, x, 2), SMALL),
    ],
    "Reduce": [
        (lambda x: x.sum(), V),
        (lambda x: x.sum(axis=(0, 2)), CUBE),
        (lambda x: x.prod(axis=1), M),
        (lambda x: x.max(axis=0), M),
        (lambda x: x.min(axis=1, keepdims=True), M),
        (lambda x: (x > 0).all(axis=1), M),
        (lambda x: (x > 0).any(axis=0), M),
        (lambda x: x.sum(axis=0), SMALL),
        (lambda x: x.sum(), EMPTY),
        (lambda x: x.mean(axis=1), M),
    ],
    "Dot": [
        (lambda x: ft.dot(x, x), V),
        (lambda x, y: ft.dot(x, y), M, V),
        (lambda x: ft.dot(x, x.T), M),
        (lambda x: ft.dot(x, x), EMPTY),
        (lambda x: ft.dot(x, x), np.zeros((0, 0))),
        (lambda x, y: ft.dot(x, y), np.zeros((2, 0)), EMPTY),
    ],
    "Gemm": [(lambda x: Gemm()(ft.ones((2, 2)), TWO, x, x.T, HALF), M)],
    "Gemv": [(lambda x, y: Gemv()(ft.ones(2), TWO, x, y, HALF), M, V)],
    "Ger": [(lambda x, y: Ger()(x, TWO, y[:2], y), M, V)],
    "Transpose": [(lambda x: x.T, M), (lambda x: ft.permute_dims(x, (2, 0, 1)), CUBE)],
    "ExpandDims": [(lambda x: ft.expand_dims(x, (0, 2)), V)],
    "DropDims": [(lambda x: ft.squeeze(x, 0), M[:1])],
    "Reshape": [
        (lambda x: ft.reshape(x, (3, 2)), M),
        (lambda x: ft.reshape(x, (-1,)), M),
        (lambda x: ft.reshape(x, (0, 4)), EMPTY),
    ],
    "BroadcastTo": [(lambda x: ft.broadcast_to(x, (2, 3)), V)],
    "Full": [(lambda x: ft.full((2, 2), x[0]), V), (lambda x: ft.full((0, 2), x[0]), V)],
    "Subtensor": [
        (lambda x: x[1], V),
        (lambda x: x[::-1], V),
        (lambda x: x[1, ::2], M),
        (lambda x: x[5:], V),
        (lambda x: x[-1, 1:, 0], CUBE),
    ],
    "IncSubtensor": [
        (lambda x: ft.set_subtensor(x[1], 7.0), V),
        (lambda x: ft.inc_subtensor(x[:, ::2], x[:, 1:]), M),
        (lambda x: ft.set_subtensor(x[0], x[1]), M),
        (lambda x: ft.inc_subtensor(x[2:2], 1.0), V),
    ],
    "Join": [
        (lambda x: ft.concatenate([x, 2 * x]), V),
        (lambda x: ft.concatenate([x, x[:, :1]], axis=1), M),
        (lambda x: ft.stack([x, x * x], axis=1), V),
    ],
    "ExtractDiag": [
        (lambda x: ft.diagonal(x), M),
        (lambda x: ft.diagonal(x, 1), M),
        (lambda x: ft.diagonal(x, -1), CUBE),
        (lambda x: ft.trace(x), M),
    ],
    "AllocDiag": [
        (lambda x: ft.diag(x), V),
        (lambda x: ft.diag(x, 1), V),
        (lambda x: ft.diag(x, -2), V),
        (lambda x: AllocDiag(1)(x, literal(4), literal(4)), V),
        (lambda x: AllocDiag(0)(x, literal(4), literal(3)), M),
        (lambda x: ft.diag(x), EMPTY),
    ],
    "Eye": [
        (lambda x: with_eye(1)(x), M),
        (lambda x: with_eye(-1)(x), M),
    ],
    "Shape_i": [(lambda x: Shape_i(1)(x) + x, M)],
    "CumOp": [
        (lambda x: ft.cumsum(x), V),
        (lambda x: ft.cumprod(x), V),
        (lambda x: ft.cumsum(x, axis=0), M),
        (lambda x: ft.cumprod(x, axis=1), M),
        (lambda x: ft.cumsum(x, axis=1), CUBE),
        (lambda x: ft.cumsum(x), EMPTY),
        (lambda x: ft.cumsum(x, axis=1), np.zeros((2, 0))),
        (lambda x: ft.cumsum(x, axis=0), SMALL),
    ],
}


def op_classes():
    """The classes of ops that have elements, but for the default, by their names."""
    return {kind.__name__: kind for kind in scalarize.registry if kind is not object}


def test_each_op_that_has_elements_is_tried():
    assert set(CASES) == set(op_classes())


def compiled(cases, mode):
    """For each case what its function gives in three steps, of states that a step changes."""
    inputs, outputs = [], []
    for function, *values in cases:
        starts = [ft.tensor(dtype=str(x.dtype), shape=x.shape) for x in values]

        def step(*states, function=function):
            return [*((state * 2).astype(state.dtype) for state in states), function(*states)]

        made = fz.scan(step, None, [*starts, None], n_steps=3, return_updates=False)
        inputs += starts
        outputs.append(made[-1])
    return fz.function(inputs, outputs, mode=mode)


@pytest.mark.parametrize("linker", ["c", "cranelift", "numba"])
@pytest.mark.parametrize("name", CASES)
def test_a_kernel_does_with_single_elements_what_the_op_does(name, linker):
    cases = CASES[name]
    # As it is written: no rule takes the op away.
    f = compiled(cases, fz.Mode(linker).excluding("all"))
    scans = [node for node in f.optimized.toposort() if isinstance(node.op, Scan)]
    for scan in scans:
        ops = [node.op for node in scan.op.fgraph.toposort()]
        assert any(isinstance(op, op_classes()[name]) for op in ops), ops
    explained = str(f.explain())
    assert explained.count(" scan k") == len(scans) == len(cases), explained
    values = [value for _, *given in cases for value in given]
    expected = compiled(cases, "py")(*values)
    for function in (f, compiled(cases, linker)):
        for number, (found, one) in enumerate(zip(function(*values), expected, strict=True)):
            assert found.dtype == one.dtype
            np.testing.assert_allclose(found, one, rtol=1e-12, err_msg=f"case {number}")


@pytest.mark.parametrize("linker", ["c", "cranelift", "numba"])
@pytest.mark.parametrize("dtype", ["complex128", "complex64", "float16"])
@pytest.mark.parametrize("length", [0, 2])
def test_steps_that_only_move_what_kernels_do_not_compute_with(dtype, length, linker):
    x = ft.tensor("x", dtype=dtype, shape=(3, length))
    rows, states = fz.scan(lambda row, state: (row, state), x, [None, x[0]], return_updates=False)
    value = (np.arange(3 * length).reshape(3, length) - 0.5).astype(dtype)
    for found, expected in zip(
        fz.function([x], [rows, states], mode=linker)(value),
        [value, np.stack([value[0]] * 3)],
        strict=True,
    ):
        assert found.dtype == dtype
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(("alpha", "beta", "more"), [(1.0, 1.0, 0), (2.0, 1.0, 2), (2.0, -1.0, 4)])
def test_a_factor_of_one_takes_no_instruction(alpha, beta, more):
    z, x, a = ft.tensor(shape=(2,)), ft.tensor(shape=(3,)), ft.tensor(shape=(2, 3))
    node = Gemv()(z, ft.constant(alpha), a, x, ft.constant(beta)).owner
    emit = Emitter(lambda *_: True, 100)
    operands = []
    for own in node.inputs:
        if isinstance(own, fz.Constant):
            operands.append(emit.constant(own.data))
        else:
            made = [emit.new_value("float64") for _ in range(np.prod(own.type.shape))]
            operands.append(np.array(made, object).reshape(own.type.shape))
    made = scalarize(node.op, node, operands, emit)
    assert made.shape == (2,)
    assert len(emit.statements) == 2 * (3 + 2 + 1) + more
