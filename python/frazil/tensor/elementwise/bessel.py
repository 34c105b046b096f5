"""Bessel functions."""

from __future__ import annotations

import frazil.scalar as scalar
from frazil._core import Variable, elemwise
from frazil.scalar.constants import TensorLike, as_operand, as_tensor
from frazil.tensor.elementwise.definition import binary, elementwise, unary

jv = binary(
    scalar.jv,
    "the Bessel function of the first kind, of order ``x1``, which has no gradient, at ``x2``",
    "[0.5, 2.0], [1.0, 3.0] -> [0.67139671, 0.48609126]",
)
yv = binary(
    scalar.yv,
    "the Bessel function of the second kind, of order ``x1``, which has no gradient, at ``x2``",
    "[0.5, 2.0], [1.0, 3.0] -> [-0.43109887, -0.16040039]",
)
iv = binary(
    scalar.iv,
    "the modified Bessel function of the first kind, of order ``x1``, which has no gradient, at "
    "``x2``",
    "[0.5, 2.0], [1.0, 3.0] -> [0.93767489, 2.24521244]",
)
ive = binary(
    scalar.ive,
    "``iv(x1, x2) * exp(-abs(x2))``, which does not overflow; no gradient in the order ``x1``",
    "[0.5, 2.0], [1.0, 1000.0] -> [0.34495131, 0.01259202]",
)
kv = binary(
    scalar.kv,
    "the modified Bessel function of the second kind, of order ``x1``, which has no gradient, at "
    "``x2``",
    "[0.5, 2.0], [1.0, 3.0] -> [0.4610685 , 0.06151046]",
)
kve = binary(
    scalar.kve,
    "``kv(x1, x2) * exp(x2)``, which does not vanish; no gradient in the order ``x1``",
    "[0.5, 2.0], [1.0, 1000.0] -> [1.25331414, 0.03970762]",
)
j0 = unary(
    scalar.j0,
    "the Bessel function of the first kind of order 0",
    "[0.0, 1.0] -> [1.        , 0.76519769]",
)
j1 = unary(
    scalar.j1,
    "the Bessel function of the first kind of order 1",
    "[0.0, 1.0] -> [0.        , 0.44005059]",
)
y0 = unary(
    scalar.y0,
    "the Bessel function of the second kind of order 0",
    "[0.5, 1.0] -> [-0.44451873,  0.08825696]",
)
y1 = unary(
    scalar.y1,
    "the Bessel function of the second kind of order 1",
    "[0.5, 1.0] -> [-1.47147239, -0.78121282]",
)
i0 = unary(
    scalar.i0,
    "the modified Bessel function of the first kind of order 0",
    "[0.0, 1.0] -> [1.        , 1.26606588]",
    follows="scipy.special.i0",
)
i1 = unary(
    scalar.i1,
    "the modified Bessel function of the first kind of order 1",
    "[0.0, 1.0] -> [0.       , 0.5651591]",
)
i0e = unary(
    scalar.i0e,
    "``i0(x) * exp(-abs(x))``, which does not overflow",
    "[0.0, 1000.0] -> [1.        , 0.01261724]",
)
i1e = unary(
    scalar.i1e,
    "``i1(x) * exp(-abs(x))``, which does not overflow",
    "[0.0, 1000.0] -> [0.        , 0.01261093]",
)
k0 = unary(
    scalar.k0,
    "the modified Bessel function of the second kind of order 0",
    "[0.5, 1.0] -> [0.92441907, 0.42102444]",
)
k1 = unary(
    scalar.k1,
    "the modified Bessel function of the second kind of order 1",
    "[0.5, 1.0] -> [1.65644112, 0.60190723]",
)
k0e = unary(
    scalar.k0e,
    "``k0(x) * exp(x)``, which does not vanish",
    "[1.0, 1000.0] -> [1.14446308, 0.03962832]",
)
k1e = unary(
    scalar.k1e,
    "``k1(x) * exp(x)``, which does not vanish",
    "[1.0, 1000.0] -> [1.63615349, 0.03964813]",
)


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
