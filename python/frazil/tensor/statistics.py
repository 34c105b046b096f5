"""Averages, ranges, counts and covariances."""

from __future__ import annotations

import numpy.typing as npt

import frazil._core as _core
import frazil.scalar as scalar
from frazil._core import Variable
from frazil.graph.collection import is_sequence
from frazil.scalar.constants import TensorLike, as_tensor
from frazil.tensor.axes import normalize_axes, normalize_axis
from frazil.tensor.broadcasting import broadcast_to
from frazil.tensor.diagonals import diagonal
from frazil.tensor.dims import expand_dims, squeeze
from frazil.tensor.docstrings import described
from frazil.tensor.elementwise.choice import clip
from frazil.tensor.joining import concatenate
from frazil.tensor.lengths import length, lengths, product
from frazil.tensor.moments import mean
from frazil.tensor.products import matmul
from frazil.tensor.reductions import Axis, max, min, sum
from frazil.tensor.transposition import matrix_transpose, permute_dims


@described
def ptp(a: TensorLike, axis: Axis = None, keepdims: bool = False) -> Variable:
    """Return how far the largest element is above the smallest one.

    a (tensor_like): Numbers, one at least.
    returns: Of the dtype of ``a``, as :func:`numpy.ptp` gives.
    example: [[1.0, 5.0], [2.0, 2.0]], axis=1 -> [4., 0.]
    """
    a = as_tensor(a)
    return _core.elemwise(scalar.sub, max(a, axis, keepdims), min(a, axis, keepdims))


@described
def count_nonzero(x: TensorLike, axis: Axis = None, keepdims: bool = False) -> Variable:
    """Return how many elements are not zero.

    x (tensor_like): Any tensor; NaN is not zero.
    returns: Of int64, as :func:`numpy.count_nonzero` gives.
    example: [[1, 0], [2, 3]], axis=1 -> [1, 2]
    """
    return sum(as_tensor(as_tensor(x), "bool"), axis, "int64", keepdims)


@described
def average(
    a: TensorLike,
    axis: Axis = None,
    weights: TensorLike | None = None,
    returned: bool = False,
    keepdims: bool = False,
) -> Variable | tuple[Variable, Variable]:
    """Return the weighted mean of the elements over ``axis``.

    a (tensor_like): Any tensor.
    axis (int or tuple of int): The dimensions to average over; default: all.
    weights (tensor_like): Of the shape of ``a``, or with the dimensions ``axis`` alone; default:
        all alike.
    returned (bool): Return the sum of the weights, too.
    keepdims (bool): Keep the dimensions averaged over, with length 1.
    returns (Variable or tuple of Variable): As :func:`numpy.average` gives, but that weights whose
        sum is 0 give NaN or infinity.
    example: [1.0, 2.0, 6.0], weights=[1, 1, 2] -> 3.75
    """
    a = as_tensor(a)
    axes = normalize_axes(axis, a.ndim)
    if weights is None:
        averaged = mean(a, axis, keepdims=keepdims)
        total = as_tensor(product(length(a, k) for k in axes), averaged.dtype)
    else:
        weights = weights_along(as_tensor(weights), a, axis)
        dtype = _core.promote(a.dtype, weights.dtype)
        if not a.dtype.startswith("float"):
            dtype = _core.promote(dtype, "float64")
        weights = as_tensor(weights, dtype)
        total = sum(weights, axis, keepdims=keepdims)
        averaged = sum(as_tensor(a, dtype) * weights, axis, keepdims=keepdims) / total
    if not returned:
        return averaged
    return averaged, broadcast_to(total, lengths(averaged))


def weights_along(weights: Variable, a: Variable, axis: Axis) -> Variable:
    """Return weights of the rank of ``a``, and of its lengths along ``axis``.

    Those with the dimensions ``axis`` alone have them in the order in which it names them.
    """
    axes = normalize_axes(axis, a.ndim)
    if is_sequence(axis) and weights.ndim == len(axes) and not _may_be_equal(weights, a):
        named = [normalize_axis(one, a.ndim) for one in axis]
        weights = permute_dims(weights, [named.index(k) for k in axes])
    if weights.ndim == a.ndim:
        shape = lengths(a)
    else:
        if axis is None:
            raise TypeError(
                "axis must be given where the shapes of a and of the weights differ; given "
                f"{a.type} and {weights.type}"
            )
        if weights.ndim != len(axes):
            raise ValueError(
                "weights must have the shape of a, or the lengths of the axes; given "
                f"{weights.type} for axis {axis} of {a.type}"
            )
        weights = expand_dims(weights, [k for k in range(a.ndim) if k not in axes])
        shape = tuple(own if k in axes else length(weights, k) for k, own in enumerate(lengths(a)))
    for given, wanted in zip(weights.type.shape, a.type.shape, strict=True):
        if given != wanted and None not in (given, wanted) and len(axes) == a.ndim:
            kind = TypeError if axis is None else ValueError
            raise kind(f"weights must have the shape of a; given {weights.type} for {a.type}")
    return broadcast_to(weights, shape)


def _may_be_equal(a: Variable, b: Variable) -> bool:
    """Return whether two variables may have one shape."""
    known = zip(a.type.shape, b.type.shape, strict=False)
    return a.ndim == b.ndim and all(n == m or None in (n, m) for n, m in known)


@described
def cov(
    m: TensorLike,
    y: TensorLike | None = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: float | None = None,
    fweights: TensorLike | None = None,
    aweights: TensorLike | None = None,
    dtype: npt.DTypeLike | None = None,
) -> Variable:
    """Return the matrix of the covariances of several quantities.

    m (tensor_like): A row of observations for each quantity, or the observations of one.
    y (tensor_like): More quantities, in the form of ``m``.
    rowvar (bool): Whether rows are quantities; else columns are.
    bias (bool): Divide by the number of observations, not by one less.
    ddof (number): Divide by the number of observations less ``ddof``.
    fweights, aweights (tensor_like): The number of times that each observation was made, and its
        weight.
    dtype (dtype_like): Data type of the result; default: float64.
    returns: As :func:`numpy.cov` gives: without dimensions where the type says that there is one
        quantity only.

    >>> ft.cov([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]]).eval()
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    if ddof is not None and ddof != int(ddof):
        raise ValueError(f"ddof must be an integer; given {ddof}")
    wanted = "float64" if dtype is None else dtype
    x = _quantities(m, rowvar, wanted, "m")
    if y is not None:
        x = concatenate([x, _quantities(y, rowvar, wanted, "y")], 0)
    if ddof is None:
        ddof = 0 if bias else 1
    weights = [_of_observations(w, x, wanted) for w in (fweights, aweights) if w is not None]
    if not weights:
        left: Variable = as_tensor(length(x, 1), wanted) - ddof
        apart = x - mean(x, 1, keepdims=True)
        scaled = apart
    else:
        weight = weights[0] if len(weights) == 1 else weights[0] * weights[1]
        total = sum(weight)
        left = total - ddof
        if aweights is not None and ddof:
            left = total - ddof * sum(weight * weights[-1]) / total
        apart = x - sum(x * weight, 1, keepdims=True) / total
        scaled = apart * weight
    left = _core.elemwise(scalar.maximum, left, 0)
    covariances = matmul(apart, matrix_transpose(scaled)) * (1 / left)
    return squeeze(covariances)


@described
def corrcoef(
    x: TensorLike,
    y: TensorLike | None = None,
    rowvar: bool = True,
    dtype: npt.DTypeLike | None = None,
) -> Variable:
    """Return the matrix of the correlation coefficients of several quantities.

    x (tensor_like): A row of observations for each quantity, or the observations of one.
    y (tensor_like): More quantities, in the form of ``x``.
    rowvar (bool): Whether rows are quantities; else columns are.
    dtype (dtype_like): Data type of the result; default: float64.
    returns: As :func:`numpy.corrcoef` gives.

    >>> ft.corrcoef([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]]).eval().round(12)
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    covariances = cov(x, y, rowvar, dtype=dtype)
    if covariances.ndim == 0:
        return covariances / covariances
    deviations = _core.elemwise(scalar.sqrt, diagonal(covariances))
    scaled = covariances / expand_dims(deviations, 1) / expand_dims(deviations, 0)
    return clip(scaled, -1.0, 1.0)


def _quantities(x: TensorLike, rowvar: bool, dtype: npt.DTypeLike, name: str) -> Variable:
    """Return a matrix with a quantity in each row."""
    x = as_tensor(as_tensor(x), dtype)
    if x.ndim > 2:
        raise ValueError(f"{name} must have 2 dimensions at most; given {x.type}")
    if x.ndim < 2:
        return expand_dims(x, tuple(range(2 - x.ndim)))
    return x if rowvar else matrix_transpose(x)


def _of_observations(weights: TensorLike, x: Variable, dtype: npt.DTypeLike) -> Variable:
    weights = as_tensor(weights)
    if weights.ndim != 1:
        raise RuntimeError(f"weights must be a vector; given {weights.type}")
    observed = x.type.shape[1]
    if None not in (observed, weights.type.shape[0]) and observed != weights.type.shape[0]:
        raise RuntimeError(
            f"there must be as many weights as observations; given {weights.type} for {x.type}"
        )
    return broadcast_to(as_tensor(weights, dtype), [length(x, 1)])
