"""Norms of vectors and matrices, and the condition numbers that come of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

import frazil._core as _core
import frazil.scalar as scalar
from frazil._core import Variable
from frazil.graph.collection import is_sequence
from frazil.scalar.constants import TensorLike, as_tensor
from frazil.tensor.axes import normalize_axes, normalize_axis
from frazil.tensor.checks import check_parameters
from frazil.tensor.dims import expand_dims, squeeze
from frazil.tensor.docstrings import described
from frazil.tensor.index_syntax import get_item
from frazil.tensor.lengths import length
from frazil.tensor.linalg.factors import svdvals
from frazil.tensor.linalg.general import inv
from frazil.tensor.linalg.matrices import as_fractional, check_matrices, check_square
from frazil.tensor.moments import squared_sizes
from frazil.tensor.reductions import any, max, min, sum
from frazil.tensor.transposition import moveaxis


@described
def norm(
    x: TensorLike,
    ord: float | str | None = None,
    axis: int | Sequence[int] | None = None,
    keepdims: bool = False,
) -> Variable:
    """Return a norm of vectors or of matrices.

    x (tensor_like): Any tensor; integers become float64.
    ord (number, inf, -inf, "fro", "nuc" or None): The norm, as for :func:`numpy.linalg.norm`: None
        is the root of the sum of squares. Of matrices 2 and -2 are the largest and the smallest
        singular value, "nuc" is their sum.
    axis (int or tuple of two int): The dimension of the vectors, or the two of the matrices.
        Default: ``x`` is one vector or matrix, and where ``ord`` is None a tensor of any rank,
        whose elements are one vector.
    keepdims (bool): Keep the reduced dimensions, with length 1.
    returns: The norm, in the dtype of ``x`` if that is floating.

    >>> ft.linalg.norm([3.0, 4.0]).eval()
    array(5.)
    >>> ft.linalg.norm([[1.0, -2.0], [3.0, 4.0]], 1).eval()
    array(6.)
    """
    x = as_fractional(as_tensor(x))
    axes = tuple(range(x.ndim)) if axis is None else normalize_axes(axis, x.ndim)
    if ord is None:
        return _root_of_squares(x, axes, keepdims)
    if axis is not None and is_sequence(axis):  # rows first, whatever their positions
        axes = tuple(normalize_axis(one, x.ndim) for one in axis)
    if len(axes) == 1:
        return _vector_norm(x, ord, axes, keepdims)
    if len(axes) != 2:
        raise ValueError(
            f"the norm of order {ord!r} is one of vectors or matrices; given {x.type} and axis "
            f"{axis}. Name one axis, or two."
        )
    return _matrix_norm(x, ord, axes, keepdims)


def _root_of_squares(x: Variable, axes: Sequence[int], keepdims: bool) -> Variable:
    squares = squared_sizes(x)
    return _core.elemwise(scalar.sqrt, sum(squares, axes, keepdims=keepdims))


def _vector_norm(x: Variable, ord: float | str, axis: Sequence[int], keepdims: bool) -> Variable:
    if isinstance(ord, str):
        raise ValueError(f"the norm {ord!r} is one of matrices; given vectors along axis {axis}")
    if ord == 2:
        return _root_of_squares(x, axis, keepdims)
    if ord == 0:
        nonzero = _core.elemwise(scalar.neq, x, 0)
        counted = as_tensor(nonzero, np.zeros(0, x.dtype).real.dtype)
        return sum(counted, axis, keepdims=keepdims)
    size = _core.elemwise(scalar.abs, x)
    if ord == np.inf:
        return _largest(size, axis, keepdims)
    if ord == -np.inf:
        return min(size, axis, keepdims=keepdims)
    if ord == 1:
        return sum(size, axis, keepdims=keepdims)
    powers = _core.elemwise(scalar.pow, size, float(ord))
    return _core.elemwise(scalar.pow, sum(powers, axis, keepdims=keepdims), 1 / float(ord))


def _largest(sizes: Variable, axis: int | Sequence[int], keepdims: bool = False) -> Variable:
    """Return the largest of some sizes, 0 where there are none."""
    axes = normalize_axes(axis, sizes.ndim)
    if all(sizes.type.shape[at] for at in axes):
        return max(sizes, axes, keepdims=keepdims)
    return max(sizes, axes, keepdims=keepdims, initial=0)


def _matrix_norm(x: Variable, ord: float | str, axes: Sequence[int], keepdims: bool) -> Variable:
    rows, columns = axes
    if ord == "fro":
        return _root_of_squares(x, sorted(axes), keepdims)
    if ord in (2, -2, "nuc"):
        return _norm_of_singular_values(x, ord, axes, keepdims)
    if ord not in (1, -1, np.inf, -np.inf):
        raise ValueError(
            f"there is no norm of order {ord!r} of matrices; there are those of None, 'fro', "
            "'nuc', 1, -1, 2, -2, inf and -inf"
        )
    order = float(ord)
    along, across = (rows, columns) if abs(order) == 1 else (columns, rows)
    sums = sum(_core.elemwise(scalar.abs, x), along, keepdims=True)
    extreme = (_largest if order > 0 else min)(sums, across, keepdims=True)
    return extreme if keepdims else squeeze(extreme, sorted(axes))


def _norm_of_singular_values(
    x: Variable, ord: float | str, axes: Sequence[int], keepdims: bool
) -> Variable:
    values = svdvals(moveaxis(x, tuple(axes), (-2, -1)))
    kinds: dict[float | str, Callable[..., Variable]] = {2: _largest, -2: min, "nuc": sum}
    result = kinds[ord](values, -1)
    return expand_dims(result, sorted(axes)) if keepdims else result


@described
def vector_norm(
    x: TensorLike,
    /,
    *,
    axis: int | Sequence[int] | None = None,
    keepdims: bool = False,
    ord: float = 2,
) -> Variable:
    """Return a norm of vectors, which may lie along several dimensions.

    x (tensor_like): Any tensor; integers become float64.
    axis (int or sequence of int): The dimensions of a vector. Default: all of ``x`` is one.
    keepdims (bool): Keep the reduced dimensions, with length 1.
    ord (number, inf or -inf): The norm, as for :func:`numpy.linalg.vector_norm`.
    returns: The norm, in the dtype of ``x`` if that is floating.
    example: [[3.0, 4.0], [5.0, 12.0]], axis=1 -> [ 5., 13.]
    """
    x = as_fractional(as_tensor(x))
    axes = tuple(range(x.ndim)) if axis is None else normalize_axes(axis, x.ndim)
    return _vector_norm(x, ord, axes, keepdims)


@described
def matrix_norm(
    x: TensorLike, /, *, keepdims: bool = False, ord: float | str | None = "fro"
) -> Variable:
    """Return a norm of matrices.

    x (tensor_like): Matrices of shape ``(..., m, n)``; integers become float64.
    keepdims (bool): Keep the last two dimensions, with length 1.
    ord (number, inf, -inf, "fro", "nuc" or None): The norm, as for :func:`norm`; None is "fro".
    returns: Of shape ``(...)``, in the dtype of ``x`` if that is floating, as
        :func:`numpy.linalg.matrix_norm` gives.
    example: [[0.0, 3.0], [2.0, 0.0]], ord="nuc" -> 5.
    """
    x = as_fractional(as_tensor(x))
    if x.ndim < 2:
        raise ValueError(f"matrix_norm takes matrices; given {x.type}")
    return _matrix_norm(x, "fro" if ord is None else ord, (x.ndim - 2, x.ndim - 1), keepdims)


_WITHOUT_ELEMENTS = "cond is not defined of matrices without elements"


@described
def cond(x: TensorLike, p: float | str | None = None) -> Variable:
    """Return condition numbers of matrices: by how much errors grow where systems are solved.

    x (tensor_like): Matrices of shape ``(..., m, n)``; square ones, unless ``p`` is None, 2 or -2.
    p (number, inf, -inf, "fro", "nuc" or None): The norm of a matrix, which is multiplied by the
        norm of its inverse, as for :func:`norm`. None is 2: the largest singular value over the
        smallest one.
    returns: Of shape ``(...)``, as :func:`numpy.linalg.cond` gives: infinite for a singular matrix,
        NaN for one with elements that are NaN.
    raises numpy.linalg.LinAlgError: If the type says that matrices have no elements. During a call,
        if ``p`` is None, 2 or -2 and a matrix has elements that are not finite.
    raises ValueError: During a call, if matrices have no elements.

    >>> ft.linalg.cond([[0.0, 3.0], [2.0, 0.0]]).eval()
    array(1.5)
    >>> ft.linalg.cond([[1.0, 1.0], [1.0, 1.0]], 1).eval()
    array(inf)
    """
    x = as_fractional(as_tensor(x))
    check_matrices(x, "cond")
    if 0 in x.type.shape[-2:]:
        raise np.linalg.LinAlgError(f"{_WITHOUT_ELEMENTS}: {x.type}")
    unknown = [at for at in (x.ndim - 2, x.ndim - 1) if x.type.shape[at] is None]
    some = [_core.elemwise(scalar.lt, 0, length(x, at)) for at in unknown]
    x = check_parameters(x, *some, msg=_WITHOUT_ELEMENTS)
    if p in (None, 2, -2):
        values = svdvals(x)
        # Sums of one value each: an index would raise before the check of the lengths does.
        first, last = slice(None, 1), slice(-1, None)
        largest, smallest = (sum(get_item(values, (..., at)), -1) for at in (first, last))
        number = smallest / largest if p == -2 else largest / smallest
    else:
        check_square(x, "cond")
        inverse = inv(x, on_error="nan")
        number = matrix_norm(x, ord=p) * matrix_norm(inverse, ord=p)
    undefined = _core.elemwise(scalar.isnan, number)
    known = any(_core.elemwise(scalar.isnan, x), (-2, -1))
    singular = _core.elemwise(scalar.and_, undefined, _core.elemwise(scalar.invert, known))
    infinite = as_tensor(np.inf, number.dtype)
    return _core.elemwise(scalar.where, singular, infinite, number)
