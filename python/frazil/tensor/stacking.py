"""Joining tensors as columns, as rows and in depth."""

from __future__ import annotations

from collections.abc import Iterable

from frazil._core import Variable
from frazil.scalar.constants import TensorLike, as_tensor
from frazil.tensor.dims import expand_dims
from frazil.tensor.joining import concatenate, vstack
from frazil.tensor.ranks import atleast_3d

concat = concatenate
row_stack = vstack


def column_stack(tup: Iterable[TensorLike]) -> Variable:
    """Return the tensors side by side as columns: joined along the second dimension.

    Parameters
    ----------
    tup : iterable of tensor_like
        Vectors, which become columns, or matrices of as many rows.

    Returns
    -------
    Variable
        Of the dtype that the tensors promote to, as :func:`numpy.column_stack` gives.

    Examples
    --------
    >>> import frazil.tensor as ft
    >>> ft.column_stack([[1, 2], [3, 4]]).eval()
    array([[1, 3],
           [2, 4]])
    """
    columns = []
    for x in _several(tup, "column_stack"):
        missing = tuple(range(x.ndim, 2)) if x.ndim else (0, 1)
        columns.append(expand_dims(x, missing))
    return concatenate(columns, 1)


def dstack(tup: Iterable[TensorLike]) -> Variable:
    """Return the tensors one behind the other: joined along the third dimension.

    Parameters
    ----------
    tup : iterable of tensor_like
        Tensors, which get three dimensions as by :func:`atleast_3d`.

    Returns
    -------
    Variable
        Of the dtype that the tensors promote to, as :func:`numpy.dstack` gives.

    Examples
    --------
    >>> import frazil.tensor as ft
    >>> ft.dstack([[1, 2], [3, 4]]).eval()
    array([[[1, 3],
            [2, 4]]])
    """
    deep = [atleast_3d(x) for x in _several(tup, "dstack")]
    return concatenate([x for x in deep if isinstance(x, Variable)], 2)


def _several(tup: Iterable[TensorLike], name: str) -> list[Variable]:
    if isinstance(tup, Variable):
        raise TypeError(f"{name} takes a sequence of tensors; given one variable, {tup}")
    return [as_tensor(x) for x in tup]
