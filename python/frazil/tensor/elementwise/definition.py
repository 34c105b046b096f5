"""How a function is made of a scalar op: its operands, its docstring."""

from __future__ import annotations

from typing import Any, Protocol

from frazil._core import Variable, elemwise
from frazil.scalar import ScalarOp
from frazil.scalar.constants import TensorLike, as_operand


class Unary(Protocol):
    """A function of one tensor."""

    def __call__(self, x: TensorLike, /) -> Variable: ...


class Binary(Protocol):
    """A function of two tensors."""

    def __call__(self, x1: TensorLike, x2: TensorLike, /) -> Variable: ...


_RESULT_DTYPE = {
    "arithmetic": "the dtype that the operands promote to by NumPy's rules",
    "arithmetic_no_bool": "the dtype that the operands promote to by NumPy's rules",
    "floor": "the dtype that the operands promote to by NumPy's rules; int8 for bool",
    "float": "floating operands keep their dtype; bool and integers of 8 and 16 bits give float32, "
    "wider ones float64",
    "division": "floating operands keep their dtype, bool and integers give float64",
    "comparison": "bool",
    "predicate": "bool",
    "bitwise": "the dtype that the operands, bool or integers, promote to; floating ones raise "
    "TypeError",
}

_DOCSTRING = """Return {summary}.

Parameters
----------
{parameters} : tensor_like
    {operands}

Returns
-------
Variable
    {shape} Data type: {dtype}.

See Also
--------
{follows} : the function that this one follows.

Examples
--------
>>> import frazil.tensor as ft
>>> ft.{name}({example}).eval()
{gives}
"""


def unary(
    name: str, op: ScalarOp, summary: str, *, follows: str, example: str, gives: str
) -> Unary:
    """Return the function ``name`` of one tensor, which applies ``op``."""

    def function(x: TensorLike, /) -> Variable:
        return elemwise(op, as_operand(x))

    _present(
        function,
        name,
        summary=summary,
        parameters="x",
        operands="Any tensor.",
        shape="Of the shape of ``x``.",
        dtype=_RESULT_DTYPE[op.rule],
        follows=follows,
        example=example,
        gives=gives,
    )
    return function


def binary(
    name: str, op: ScalarOp, summary: str, *, follows: str, example: str, gives: str
) -> Binary:
    """Return the function ``name`` of two tensors, which applies ``op``."""

    def function(x1: TensorLike, x2: TensorLike, /) -> Variable:
        return elemwise(op, as_operand(x1), as_operand(x2))

    _present(
        function,
        name,
        summary=summary,
        parameters="x1, x2",
        operands="Tensors whose shapes broadcast. Python numbers take the dtype of the other.",
        shape="Of the shape that the operands broadcast to.",
        dtype=_RESULT_DTYPE[op.rule],
        follows=follows,
        example=example,
        gives=gives,
    )
    return function


def _present(function: Any, name: str, **words: str) -> None:
    """Give a function its name, its docstring and the module where people, and pickle, find it."""
    function.__name__ = function.__qualname__ = name
    function.__doc__ = _DOCSTRING.format(name=name, **words)
    function.__module__ = "frazil.tensor"
