"""Weights that fall towards both ends, for pieces of signals: NumPy's window functions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeAlias

import frazil._core as _core
import frazil.scalar as scalar
from frazil._core import Variable
from frazil.scalar.constants import TensorLike, as_tensor
from frazil.tensor.docstrings import described
from frazil.tensor.lengths import LengthLike, as_length
from frazil.tensor.ranges import arange

Taper: TypeAlias = Callable[[LengthLike], Variable]


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


def _taper(name: str, example: str) -> Callable[[Taper], Taper]:
    return described(
        f"A vector of float64, as :func:`numpy.{name}` gives.",
        example,
        M="int or 0-d integer variable: The length; no elements if it is not positive.",
    )


@_taper("bartlett", "5 -> [0. , 0.5, 1. , 0.5, 0. ]")
def bartlett(M: LengthLike) -> Variable:
    """Return weights that fall to zero in straight lines."""
    return 1 - _core.elemwise(scalar.abs, _places(M))


@_taper("blackman", "1 -> [1.]")
def blackman(M: LengthLike) -> Variable:
    """Return weights of three cosines."""
    return _cosines(M, 0.42, 0.5, 0.08)


@_taper("hamming", "3 -> [0.08, 1.  , 0.08]")
def hamming(M: LengthLike) -> Variable:
    """Return weights of a cosine that ends above zero."""
    return _cosines(M, 0.54, 0.46)


@_taper("hanning", "5 -> [0. , 0.5, 1. , 0.5, 0. ]")
def hanning(M: LengthLike) -> Variable:
    """Return weights of a cosine that ends at zero."""
    return _cosines(M, 0.5, 0.5)


@described(
    "A vector of float64, as :func:`numpy.kaiser` gives.",
    "3, 2.0 -> [0.43867628, 1.        , 0.43867628]",
    M="int or 0-d integer variable: The length; no elements if it is not positive.",
    beta="tensor_like: A number: the larger, the narrower. Gradients flow into it.",
)
def kaiser(M: LengthLike, beta: TensorLike) -> Variable:
    """Return weights by the modified Bessel function of order 0."""
    beta, places = as_tensor(beta, "float64"), _places(M)
    height = _core.elemwise(scalar.sqrt, 1 - places * places)
    return _core.elemwise(scalar.i0, beta * height) / _core.elemwise(scalar.i0, beta)
