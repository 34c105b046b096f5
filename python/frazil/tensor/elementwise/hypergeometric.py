"""Gauss' hypergeometric function, and the zeta function."""

from __future__ import annotations

import frazil.scalar as scalar
from frazil._core import Variable, elemwise
from frazil.scalar.constants import TensorLike, as_operand
from frazil.tensor.elementwise.definition import elementwise


@elementwise
def hyp2f1(a: TensorLike, b: TensorLike, c: TensorLike, z: TensorLike, /) -> Variable:
    """Return Gauss' hypergeometric function of ``a``, ``b`` and ``c`` at ``z``.

    a, b, c, z (tensor_like): Three parameters, and a number; the shapes broadcast.
    returns: As :func:`scipy.special.hyp2f1` gives. The gradients in ``a``, ``b`` and ``c`` are NaN
        where ``z`` is not below 1 or their series converges too slowly, close to 1 and far below 0.
    example: 1.0, 1.0, 2.0, [0.5, -1.0] -> [1.38629436, 0.69314718]
    """
    return elemwise(scalar.hyp2f1, *(as_operand(x) for x in (a, b, c, z)))


@elementwise
def zeta(x: TensorLike, q: TensorLike = 1, /) -> Variable:
    """Return Hurwitz' zeta function, the sum of ``(k + q)**-x``; by default Riemann's.

    x, q (tensor_like): The exponent, NaN below 1, and what is added to 0, 1, 2, and so on; the
        shapes broadcast.
    returns: As :func:`scipy.special.zeta` gives; ``x`` has no gradient.
    example: [2.0, 3.0], [1.0, 2.0] -> [1.64493407, 0.2020569 ]
    """
    return elemwise(scalar.zeta, as_operand(x), as_operand(q))
