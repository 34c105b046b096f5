"""Logarithms of probabilities and of their complements."""

from __future__ import annotations

import frazil._core as _core
import frazil.scalar as scalar
from frazil._core import Variable
from frazil.scalar.constants import TensorLike, as_operand
from frazil.tensor.elementwise.angles import as_floating
from frazil.tensor.elementwise.definition import elementwise


@elementwise
def log1mexp(x: TensorLike) -> Variable:
    """Return ``log(1 - exp(x))``: the log of one less a probability, from its log.

    x (tensor_like): Not above 0, where the result is NaN; at 0 it is -inf.
    returns: Precise both close to 0 and far below.
    example: [-1e-20, -1.0, -50.0] -> [-4.60517019e+01, -4.58675145e-01, -1.92874985e-22]
    """
    return _core.elemwise(scalar.log1mexp, as_operand(x))


@elementwise
def logit(p: TensorLike) -> Variable:
    """Return ``log(p / (1 - p))``, the inverse of :func:`sigmoid`.

    p (tensor_like): Probabilities; NaN where they are not in 0 to 1.
    returns: As :func:`scipy.special.logit` gives.
    example: [0.0, 0.5, 1.0] -> [-inf,   0.,  inf]
    """
    p = as_floating(p)
    near = _core.elemwise(scalar.lt, _core.elemwise(scalar.abs, p - 0.5), 0.25)
    center = _core.elemwise(scalar.where, near, p, 0.5)
    # Close to 0.5 both differences are exact.
    inner = _core.elemwise(scalar.log1p, (2 * center - 1) / (1 - center))
    return _core.elemwise(scalar.where, near, inner, _core.elemwise(scalar.log, p / (1 - p)))
