"""Products of stacks of vectors and matrices, and products without sums."""

from __future__ import annotations

import frazil._core as _core
import frazil.scalar as scalar
from frazil._core import Variable
from frazil.scalar.complex import conjugate
from frazil.scalar.constants import TensorLike, as_tensor
from frazil.tensor.axes import normalize_axis
from frazil.tensor.dims import expand_dims, squeeze
from frazil.tensor.docstrings import described
from frazil.tensor.index_syntax import get_item
from frazil.tensor.joining import stack
from frazil.tensor.lengths import lengths, multiply
from frazil.tensor.products import matmul, tensordot
from frazil.tensor.reshaping import ravel, reshape
from frazil.tensor.transposition import moveaxis


@described
def vecdot(x1: TensorLike, x2: TensorLike, /, *, axis: int = -1) -> Variable:
    """Return the products of the vectors that lie along a dimension of both operands.

    Of complex numbers the first operand is conjugated.

    x1, x2 (tensor_like): Tensors with dimensions: vectors of one length along ``axis``. The other
        dimensions broadcast.
    axis (int): The dimension of the vectors, in each operand.
    returns: Of the dtype that the operands promote to, as :func:`numpy.vecdot` gives.
    example: [[1.0, 2.0], [3.0, 4.0]], [10.0, 1.0] -> [12., 34.]
    """
    a, b = (_vectors(x, axis, "vecdot") for x in (x1, x2))
    rows = expand_dims(conjugate(a), a.ndim - 1)
    return squeeze(matmul(rows, expand_dims(b, b.ndim)), (-2, -1))


@described
def matvec(x1: TensorLike, x2: TensorLike, /) -> Variable:
    """Return the products of matrices with vectors.

    x1 (tensor_like): Matrices of shape ``(..., m, n)``.
    x2 (tensor_like): Vectors of shape ``(..., n)``; the dimensions in front broadcast.
    returns: Vectors of shape ``(..., m)``, as :func:`numpy.matvec` gives.

    >>> ft.matvec([[1.0, 2.0], [3.0, 4.0]], [[1.0, 0.0], [0.0, 1.0]]).eval()
    array([[1., 3.],
           [2., 4.]])
    """
    a, b = _matrices(x1, "matvec"), _vectors(x2, -1, "matvec")
    return squeeze(matmul(a, expand_dims(b, b.ndim)), -1)


@described
def vecmat(x1: TensorLike, x2: TensorLike, /) -> Variable:
    """Return the products of vectors with matrices.

    Complex vectors are conjugated.

    x1 (tensor_like): Vectors of shape ``(..., m)``.
    x2 (tensor_like): Matrices of shape ``(..., m, n)``; the dimensions in front broadcast.
    returns: Vectors of shape ``(..., n)``, as :func:`numpy.vecmat` gives.

    >>> ft.vecmat([[1.0, 0.0], [0.0, 1.0]], [[1.0, 2.0], [3.0, 4.0]]).eval()
    array([[1., 2.],
           [3., 4.]])
    """
    a, b = _vectors(x1, -1, "vecmat"), _matrices(x2, "vecmat")
    return squeeze(matmul(expand_dims(conjugate(a), a.ndim - 1), b), -2)


@described
def batched_dot(a: TensorLike, b: TensorLike) -> Variable:
    """Return the products of the vectors or matrices at each position of the first dimension.

    a, b (tensor_like): Tensors of two or three dimensions, with a first one of the same length:
        vectors or matrices, as for :func:`dot`.
    returns: Of the dtype that the operands promote to, as PyTensor's ``batched_dot`` gives.
    example: [[1.0, 2.0], [3.0, 4.0]], [[1.0, 1.0], [0.0, 1.0]] -> [3., 4.]
    """
    a, b = as_tensor(a), as_tensor(b)
    for x in (a, b):
        if x.ndim not in (2, 3):
            raise ValueError(
                f"batched_dot takes tensors of 2 or 3 dimensions; given {a.type} and {b.type}. "
                "Use ft.matmul."
            )
    if {a.type.shape[0], b.type.shape[0]} > {1} and None not in (a.type.shape[0], b.type.shape[0]):
        raise ValueError(
            f"batched_dot takes as many matrices on both sides; given {a.type} and {b.type}"
        )
    if b.ndim == 2:
        return vecdot(a, b) if a.ndim == 2 else matvec(a, b)
    return vecmat(a, b) if a.ndim == 2 else matmul(a, b)


@described
def inner(a: TensorLike, b: TensorLike, /) -> Variable:
    """Return the products of all vectors along the last dimension of both operands.

    a, b (tensor_like): Tensors with last dimensions of one length. If one has no dimensions, the
        product is by elements.
    returns: With the dimensions of ``a`` but its last, then the dimensions of ``b`` but its last,
        as :func:`numpy.inner` gives.
    example: [1.0, 2.0], [[3.0, 4.0], [5.0, 6.0]] -> [11., 17.]
    """
    a, b = as_tensor(a), as_tensor(b)
    if a.ndim == 0 or b.ndim == 0:
        return _core.elemwise(scalar.mul, a, b)
    return tensordot(a, b, ([-1], [-1]))


@described
def vdot(a: TensorLike, b: TensorLike, /) -> Variable:
    """Return the sum of the products of all elements, where ``a`` is conjugated.

    a, b (tensor_like): Tensors with as many elements, which are flattened.
    returns: Without dimensions, as :func:`numpy.vdot` gives.
    example: [[1.0, 2.0], [3.0, 4.0]], [[1.0, 0.0], [0.0, 1.0]] -> 5.
    """
    return matmul(ravel(conjugate(as_tensor(a))), ravel(as_tensor(b)))


@described
def kron(a: TensorLike, b: TensorLike) -> Variable:
    """Return the Kronecker product: ``b`` times each element of ``a``, in the place of that.

    a, b (tensor_like): Tensors of any rank; the one of fewer dimensions gets more in front.
    returns: Each length is the product of the lengths of ``a`` and ``b``, as :func:`numpy.kron`
        gives.

    >>> ft.kron([[1, 2]], [[1, 0], [0, 1]]).eval()
    array([[1, 0, 2, 0],
           [0, 1, 0, 2]])
    """
    a, b = as_tensor(a), as_tensor(b)
    ndim = max(a.ndim, b.ndim)
    a, b = (expand_dims(x, tuple(range(ndim - x.ndim))) for x in (a, b))
    spread = expand_dims(a, tuple(range(1, 2 * ndim, 2)))
    repeated = expand_dims(b, tuple(range(0, 2 * ndim, 2)))
    shape = [multiply(m, n) for m, n in zip(lengths(a), lengths(b), strict=True)]
    return reshape(_core.elemwise(scalar.mul, spread, repeated), shape)


@described
def cross(
    a: TensorLike,
    b: TensorLike,
    axisa: int = -1,
    axisb: int = -1,
    axisc: int = -1,
    axis: int | None = None,
) -> Variable:
    """Return vectors that are perpendicular to the vectors of both operands.

    a, b (tensor_like): Vectors of length 3; the other dimensions broadcast.
    axisa, axisb (int): The dimension of the vectors, in each operand.
    axisc (int): The dimension of the vectors in the result.
    axis (int): All three at once.
    returns: Vectors of length 3, as :func:`numpy.cross` gives.
    example: [1.0, 0.0, 0.0], [0.0, 1.0, 0.0] -> [0., 0., 1.]
    """
    if axis is not None:
        axisa = axisb = axisc = axis
    a, b = _vectors(a, axisa, "cross"), _vectors(b, axisb, "cross")
    for x in (a, b):
        if x.type.shape[-1] not in (3, None):
            raise ValueError(f"cross takes vectors of length 3; given {a.type} and {b.type}")
    if "bool" in (a.dtype, b.dtype):
        raise TypeError(f"cross takes numbers; given {a.type} and {b.type}. Cast them first.")
    (a0, a1, a2), (b0, b1, b2) = (
        [get_item(x, (..., k)) for k in range(3)] for x in (_of_three(a), _of_three(b))
    )

    def minor(u: Variable, v: Variable, w: Variable, z: Variable) -> Variable:
        products = (_core.elemwise(scalar.mul, *pair) for pair in ((u, v), (w, z)))
        return _core.elemwise(scalar.sub, *products)

    parts = [minor(a1, b2, a2, b1), minor(a2, b0, a0, b2), minor(a0, b1, a1, b0)]
    vectors = stack(parts, -1)
    return moveaxis(vectors, -1, normalize_axis(axisc, vectors.ndim))


def _of_three(x: Variable) -> Variable:
    """Return ``x``, checked when it runs to have three elements a vector."""
    return x if x.type.shape[-1] == 3 else reshape(x, (*lengths(x)[:-1], 3))


def _vectors(x: TensorLike, axis: int, name: str) -> Variable:
    """Return ``x`` with the dimension ``axis`` as the last one."""
    x = as_tensor(x)
    if x.ndim == 0:
        raise ValueError(f"{name} takes vectors; given {x.type}. Use * for a product by elements.")
    along = normalize_axis(axis, x.ndim)
    return x if along == x.ndim - 1 else moveaxis(x, along, -1)


def _matrices(x: TensorLike, name: str) -> Variable:
    x = as_tensor(x)
    if x.ndim < 2:
        raise ValueError(f"{name} takes matrices; given {x.type}")
    return x
