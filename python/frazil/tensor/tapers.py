"""Weights that fall towards both ends, for pieces of signals: NumPy's window functions."""

from __future__ import annotations

import math
from collections.abc import Callable

import frazil._core as _core
import frazil.scalar as scalar
from frazil._core import Variable
from frazil.scalar.constants import TensorLike, as_tensor
from frazil.tensor.docstrings import described
from frazil.tensor.lengths import LengthLike, as_length
from frazil.tensor.ranges import arange


def _places(M: LengthLike) -> Variable:
    """Return where the weights lie between the ends, -1 and 1; a single one lies in the middle."""
    count = as_length(M)
    steps = as_tensor(arange(count), "float64") * 2 - as_tensor(count - 1, "float64")
    return steps / as_tensor(_core.elemwise(scalar.maximum, count - 1, 1), "float64")


def _cosines(M: LengthLike, *weights: float) -> Variable:
    """Return a sum of cosines that turn 0, 1, 2 and so on half circles between middle and end."""
    at = _places(M) * math.pi
    total = at * 0 + weights[0]
    for turns, weight in enumerate(weights[1:], 1):
        total = total + _core.elemwise(scalar.cos, at * turns) * weight
    return total


def _described(name: str, shape: str, example: str) -> Callable[..., Callable[..., Variable]]:
    return described(
        f"Return weights {shape}.",
        f"A vector of float64, as :func:`numpy.{name}` gives.",
        example,
        M="int or 0-d integer variable: The length; no elements if it is not positive.",
    )


@_described("bartlett", "that fall to zero in straight lines", "5 -> [0. , 0.5, 1. , 0.5, 0. ]")
def bartlett(M: LengthLike) -> Variable:
    return 1 - _core.elemwise(scalar.abs, _places(M))


@_described("blackman", "of three cosines", "1 -> [1.]")
def blackman(M: LengthLike) -> Variable:
    return _cosines(M, 0.42, 0.5, 0.08)


@_described("hamming", "of a cosine that ends above zero", "3 -> [0.08, 1.  , 0.08]")
def hamming(M: LengthLike) -> Variable:
    return _cosines(M, 0.54, 0.46)


@_described("hanning", "of a cosine that ends at zero", "5 -> [0. , 0.5, 1. , 0.5, 0. ]")
def hanning(M: LengthLike) -> Variable:
    return _cosines(M, 0.5, 0.5)


def kaiser(M: LengthLike, beta: TensorLike) -> Variable:
    """Return weights by the modified Bessel function of order 0.

    Parameters
    ----------
    M : int or 0-d integer variable
        The length; no elements if it is not positive.
    beta : tensor_like
        A number: the larger, the narrower. Gradients flow into it.

    Returns
    -------
    Variable
        A vector of float64, as :func:`numpy.kaiser` gives.

    Examples
    --------
    >>> import frazil.tensor as ft
    >>> ft.kaiser(3, 2.0).eval()
    array([0.43867628, 1.        , 0.43867628])
    """
    beta, places = as_tensor(beta, "float64"), _places(M)
    height = _core.elemwise(scalar.sqrt, 1 - places * places)
    return _core.elemwise(scalar.i0, beta * height) / _core.elemwise(scalar.i0, beta)
