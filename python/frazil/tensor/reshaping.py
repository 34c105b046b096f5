"""Reshaping: the same elements, in C order or Fortran's, under other lengths."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from typing import ClassVar, Literal, TypeAlias

import frazil._core as _core
import frazil.scalar as scalar
from frazil._core import FrozenApply, TensorType, Variable
from frazil.graph.dataclass import dataclass
from frazil.graph.op import Array, Gradients, Op, Variables
from frazil.scalar.constants import TensorLike, as_tensor
from frazil.tensor.broadcasting import with_lengths
from frazil.tensor.dims import expand_dims
from frazil.tensor.docstrings import described
from frazil.tensor.lengths import (
    LengthLike,
    Lengths,
    add,
    as_lengths,
    floor_divide,
    is_length,
    lengths,
    literal,
    product,
    static_length,
    static_size,
)
from frazil.tensor.transposition import permute_dims

Order: TypeAlias = Literal["C", "F"]
"""The dimension that changes fastest from an element to the next: the last or the first."""


@dataclass(frozen=True, eq=False)
class Reshape(Op):
    """``x`` with the lengths that the other operands give, ``ndim`` of them.

    One of them may be the constant -1 and is inferred. A view where the layout allows it.
    """

    takes_complex = True

    ndim: int
    view_map: ClassVar[Mapping[int, Sequence[int]]] = {0: [0]}

    def make_node(self, x: Variable, *shape: Variable) -> FrozenApply:
        target = tuple(static_length(value) for value in shape)
        if len(target) != self.ndim:
            raise ValueError(f"Reshape to {self.ndim} dimensions, but given lengths {target}")
        return FrozenApply(
            self, [x, *shape], [TensorType(x.dtype, _infer_static(x.type.shape, target))]
        )

    def perform(self, node: FrozenApply, inputs: Sequence[Array]) -> tuple[Array, ...]:
        x, *values = inputs
        shape = tuple(int(value) for value in values)
        for value, variable in zip(shape, node.inputs[1:], strict=True):
            if value < 0 and static_length(variable) is None:
                raise ValueError(
                    f"cannot reshape to {shape}: a length that is not a constant must not be "
                    "negative. Write -1 itself to have a length inferred."
                )
        return (x.reshape(shape),)

    def infer_shape(self, node: FrozenApply, input_shapes: Sequence[Lengths]) -> tuple[Lengths]:
        shape = node.inputs[1:]
        inferred = [axis for axis, value in enumerate(shape) if static_length(value) == -1]
        if not inferred:
            return (shape,)
        (axis,) = inferred
        others = product(shape[:axis] + shape[axis + 1 :])
        rest = floor_divide(product(input_shapes[0]), others)
        return ((*shape[:axis], rest, *shape[axis + 1 :]),)

    def L_op(self, inputs: Variables, outputs: Variables, output_gradients: Variables) -> Gradients:
        x, *shape = inputs
        (g,) = output_gradients
        return [reshape(g, lengths(x)) if g.ndim else g, *(None for _ in shape)]


@described
def reshape(
    x: TensorLike,
    shape: LengthLike | Iterable[LengthLike],
    ndim: int | None = None,
    *,
    order: Order = "C",
) -> Variable:
    """Return the elements of ``x``, in C order or Fortran's, under another shape.

    x (tensor_like): Any tensor.
    shape (int, 0-d integer variable, a sequence of them, or a 1-d integer variable): Shape of the
        result, as in :func:`numpy.reshape`; one length may be -1, written as such or an element of
        a 1-d variable, and is inferred. Other lengths must not be negative.
    ndim (int): The rank of the result: checked, and needed where the type of a 1-d variable does
        not say how many elements it has.
    order ({"C", "F"}): Whether elements are read and placed with the last or with the first
        dimension changing fastest.
    returns: Of the dtype of ``x``; a view of it wherever its layout allows one.

    >>> ft.reshape([1, 2, 3, 4, 5, 6], (2, -1)).eval()
    array([[1, 2, 3],
           [4, 5, 6]])
    """
    x = as_tensor(x)
    if isinstance(shape, Variable) and shape.ndim == 1:
        target = _of_vector(x, shape, ndim)
    else:
        target = as_lengths(shape)
    if ndim is not None and ndim != len(target):
        raise ValueError(f"shape has {len(target)} lengths, but ndim={ndim}")
    if _is_reversed(order):
        return permute_dims(reshape(permute_dims(x), target[::-1]))
    static = tuple(static_length(value) for value in target)
    if x.ndim == 0 and static == (1,) * len(static):
        return expand_dims(x, tuple(range(len(static))))
    if x.ndim == len(target) and (
        target == lengths(x)
        or (None not in static and _infer_static(x.type.shape, static) == x.type.shape)
    ):
        return x
    view: Variable = Reshape(len(target))(x, *target)
    return view


def _is_reversed(order: Order) -> bool:
    if order in ("C", "F"):
        return order == "F"
    if order in ("A", "K"):
        raise TypeError(
            f"a variable has no layout of memory, which order {order!r} asks for; give 'C' or 'F'"
        )
    raise ValueError(f"order must be 'C' or 'F'; given {order!r}")


def _of_vector(x: Variable, vector: Variable, ndim: int | None) -> Lengths:
    """Return the elements of ``vector`` as lengths. A call may find that one of them is -1."""
    if ndim is not None:
        vector = with_lengths(vector, TensorType(vector.dtype, (ndim,)))
    given = as_lengths(vector)
    if all(static_length(one) is not None or is_length(one) for one in given):
        return given
    is_open = [_core.elemwise(scalar.eq, one, -1) for one in given]
    several = _core.elemwise(
        scalar.lt, 1, reduce(add, (as_tensor(one, "int64") for one in is_open))
    )
    kept = [
        _core.elemwise(scalar.where, unknown, literal(1), one)
        for unknown, one in zip(is_open, given, strict=True)
    ]
    left = floor_divide(product(lengths(x)), product(kept))
    inferred = _core.elemwise(scalar.where, several, literal(-1), left)
    return tuple(
        one
        if ((known := static_length(one)) is not None and known >= 0) or is_length(one)
        else _core.elemwise(scalar.where, unknown, inferred, one)
        for unknown, one in zip(is_open, given, strict=True)
    )


@described
def ravel(x: TensorLike, order: Order = "C") -> Variable:
    """Return the elements of ``x``, in C order or Fortran's, as a vector.

    x (tensor_like): Any tensor; a vector is returned as it is.
    order ({"C", "F"}): Whether the last or the first dimension changes fastest.
    returns: With one dimension, as :func:`numpy.ravel` gives.
    example: [[1, 2], [3, 4]] -> [1, 2, 3, 4]
    """
    x = as_tensor(x)
    if _is_reversed(order):
        x = permute_dims(x)
    return x if x.ndim == 1 else reshape(x, (-1,))


@described
def flatten(x: TensorLike, ndim: int = 1) -> Variable:
    """Return ``x`` with its last dimensions joined, so that ``ndim`` are left.

    x (tensor_like): Any tensor.
    ndim (int): The rank of the result, as in PyTensor.
    returns: Of the dtype of ``x``, with ``ndim`` dimensions.

    >>> ft.flatten(ft.tensor("x", shape=(2, 3, 4)), 2).type.shape
    (2, 12)
    """
    x = as_tensor(x)
    if not 1 <= ndim <= max(x.ndim, 1):
        raise ValueError(f"ndim must be between 1 and {max(x.ndim, 1)}; given {ndim}")
    if ndim == x.ndim:
        return x
    kept, joined = lengths(x)[: ndim - 1], static_size(x.type.shape[ndim - 1 :])
    return reshape(x, (*kept, -1 if joined is None else joined))


def _infer_static(
    source: Sequence[int | None], target: Sequence[int | None]
) -> tuple[int | None, ...]:
    """Return the static shape of a reshape, sharpened by the number of elements."""
    if sum(value == -1 for value in target) > 1:
        raise ValueError(f"only one length can be -1; given {tuple(target)}")
    if any(value is not None and value < -1 for value in target):
        raise ValueError(f"a length cannot be negative; given {tuple(target)}")
    shape = [None if value == -1 else value for value in target]
    total = static_size(source)
    known = static_size([value for value in shape if value is not None])
    assert known is not None
    mismatch = ValueError(
        f"cannot reshape shape {tuple(source)} to {tuple(target)}, which must have as many "
        "elements; one length may be -1 for what is left"
    )
    if total is None:
        return tuple(shape)
    open_axes = [axis for axis, value in enumerate(shape) if value is None]
    if not open_axes:
        if known != total:
            raise mismatch
        return tuple(shape)
    if known == 0:
        # 0 * n is 0 whatever n is: nothing to infer from.
        if total != 0 or -1 in target:
            raise mismatch
        return tuple(shape)
    if total % known:
        raise mismatch
    if len(open_axes) == 1:
        shape[open_axes[0]] = total // known
    return tuple(shape)
