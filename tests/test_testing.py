"""``verify_grad`` accepts right gradients, in every linker, and tells wrong ones."""

from dataclasses import dataclass

import numpy as np
import pytest

import frazil as fz
import frazil.tensor as ft
from frazil import _core, scalar
from frazil.testing import GradientError, verify_grad

CONTINUOUS = ("arithmetic", "arithmetic_no_bool", "division", "float", "floor", "select")
STOPS = ("disconnected_grad", "zero_grad")
DIFFERENTIABLE = [
    name
    for name, row in scalar.TABLE.items()
    if row.rule in CONTINUOUS and row.gradient is not None and name not in STOPS
]


@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_every_scalar_op(name, mode):
    op = getattr(scalar, name)
    points = [np.array([[0.3, 0.7]]), np.array([[0.4], [0.2]]), np.array([0.9, 0.6])]
    points = [*points, np.array([[0.15], [0.35]])][: op.nin]
    if name == "arccosh":
        points[0] += 1
    if name == "log1mexp":
        points[0] *= -1
    if name in ("polygamma", "iv", "ive", "kv", "kve", "jv", "yv", "zeta"):
        verify_grad(lambda x: _core.elemwise(op, 2, x), points[1:], mode=mode)
        return
    if name == "where":
        condition = np.array([True, False])
        verify_grad(lambda x, y: ft.where(condition, x, y), points[1:], mode=mode)
        return
    verify_grad(lambda *inputs: _core.elemwise(op, *inputs), points, mode=mode)


def test_single_precision(mode):
    point = np.array([0.5, -1.5], dtype="float32")
    verify_grad(lambda x: ft.exp(x) * ft.sum(x), [point], mode=mode)


def test_a_matrix_expression(mode):
    rng = np.random.default_rng(0)
    A, b = rng.normal(size=(3, 2)), rng.normal(size=3)
    verify_grad(lambda A, b: ft.tanh(A.T @ (A @ (b @ A)))[::-1], [A, b], mode=mode)


@dataclass(frozen=True, eq=False)
class Doubled(fz.Op):
    """Twice its operand, with a gradient that can be wrong."""

    slope: float

    def make_node(self, x):
        return fz.FrozenApply(self, [x], [x.type])

    def perform(self, node, inputs):
        return (2 * inputs[0],)

    def infer_shape(self, node, input_shapes):
        return (input_shapes[0],)

    def L_op(self, inputs, outputs, output_gradients):
        return [self.slope * output_gradients[0]]


def test_wrong_gradients_are_told():
    point = np.array([1.0, 2.0])
    verify_grad(Doubled(2.0), [point])
    with pytest.raises(GradientError, match=r"argument 0 at .* by finite differences"):
        verify_grad(Doubled(2.001), [point])
    verify_grad(Doubled(2.001), [point], rel_tol=1e-2)
    with pytest.raises(GradientError):
        verify_grad(Doubled(float("nan")), [point])


def test_bad_arguments():
    with pytest.raises(TypeError, match="points must be"):
        verify_grad(ft.exp, [np.array([1, 2])])
    with pytest.raises(TypeError, match="must return one"):
        verify_grad(lambda x: x > 0, [np.array([1.0])])
