"""Shapes of inputs, as users give them to ``explain`` and ``memory_plan``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import index
from typing import Any

from frazil._core import SharedVariable, Variable


def shapes_of_inputs(
    variables: Sequence[Variable],
    names: Sequence[str | None],
    shapes: Sequence[object],
    named: Mapping[str, object],
) -> list[list[int]]:
    """Return the shape of every input, given by position or by name, as a tuple or as an array.

    A shape may be left out if the type states it completely. Shared variables have their own.

    Parameters
    ----------
    variables : sequence of Variable
        All inputs: parameters, then shared variables.
    names : sequence of str or None
        The names of the parameters.
    """
    if len(shapes) > len(names):
        raise TypeError(f"the function takes {len(names)} arguments, given {len(shapes)}")
    for name in named:
        if name not in names[len(shapes) :]:
            raise TypeError(f"no argument is called {name!r}")
        if names.count(name) > 1:
            raise TypeError(f"several arguments are called {name!r}: give them by position")
    dims = [_shape(x, shape) for x, shape in zip(variables, shapes, strict=False)]
    for at, x in enumerate(variables[len(shapes) :], len(shapes)):
        own = names[at] if at < len(names) else None
        if at >= len(names) and isinstance(x, SharedVariable):
            dims.append(_shape(x, x.get_value(borrow=True)))
        elif own is not None and own in named:
            dims.append(_shape(x, named[own]))
        elif None not in x.type.shape:
            dims.append([length or 0 for length in x.type.shape])
        else:
            raise TypeError(f"the shape of {x} is missing: it is {x.type}")
    return dims


def _shape(x: Variable, given: object) -> list[int]:
    """The lengths in ``given``: a tuple of numbers, or an array."""
    shape: Any = getattr(given, "shape", given)
    lengths = [index(length) for length in ((shape,) if isinstance(shape, int) else shape)]
    fits = len(lengths) == x.ndim and all(
        static is None or static == length
        for static, length in zip(x.type.shape, lengths, strict=True)
    )
    if not fits or min(lengths, default=0) < 0:
        raise ValueError(f"{x} is {x.type}, which shape {tuple(lengths)} does not fit")
    return lengths
