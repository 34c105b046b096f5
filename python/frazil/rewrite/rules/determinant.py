"""Determinants as arithmetic on the factors of a matrix."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import frazil.tensor as ft
from frazil._core import FrozenApply, Variable
from frazil.rewrite.definition import Law, rule
from frazil.rewrite.sort import FLOATS, Sort
from frazil.rewrite.wildcard import any_kind
from frazil.tensor.linalg.determinants import LogAbsDet

FloatMatrix: TypeAlias = Annotated[
    Variable, Sort("float matrix", FLOATS, "float64", ndim=2, any_rank=True)
]
Pivots: TypeAlias = Annotated[Variable, Sort("pivots", ("int32",), "int32", ndim=1, any_rank=True)]

logarithm = any_kind(LogAbsDet)


def _sum_of_logarithms(
    node: FrozenApply, matrix: Variable, factors: Variable, pivots: Variable
) -> Variable:
    return ft.sum(ft.log(ft.abs(ft.diagonal(factors, 0, -2, -1))), -1)


@rule
def log_abs_det_of_factors(matrix: FloatMatrix, factors: FloatMatrix, pivots: Pivots) -> Law:
    """The logarithm of the size of a determinant is a sum over the diagonal of the factors."""
    return logarithm(matrix, factors, pivots), _sum_of_logarithms


RULES = (log_abs_det_of_factors,)
