"""The native form of polynomials of any degree: a scan of Horner's rule."""

from __future__ import annotations

from typing import cast

import frazil.scalar as scalar
from frazil._core import Variable, elemwise
from frazil.link.lowering.native_form import native_form
from frazil.scalar.complex import is_complex
from frazil.scan.functional import reduce
from frazil.tensor.creation import zeros
from frazil.tensor.joining import concatenate
from frazil.tensor.lengths import length, lengths
from frazil.tensor.polynomials import PolynomialValues


@native_form.register
def _(op: PolynomialValues, p: Variable, x: Variable) -> Variable | None:
    if is_complex(x):
        return None
    # A scan has a last state only if it has a step.
    rows = concatenate([zeros((1, *lengths(p)[1:]), p.dtype), p])
    start = zeros(lengths(x), x.dtype)
    values = cast("Variable", reduce(_step, [rows], [start], [x], return_updates=False))
    return elemwise(scalar.where, elemwise(scalar.eq, length(p, 0), 0), start, values)


def _step(row: Variable, values: Variable, x: Variable) -> Variable:
    return values * x + row
