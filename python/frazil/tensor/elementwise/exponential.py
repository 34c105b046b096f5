"""Exponentials and logarithms."""

from __future__ import annotations

import frazil.scalar as scalar
from frazil.tensor.elementwise.definition import binary, unary

exp = unary(
    "exp",
    scalar.exp,
    "e to the power of each element",
    follows="numpy.exp",
    example="[0.0, 1.0]",
    gives="array([1.        , 2.71828183])",
)
exp2 = unary(
    "exp2",
    scalar.exp2,
    "2 to the power of each element",
    follows="numpy.exp2",
    example="[0.0, 3.0]",
    gives="array([1., 8.])",
)
expm1 = unary(
    "expm1",
    scalar.expm1,
    "``exp(x) - 1``, precise near 0",
    follows="numpy.expm1",
    example="[0.0, 1.0]",
    gives="array([0.        , 1.71828183])",
)
log = unary(
    "log",
    scalar.log,
    "the natural logarithm",
    follows="numpy.log",
    example="[1.0, 2.0]",
    gives="array([0.        , 0.69314718])",
)
log2 = unary(
    "log2",
    scalar.log2,
    "the logarithm to base 2",
    follows="numpy.log2",
    example="[1.0, 8.0]",
    gives="array([0., 3.])",
)
log10 = unary(
    "log10",
    scalar.log10,
    "the logarithm to base 10",
    follows="numpy.log10",
    example="[1.0, 100.0]",
    gives="array([0., 2.])",
)
log1p = unary(
    "log1p",
    scalar.log1p,
    "``log(1 + x)``, precise near 0",
    follows="numpy.log1p",
    example="[0.0, 1.0]",
    gives="array([0.        , 0.69314718])",
)
logaddexp = binary(
    "logaddexp",
    scalar.logaddexp,
    "``log(exp(x1) + exp(x2))``, without overflow",
    follows="numpy.logaddexp",
    example="[0.0, 1.0], [0.0, 1.0]",
    gives="array([0.69314718, 1.69314718])",
)
