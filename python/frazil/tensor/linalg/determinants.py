"""Determinants, by the factors of a matrix."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

import frazil._core as _core
import frazil.scalar as scalar
from frazil._core import FrozenApply, TensorType, Variable
from frazil.graph.dataclass import dataclass
from frazil.graph.op import Array, Gradients, Op, Variables
from frazil.scalar.constants import TensorLike, as_tensor
from frazil.tensor.diagonals import diagonal
from frazil.tensor.dims import expand_dims
from frazil.tensor.docstrings import described, described_like
from frazil.tensor.lengths import Lengths
from frazil.tensor.linalg.failure import OnError
from frazil.tensor.linalg.lu import LUFactor, Solve
from frazil.tensor.linalg.matrices import (
    as_floating,
    check_square,
    identity_beside,
    real_dtype,
)
from frazil.tensor.ranges import arange
from frazil.tensor.reductions import prod


@dataclass(frozen=True, eq=False)
class LogAbsDet(Op):
    """The logarithms of absolute values of determinants, given matrices, their factors and pivots.

    It is the sum of logarithms of the diagonal of ``u``, which a rule puts there instead. It is an
    op so that its gradient, the transposed inverse, goes to the matrix directly.
    """

    on_error: OnError = "raise"

    takes_complex = True

    def make_node(self, matrix: Variable, factors: Variable, pivots: Variable) -> FrozenApply:
        check_square(matrix, "LogAbsDet")
        front = matrix.type.shape[:-2]
        return FrozenApply(
            self, [matrix, factors, pivots], [TensorType(real_dtype(factors), front)]
        )

    def perform(self, node: FrozenApply, inputs: Sequence[Array]) -> tuple[Array, ...]:
        _, factors, _ = inputs
        with np.errstate(divide="ignore"):
            logarithms = np.log(np.abs(np.diagonal(factors, axis1=-2, axis2=-1)))
            return (np.asarray(logarithms.sum(-1), logarithms.dtype),)

    def infer_shape(self, node: FrozenApply, input_shapes: Sequence[Lengths]) -> tuple[Lengths]:
        return (input_shapes[0][:-2],)

    def L_op(self, inputs: Variables, outputs: Variables, output_gradients: Variables) -> Gradients:
        matrix, factors, pivots = inputs
        (g,) = output_gradients
        identity = identity_beside(matrix)
        inverse = Solve("T", self.on_error)(matrix, factors, pivots, identity)
        return [expand_dims(g, (-2, -1)) * inverse, None, None]


@described
def det(a: TensorLike, *, on_error: OnError = "raise") -> Variable:
    """Return the determinant of a square matrix.

    a (tensor_like): Square matrices of shape ``(..., m, m)``.
    on_error ({"raise", "nan"}): A singular matrix has no gradient: a call that needs it raises
        numpy.linalg.LinAlgError, or it is NaN.
    returns: Of shape ``(...)``, of the dtype of ``a`` if that is floating, else float64.
    example: [[1.0, 2.0], [3.0, 4.0]] -> -2.
    """
    factors, pivots = LUFactor(on_error)(as_floating(as_tensor(a)))
    elements = _signed_diagonal(factors, pivots)
    sign = prod(_core.elemwise(scalar.sign, elements), -1)
    # Where one element is 0, the product of the others may be infinite, and 0 times that is NaN.
    vanishes = _core.elemwise(scalar.eq, sign, as_tensor(np.zeros((), sign.dtype)))
    return _core.elemwise(scalar.where, vanishes, sign, prod(elements, -1))


@described_like(det)
def slogdet(x: TensorLike, *, on_error: OnError = "raise") -> tuple[Variable, Variable]:
    """Return the sign and the logarithm of the absolute value of a determinant.

    x (tensor_like): Square matrices of shape ``(..., m, m)``.
    returns sign: 1, -1, or 0 if the matrix is singular; of complex matrices a number of size 1.
    returns logabsdet: The logarithm, -inf if the matrix is singular. Its gradient is the inverse,
        transposed, from the same factors.

    >>> sign, logarithm = ft.linalg.slogdet([[0.0, 2.0], [2.0, 0.0]])
    >>> sign.eval(), ft.exp(logarithm).eval()
    (array(-1.), array(4.))
    """
    matrix = as_floating(as_tensor(x))
    factors, pivots = LUFactor(on_error)(matrix)
    sign = prod(_core.elemwise(scalar.sign, _signed_diagonal(factors, pivots)), -1)
    return sign, LogAbsDet(on_error)(matrix, factors, pivots)


def _signed_diagonal(factors: Variable, pivots: Variable) -> Variable:
    """Return the diagonals of the factors, each element with the sign of its exchange of rows."""
    elements = diagonal(factors, 0, -2, -1)
    moved = _core.elemwise(scalar.neq, pivots, arange(pivots.shape[-1]))
    return _core.elemwise(scalar.where, moved, -elements, elements)
