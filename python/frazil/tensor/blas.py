"""Scaled and accumulated products, as BLAS computes them in one call.

Rewriting finds them in sums of products; users may also apply them. If ``beta`` is 0, the operand
that it scales is not read, as in BLAS, even if it is NaN. A zero ``alpha`` hides nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

import frazil._core as _core
import frazil.scalar as scalar
from frazil._core import FrozenApply, TensorType, Variable
from frazil.graph.dataclass import dataclass
from frazil.graph.op import Array, Gradients, Op, Variables
from frazil.tensor.lengths import Lengths
from frazil.tensor.products import Dot
from frazil.tensor.reductions import Sum
from frazil.tensor.transposition import permute_dims


class Accumulation(Op):
    """A product added to the first operand, whose shape it has."""

    def perform(self, node: FrozenApply, inputs: Sequence[Array]) -> tuple[Array, ...]:
        return (_gemm(*inputs),)

    def infer_shape(self, node: FrozenApply, input_shapes: Sequence[Lengths]) -> tuple[Lengths]:
        return (input_shapes[0],)


class ScaledProduct(Accumulation):
    """``beta * z + alpha * dot(x, y)``, of operands of some ranks."""

    ranks: ClassVar[tuple[int, ...]]

    def make_node(
        self, z: Variable, alpha: Variable, x: Variable, y: Variable, beta: Variable
    ) -> FrozenApply:
        _check(self, (z, alpha, x, y, beta), self.ranks)
        shape = Dot().make_node(x, y).output_types[0].shape
        return FrozenApply(self, [z, alpha, x, y, beta], [_summed(self, z, shape)])

    def L_op(self, inputs: Variables, outputs: Variables, output_gradients: Variables) -> Gradients:
        z, alpha, x, y, beta = inputs
        (g,) = output_gradients
        product = Dot()(x, y)
        g_x, g_y = Dot().L_op([x, y], [product], [_times(alpha, g)])
        return [_times(beta, g), _sum(_times(g, product)), g_x, g_y, _sum(_times(g, z))]


@dataclass(frozen=True, eq=False)
class Gemm(ScaledProduct):
    """``beta * z + alpha * dot(x, y)`` of matrices; ``alpha`` and ``beta`` are 0-d.

    Examples
    --------
    >>> import frazil.tensor as ft
    >>> from frazil.tensor.blas import Gemm
    >>> z, x, alpha, beta = ft.matrix("z"), ft.matrix("x"), ft.scalar("alpha"), ft.scalar("beta")
    >>> result = Gemm()(z, alpha, x, x, beta)
    >>> one = [[1.0, 0.0], [0.0, 1.0]]
    >>> result.eval({z: [[1.0, 2.0], [3.0, 4.0]], x: one, alpha: 0.5, beta: 10.0})
    array([[10.5, 20. ],
           [30. , 40.5]])
    """

    ranks = (2, 0, 2, 2, 0)


@dataclass(frozen=True, eq=False)
class Gemv(ScaledProduct):
    """``beta * y + alpha * dot(A, x)`` of vectors and a matrix; ``alpha`` and ``beta`` are 0-d.

    Examples
    --------
    >>> import frazil.tensor as ft
    >>> from frazil.tensor.blas import Gemv
    >>> y, A, alpha = ft.vector("y"), ft.matrix("A"), ft.scalar("alpha")
    >>> result = Gemv()(y, alpha, A, y, alpha)
    >>> result.eval({y: [1.0, 2.0], A: [[1.0, 0.0], [1.0, 1.0]], alpha: 0.5})
    array([1. , 2.5])
    """

    ranks = (1, 0, 2, 1, 0)


@dataclass(frozen=True, eq=False)
class Ger(Accumulation):
    """``A + alpha * outer(x, y)`` of a matrix and vectors; ``alpha`` is 0-d.

    Examples
    --------
    >>> import frazil.tensor as ft
    >>> from frazil.tensor.blas import Ger
    >>> A, alpha, x = ft.matrix("A"), ft.scalar("alpha"), ft.vector("x")
    >>> Ger()(A, alpha, x, x).eval({A: [[0.0, 0.0], [0.0, 0.0]], alpha: 2.0, x: [1.0, 3.0]})
    array([[ 2.,  6.],
           [ 6., 18.]])
    """

    def make_node(self, A: Variable, alpha: Variable, x: Variable, y: Variable) -> FrozenApply:
        _check(self, (A, alpha, x, y), (2, 0, 1, 1))
        shape = (*x.type.shape, *y.type.shape)
        return FrozenApply(self, [A, alpha, x, y], [_summed(self, A, shape)])

    def perform(self, node: FrozenApply, inputs: Sequence[Array]) -> tuple[Array, ...]:
        A, alpha, x, y = inputs
        return (_gemm(A, alpha, x[:, None], y[None, :], np.ones((), A.dtype)),)

    def L_op(self, inputs: Variables, outputs: Variables, output_gradients: Variables) -> Gradients:
        _, alpha, x, y = inputs
        (g,) = output_gradients
        along, across = Dot()(g, y), Dot()(permute_dims(g), x)
        return [g, Dot()(x, along), _times(alpha, along), _times(alpha, across)]


def _check(op: Op, operands: Sequence[Variable], ranks: Sequence[int]) -> None:
    dtypes = {operand.dtype for operand in operands}
    given = tuple(operand.ndim for operand in operands)
    if len(dtypes) > 1 or dtypes.isdisjoint(("float32", "float64")) or given != tuple(ranks):
        types = ", ".join(str(operand.type) for operand in operands)
        raise TypeError(
            f"{op} takes operands with {', '.join(map(str, ranks))} dimensions, all float32 or all "
            f"float64; given {types}"
        )


def _summed(op: Op, z: Variable, product: Sequence[int | None]) -> TensorType:
    """The type of ``z`` plus a product of this static shape, which must agree."""
    shape = []
    for own, other in zip(z.type.shape, product, strict=True):
        if own is not None and other is not None and own != other:
            raise ValueError(
                f"{op} adds a product of shape {tuple(product)} to an operand of shape "
                f"{z.type.shape}; nothing broadcasts here: repeat it with ft.broadcast_to"
            )
        shape.append(other if own is None else own)
    return TensorType(z.dtype, shape)


def _gemm(z: Array, alpha: Array, x: Array, y: Array, beta: Array) -> Array:
    product = np.asarray(alpha * np.matmul(x, y))
    if product.shape != z.shape:
        raise ValueError(
            f"the product has shape {product.shape}, but what it is added to has shape {z.shape}"
        )
    return product if beta == 0 else np.asarray(beta * z + product)


def _times(a: Variable, b: Variable) -> Variable:
    return _core.elemwise(scalar.mul, a, b)


def _sum(x: Variable) -> Variable:
    total: Variable = Sum(tuple(range(x.ndim)))(x)
    return total
