"""The Bessel function whose order is an integer."""

from __future__ import annotations

import frazil.scalar as scalar
from frazil._core import Variable, elemwise
from frazil.scalar.constants import TensorLike, as_operand, as_tensor
from frazil.tensor.elementwise.definition import elementwise


@elementwise
def yn(n: TensorLike, x: TensorLike, /) -> Variable:
    """Return the Bessel function of the second kind of the integer order ``n``.

    n, x (tensor_like): The order, of integers, and a tensor whose shape broadcasts with it.
    returns: As :func:`scipy.special.yn` gives. The order has no gradient.
    example: [0, 2], [1.0, 3.0] -> [ 0.08825696, -0.16040039]
    """
    if as_tensor(n).dtype.startswith("float"):
        raise TypeError(
            f"the order of yn must be of integers, given {n!r}; use ft.yv for any order"
        )
    return elemwise(scalar.yv, as_operand(n), as_tensor(x))
