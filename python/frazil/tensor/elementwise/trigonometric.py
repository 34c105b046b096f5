"""Circular and hyperbolic functions."""

from __future__ import annotations

import frazil.scalar as scalar
from frazil.tensor.elementwise.definition import binary, unary

sin = unary(scalar.sin, "the sine", "[0.0, 1.0] -> [0.        , 0.84147098]")
cos = unary(scalar.cos, "the cosine", "[0.0, 1.0] -> [1.        , 0.54030231]")
tan = unary(scalar.tan, "the tangent", "[0.0, 1.0] -> [0.        , 1.55740772]")
arcsin = unary(scalar.arcsin, "the inverse sine", "[0.0, 1.0] -> [0.        , 1.57079633]")
arccos = unary(scalar.arccos, "the inverse cosine", "[0.5, 1.0] -> [1.04719755, 0.        ]")
arctan = unary(scalar.arctan, "the inverse tangent", "[0.0, 1.0] -> [0.        , 0.78539816]")
arctan2 = binary(
    scalar.arctan2,
    "the angle of the point ``(x2, x1)``",
    "[0.0, 1.0], [1.0, 1.0] -> [0.        , 0.78539816]",
)
sinh = unary(scalar.sinh, "the hyperbolic sine", "[0.0, 1.0] -> [0.        , 1.17520119]")
cosh = unary(scalar.cosh, "the hyperbolic cosine", "[0.0, 1.0] -> [1.        , 1.54308063]")
tanh = unary(scalar.tanh, "the hyperbolic tangent", "[0.0, 1.0] -> [0.        , 0.76159416]")
arcsinh = unary(
    scalar.arcsinh, "the inverse hyperbolic sine", "[0.0, 1.0] -> [0.        , 0.88137359]"
)
arccosh = unary(
    scalar.arccosh, "the inverse hyperbolic cosine", "[1.0, 2.0] -> [0.       , 1.3169579]"
)
arctanh = unary(
    scalar.arctanh, "the inverse hyperbolic tangent", "[0.0, 0.5] -> [0.        , 0.54930614]"
)
asin = arcsin
acos = arccos
atan = arctan
atan2 = arctan2
asinh = arcsinh
acosh = arccosh
atanh = arctanh
