"""Root inputs: the variables that a graph starts from."""

from __future__ import annotations

from collections.abc import Sequence

import numpy.typing as npt

from frazil._core import TensorType, Variable


def tensor(
    name: str | None = None,
    *,
    dtype: npt.DTypeLike = "float64",
    shape: Sequence[int | None],
) -> Variable:
    """Return a new input of any rank.

    Parameters
    ----------
    name : str, optional
        Display name; compiled functions take the input by it.
    dtype : dtype_like, default "float64"
        One of bool, int8 to int64, uint8 to uint64, float32, float64.
    shape : sequence of int or None
        The length of each dimension, ``None`` where it is not known until a call. Only a dimension
        whose length is given as 1 broadcasts.

    Returns
    -------
    Variable
        Another one at each call, even with the same name.

    Examples
    --------
    >>> import frazil.tensor as ft
    >>> x = ft.tensor("x", shape=(None, 3))
    >>> x.type.shape, x.dtype
    ((None, 3), 'float64')
    """
    if name is not None and not isinstance(name, str):
        raise TypeError(
            f"tensor() takes the name as its only positional argument, a str; given {name!r}. "
            "Write tensor('x', dtype=..., shape=...)."
        )
    if not isinstance(shape, Sequence):
        raise TypeError(
            f"shape must be a sequence with an int or None for each dimension; given {shape!r}"
        )
    return TensorType(dtype, tuple(shape))(name)


def scalar(name: str | None = None, *, dtype: npt.DTypeLike = "float64") -> Variable:
    """Return a new input without dimensions.

    Parameters
    ----------
    name : str, optional
        Display name; compiled functions take the input by it.
    dtype : dtype_like, default "float64"
        As for :func:`tensor`.

    Returns
    -------
    Variable
        Without dimensions.

    Examples
    --------
    >>> import frazil.tensor as ft
    >>> ft.scalar("x").ndim
    0
    """
    return tensor(name, dtype=dtype, shape=())


def vector(
    name: str | None = None,
    *,
    dtype: npt.DTypeLike = "float64",
    shape: Sequence[int | None] = (None,),
) -> Variable:
    """Return a new input with one dimension.

    Parameters
    ----------
    name : str, optional
        Display name; compiled functions take the input by it.
    dtype : dtype_like, default "float64"
        As for :func:`tensor`.
    shape : sequence of int or None, default (None,)
        As for :func:`tensor`.

    Returns
    -------
    Variable
        With one dimension.

    Examples
    --------
    >>> import frazil.tensor as ft
    >>> ft.vector("x", shape=(3,)).type.shape
    (3,)
    """
    return _of_rank(1, name, dtype, shape)


def matrix(
    name: str | None = None,
    *,
    dtype: npt.DTypeLike = "float64",
    shape: Sequence[int | None] = (None, None),
) -> Variable:
    """Return a new input with two dimensions.

    Parameters
    ----------
    name : str, optional
        Display name; compiled functions take the input by it.
    dtype : dtype_like, default "float64"
        As for :func:`tensor`.
    shape : sequence of int or None, default (None, None)
        As for :func:`tensor`.

    Returns
    -------
    Variable
        With two dimensions.

    Examples
    --------
    >>> import frazil.tensor as ft
    >>> ft.matrix("x").type.shape
    (None, None)
    """
    return _of_rank(2, name, dtype, shape)


def tensor3(
    name: str | None = None,
    *,
    dtype: npt.DTypeLike = "float64",
    shape: Sequence[int | None] = (None, None, None),
) -> Variable:
    """Return a new input with three dimensions.

    Parameters
    ----------
    name : str, optional
        Display name; compiled functions take the input by it.
    dtype : dtype_like, default "float64"
        As for :func:`tensor`.
    shape : sequence of int or None, default (None, None, None)
        As for :func:`tensor`.

    Returns
    -------
    Variable
        With three dimensions.

    Examples
    --------
    >>> import frazil.tensor as ft
    >>> ft.tensor3("x").ndim
    3
    """
    return _of_rank(3, name, dtype, shape)


def row(
    name: str | None = None,
    *,
    dtype: npt.DTypeLike = "float64",
    shape: Sequence[int | None] = (1, None),
) -> Variable:
    """Return a new input with one row, which broadcasts over rows.

    Parameters
    ----------
    name : str, optional
        Display name; compiled functions take the input by it.
    dtype : dtype_like, default "float64"
        As for :func:`tensor`.
    shape : sequence of int or None, default (1, None)
        As for :func:`tensor`.

    Returns
    -------
    Variable
        With two dimensions.

    Examples
    --------
    >>> import frazil.tensor as ft
    >>> ft.row("x").broadcastable
    (True, False)
    """
    if len(shape) == 2 and shape[0] != 1:
        raise ValueError(f"a row has shape (1, n); given {tuple(shape)}. Use ft.matrix.")
    return _of_rank(2, name, dtype, shape)


def col(
    name: str | None = None,
    *,
    dtype: npt.DTypeLike = "float64",
    shape: Sequence[int | None] = (None, 1),
) -> Variable:
    """Return a new input with one column, which broadcasts over columns.

    Parameters
    ----------
    name : str, optional
        Display name; compiled functions take the input by it.
    dtype : dtype_like, default "float64"
        As for :func:`tensor`.
    shape : sequence of int or None, default (None, 1)
        As for :func:`tensor`.

    Returns
    -------
    Variable
        With two dimensions.

    Examples
    --------
    >>> import frazil.tensor as ft
    >>> ft.col("x").broadcastable
    (False, True)
    """
    if len(shape) == 2 and shape[1] != 1:
        raise ValueError(f"a column has shape (n, 1); given {tuple(shape)}. Use ft.matrix.")
    return _of_rank(2, name, dtype, shape)


def _of_rank(
    ndim: int, name: str | None, dtype: npt.DTypeLike, shape: Sequence[int | None]
) -> Variable:
    if len(shape) != ndim:
        raise ValueError(f"shape must have {ndim} lengths; given {tuple(shape)}")
    return tensor(name, dtype=dtype, shape=shape)


# PyTensor's typed shortcuts: ``dscalar("x")`` is ``scalar("x", dtype="float64")``.
bscalar, bvector, bmatrix = (TensorType("int8", (None,) * ndim) for ndim in range(3))
wscalar, wvector, wmatrix = (TensorType("int16", (None,) * ndim) for ndim in range(3))
iscalar, ivector, imatrix = (TensorType("int32", (None,) * ndim) for ndim in range(3))
lscalar, lvector, lmatrix = (TensorType("int64", (None,) * ndim) for ndim in range(3))
fscalar, fvector, fmatrix = (TensorType("float32", (None,) * ndim) for ndim in range(3))
dscalar, dvector, dmatrix = (TensorType("float64", (None,) * ndim) for ndim in range(3))
