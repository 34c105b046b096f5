"""Whether numbers are equal up to a tolerance."""

from __future__ import annotations

import frazil.scalar as scalar
from frazil._core import Variable, elemwise
from frazil.scalar.constants import TensorLike, as_tensor
from frazil.tensor.docstrings import described
from frazil.tensor.elementwise.table import absolute, equal, isfinite, isnan, less_equal, multiply
from frazil.tensor.reductions import all as all_


@described
def isclose(
    a: TensorLike, b: TensorLike, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> Variable:
    """Return where ``a`` is within ``atol + rtol * abs(b)`` of ``b``, as :func:`numpy.isclose`.

    a, b (tensor_like): Numbers that broadcast against each other. Infinities are close to
        themselves alone.
    rtol (float): The tolerance for each unit of ``b``.
    atol (float): The tolerance besides.
    equal_nan (bool): Whether NaN is close to NaN.
    returns: Of bool, in the shape to which the operands broadcast.
    example: [1.0, 2.0], [1.0 + 1e-9, 2.1] -> [ True, False]
    """
    a, b = as_tensor(a), as_tensor(b)
    apart = absolute(elemwise(scalar.sub, *(_number(x) for x in (a, b))))
    near = less_equal(apart, atol + multiply(rtol, absolute(_number(b))))
    close = (near & isfinite(b)) | equal(a, b)
    return close | (isnan(a) & isnan(b)) if equal_nan else close


@described
def allclose(
    a: TensorLike, b: TensorLike, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> Variable:
    """Return whether all of ``a`` is close to ``b``, as :func:`numpy.allclose`.

    a, b (tensor_like): Numbers that broadcast against each other.
    rtol, atol (float): The tolerance for each unit of ``b``, and the tolerance besides: see
        :func:`isclose`.
    equal_nan (bool): Whether NaN is close to NaN.
    returns: A bool, without dimensions.
    example: [1.0, 2.0], [1.0 + 1e-9, 2.0] -> True
    """
    return all_(isclose(a, b, rtol, atol, equal_nan))


def _number(x: Variable) -> Variable:
    """``x`` where numbers may be subtracted: whole ones neither wrap around nor are bool."""
    return x if x.dtype.startswith(("float", "complex")) else elemwise(scalar.cast("float64"), x)
