"""Exponentials and logarithms."""

from __future__ import annotations

import frazil.scalar as scalar
from frazil.tensor.elementwise.definition import binary, unary

exp = unary(scalar.exp, "e to the power of each element", "[0.0, 1.0] -> [1.        , 2.71828183]")
exp2 = unary(scalar.exp2, "2 to the power of each element", "[0.0, 3.0] -> [1., 8.]")
expm1 = unary(
    scalar.expm1, "``exp(x) - 1``, precise near 0", "[0.0, 1.0] -> [0.        , 1.71828183]"
)
cbrt = unary(scalar.cbrt, "the cube root", "[8.0, -27.0] -> [ 2., -3.]")
hypot = binary(
    scalar.hypot,
    "lengths of hypotenuses, ``sqrt(x1**2 + x2**2)``, whose squares may overflow; the gradient at "
    "the origin is 0",
    "[3.0, 3e200], [4.0, 4e200] -> [5.e+000, 5.e+200]",
)
log = unary(scalar.log, "the natural logarithm", "[1.0, 2.0] -> [0.        , 0.69314718]")
log2 = unary(scalar.log2, "the logarithm to base 2", "[1.0, 8.0] -> [0., 3.]")
log10 = unary(scalar.log10, "the logarithm to base 10", "[1.0, 100.0] -> [0., 2.]")
log1p = unary(
    scalar.log1p, "``log(1 + x)``, precise near 0", "[0.0, 1.0] -> [0.        , 0.69314718]"
)
logaddexp = binary(
    scalar.logaddexp,
    "``log(exp(x1) + exp(x2))``, without overflow",
    "[0.0, 1.0], [0.0, 1.0] -> [0.69314718, 1.69314718]",
)
