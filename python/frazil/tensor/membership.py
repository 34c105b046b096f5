"""Which elements there are, and whether others are among them."""

from __future__ import annotations

import frazil._core as _core
import frazil.scalar as scalar
from frazil._core import Variable
from frazil.scalar.constants import TensorLike, as_tensor
from frazil.tensor.creation import ones, zeros
from frazil.tensor.cumulation import cumsum
from frazil.tensor.items import get_item, set_subtensor
from frazil.tensor.joining import concatenate
from frazil.tensor.lengths import length, lengths, literal, minimum
from frazil.tensor.positions import searchsorted
from frazil.tensor.rearranging import diff
from frazil.tensor.reshaping import ravel, reshape
from frazil.tensor.searching import nonzero
from frazil.tensor.sorting import argsort, sort
from frazil.tensor.taking import take


def isin(element: TensorLike, test_elements: TensorLike, *, invert: bool = False) -> Variable:
    """Return for each element whether it is among others.

    Parameters
    ----------
    element : tensor_like
        Any tensor.
    test_elements : tensor_like
        The others, which are sorted.
    invert : bool, default False
        Return whether it is not.

    Returns
    -------
    Variable
        Of bool and the shape of ``element``, as :func:`numpy.isin` gives.

    Examples
    --------
    >>> import frazil.tensor as ft
    >>> ft.isin([1, 2, 3], [3, 1]).eval()
    array([ True, False,  True])
    """
    x, others = as_tensor(element), ravel(as_tensor(test_elements))
    dtype = _core.promote(x.dtype, others.dtype)
    x, others = as_tensor(x, dtype), as_tensor(others, dtype)
    ordered = concatenate([sort(others), zeros(1, dtype)])  # the last one is never met
    at = searchsorted(get_item(ordered, slice(None, -1)), x)
    there = _core.elemwise(scalar.lt, at, length(others, 0))
    equal = _core.elemwise(scalar.eq, take(ordered, at), x)
    found = _core.elemwise(scalar.and_, there, equal)
    return _core.elemwise(scalar.invert, found) if invert else found


def unique(
    ar: TensorLike,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
) -> Variable | tuple[Variable, ...]:
    """Return the sorted elements, each once.

    Parameters
    ----------
    ar : tensor_like
        Any tensor, which is flattened.
    return_index : bool, default False
        Also return where each stands first.
    return_inverse : bool, default False
        Also return which of them each element is, in the shape of ``ar``.
    return_counts : bool, default False
        Also return how often each occurs.

    Returns
    -------
    Variable, or tuple of Variable
        As :func:`numpy.unique` gives: all NaN are one. How many there are only a call knows.

    Examples
    --------
    >>> import frazil.tensor as ft
    >>> ft.unique([3, 1, 3, 2]).eval()
    array([1, 2, 3])
    """
    ar = as_tensor(ar)
    x = ravel(ar)
    order = argsort(x)
    ordered = take(x, order)
    n = length(x, 0)
    later, earlier = get_item(ordered, slice(1, None)), get_item(ordered, slice(None, -1))
    differs = _core.elemwise(scalar.neq, later, earlier)
    if x.type.numpy_dtype.kind == "f":
        both = (_core.elemwise(scalar.isnan, one) for one in (later, earlier))
        known = _core.elemwise(scalar.invert, _core.elemwise(scalar.and_, *both))
        differs = _core.elemwise(scalar.and_, differs, known)
    first = concatenate([ones(minimum(n, literal(1)), "bool"), differs])
    (at,) = nonzero(first)
    found = [get_item(ordered, at)]
    if return_index:
        found.append(get_item(order, at))
    if return_inverse:
        number = cumsum(as_tensor(first, "int64")) - 1
        found.append(
            reshape(set_subtensor(get_item(zeros(n, "int64"), order), number), lengths(ar))
        )
    if return_counts:
        found.append(diff(concatenate([at, reshape(n, (1,))])))
    return found[0] if len(found) == 1 else tuple(found)


def array_equal(a1: TensorLike, a2: TensorLike, equal_nan: bool = False) -> Variable:
    """Return whether two tensors have one shape and equal elements.

    Parameters
    ----------
    a1, a2 : tensor_like
        Any tensors; lengths that no type knows must be equal at the call, which raises otherwise.
    equal_nan : bool, default False
        Whether NaN is equal to NaN.

    Returns
    -------
    Variable
        A bool without dimensions.

    Examples
    --------
    >>> import frazil.tensor as ft
    >>> ft.array_equal([1, 2], [1, 2]).eval()
    array(True)
    """
    a, b = as_tensor(a1), as_tensor(a2)
    known = zip(a.type.shape, b.type.shape, strict=False)
    if a.ndim != b.ndim or any(None not in (n, m) and n != m for n, m in known):
        return as_tensor(False)
    same = _core.elemwise(scalar.eq, a, b)
    if equal_nan:
        both = (_core.elemwise(scalar.neq, one, one) for one in (a, b))
        same = _core.elemwise(scalar.or_, same, _core.elemwise(scalar.and_, *both))
    return same.all()
