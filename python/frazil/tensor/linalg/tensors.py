"""Systems of equations whose matrices are tensors with their dimensions in two groups."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

import frazil._core as _core
from frazil._core import Variable
from frazil.scalar.constants import TensorLike, as_tensor
from frazil.tensor.axes import normalize_axes, normalize_axis
from frazil.tensor.docstrings import described
from frazil.tensor.lengths import Lengths, lengths, product, static_size
from frazil.tensor.linalg.general import inv, solve
from frazil.tensor.linalg.matrices import as_floating, floating
from frazil.tensor.reshaping import reshape
from frazil.tensor.transposition import transpose


@described
def tensorinv(a: TensorLike, ind: int = 2) -> Variable:
    """Return a tensor's inverse for :func:`frazil.tensor.tensordot` over ``ind`` dimensions.

    a (tensor_like): Its first ``ind`` lengths have the product that the others have.
    ind (int): The number of first dimensions of ``a`` that become the last ones of the result.
    returns: Of the shape ``a.shape[ind:] + a.shape[:ind]``, as :func:`numpy.linalg.tensorinv`
        gives.
    raises numpy.linalg.LinAlgError: During a call, if the tensor is singular.

    >>> ft.linalg.tensorinv([[[2.0, 0.0], [0.0, 4.0]]], ind=2).eval().shape
    (2, 1, 2)
    """
    if isinstance(ind, bool | np.bool_) or not isinstance(ind, int | np.integer) or ind <= 0:
        raise ValueError(f"ind must be a positive integer; given {ind!r}")
    tensor = as_floating(as_tensor(a))
    first, rest = lengths(tensor)[:ind], lengths(tensor)[ind:]
    return reshape(inv(_matrix(tensor, first, rest, "tensorinv")), (*rest, *first))


@described
def tensorsolve(a: TensorLike, b: TensorLike, axes: Sequence[int] | None = None) -> Variable:
    """Return the solution ``x`` of ``tensordot(a, x, x.ndim) == b``.

    a (tensor_like): Of shape ``b.shape + Q``, where the lengths ``Q`` have the same product as the
        lengths of ``b``.
    b (tensor_like): The right side, of any shape.
    axes (sequence of int): Dimensions of ``a`` that are moved to its end first, in this order.
    returns: Of shape ``Q``, as :func:`numpy.linalg.tensorsolve` gives.
    raises numpy.linalg.LinAlgError: During a call, if the tensor is singular.
    example: [[[2.0, 0.0]], [[0.0, 4.0]]], [[6.0], [4.0]] -> [3., 1.]
    """
    tensor, right = as_tensor(a), as_tensor(b)
    dtype = _core.promote(floating(tensor.dtype), floating(right.dtype))
    tensor, right = as_tensor(tensor, dtype), as_tensor(right, dtype)
    if axes is not None:
        kept = set(range(tensor.ndim)) - set(normalize_axes(axes, tensor.ndim))
        moved = [normalize_axis(axis, tensor.ndim) for axis in axes]
        tensor = transpose(tensor, (*sorted(kept), *moved))
    if tensor.ndim < right.ndim:
        raise ValueError(
            f"tensorsolve takes a tensor whose first dimensions are those of the right side; given "
            f"{tensor.type} and {right.type}"
        )
    first, rest = lengths(tensor)[: right.ndim], lengths(tensor)[right.ndim :]
    matrix = _matrix(tensor, first, rest, "tensorsolve")
    return reshape(solve(matrix, reshape(right, (-1,))), rest)


def _matrix(tensor: Variable, first: Lengths, rest: Lengths, name: str) -> Variable:
    """Return the tensor with its two groups of dimensions as rows and columns."""
    static = tensor.type.shape
    rows, columns = static_size(static[: len(first)]), static_size(static[len(first) :])
    if rows is not None and columns is not None and rows != columns:
        raise np.linalg.LinAlgError(
            f"{name} takes a tensor whose first {len(first)} lengths have the product of the others"
            f"; given {tensor.type}"
        )
    return reshape(tensor, (product(first), product(rest)))
