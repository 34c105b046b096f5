"""The making of a function from a scalar op: its operands, its docstring."""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from textwrap import fill
from typing import Protocol, TypedDict, TypeVar, Unpack

import numpy as np

from frazil._core import Variable, elemwise
from frazil.scalar import Elementary
from frazil.scalar.constants import TensorLike, as_operand, as_tensor
from frazil.tensor.docstrings import completed, documented

applied: dict[Callable[..., Variable], Elementary] = {}
"""For functions that apply an op to their operands and do nothing else: that op."""


class Unary(Protocol):
    """A function of one tensor."""

    def __call__(self, x: TensorLike, /) -> Variable: ...


class Binary(Protocol):
    """A function of two tensors."""

    def __call__(self, x1: TensorLike, x2: TensorLike, /) -> Variable: ...


Elementwise = TypeVar("Elementwise", Unary, Binary)
ElementwiseFunction = TypeVar("ElementwiseFunction", bound=Callable[..., Variable])

_OPERANDS = {
    1: ("x", "Any tensor.", "``x``"),
    2: (
        "x1, x2",
        "Tensors whose shapes broadcast. Python numbers take the dtype of the other.",
        "the operands when they are broadcast",
    ),
    **dict.fromkeys((3, 4), ("", "Tensors whose shapes broadcast.", "")),
}
_RESULT_DTYPE = {
    "arithmetic": "the dtype that the operands promote to by NumPy's rules",
    "arithmetic_no_bool": "the dtype that the operands promote to by NumPy's rules",
    "part": "the dtype of the operand; if that is complex, the dtype of its parts",
    "floor": "the dtype that the operands promote to by NumPy's rules; int8 for bool",
    "float": "floating operands keep their dtype; bool and integers of 8 and 16 bits give float32, "
    "wider ones float64",
    "division": "floating operands keep their dtype, bool and integers give float64",
    "comparison": "bool",
    "predicate": "bool",
    "shift": "the dtype that the operands, bool or integers, promote to, int8 for bool; floating "
    "ones raise TypeError",
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
    {result}

See Also
--------
{follows}
"""


class Wording(TypedDict, total=False):
    """The facts about a function that its op does not tell."""

    name: str
    """Its name; by default that of NumPy's function, or else of the op."""
    follows: str
    """The function that it follows, by default NumPy's or SciPy's of its name; and how, behind a
    colon.
    """
    logical: bool
    """Whether operands are converted to bool first."""


def unary(op: Elementary, summary: str, example: str, **wording: Unpack[Wording]) -> Unary:
    """Return the function of one tensor that applies ``op``.

    ``example`` is ``"arguments -> elements of the result"``.
    """
    if wording.get("logical"):

        def function(x: TensorLike, /) -> Variable:
            return elemwise(op, as_tensor(x, "bool"))

    else:

        def function(x: TensorLike, /) -> Variable:
            return elemwise(op, as_operand(x))

    return _documented(function, op, summary, example, **wording)


def binary(op: Elementary, summary: str, example: str, **wording: Unpack[Wording]) -> Binary:
    """Return the function of two tensors that applies ``op``; see :func:`unary`."""
    if wording.get("logical"):

        def function(x1: TensorLike, x2: TensorLike, /) -> Variable:
            return elemwise(op, as_tensor(x1, "bool"), as_tensor(x2, "bool"))

    else:

        def function(x1: TensorLike, x2: TensorLike, /) -> Variable:
            return elemwise(op, as_operand(x1), as_operand(x2))

    return _documented(function, op, summary, example, **wording)


def elementwise(function: ElementwiseFunction) -> ElementwiseFunction:
    """Complete the docstring of an elementwise function as :func:`described` does.

    The operands are tensors whose shapes broadcast, unless the docstring tells more.
    """
    names = signature(function).parameters
    _, usual, _ = _OPERANDS[len(names)]
    function.__module__ = "frazil.tensor"
    return completed(function, dict.fromkeys(names, ("tensor_like", usual)))


def _documented(
    function: Elementwise,
    op: Elementary,
    summary: str,
    example: str,
    name: str = "",
    follows: str = "",
    logical: bool = False,
) -> Elementwise:
    name = name or _name_of(op)
    parameters, operands, shape = _OPERANDS[op.nin]
    if not logical:
        applied[function] = op
    if logical:
        operands = f"{operands.partition('.')[0]}; numbers are true where they are not zero."
    dtype = "bool" if logical else _RESULT_DTYPE[op.rule]
    follows = follows or f"{'numpy' if hasattr(np, name) else 'scipy.special'}.{name}"
    if ":" not in follows:
        follows += " : the function that this one follows."
    return documented(
        function,
        name,
        _DOCSTRING,
        summary=summary,
        parameters=parameters,
        operands=operands,
        result=fill(f"Of the shape of {shape}. Data type: {dtype}.", 92, subsequent_indent=" " * 4),
        follows=follows,
        example=example,
    )


def _name_of(op: Elementary) -> str:
    """The name of NumPy's function; of the op, if it has another one."""
    name = getattr(op.ufunc, "__name__", "")
    return name if getattr(np, name, None) is op.ufunc else op.name
