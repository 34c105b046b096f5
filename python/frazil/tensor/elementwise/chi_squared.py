"""The chi-squared distribution."""

from __future__ import annotations

import frazil.scalar as scalar
from frazil._core import Variable, elemwise
from frazil.scalar.constants import TensorLike, as_operand
from frazil.tensor.elementwise.definition import elementwise


@elementwise
def chi2sf(x: TensorLike, k: TensorLike, /) -> Variable:
    """Return how probable it is that chi-squared with ``k`` degrees of freedom is above ``x``.

    returns: In the floating dtype that :func:`gammaincc` has.
    example: [1.0, 4.0], [2.0, 3.0] -> [0.60653066, 0.26146413]
    """
    dtype = elemwise(scalar.gammaincc, as_operand(k), as_operand(x)).dtype
    halves = (elemwise(scalar.cast(dtype), as_operand(one)) * 0.5 for one in (k, x))
    return elemwise(scalar.gammaincc, *halves)
