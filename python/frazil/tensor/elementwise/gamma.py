"""Functions made of gamma and beta functions: incomplete ones, coefficients, derivatives."""

from __future__ import annotations

import math
from operator import index

import frazil.scalar as scalar
from frazil._core import Variable, elemwise
from frazil.scalar.constants import TensorLike, as_operand, as_tensor
from frazil.tensor.docstrings import described
from frazil.tensor.elementwise.angles import as_floating
from frazil.tensor.elementwise.definition import elementwise
from frazil.tensor.elementwise.table import binom, gamma, gammainc, gammaincc


@elementwise
def betainc(a: TensorLike, b: TensorLike, x: TensorLike, /) -> Variable:
    """Return the incomplete beta function of ``a`` and ``b`` up to ``x``, divided by the whole.

    a, b, x (tensor_like): Two parameters above 0, and a number from 0 to 1; the shapes broadcast.
    returns: As :func:`scipy.special.betainc` gives. It has gradients in all operands.
    example: 2.0, 3.0, [0.25, 0.5] -> [0.26171875, 0.6875    ]
    """
    return elemwise(scalar.betainc, as_operand(a), as_operand(b), as_operand(x))


@elementwise
def betaincinv(a: TensorLike, b: TensorLike, y: TensorLike, /) -> Variable:
    """Return where :func:`betainc` of ``a`` and ``b`` is ``y``.

    a, b, y (tensor_like): Two parameters above 0, and a number from 0 to 1; the shapes broadcast.
    returns: As :func:`scipy.special.betaincinv` gives. It has gradients in all operands.
    example: 2.0, 3.0, [0.26171875, 0.6875] -> [0.25, 0.5 ]
    """
    return elemwise(scalar.betaincinv, as_operand(a), as_operand(b), as_operand(y))


@elementwise
def gammal(k: TensorLike, x: TensorLike, /) -> Variable:
    """Return the lower incomplete gamma function, which is not divided by the whole.

    returns: In the floating dtype that :func:`gammainc` has.
    example: [1.0, 2.0], [1.0, 3.0] -> [0.63212056, 0.80085173]
    """
    share = gammainc(k, x)
    return share * gamma(elemwise(scalar.cast(share.dtype), as_operand(k)))


@elementwise
def gammau(k: TensorLike, x: TensorLike, /) -> Variable:
    """Return the upper incomplete gamma function, which is not divided by the whole.

    returns: In the floating dtype that :func:`gammaincc` has.
    example: [1.0, 2.0], [1.0, 3.0] -> [0.36787944, 0.19914827]
    """
    share = gammaincc(k, x)
    return share * gamma(elemwise(scalar.cast(share.dtype), as_operand(k)))


@elementwise
def factorial(n: TensorLike, /) -> Variable:
    """Return factorials.

    n (tensor_like): Integers, or any numbers.
    returns: As :func:`scipy.special.factorial` gives by default: floating, ``gamma(n + 1)``, and 0
        below zero.
    example: [0, 1, 5, -1] -> [  1.,   1., 120.,   0.]
    """
    n = as_floating(n)
    negative = elemwise(scalar.lt, n, 0)
    value = elemwise(scalar.gamma, elemwise(scalar.where, negative, 1, n + 1))
    return elemwise(scalar.where, negative, 0, value)


@elementwise
def comb(N: TensorLike, k: TensorLike, /, *, repetition: bool = False) -> Variable:
    """Return the number of ways to choose ``k`` things of ``N``.

    N, k (tensor_like): Integers, or any numbers; the shapes broadcast.
    repetition (bool): Whether a thing may be chosen again.
    returns: As :func:`scipy.special.comb` gives by default: floating, and 0 where ``k`` is more
        than ``N`` or either is negative.
    example: [5, 10, 2], [2, 5, 3] -> [ 10., 252.,   0.]
    """
    if repetition:
        things = elemwise(scalar.sub, elemwise(scalar.add, as_operand(N), as_operand(k)), 1)
        none = elemwise(scalar.eq, as_operand(k), 0)
        none = elemwise(scalar.and_, none, elemwise(scalar.ge, as_operand(N), 0))
        return elemwise(scalar.where, none, 1, binom(things, k))
    value = binom(N, k)
    first, second = (elemwise(scalar.cast(value.dtype), as_operand(x)) for x in (N, k))
    small = elemwise(scalar.le, second, first)
    proper = elemwise(scalar.ge, elemwise(scalar.minimum, first, second), 0)
    return elemwise(scalar.where, elemwise(scalar.and_, small, proper), value, 0)


@described
def multigammaln(a: TensorLike, d: int) -> Variable:
    """Return the logarithm of the multivariate gamma function, elementwise.

    a (tensor_like): Numbers above ``(d - 1) / 2``, which is not checked.
    d (int): The dimension: a number of Python, at least 1.
    returns: As :func:`scipy.special.multigammaln` gives.
    example: [2.5, 4.0], 2 -> [0.85704781, 3.56509801]
    """
    d = index(d)
    if d < 1:
        raise ValueError(f"the dimension of a multivariate gamma function is at least 1; given {d}")
    a = as_floating(a)
    total = d * (d - 1) / 4 * math.log(math.pi) + elemwise(scalar.gammaln, a)
    for j in range(1, d):
        total = total + elemwise(scalar.gammaln, a - j / 2)
    return total


@described
def polygamma(n: TensorLike, x: TensorLike) -> Variable:
    """Return the derivative of order ``n`` of :func:`digamma`, elementwise.

    n (tensor_like): The order: integers, 0 for digamma itself. A negative order gives NaN. It has
        no gradient.
    x (tensor_like): A tensor that broadcasts with ``n``.
    returns: Of the shape that the operands broadcast to, and the float dtype that holds their
        common dtype, as :func:`scipy.special.polygamma` gives. At a pole it is infinite, with the
        sign that it has right of the pole.
    example: [1, 2], 1.0 -> [ 1.64493407, -2.40411381]
    """
    if as_tensor(n).dtype.startswith("float"):
        raise TypeError(
            f"the order of a polygamma function must be of integers, given {n!r}; "
            "use ft.cast(n, 'int64')"
        )
    return elemwise(scalar.polygamma, as_operand(n), as_tensor(x))


@elementwise
def loggamma(x: TensorLike, /) -> Variable:
    """Return the logarithm of the gamma function; NaN of negative numbers: it is not real there.

    returns: As :func:`scipy.special.loggamma` of real numbers.
    example: [4.0, -0.5] -> [1.79175947,        nan]
    """
    x = as_tensor(x)
    return elemwise(scalar.where, elemwise(scalar.lt, x, 0), math.nan, elemwise(scalar.gammaln, x))
