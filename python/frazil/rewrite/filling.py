"""Constants in the shape of a parameter: right sides that do not depend on values."""

from __future__ import annotations

import frazil.scalar as scalar
from frazil._core import Variable, elemwise
from frazil.scalar.constants import TensorLike


def fill(like: Variable, value: TensorLike) -> Variable:
    """Return ``value``, a number, in the shape of ``like``; a Python number takes its dtype, too.

    Unlike :func:`frazil.tensor.full_like` it does not depend on the rank of ``like``, so a rule can
    be written with it.

    Parameters
    ----------
    like : Variable
        A parameter of the rule, or what is made of one.
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
        A parameter of the rule, or what is made of one.
    value : bool
        What every element is.

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
