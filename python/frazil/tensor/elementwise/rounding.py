"""Rounding to a number of decimals."""

from __future__ import annotations

import builtins
from operator import index

import frazil._core as _core
import frazil.scalar as scalar
from frazil._core import Variable
from frazil.scalar.complex import is_complex
from frazil.scalar.constants import TensorLike, as_tensor
from frazil.tensor.docstrings import described
from frazil.tensor.elementwise.casting import cast
from frazil.tensor.elementwise.table import rint


@described
def round(a: TensorLike, decimals: int = 0) -> Variable:
    """Return the nearest numbers with so many decimals, the even one of two.

    a (tensor_like): Any tensor.
    decimals (int): The number of digits; negative ones count to the left of the point.
    returns: Of the dtype of ``a``, as :func:`numpy.round` gives; its gradient is zero.
    example: [1.25, 12.34], 1 -> [ 1.2, 12.3]
    """
    a, decimals = as_tensor(a), index(decimals)
    if a.type.numpy_dtype.kind in "iu":
        return a if decimals >= 0 else cast(round(cast(a, "float64"), decimals), a.dtype)
    if decimals == 0:
        return rint(a)
    if is_complex(a):
        # A product of complex numbers would mix an infinite part with the other one.
        parts = (round(_core.elemwise(part, a), decimals) for part in (scalar.real, scalar.imag))
        return _core.elemwise(scalar.complex, *parts)
    scale = _power_of_ten(builtins.abs(decimals))
    return rint(a * scale) / scale if decimals > 0 else rint(a / scale) * scale


def _power_of_ten(exponent: int) -> float:
    """Return the power with NumPy's rounding: of 1e9, multiplied; inf where it is too large."""
    if exponent < 9:
        return 10.0**exponent
    power = 1e9
    for _ in range(min(exponent, 400) - 9):
        power *= 10.0
    return power
