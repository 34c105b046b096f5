"""Products of vectors and matrices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from frazil import _core, scalar
from frazil._core import FrozenApply, TensorType, Variable
from frazil.op import Op
from frazil.tensor.constants import Array, TensorLike, as_tensor
from frazil.tensor.dims import expand_dims
from frazil.tensor.lengths import Lengths
from frazil.tensor.transposition import permute_dims


@dataclass(frozen=True, eq=False)
class Dot(Op):
    """The product of two vectors or matrices of one dtype, in any combination."""

    def make_node(self, a: Variable, b: Variable) -> FrozenApply:
        if a.ndim not in (1, 2) or b.ndim not in (1, 2) or a.dtype != b.dtype:
            raise TypeError(
                "Dot takes two operands of one dtype that have 1 or 2 dimensions; "
                f"given {a.type} and {b.type}"
            )
        left, right = a.type.shape, b.type.shape
        if left[-1] != right[0] and left[-1] is not None and right[0] is not None:
            raise ValueError(
                f"shapes {left} and {right} do not match in a product: the last length of the "
                f"first, {left[-1]}, must be the first length of the second, {right[0]}"
            )
        return FrozenApply(self, [a, b], [TensorType(a.dtype, left[:-1] + right[1:])])

    def perform(self, node: FrozenApply, inputs: Sequence[Array]) -> tuple[Array, ...]:
        return (np.asarray(np.matmul(*inputs)),)

    def infer_shape(self, node: FrozenApply, input_shapes: Sequence[Lengths]) -> tuple[Lengths]:
        left, right = input_shapes
        return (left[:-1] + right[1:],)

    def L_op(
        self,
        inputs: Sequence[Variable],
        outputs: Sequence[Variable],
        output_gradients: Sequence[Variable],
    ) -> list[Variable | None]:
        a, b = inputs
        (g,) = output_gradients
        match a.ndim, b.ndim:
            case 1, 1:
                return [_times(g, b), _times(g, a)]
            case 2, 1:
                return [_outer(g, b), self(permute_dims(a), g)]
            case 1, 2:
                return [self(b, g), _outer(a, g)]
        return [self(g, permute_dims(b)), self(permute_dims(a), g)]


def dot(a: TensorLike, b: TensorLike) -> Variable:
    """Return the product of two tensors, as :func:`numpy.dot`.

    Parameters
    ----------
    a, b : tensor_like
        Scalars multiply; vectors and matrices contract the last dimension of ``a`` with the first
        of ``b``. More than two dimensions raise TypeError.

    Returns
    -------
    Variable
        Of the dtype that the operands promote to.

    Examples
    --------
    >>> import frazil.tensor as ft
    >>> ft.dot([[1.0, 2.0], [3.0, 4.0]], [1.0, 10.0]).eval()
    array([21., 43.])
    """
    a, b = as_tensor(a), as_tensor(b)
    if a.ndim == 0 or b.ndim == 0:
        return _times(a, b)
    return _dot(a, b, "dot")


def matmul(x1: TensorLike, x2: TensorLike) -> Variable:
    """Return the matrix product of two tensors, as :func:`numpy.matmul` (``x1 @ x2``).

    Parameters
    ----------
    x1, x2 : tensor_like
        Vectors or matrices; other ranks raise TypeError.

    Returns
    -------
    Variable
        Of the dtype that the operands promote to.

    Examples
    --------
    >>> import frazil.tensor as ft
    >>> ft.matmul([[1.0, 2.0], [3.0, 4.0]], [[0.0, 1.0], [1.0, 0.0]]).eval()
    array([[2., 1.],
           [4., 3.]])
    """
    a, b = as_tensor(x1), as_tensor(x2)
    if a.ndim == 0 or b.ndim == 0:
        raise TypeError(
            f"matmul takes vectors and matrices; given {a.type} and {b.type}. "
            "Use * for a product with a scalar."
        )
    return _dot(a, b, "matmul")


def outer(x1: TensorLike, x2: TensorLike) -> Variable:
    """Return the outer product of two vectors.

    Parameters
    ----------
    x1, x2 : tensor_like
        Vectors of lengths ``m`` and ``n``.

    Returns
    -------
    Variable
        Of shape ``(m, n)``, as :func:`numpy.outer` gives.

    Examples
    --------
    >>> import frazil.tensor as ft
    >>> ft.outer([1.0, 2.0], [3.0, 4.0]).eval()
    array([[3., 4.],
           [6., 8.]])
    """
    a, b = as_tensor(x1), as_tensor(x2)
    if a.ndim != 1 or b.ndim != 1:
        raise TypeError(f"outer takes two vectors; given {a.type} and {b.type}. Use ft.ravel.")
    return _outer(a, b)


def _dot(a: Variable, b: Variable, name: str) -> Variable:
    if a.ndim > 2 or b.ndim > 2:
        raise TypeError(
            f"{name} of more than two dimensions is not supported; given {a.type} and {b.type}. "
            "Reshape to matrices, or multiply and sum: (a * b).sum(axis)."
        )
    dtype = _core.promote(a.dtype, b.dtype)
    product: Variable = Dot()(as_tensor(a, dtype), as_tensor(b, dtype))
    return product


def _times(a: Variable, b: Variable) -> Variable:
    return _core.elemwise(scalar.mul, a, b)


def _outer(a: Variable, b: Variable) -> Variable:
    return _times(expand_dims(a, 1), b)
