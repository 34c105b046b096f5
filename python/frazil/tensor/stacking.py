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


def horizontal_stack(*args: TensorLike) -> Variable:
    """Return matrices side by side.

    Parameters
    ----------
    *args : tensor_like
        Two matrices or more.

    Returns
    -------
    Variable
        Joined along the second dimension.

    Examples
    --------
    >>> import frazil.tensor as ft
    >>> ft.horizontal_stack([[1], [2]], [[3], [4]]).eval()
    array([[1, 3],
           [2, 4]])
    """
    return concatenate(_matrices(args, "horizontal_stack"), 1)


def vertical_stack(*args: TensorLike) -> Variable:
    """Return matrices one below the other.

    Parameters
    ----------
    *args : tensor_like
        Two matrices or more.

    Returns
    -------
    Variable
        Joined along the first dimension.

    Examples
    --------
    >>> import frazil.tensor as ft
    >>> ft.vertical_stack([[1, 2]], [[3, 4]]).eval()
    array([[1, 2],
           [3, 4]])
    """
    return concatenate(_matrices(args, "vertical_stack"), 0)


def _matrices(args: Iterable[TensorLike], name: str) -> list[Variable]:
    tensors = [as_tensor(x) for x in args]
    if len(tensors) < 2 or any(x.ndim != 2 for x in tensors):
        given = ", ".join(str(x.type) for x in tensors)
        raise ValueError(f"{name} takes two matrices or more; given {given}")
    return tensors
