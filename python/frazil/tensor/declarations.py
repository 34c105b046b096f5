"""Declarations of users about lengths that only a run knows; a run checks them."""

from __future__ import annotations

from collections.abc import Sequence

import frazil._core as _core
import frazil.scalar as scalar
from frazil._core import Variable
from frazil.graph.collection import is_sequence
from frazil.scalar.constants import TensorLike, as_tensor
from frazil.tensor.axes import normalize_axis
from frazil.tensor.broadcasting import BroadcastTo, broadcast_to
from frazil.tensor.checks import Check, checked
from frazil.tensor.dims import expand_dims
from frazil.tensor.docstrings import described
from frazil.tensor.lengths import (
    LengthLike,
    as_length,
    as_lengths,
    length,
    lengths,
    literal,
    static_length,
)
from frazil.tensor.reshaping import reshape


@described
def specify_shape(
    x: TensorLike, shape: LengthLike | Sequence[LengthLike | None] | None
) -> Variable:
    """Return ``x`` with a type that knows lengths, which a run checks.

    x (tensor_like): Any tensor.
    shape (sequence of int, 0-d integer variable or None; or a 1-d integer variable): A length for
        each dimension; None leaves one open.
    returns: A view of ``x``, whose type has the lengths that are ints.
    raises ValueError: At once if the type of ``x`` has other lengths, else by a run where they
        differ.

    >>> x = ft.matrix("x")
    >>> ft.specify_shape(x, (None, 3)).type
    TensorType(float64[?, 3])
    """
    x = as_tensor(x)
    if shape is None or is_sequence(shape):
        given = shape if is_sequence(shape) else (None,)
        wanted = [None if one is None else as_length(one) for one in given]
    else:
        wanted = [*as_lengths(shape)]
    if len(wanted) != x.ndim:
        raise ValueError(
            f"specify_shape needs a length for each dimension of {x.type}: {x.ndim}, "
            f"given {len(wanted)}"
        )
    ones = []
    for axis, (own, one) in enumerate(zip(x.type.shape, wanted, strict=True)):
        static = None if one is None else static_length(one)
        if own is not None and static not in (None, own):
            raise ValueError(f"{x.type} has length {own} along axis {axis}, and not {static}")
        if own == 1 and one is not None and static is None:
            ones.append(_core.elemwise(scalar.eq, one, 1))  # else it would be repeated
    dims = [length(x, axis) if one is None else one for axis, one in enumerate(wanted)]
    if all(one is own for one, own in zip(dims, lengths(x), strict=True)):
        return x
    x = checked(x, ones, Check("specify_shape: a length is 1 where another one is given"))
    view: Variable = BroadcastTo()(x, *dims)
    return view


@described
def broadcastable_at_run_time(x: TensorLike, axis: int, n: LengthLike) -> Variable:
    """Return ``x`` with a dimension that repeats if a call finds that its length is 1.

    Otherwise a dimension repeats only where its type says that its length is 1.

    x (tensor_like): Any tensor with dimensions.
    axis (int): The dimension, whose length is 1 or ``n``.
    n (int or 0-d integer variable): The length of that dimension in the result.
    returns: Of length ``n`` along ``axis``.
    raises ValueError: When a call finds another length.

    >>> x, y = ft.vectors("x", "y")
    >>> z = ft.broadcastable_at_run_time(x, 0, y.shape[0]) + y
    >>> z.eval({x: [1.0], y: [1.0, 2.0, 3.0]})
    array([2., 3., 4.])
    >>> z.eval({x: [3.0, 2.0, 1.0], y: [1.0, 2.0, 3.0]})
    array([4., 4., 4.])
    """
    x, wanted = as_tensor(x), as_length(n)
    axis = normalize_axis(axis, x.ndim)
    dims = [*lengths(x)]
    own = dims[axis]
    if own is wanted or x.type.shape[axis] == 1:
        dims[axis] = wanted
        return broadcast_to(x, dims)
    fits = _core.elemwise(scalar.eq, own, wanted)
    one = _core.elemwise(scalar.eq, own, 1)
    message = f"the length along axis {axis} is neither 1 nor the one that is given"
    x = checked(x, [_core.elemwise(scalar.or_, fits, one)], Check(message))
    # Copies side by side: one of them, or as many as are wanted of one element.
    copies = _core.elemwise(scalar.where, fits, literal(1), wanted)
    side_by_side = broadcast_to(expand_dims(x, axis), [*dims[:axis], copies, *dims[axis:]])
    return reshape(side_by_side, [*dims[:axis], wanted, *dims[axis + 1 :]])


@described
def specify_broadcastable(x: TensorLike, *axes: int) -> Variable:
    """Return ``x`` with dimensions that broadcast, since a run finds that their length is 1.

    x (tensor_like): Any tensor.
    axes (int): The dimensions.
    returns: A view of ``x``.
    raises ValueError: At once or by a run, if a length is not 1.

    >>> ft.specify_broadcastable(ft.matrix("x"), 0).type
    TensorType(float64[1, ?])
    """
    x = as_tensor(x)
    chosen = [normalize_axis(axis, x.ndim) for axis in axes]
    return specify_shape(x, [1 if axis in chosen else None for axis in range(x.ndim)])
