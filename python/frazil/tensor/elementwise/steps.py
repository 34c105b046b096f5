"""Steps, sums of powers of two, and quotients with remainders."""

from __future__ import annotations

import math

import frazil.scalar as scalar
from frazil._core import Variable, elemwise
from frazil.scalar.complex import refuse_complex
from frazil.scalar.constants import TensorLike, as_operand, as_tensor
from frazil.tensor.docstrings import described
from frazil.tensor.elementwise.definition import elementwise
from frazil.tensor.elementwise.table import floor_divide, remainder


def _floating(x1: TensorLike, x2: TensorLike) -> tuple[Variable, Variable]:
    """Return both in the floating dtype that elementary functions of them have."""
    dtype = elemwise(scalar.arctan2, as_operand(x1), as_operand(x2)).dtype
    return as_tensor(x1, dtype), as_tensor(x2, dtype)


@described
def heaviside(x1: TensorLike, x2: TensorLike, /) -> Variable:
    """Return 0 below zero, 1 above it, and ``x2`` at zero.

    x1 (tensor_like): The numbers at which the step is evaluated; NaN stays NaN.
    x2 (tensor_like): The value at zero; the shapes broadcast.
    returns: As :func:`numpy.heaviside` gives. The gradient flows into ``x2`` alone.
    example: [-1.5, 0.0, 2.0], 0.5 -> [0. , 0.5, 1. ]
    """
    a, b = _floating(x1, x2)
    above = elemwise(scalar.where, elemwise(scalar.gt, a, 0), 1, a * 0)
    step = elemwise(scalar.where, elemwise(scalar.lt, a, 0), 0, above)
    step = elemwise(scalar.where, elemwise(scalar.isnan, a), math.nan, step)
    return elemwise(scalar.where, elemwise(scalar.eq, a, 0), b, step)


@elementwise
def logaddexp2(x1: TensorLike, x2: TensorLike, /) -> Variable:
    """Return ``log2(2**x1 + 2**x2)``, whose powers may overflow.

    returns: As :func:`numpy.logaddexp2` gives.
    example: [1.0, 5000.0], [1.0, 5000.0] -> [2.000e+00, 5.001e+03]
    """
    a, b = _floating(x1, x2)
    first = elemwise(scalar.ge, a, b)
    large, small = elemwise(scalar.where, first, a, b), elemwise(scalar.where, first, b, a)
    # Infinities of one sign have no difference.
    equal = elemwise(scalar.and_, elemwise(scalar.eq, a, b), elemwise(scalar.isinf, a))
    below = elemwise(scalar.where, equal, 0, small - large)
    return large + elemwise(scalar.softplus, below * math.log(2)) / math.log(2)


@described
def divmod(x1: TensorLike, x2: TensorLike, /) -> tuple[Variable, Variable]:
    """Return the quotient rounded down, and the remainder.

    x1, x2 (tensor_like): Tensors whose shapes broadcast.
    returns (tuple of Variable): What :func:`floor_divide` and :func:`remainder` give, as
        :func:`numpy.divmod`.

    >>> quotient, rest = ft.divmod([7, -7], 3)
    >>> quotient.eval(), rest.eval()
    (array([ 2, -3]), array([1, 2]))
    """
    return floor_divide(x1, x2), remainder(x1, x2)


@elementwise
def fabs(x: TensorLike, /) -> Variable:
    """Return absolute values.

    returns: As :func:`numpy.fabs` gives, in a floating dtype.
    example: [-1.5, 2.0] -> [1.5, 2. ]
    """
    x = refuse_complex(as_tensor(x), "fabs")
    return elemwise(scalar.abs, as_tensor(x, elemwise(scalar.exp, x).dtype))


@elementwise
def float_power(x1: TensorLike, x2: TensorLike, /) -> Variable:
    """Return powers, computed in float64.

    returns: Of float64, as :func:`numpy.float_power`.
    example: [2, 3], -1 -> [0.5       , 0.33333333]
    """
    return elemwise(scalar.pow, as_tensor(x1, "float64"), as_tensor(x2, "float64"))


@described
def modf(x: TensorLike, /) -> tuple[Variable, Variable]:
    """Return the fractional and the whole parts, both with the sign of ``x``.

    x (tensor_like): Any tensor.
    returns (tuple of Variable): In a floating dtype, as :func:`numpy.modf` gives. The derivative of
        the fractional part is 1, that of the whole part 0.

    >>> rest, whole = ft.modf([2.5, -1.25])
    >>> rest.eval(), whole.eval()
    (array([ 0.5 , -0.25]), array([ 2., -1.]))
    """
    x = as_tensor(x)
    x = as_tensor(x, elemwise(scalar.exp, x).dtype)
    whole = elemwise(scalar.trunc, x)
    # An infinity less itself is no number.
    rest = elemwise(scalar.where, elemwise(scalar.isinf, x), 0, x - whole)
    return elemwise(scalar.copysign, rest, x), whole


@elementwise
def bitwise_count(x: TensorLike, /) -> Variable:
    """Return how many binary digits are 1.

    x (tensor_like): Integers; of negative ones, the absolute value counts.
    returns: Of uint8, as :func:`numpy.bitwise_count` gives.
    example: [7, -8] -> [3, 1], dtype=uint8
    """
    x = as_tensor(x)
    if x.type.numpy_dtype.kind not in "iub":
        raise TypeError(f"binary digits are of integers; given {x.type}")
    if x.type.numpy_dtype.kind == "i":
        x = elemwise(scalar.abs, x)
    if x.dtype != "bool":  # the least integer is its own absolute value
        x = as_tensor(x, f"uint{8 * x.type.numpy_dtype.itemsize}")
    bits = as_tensor(x, "uint64")

    def and_of(value: Variable, mask: int) -> Variable:
        return elemwise(scalar.and_, value, as_tensor(mask, "uint64"))

    def moved(value: Variable, by: int) -> Variable:
        return elemwise(scalar.right_shift, value, as_tensor(by, "uint64"))

    # Sums of neighbours: of digits, of pairs, of fours; then of all bytes, in the highest one.
    bits = bits - and_of(moved(bits, 1), 0x5555555555555555)
    bits = and_of(bits, 0x3333333333333333) + and_of(moved(bits, 2), 0x3333333333333333)
    bits = and_of(bits + moved(bits, 4), 0x0F0F0F0F0F0F0F0F)
    return as_tensor(moved(bits * as_tensor(0x0101010101010101, "uint64"), 56), "uint8")
