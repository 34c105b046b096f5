"""Products with logarithms, which are zero if the factor is zero."""

from __future__ import annotations

import math

import frazil.scalar as scalar
from frazil._core import Variable, elemwise
from frazil.scalar.constants import TensorLike, as_operand, constant
from frazil.tensor.elementwise.angles import as_floating
from frazil.tensor.elementwise.definition import elementwise


@elementwise
def xlogx(x: TensorLike, /) -> Variable:
    """Return ``x * log(x)``, and 0 at 0.

    x (tensor_like): Not below zero, where the result is NaN.
    returns: In the floating dtype that ``log(x)`` has.
    example: [0.0, 1.0, ft.e] -> [0.        , 0.        , 2.71828183]
    """
    x = as_floating(x)
    zero = elemwise(scalar.eq, x, 0)
    product = x * elemwise(scalar.log, elemwise(scalar.where, zero, 1, x))
    return _without_sign(product, zero)


@elementwise
def xlogy(x: TensorLike, y: TensorLike, /) -> Variable:
    """Return ``x * log(y)``, and 0 where ``x`` is 0 and ``y`` is not NaN.

    returns: As :func:`scipy.special.xlogy` gives.
    example: [0.0, 2.0], [0.0, 1.0] -> [0., 0.]
    """
    return _zero_where_the_factor_is(scalar.log, 0, 1, x, y)


@elementwise
def xlog1py(x: TensorLike, y: TensorLike, /) -> Variable:
    """Return ``x * log(1 + y)``, and 0 where ``x`` is 0 and ``y`` is not NaN.

    returns: As :func:`scipy.special.xlog1py` gives.
    example: [0.0, 2.0], [-1.0, 0.0] -> [0., 0.]
    """
    return _zero_where_the_factor_is(scalar.log1p, -1, 0, x, y)


def _zero_where_the_factor_is(
    logarithm: scalar.Elementary, pole: float, root: float, x: TensorLike, y: TensorLike
) -> Variable:
    """Return ``x * logarithm(y)``, with the argument that gives 0 where ``x`` is 0 and it must.

    It must be where the logarithm is not finite. Elsewhere it stays, as the derivative in ``x``.
    """
    dtype = elemwise(scalar.truediv, as_operand(x), as_operand(y)).dtype
    x, y = (elemwise(scalar.cast(dtype), as_operand(one)) for one in (x, y))
    endless = elemwise(scalar.or_, elemwise(scalar.le, y, pole), elemwise(scalar.eq, y, math.inf))
    is_number = elemwise(scalar.invert, elemwise(scalar.isnan, y))
    zero = elemwise(scalar.and_, elemwise(scalar.eq, x, 0), is_number)
    dropped = elemwise(scalar.and_, zero, endless)
    product = x * elemwise(logarithm, elemwise(scalar.where, dropped, root, y))
    return _without_sign(product, zero)


def _without_sign(product: Variable, zero: Variable) -> Variable:
    """Return a product where it is 0.0, not -0.0, if its factor is a zero of either sign.

    Other products keep theirs: nothing changes if -0.0 is added.
    """
    return product + elemwise(
        scalar.where, zero, *(constant(n, product.dtype) for n in (0.0, -0.0))
    )
