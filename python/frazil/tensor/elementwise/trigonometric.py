"""Circular and hyperbolic functions."""

from __future__ import annotations

import frazil.scalar as scalar
from frazil.tensor.elementwise.definition import binary, unary

sin = unary(
    "sin",
    scalar.sin,
    "the sine",
    follows="numpy.sin",
    example="[0.0, 1.0]",
    gives="array([0.        , 0.84147098])",
)
cos = unary(
    "cos",
    scalar.cos,
    "the cosine",
    follows="numpy.cos",
    example="[0.0, 1.0]",
    gives="array([1.        , 0.54030231])",
)
tan = unary(
    "tan",
    scalar.tan,
    "the tangent",
    follows="numpy.tan",
    example="[0.0, 1.0]",
    gives="array([0.        , 1.55740772])",
)
arcsin = unary(
    "arcsin",
    scalar.arcsin,
    "the inverse sine",
    follows="numpy.arcsin",
    example="[0.0, 1.0]",
    gives="array([0.        , 1.57079633])",
)
arccos = unary(
    "arccos",
    scalar.arccos,
    "the inverse cosine",
    follows="numpy.arccos",
    example="[0.5, 1.0]",
    gives="array([1.04719755, 0.        ])",
)
arctan = unary(
    "arctan",
    scalar.arctan,
    "the inverse tangent",
    follows="numpy.arctan",
    example="[0.0, 1.0]",
    gives="array([0.        , 0.78539816])",
)
arctan2 = binary(
    "arctan2",
    scalar.arctan2,
    "the angle of the point ``(x2, x1)``",
    follows="numpy.arctan2",
    example="[0.0, 1.0], [1.0, 1.0]",
    gives="array([0.        , 0.78539816])",
)
sinh = unary(
    "sinh",
    scalar.sinh,
    "the hyperbolic sine",
    follows="numpy.sinh",
    example="[0.0, 1.0]",
    gives="array([0.        , 1.17520119])",
)
cosh = unary(
    "cosh",
    scalar.cosh,
    "the hyperbolic cosine",
    follows="numpy.cosh",
    example="[0.0, 1.0]",
    gives="array([1.        , 1.54308063])",
)
tanh = unary(
    "tanh",
    scalar.tanh,
    "the hyperbolic tangent",
    follows="numpy.tanh",
    example="[0.0, 1.0]",
    gives="array([0.        , 0.76159416])",
)
arcsinh = unary(
    "arcsinh",
    scalar.arcsinh,
    "the inverse hyperbolic sine",
    follows="numpy.arcsinh",
    example="[0.0, 1.0]",
    gives="array([0.        , 0.88137359])",
)
arccosh = unary(
    "arccosh",
    scalar.arccosh,
    "the inverse hyperbolic cosine",
    follows="numpy.arccosh",
    example="[1.0, 2.0]",
    gives="array([0.       , 1.3169579])",
)
arctanh = unary(
    "arctanh",
    scalar.arctanh,
    "the inverse hyperbolic tangent",
    follows="numpy.arctanh",
    example="[0.0, 0.5]",
    gives="array([0.        , 0.54930614])",
)
asin = arcsin
acos = arccos
atan = arctan
atan2 = arctan2
asinh = arcsinh
acosh = arccosh
atanh = arctanh
