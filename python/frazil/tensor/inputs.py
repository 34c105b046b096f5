"""Root inputs: the variables that a graph starts from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy.typing as npt

from frazil._core import TensorType, Variable
from frazil.graph.call_site import called_function
from frazil.graph.collection import is_sequence
from frazil.tensor.docstrings import described, described_like, documented


@described
def tensor(
    name: str | None = None, *, dtype: npt.DTypeLike = "float64", shape: Sequence[int | None]
) -> Variable:
    """Return a new input of any rank.

    name (str): Display name; compiled functions take the input by it.
    dtype (dtype_like): One of bool, int8 to int64, uint8 to uint64, float16, float32, float64.
    shape (sequence of int or None): The length of each dimension, ``None`` where it is not known
        until a call. Only a dimension whose length is given as 1 broadcasts.
    returns: Another one at each call, even with the same name.

    >>> x = ft.tensor("x", shape=(None, 3))
    >>> x.type.shape, x.dtype
    ((None, 3), 'float64')
    """
    if name is not None and not isinstance(name, str):
        raise TypeError(
            f"tensor() takes the name as its only positional argument, a str; given {name!r}. "
            "Write tensor('x', dtype=..., shape=...)."
        )
    if not is_sequence(shape):
        raise TypeError(
            f"shape must be a sequence with an int or None for each dimension; given {shape!r}"
        )
    return TensorType(dtype, tuple(shape))(name)


@described_like(tensor)
def scalar(name: str | None = None, *, dtype: npt.DTypeLike = "float64") -> Variable:
    """Return a new input without dimensions.

    returns: Without dimensions.

    >>> ft.scalar("x").ndim
    0
    """
    return tensor(name, dtype=dtype, shape=())


class OfRank(Protocol):
    """Makes an input of some rank."""

    def __call__(
        self,
        name: str | None = None,
        *,
        dtype: npt.DTypeLike = "float64",
        shape: Sequence[int | None] = ...,
    ) -> Variable: ...


class Several(Protocol):
    """Makes several inputs of one type."""

    def __call__(self, *names: str, dtype: npt.DTypeLike = "float64") -> list[Variable]: ...


_OF_RANK = """Return a new input with {summary}.

Parameters
----------
name : str, optional
    Display name; compiled functions take the input by it.
dtype : dtype_like, default "float64"
    As for :func:`tensor`.
shape : sequence of int or None, default {default}
    As for :func:`tensor`.

Returns
-------
Variable
    With {rank}.

Examples
--------
>>> import frazil.tensor as ft
>>> ft.{name}("x").type.shape
{default}
"""

_SEVERAL = """Return new inputs with {rank}, one for each name.

Parameters
----------
*names : str
    Their display names.
dtype : dtype_like, default "float64"
    As for :func:`tensor`, of all of them.

Returns
-------
list of Variable
    In the order of the names.

Examples
--------
>>> import frazil.tensor as ft
>>> [x.ndim for x in ft.{name}("x", "y")]
[{ndim}, {ndim}]
"""

_RANKS = ("no dimensions", "one dimension", "two dimensions", "three dimensions", "four dimensions")


def _of_rank(name: str, default: tuple[int | None, ...], summary: str = "") -> OfRank:
    """Return the function ``name``, which makes inputs of the rank of ``default``."""

    def function(
        name: str | None = None,
        *,
        dtype: npt.DTypeLike = "float64",
        shape: Sequence[int | None] = default,
    ) -> Variable:
        if len(shape) != len(default):
            raise ValueError(f"shape must have {len(default)} lengths; given {tuple(shape)}")
        if any(fixed == 1 != n for fixed, n in zip(default, shape, strict=True)):
            raise ValueError(
                f"a {called_function()} has shape {str(default).replace('None', 'n')}; "
                f"given {tuple(shape)}. Use ft.matrix."
            )
        return tensor(name, dtype=dtype, shape=shape)

    rank = _RANKS[len(default)]
    words = {"summary": summary or rank, "default": str(default), "rank": rank}
    return documented(function, name, _OF_RANK, **words)


def _several(name: str, ndim: int) -> Several:
    """Return the function ``name``, which makes inputs with ``ndim`` dimensions."""

    def function(*names: str, dtype: npt.DTypeLike = "float64") -> list[Variable]:
        return [tensor(each, dtype=dtype, shape=(None,) * ndim) for each in names]

    return documented(function, name, _SEVERAL, rank=_RANKS[ndim], ndim=str(ndim))


vector = _of_rank("vector", (None,))
matrix = _of_rank("matrix", (None, None))
row = _of_rank("row", (1, None), "one row, which broadcasts over rows")
col = _of_rank("col", (None, 1), "one column, which broadcasts over columns")
tensor3 = _of_rank("tensor3", (None, None, None))
tensor4 = _of_rank("tensor4", (None, None, None, None))
scalars = _several("scalars", 0)
vectors = _several("vectors", 1)
matrices = _several("matrices", 2)

# PyTensor's typed shortcuts: ``dscalar("x")`` is ``scalar("x", dtype="float64")``.
bscalar, bvector, bmatrix = (TensorType("int8", (None,) * ndim) for ndim in range(3))
wscalar, wvector, wmatrix = (TensorType("int16", (None,) * ndim) for ndim in range(3))
iscalar, ivector, imatrix = (TensorType("int32", (None,) * ndim) for ndim in range(3))
lscalar, lvector, lmatrix = (TensorType("int64", (None,) * ndim) for ndim in range(3))
fscalar, fvector, fmatrix = (TensorType("float32", (None,) * ndim) for ndim in range(3))
dscalar, dvector, dmatrix = (TensorType("float64", (None,) * ndim) for ndim in range(3))
