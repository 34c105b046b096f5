"""Docstrings of functions that draw: their common text, and the words of each."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from frazil.tensor.docstrings import listed_parameters

Function = TypeVar("Function", bound=Callable[..., object])

_USUAL = {
    "rng": "Variable or array_like: The state of the generator: a variable of :func:`shared_rng`, "
    "or the state that another draw returned.",
    "size": "int, 0-d integer variable, or a sequence of them: Shape of the result. Default: the "
    "shape to which the parameters broadcast.",
}

_TEXT = """{summary}

Parameters
----------
{parameters}

Returns
-------
next_rng : Variable
    The state of the generator after the draw.
drawn : Variable
    {result}

Examples
--------
>>> import numpy as np
>>> from frazil import random
>>> next_rng, x = random.{name}(random.shared_rng(1){comma}{example})
>>> expected = {numpy}
>>> bool(np.all(x.eval() == expected))
True
"""


def drawing(
    summary: str,
    result: str,
    example: str,
    numpy: str | None = None,
    **parameters: str,
) -> Callable[[Function], Function]:
    """Give a function that draws its docstring.

    ``parameters`` are what the docstring says of each, ``"type: text"``. ``numpy`` is the
    expression that gives the example's numbers by NumPy, where ``rng`` stands for the generator;
    by default a call of the generator's method of that name.
    """

    def document(function: Function) -> Function:
        name = function.__name__
        told = listed_parameters(function, _USUAL | parameters)
        by_numpy = f"rng.{name}({example})" if numpy is None else numpy
        of_numpy = f", as :meth:`numpy.random.Generator.{name}`." if numpy is None else "."
        function.__doc__ = _TEXT.format(
            summary=summary + of_numpy,
            parameters=told,
            result=result,
            name=name,
            comma=", " if example else "",
            example=example,
            numpy=by_numpy.replace("rng", "np.random.default_rng(1)"),
        )
        function.__module__ = "frazil.random"
        return function

    return document
