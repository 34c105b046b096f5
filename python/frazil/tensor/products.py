"""Products of vectors and matrices."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

import numpy as np

import frazil._core as _core
import frazil.scalar as scalar
from frazil._core import FrozenApply, TensorType, Variable
from frazil.graph.dataclass import dataclass
from frazil.graph.op import Array, Gradients, Variables
from frazil.graph.typed_op import TypedOp
from frazil.scalar.constants import TensorLike, as_tensor
from frazil.tensor.axes import normalize_axis
from frazil.tensor.broadcasting import broadcast_to
from frazil.tensor.dims import ExpandDims, expand_dims, squeeze
from frazil.tensor.docstrings import described
from frazil.tensor.lengths import Lengths, length, lengths, product
from frazil.tensor.reductions import sum
from frazil.tensor.reshaping import ravel, reshape
from frazil.tensor.rounding import RoundedOp
from frazil.tensor.sparse import as_sparse, issparse
from frazil.tensor.transposition import Transpose, permute_dims

# Gradients apply these to each product; finding an op takes as long as applying it.
_COLUMN = ExpandDims((1,))
_TURN = Transpose((1, 0))


@dataclass(frozen=True, eq=False)
class Dot(RoundedOp, TypedOp):
    """The product of two vectors or matrices of one dtype, in any combination."""

    takes_complex = True
    rule = "product"

    def perform(self, node: FrozenApply, inputs: Sequence[Array]) -> tuple[Array, ...]:
        with np.errstate(all="ignore"):
            return (np.asarray(np.matmul(*inputs)),)

    def infer_shape(self, node: FrozenApply, input_shapes: Sequence[Lengths]) -> tuple[Lengths]:
        left, right = input_shapes
        return (left[:-1] + right[1:],)

    def L_op(self, inputs: Variables, outputs: Variables, output_gradients: Variables) -> Gradients:
        a, b = inputs
        (g,) = output_gradients
        match a.ndim, b.ndim:
            case 1, 1:
                return [_times(g, b), _times(g, a)]
            case 2, 1:
                return [_outer(g, b), self(_turned(a), g)]
            case 1, 2:
                return [self(b, g), _outer(a, g)]
        return [self(g, _turned(b)), self(_turned(a), g)]


@dataclass(frozen=True, eq=False)
class BatchedDot(RoundedOp):
    """The products of pairs of matrices, which are the last two dimensions of the operands.

    Both have one dtype and one rank, three or more. The dimensions in front have equal lengths, or
    length 1 declared in one operand, whose matrix then meets all matrices of the other.
    """

    takes_complex = True

    def make_node(self, a: Variable, b: Variable) -> FrozenApply:
        if a.ndim < 3 or a.ndim != b.ndim or a.dtype != b.dtype:
            raise TypeError(
                "BatchedDot takes two operands of one dtype and of one rank above 2; "
                f"given {a.type} and {b.type}"
            )
        _core.check_inner_lengths(a, b)
        batch: list[int | None] = []
        for m, n in zip(a.type.shape[:-2], b.type.shape[:-2], strict=True):
            if m is not None and n is not None and 1 not in (m, n) and m != n:
                raise ValueError(
                    f"shapes {a.type.shape} and {b.type.shape} do not match in a product: the "
                    f"lengths in front of the last two must be equal or 1, not {m} and {n}"
                )
            batch.append(n if m == 1 or (m is None and n != 1) else m)
        shape = (*batch, a.type.shape[-2], b.type.shape[-1])
        return FrozenApply(self, [a, b], [TensorType(a.dtype, shape)])

    def perform(self, node: FrozenApply, inputs: Sequence[Array]) -> tuple[Array, ...]:
        for x, array in zip(node.inputs, inputs, strict=True):
            for axis, (declared, given) in enumerate(
                zip(x.type.shape[:-2], array.shape[:-2], strict=True)
            ):
                if declared is None and given == 1 and any(y.shape[axis] != 1 for y in inputs):
                    raise ValueError(
                        f"{x} does not broadcast along dimension {axis}: a length 1 broadcasts "
                        "only where the type declares it, as in ft.tensor(shape=(1, None, None))"
                    )
        with np.errstate(all="ignore"):
            return (np.asarray(np.matmul(*inputs)),)

    def infer_shape(self, node: FrozenApply, input_shapes: Sequence[Lengths]) -> tuple[Lengths]:
        left, right = input_shapes
        batch = [
            n if one else m
            for m, n, one in zip(
                left[:-2], right[:-2], node.inputs[0].broadcastable[:-2], strict=True
            )
        ]
        return ((*batch, left[-2], right[-1]),)

    def L_op(self, inputs: Variables, outputs: Variables, output_gradients: Variables) -> Gradients:
        a, b = inputs
        (g,) = output_gradients
        return [_unbroadcast(self(g, _flipped(b)), a), _unbroadcast(self(_flipped(a), g), b)]


@described
def dot(a: TensorLike, b: TensorLike) -> Variable:
    """Return the product of two tensors, as :func:`numpy.dot`.

    a, b (tensor_like): Scalars multiply; tensors contract the last dimension of ``a`` with the last
        but one of ``b``, or with its only one.
    returns: Of the dtype that the operands promote to.
    example: [[1.0, 2.0], [3.0, 4.0]], [1.0, 10.0] -> [21., 43.]
    """
    if issparse(a) or issparse(b):
        return _sparse_product(a, b)
    a, b = as_tensor(a), as_tensor(b)
    if a.ndim == 0 or b.ndim == 0:
        return _times(a, b)
    if a.ndim > 2 or b.ndim > 2:
        return tensordot(a, b, 1 if b.ndim == 1 else ([-1], [-2]))
    return _dot(a, b)


def _sparse_product(a: Any, b: Any) -> Variable:
    return as_sparse(a) @ b if issparse(a) else as_sparse(b).__rmatmul__(a)


@described
def matmul(x1: TensorLike, x2: TensorLike) -> Variable:
    """Return the matrix product of two tensors, as :func:`numpy.matmul` (``x1 @ x2``).

    x1, x2 (tensor_like): Vectors, matrices, or tensors of higher rank, which are matrices in their
        last two dimensions, one for each position of those in front. These broadcast as elementwise
        operands do: where the type declares a length 1. A vector in front is one row, a vector
        behind one column, without that dimension in the result.
    returns: Of the dtype that the operands promote to.

    >>> ft.matmul([[1.0, 2.0], [3.0, 4.0]], [[0.0, 1.0], [1.0, 0.0]]).eval()
    array([[2., 1.],
           [4., 3.]])
    >>> x = ft.tensor3("x")
    >>> (x @ x).eval({x: [[[1.0, 2.0], [0.0, 1.0]], [[2.0, 0.0], [0.0, 3.0]]]})
    array([[[1., 4.],
            [0., 1.]],
    <BLANKLINE>
           [[4., 0.],
            [0., 9.]]])
    """
    if issparse(x1) or issparse(x2):
        return _sparse_product(x1, x2)
    a, b = as_tensor(x1), as_tensor(x2)
    if a.ndim == 0 or b.ndim == 0:
        raise ValueError(
            f"matmul takes vectors and matrices; given {a.type} and {b.type}. "
            "Use * for a product with a scalar."
        )
    if a.ndim <= 2 and b.ndim <= 2:
        return _dot(a, b)
    if b.ndim <= 2:  # all rows of all matrices at once
        _core.check_inner_lengths(a, b)
        return tensordot(a, b, 1)
    dtype = _core.promote(a.dtype, b.dtype)
    rank = builtins.max(a.ndim, b.ndim)
    left, right = (
        expand_dims(as_tensor(x, dtype), list(range(rank - builtins.max(x.ndim, 2))))
        for x in (expand_dims(a, 0) if a.ndim == 1 else a, b)
    )
    result: Variable = BatchedDot()(left, right)
    return squeeze(result, rank - 2) if a.ndim == 1 else result


@described
def outer(x1: TensorLike, x2: TensorLike) -> Variable:
    """Return the outer product of two vectors.

    x1, x2 (tensor_like): Vectors of lengths ``m`` and ``n``; tensors of other ranks are flattened
        first.
    returns: Of shape ``(m, n)``, as :func:`numpy.outer` gives.

    >>> ft.outer([1.0, 2.0], [3.0, 4.0]).eval()
    array([[3., 4.],
           [6., 8.]])
    """
    a, b = as_tensor(x1), as_tensor(x2)
    return _outer(a if a.ndim == 1 else ravel(a), b if b.ndim == 1 else ravel(b))


@described
def tensordot(
    a: TensorLike, b: TensorLike, axes: int | Sequence[int | Sequence[int]] = 2
) -> Variable:
    """Return the sum of products over several dimensions at once, as :func:`numpy.tensordot`.

    a, b (tensor_like): Tensors of any rank.
    axes (int or pair of (sequences of) int): The number of last dimensions of ``a`` that meet the
        first of ``b``; or which dimensions of ``a``, and which of ``b`` in the same order.
    returns: With the remaining dimensions of ``a``, then those of ``b``.

    >>> ft.tensordot([[1.0, 2.0], [3.0, 4.0]], [[1.0, 0.0], [0.0, 1.0]]).eval()
    array(5.)
    >>> ft.tensordot([1.0, 2.0], [3.0, 4.0], axes=0).eval()
    array([[3., 4.],
           [6., 8.]])
    """
    a, b = as_tensor(a), as_tensor(b)
    left, right = _contracted(a, b, axes)
    rows = [axis for axis in range(a.ndim) if axis not in left]
    columns = [axis for axis in range(b.ndim) if axis not in right]
    terms = [
        length(b, j) if b.type.shape[j] is not None else length(a, i)
        for i, j in zip(left, right, strict=True)
    ]
    a, b = _with_lengths(a, left, terms), _with_lengths(b, right, terms)
    first = reshape(permute_dims(a, [*rows, *left]), (_product_of(a, rows), product(terms)))
    second = reshape(permute_dims(b, [*right, *columns]), (product(terms), _product_of(b, columns)))
    kept = [*(length(a, axis) for axis in rows), *(length(b, axis) for axis in columns)]
    return reshape(_dot(first, second), kept)


def _with_lengths(x: Variable, axes: Sequence[int], terms: Sequence[Variable]) -> Variable:
    """``x``, checked when it runs to have these lengths: their product alone may agree."""
    shape = [*lengths(x)]
    for axis, term in zip(axes, terms, strict=True):
        shape[axis] = term
    return x if shape == [*lengths(x)] else broadcast_to(x, shape)


def _product_of(x: Variable, axes: Sequence[int]) -> Variable:
    return product(length(x, axis) for axis in axes)


def _contracted(
    a: Variable, b: Variable, axes: int | Sequence[int | Sequence[int]]
) -> tuple[list[int], list[int]]:
    """The dimensions of both operands that meet."""
    if isinstance(axes, int | np.integer):
        if not 0 <= axes <= min(a.ndim, b.ndim):
            raise ValueError(
                f"axes must be between 0 and the dimensions of both operands; given {axes} for "
                f"{a.type} and {b.type}"
            )
        return list(range(a.ndim - int(axes), a.ndim)), list(range(int(axes)))
    pair = [[one] if isinstance(one, int | np.integer) else list(one) for one in axes]
    if len(pair) != 2 or len(pair[0]) != len(pair[1]):
        raise ValueError(f"axes must be a number or two lists of equal length; given {axes!r}")
    left, right = (
        [normalize_axis(axis, x.ndim) for axis in own] for x, own in zip((a, b), pair, strict=True)
    )
    for own in (left, right):
        if len(set(own)) < len(own):
            raise ValueError(f"axes must not name a dimension twice; given {axes!r}")
    for i, j in zip(left, right, strict=True):
        m, n = a.type.shape[i], b.type.shape[j]
        if m is not None and n is not None and m != n:
            raise ValueError(
                f"dimension {i} of {a.type} and dimension {j} of {b.type} do not match in "
                f"tensordot: their lengths are {m} and {n}"
            )
    return left, right


def _dot(a: Variable, b: Variable) -> Variable:
    dtype = _core.promote(a.dtype, b.dtype)
    result: Variable = Dot()(as_tensor(a, dtype), as_tensor(b, dtype))
    return result


def _flipped(x: Variable) -> Variable:
    """The transposed matrices."""
    return permute_dims(x, [*range(x.ndim - 2), x.ndim - 1, x.ndim - 2])


def _unbroadcast(g: Variable, x: Variable) -> Variable:
    """The gradient of ``x``, summed over the dimensions along which it was repeated."""
    axes = [
        axis for axis in range(x.ndim - 2) if x.type.shape[axis] == 1 and g.type.shape[axis] != 1
    ]
    return sum(g, axes, keepdims=True) if axes else g


def _turned(x: Variable) -> Variable:
    """The transpose of a matrix."""
    node = x.owner
    if node is not None and isinstance(node.op, Transpose):
        return permute_dims(x)
    turned: Variable = _TURN(x)
    return turned


def _times(a: Variable, b: Variable) -> Variable:
    return _core.elemwise(scalar.mul, a, b)


def _outer(a: Variable, b: Variable) -> Variable:
    return _times(_COLUMN(a), b)
