"""Constants in the shape of a parameter, for right sides."""

from __future__ import annotations

import frazil.scalar as scalar
from frazil._core import Variable, elemwise
from frazil.scalar.constants import TensorLike


def fill(like: Variable, value: TensorLike) -> Variable:
    """Return the number ``value`` in the shape of ``like``; a Python number takes its dtype.

    It works for any rank of ``like``, as rules need, unlike :func:`frazil.tensor.full_like`.

    Parameters
    ----------
    like : Variable
        A parameter of the rule, or an expression of one.
    value : tensor_like
        A number.

    Returns
    -------
    Variable
        Of the shape of ``like``.

    Examples
    --------
    >>> import frazil.tensor as ft
    >>> from frazil.rewrite import fill
    >>> fill(ft.vector("x"), 0).type
    TensorType(float64[?])
    """
    return elemwise(scalar.second, like, value)


def truth(like: Variable, value: bool) -> Variable:
    """Return ``value`` as a bool tensor in the shape of ``like``.

    Parameters
    ----------
    like : Variable
        A parameter of the rule, or an expression of one.
    value : bool
        The value of every element.

    Returns
    -------
    Variable
        Of bool, and of the shape of ``like``.

    Examples
    --------
    >>> import frazil.tensor as ft
    >>> from frazil.rewrite import truth
    >>> truth(ft.vector("x"), True).type
    TensorType(bool[?])
    """
    return elemwise(scalar.cast("bool"), fill(like, int(value)))
