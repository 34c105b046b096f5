"""Parts of tensors along a dimension, as NumPy cuts them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np

from frazil._core import Variable
from frazil.scalar.constants import TensorLike, as_tensor
from frazil.tensor.axes import normalize_axis
from frazil.tensor.docstrings import described, described_like
from frazil.tensor.elementwise.table import minimum
from frazil.tensor.index_syntax import get_item
from frazil.tensor.joining import split
from frazil.tensor.lengths import (
    LengthLike,
    add,
    floor_divide,
    length,
    literal,
    multiply,
    static_length,
    subtract,
)

Cuts: TypeAlias = int | Sequence[LengthLike]


@described
def unstack(x: TensorLike, /, *, axis: int = 0) -> tuple[Variable, ...]:
    """Return the tensors that lie along a dimension, as the Array API's ``unstack``.

    x (tensor_like): A tensor whose length along ``axis`` its type knows.
    axis (int): The dimension that is taken apart.
    returns (tuple of Variable): As many as that length, with a dimension less.

    >>> first, second = ft.unstack([[1, 2], [3, 4]])
    >>> second.eval()
    array([3, 4])
    """
    x = as_tensor(x)
    if x.ndim == 0:
        raise ValueError(f"only tensors with dimensions can be taken apart; given {x.type}")
    along = normalize_axis(axis, x.ndim)
    count = x.type.shape[along]
    if count is None:
        raise TypeError(
            f"how many tensors lie along axis {axis} of {x.type} is not known before a call. "
            "Declare it: ft.tensor(shape=(3, ...))"
        )
    before = (slice(None),) * along
    return tuple(get_item(x, (*before, position)) for position in range(count))


@described
def array_split(ary: TensorLike, indices_or_sections: Cuts, axis: int = 0) -> list[Variable]:
    """Return the parts of a tensor, which need not be of one length.

    ary (tensor_like): Any tensor with dimensions.
    indices_or_sections (int or sequence of int or 0-d integer variable): The number of parts, where
        the first may be longer than the last by 1; or the positions where the parts begin, but for
        the first. These are positions, as in NumPy, where :func:`split` takes lengths.
    axis (int): The dimension that is split.
    returns (list of Variable): Views of ``ary``, as :func:`numpy.array_split` gives.

    >>> [part.eval().tolist() for part in ft.array_split([1, 2, 3, 4, 5], 3)]
    [[1, 2], [3, 4], [5]]
    >>> [part.eval().tolist() for part in ft.array_split([1, 2, 3, 4, 5], [1, 4])]
    [[1], [2, 3, 4], [5]]
    """
    x = as_tensor(ary)
    along = normalize_axis(axis, x.ndim)
    if isinstance(indices_or_sections, int | np.integer):
        starts = _even_starts(length(x, along), int(indices_or_sections))
    else:
        starts = [0, *indices_or_sections, None]
    before = (slice(None),) * along
    return [get_item(x, (*before, slice(start, stop))) for start, stop in pairwise(starts)]


def _even_starts(whole: Variable, sections: int) -> list[object]:
    """Return where each of so many parts begins, and where the last one ends."""
    if sections <= 0:
        raise ValueError(f"the number of parts must be larger than 0; given {sections}")
    share = floor_divide(whole, literal(sections))
    longer = subtract(whole, multiply(share, literal(sections)))
    starts: list[Any] = []
    for k in range(sections + 1):
        static = static_length(longer)
        extra = literal(min(k, static)) if static is not None else minimum(longer, k)
        start = add(multiply(share, literal(k)), extra)
        known = static_length(start)
        starts.append(start if known is None else known)
    return starts


@described
def hsplit(ary: TensorLike, indices_or_sections: Cuts) -> list[Variable]:
    """Return the parts of a tensor along its second dimension; of a vector, along its only one.

    ary (tensor_like): Any tensor with dimensions.
    indices_or_sections (int or sequence of int or 0-d integer variable): The number of equal parts,
        or the positions where they begin, but for the first.
    returns (list of Variable): Views of ``ary``, as :func:`numpy.hsplit` gives.

    >>> left, right = ft.hsplit([[1, 2], [3, 4]], 2)
    >>> right.eval()
    array([[2],
           [4]])
    """
    x = _with_dimensions(ary, 1, "hsplit")
    return _equal_or_cut(x, indices_or_sections, 1 if x.ndim > 1 else 0)


@described_like(hsplit)
def vsplit(ary: TensorLike, indices_or_sections: Cuts) -> list[Variable]:
    """Return the parts of a tensor along its first dimension.

    ary (tensor_like): A tensor of two dimensions or more.
    returns (list of Variable): Views of ``ary``, as :func:`numpy.vsplit` gives.

    >>> above, below = ft.vsplit([[1, 2], [3, 4]], 2)
    >>> below.eval()
    array([[3, 4]])
    """
    return _equal_or_cut(_with_dimensions(ary, 2, "vsplit"), indices_or_sections, 0)


@described_like(hsplit)
def dsplit(ary: TensorLike, indices_or_sections: Cuts) -> list[Variable]:
    """Return the parts of a tensor along its third dimension.

    ary (tensor_like): A tensor of three dimensions or more.
    returns (list of Variable): Views of ``ary``, as :func:`numpy.dsplit` gives.

    >>> front, back = ft.dsplit([[[1, 2], [3, 4]]], 2)
    >>> back.eval()
    array([[[2],
            [4]]])
    """
    return _equal_or_cut(_with_dimensions(ary, 3, "dsplit"), indices_or_sections, 2)


def _equal_or_cut(x: Variable, indices_or_sections: Cuts, axis: int) -> list[Variable]:
    if isinstance(indices_or_sections, int | np.integer):
        return split(x, int(indices_or_sections), axis=axis)
    return array_split(x, indices_or_sections, axis)


def _with_dimensions(x: TensorLike, ndim: int, name: str) -> Variable:
    x = as_tensor(x)
    if x.ndim < ndim:
        raise ValueError(f"{name} takes tensors of {ndim} dimensions or more; given {x.type}")
    return x
