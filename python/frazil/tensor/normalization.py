"""Softmax and its kin, written so that no element overflows.

They are compositions of elementwise ops and reductions, which fuse. The largest element, which is
subtracted first, cancels: no gradient needs to flow through it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import frazil._core as _core
import frazil.scalar as scalar
from frazil._core import Variable
from frazil.scalar.constants import TensorLike
from frazil.tensor.axes import axis_of_any, normalize_axes
from frazil.tensor.dims import expand_dims, squeeze
from frazil.tensor.docstrings import described, described_like
from frazil.tensor.elementwise.angles import as_floating
from frazil.tensor.reductions import Axis, max, peak, sum


@described
def softmax(x: TensorLike, axis: Axis = None) -> Variable:
    """Return the exponentials of elements divided by their sum.

    x (tensor_like): Any tensor; integers become floating, as by :func:`exp`.
    axis (int or tuple of int): The dimensions over which the result sums to 1; default: all, as in
        :func:`scipy.special.softmax`.
    returns: Of the shape of ``x``, with values between 0 and 1.
    example: [1000.0, 1000.0] -> [0.5, 0.5]
    """
    x = as_floating(x)
    exponentials = _core.elemwise(scalar.exp, x - _largest(x, axis))
    return exponentials / sum(exponentials, axis, keepdims=True)


@described_like(softmax)
def log_softmax(x: TensorLike, axis: Axis = None) -> Variable:
    """Return the logarithm of :func:`softmax`, precise where that is close to zero, too.

    returns: Of the shape of ``x``, with no value above 0.
    example: [0.0, 1000.0] -> [-1000.,     0.]
    """
    x = as_floating(x)
    shifted = x - _finite(_largest(x, axis))
    total = sum(_core.elemwise(scalar.exp, shifted), axis, keepdims=True)
    return shifted - _core.elemwise(scalar.log, total)


logsoftmax = log_softmax


@described
def logsumexp(
    x: TensorLike,
    axis: Axis = None,
    keepdims: bool = False,
    *,
    b: TensorLike | None = None,
) -> Variable:
    """Return the logarithm of the sum of the exponentials of elements over ``axis``.

    x (tensor_like): Any tensor; integers become floating, as by :func:`exp`. Infinities are taken
        as they are: the result is -inf where all elements are, or where there are none, and inf
        where one is.
    axis (int or tuple of int): The dimensions to reduce; default: all.
    keepdims (bool): Keep the reduced dimensions, with length 1.
    b (tensor_like): Factors of the exponentials, which broadcast with ``x``; what 0 multiplies does
        not count. The result is NaN where the sum is negative.
    returns: As :func:`scipy.special.logsumexp` gives.
    example: [[1000.0, 1000.0], [0.0, -1000.0]], axis=1 -> [1000.69314718,    0.        ]
    """
    x = as_floating(x)
    if b is not None:
        b = as_floating(b)
        counts = _core.elemwise(scalar.neq, b, 0)
        x = _core.elemwise(scalar.where, counts, x, -np.inf)
    if x.ndim == 0 and (keepdims or axis is not None):
        x = expand_dims(x, 0)
    shift = _finite(_largest(x, axis, peak))
    exponentials = _core.elemwise(scalar.exp, x - shift)
    total = sum(exponentials if b is None else b * exponentials, axis, keepdims=True)
    result = _core.elemwise(scalar.log, total) + shift
    return result if keepdims else squeeze(result, normalize_axes(axis, x.ndim))


def _largest(x: Variable, axis: Axis, of_any: Callable[..., Variable] = max) -> Variable:
    """Return the largest element over ``axis``, as a constant to gradients.

    ``of_any`` finds it where there may be none.
    """
    lengths = (x.type.shape[at] for at in normalize_axes(axis_of_any(axis, x.ndim), x.ndim))
    found = (max if all(lengths) else of_any)(x, axis, keepdims=True)
    return _core.elemwise(scalar.disconnected_grad, found)


def _finite(shift: Variable) -> Variable:
    """Return ``shift``, and 0 where it is not finite: an infinity less itself is NaN."""
    return _core.elemwise(scalar.where, _core.elemwise(scalar.isfinite, shift), shift, 0)
