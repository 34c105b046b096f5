"""Positions in a tensor as single numbers, and back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import frazil._core as _core
import frazil.scalar as scalar
from frazil._core import Variable
from frazil.scalar.constants import TensorLike, as_tensor
from frazil.tensor.checks import Check, checked
from frazil.tensor.docstrings import described
from frazil.tensor.lengths import LengthLike, Lengths, as_lengths, literal, product, subtract


@described
def ravel_multi_index(
    multi_index: Sequence[TensorLike],
    dims: LengthLike | Iterable[LengthLike],
    mode: str | Sequence[str] = "raise",
    order: str = "C",
) -> Variable:
    """Return the positions in the flattened tensor of positions in several dimensions.

    multi_index (sequence of tensor_like): The positions along each dimension, of integers.
    dims (int, 0-d integer variable, a sequence of them, or a 1-d integer variable): The shape of
        the tensor.
    mode ({"raise", "wrap", "clip"} or a sequence of them): The effect of positions beyond a
        dimension, as for :func:`take`; "raise": a ValueError.
    order ({"C", "F"}): Whether the last dimension or the first one varies fastest.
    returns: Of int64, as :func:`numpy.ravel_multi_index` gives.
    example: ([0, 1], [2, 0]), (2, 3) -> [2, 3]
    """
    shape = as_lengths(dims)
    positions = [_as_positions(one) for one in multi_index]
    if len(positions) != len(shape) or not shape:
        raise ValueError(f"{len(positions)} positions for {len(shape)} dimensions")
    modes = [mode] * len(shape) if isinstance(mode, str) else list(mode)
    total: Variable | None = None
    for one, step, n, how in zip(positions, _steps(shape, order), shape, modes, strict=True):
        part = _core.elemwise(scalar.mul, _kept_within(one, n, how), step)
        total = part if total is None else _core.elemwise(scalar.add, total, part)
    assert total is not None
    return total


@described
def unravel_index(
    indices: TensorLike, shape: LengthLike | Iterable[LengthLike], order: str = "C"
) -> tuple[Variable, ...]:
    """Return the positions in several dimensions of positions in the flattened tensor.

    indices (tensor_like): Integers, from 0 on.
    shape (int, 0-d integer variable, a sequence of them, or a 1-d integer variable): The shape of
        the tensor.
    order ({"C", "F"}): Whether the last dimension or the first one varies fastest.
    returns (tuple of Variable): Of int64, as :func:`numpy.unravel_index` gives.
    raises ValueError: When a call finds a position beyond the tensor.

    >>> rows, columns = ft.unravel_index([2, 3], (2, 3))
    >>> rows.eval(), columns.eval()
    (array([0, 1]), array([2, 0]))
    """
    dims = as_lengths(shape)
    flat = _kept_within(_as_positions(indices), product(dims), "raise")
    return tuple(
        _core.elemwise(scalar.mod, _core.elemwise(scalar.floordiv, flat, step), n)
        for step, n in zip(_steps(dims, order), dims, strict=True)
    )


def _as_positions(given: TensorLike) -> Variable:
    positions = as_tensor(given)
    if positions.type.numpy_dtype.kind not in "iu":
        raise TypeError(f"positions are integers; given {positions.type}")
    return as_tensor(positions, "int64")


def _steps(shape: Lengths, order: str) -> list[Variable]:
    """The distance between neighbours along each dimension."""
    if order not in ("C", "F"):
        raise ValueError(f"order must be 'C' or 'F'; given {order!r}")
    axes = range(len(shape))
    return [product(shape[axis + 1 :] if order == "C" else shape[:axis]) for axis in axes]


def _kept_within(positions: Variable, n: Variable, mode: str) -> Variable:
    if mode == "wrap":
        return _core.elemwise(scalar.mod, positions, n)
    if mode == "clip":
        return _core.elemwise(scalar.clip, positions, 0, subtract(n, literal(1)))
    if mode != "raise":
        raise ValueError(f"mode must be 'raise', 'wrap' or 'clip'; given {mode!r}")
    inside = _core.elemwise(
        scalar.and_,
        _core.elemwise(scalar.le, 0, positions),
        _core.elemwise(scalar.lt, positions, n),
    )
    return checked(positions, [inside], Check("a position lies beyond the tensor"))
