"""Docstrings of functions that draw: their common text, and the words of each."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import TypeVar, cast

from frazil.tensor.docstrings import SECTIONS, listed_parameters, read_description

Function = TypeVar("Function", bound=Callable[..., object])

_USUAL = {
    "rng": (
        "Variable or array_like",
        "The state of the generator: a variable of :func:`shared_rng`, or the state that another "
        "draw returned.",
    ),
    "size": (
        "int, 0-d integer variable, or a sequence of them",
        "Shape of the result. Default: the shape to which the parameters broadcast.",
    ),
    "dtype": ("dtype_like", "float64 or float32, whose numbers are others."),
}
_ALONE = {"size": (_USUAL["size"][0], "Shape of the result.")}
"""The size, where there are no parameters of the distribution."""

_RESULTS = """next_rng : Variable
    The state of the generator after the draw.
drawn : Variable
    {result}
{follows}
Examples
--------
>>> import numpy as np
>>> from frazil import random
>>> next_rng, x = random.{name}(random.shared_rng(1){comma}{example})
>>> expected = {numpy}
>>> bool(np.all(x.eval() == expected))
True
"""


_FOLLOWS = """
See Also
--------
numpy.random.Generator.{name} : the method that this function follows.
"""


def drawing(function: Function) -> Function:
    """Complete the docstring of a function that draws, as :func:`described` does for others.

    The numbers are of float64, or of the type ``dtype`` if there is such a parameter, unless the
    docstring tells more. ``example`` has the arguments behind the state. Behind ``->`` stands the
    expression that gives the example's numbers by NumPy, where ``rng`` is the generator; if nothing
    stands there, it is a call of the generator's method of that name.
    """
    made = cast(FunctionType, function)
    name = made.__name__
    if made.__doc__ is not None:  # as Python -OO leaves it
        description = read_description(made.__doc__)
        arguments, _, numpy = description.example.partition(" -> ")
        names = made.__code__.co_varnames[: made.__code__.co_argcount]
        usual = "Of type ``dtype``." if "dtype" in names else "float64."
        (result,) = description.results.values() or (usual,)
        told = _USUAL if names[1] != "size" else _USUAL | _ALONE
        if result in ("float64.", "int64."):
            result = f"The numbers, of {result}"
        made.__doc__ = (SECTIONS + _RESULTS).format(
            summary=description.summary,
            parameters=listed_parameters(made, told | description.parameters),
            result=result,
            follows="" if numpy else _FOLLOWS.format(name=name),
            name=name,
            comma=", " if arguments else "",
            example=arguments,
            numpy=(numpy or f"rng.{name}({arguments})").replace("rng", "np.random.default_rng(1)"),
        )
    made.__module__ = "frazil.random"
    return function
