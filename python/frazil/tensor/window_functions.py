"""Weights that fall towards both ends, for pieces of signals: NumPy's window functions."""

from __future__ import annotations

import math

import frazil._core as _core
import frazil.scalar as scalar
from frazil._core import Variable
from frazil.scalar.constants import TensorLike, as_tensor
from frazil.tensor.docstrings import described, described_like
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


@described
def bartlett(M: LengthLike) -> Variable:
    """Return weights that fall to zero in straight lines.

    M (int or 0-d integer variable): The length; no elements if it is not positive.
    returns: A vector of float64, as :func:`numpy.bartlett` gives.
    example: 5 -> [0. , 0.5, 1. , 0.5, 0. ]
    """
    return 1 - _core.elemwise(scalar.abs, _places(M))


@described_like(bartlett)
def blackman(M: LengthLike) -> Variable:
    """Return weights of three cosines.

    returns: A vector of float64, as :func:`numpy.blackman` gives.
    example: 1 -> [1.]
    """
    return _cosines(M, 0.42, 0.5, 0.08)


@described_like(bartlett)
def hamming(M: LengthLike) -> Variable:
    """Return weights of a cosine that ends above zero.

    returns: A vector of float64, as :func:`numpy.hamming` gives.
    example: 3 -> [0.08, 1.  , 0.08]
    """
    return _cosines(M, 0.54, 0.46)


@described_like(bartlett)
def hanning(M: LengthLike) -> Variable:
    """Return weights of a cosine that ends at zero.

    returns: A vector of float64, as :func:`numpy.hanning` gives.
    example: 5 -> [0. , 0.5, 1. , 0.5, 0. ]
    """
    return _cosines(M, 0.5, 0.5)


@described
def kaiser(M: LengthLike, beta: TensorLike) -> Variable:
    """Return weights by the modified Bessel function of order 0.

    M (int or 0-d integer variable): The length; no elements if it is not positive.
    beta (tensor_like): A number: the larger, the narrower. Gradients flow into it.
    returns: A vector of float64, as :func:`numpy.kaiser` gives.
    example: 3, 2.0 -> [0.43867628, 1.        , 0.43867628]
    """
    beta, places = as_tensor(beta, "float64"), _places(M)
    height = _core.elemwise(scalar.sqrt, 1 - places * places)
    return _core.elemwise(scalar.i0, beta * height) / _core.elemwise(scalar.i0, beta)
