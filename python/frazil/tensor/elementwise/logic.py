"""Logic, of bits and of truth values."""

from __future__ import annotations

import frazil.scalar as scalar
from frazil._core import Variable, elemwise
from frazil.scalar.constants import TensorLike, as_tensor
from frazil.tensor.elementwise.definition import binary, unary

bitwise_and = binary(
    "bitwise_and",
    scalar.and_,
    "``x1 & x2``, bit by bit",
    follows="numpy.bitwise_and",
    example="[5, 6], [3, 3]",
    gives="array([1, 2])",
)
bitwise_or = binary(
    "bitwise_or",
    scalar.or_,
    "``x1 | x2``, bit by bit",
    follows="numpy.bitwise_or",
    example="[5, 6], [3, 3]",
    gives="array([7, 7])",
)
bitwise_xor = binary(
    "bitwise_xor",
    scalar.xor,
    "``x1 ^ x2``, bit by bit",
    follows="numpy.bitwise_xor",
    example="[5, 6], [3, 3]",
    gives="array([6, 5])",
)
bitwise_invert = unary(
    "bitwise_invert",
    scalar.invert,
    "``~x``, bit by bit; the negation of a bool",
    follows="numpy.bitwise_invert",
    example="[0, 5]",
    gives="array([-1, -6])",
)
and_ = bitwise_and
or_ = bitwise_or
xor = bitwise_xor
bitwise_not = bitwise_invert
invert = bitwise_invert


def logical_and(x1: TensorLike, x2: TensorLike, /) -> Variable:
    """Return whether both elements are true (not zero), as :func:`numpy.logical_and`.

    Parameters
    ----------
    x1, x2 : tensor_like
        Tensors whose shapes broadcast; numbers are true where they are not zero.

    Returns
    -------
    Variable
        Of bool, and of the shape that the operands broadcast to.

    Examples
    --------
    >>> import frazil.tensor as ft
    >>> ft.logical_and([0.0, 1.0], [1.0, 2.0]).eval()
    array([False,  True])
    """
    return elemwise(scalar.and_, as_tensor(x1, "bool"), as_tensor(x2, "bool"))


def logical_or(x1: TensorLike, x2: TensorLike, /) -> Variable:
    """Return whether either element is true (not zero), as :func:`numpy.logical_or`.

    Parameters
    ----------
    x1, x2 : tensor_like
        Tensors whose shapes broadcast; numbers are true where they are not zero.

    Returns
    -------
    Variable
        Of bool, and of the shape that the operands broadcast to.

    Examples
    --------
    >>> import frazil.tensor as ft
    >>> ft.logical_or([0.0, 0.0], [0.0, 2.0]).eval()
    array([False,  True])
    """
    return elemwise(scalar.or_, as_tensor(x1, "bool"), as_tensor(x2, "bool"))


def logical_xor(x1: TensorLike, x2: TensorLike, /) -> Variable:
    """Return whether just one element is true (not zero), as :func:`numpy.logical_xor`.

    Parameters
    ----------
    x1, x2 : tensor_like
        Tensors whose shapes broadcast; numbers are true where they are not zero.

    Returns
    -------
    Variable
        Of bool, and of the shape that the operands broadcast to.

    Examples
    --------
    >>> import frazil.tensor as ft
    >>> ft.logical_xor([1.0, 0.0], [1.0, 2.0]).eval()
    array([False,  True])
    """
    return elemwise(scalar.xor, as_tensor(x1, "bool"), as_tensor(x2, "bool"))


def logical_not(x: TensorLike, /) -> Variable:
    """Return whether the element is false (zero), as :func:`numpy.logical_not`.

    Parameters
    ----------
    x : tensor_like
        Any tensor; numbers are true where they are not zero.

    Returns
    -------
    Variable
        Of bool, and of the shape of ``x``.

    Examples
    --------
    >>> import frazil.tensor as ft
    >>> ft.logical_not([0.0, 2.0]).eval()
    array([ True, False])
    """
    return elemwise(scalar.invert, as_tensor(x, "bool"))
