"""The shapes for which one asks what a function would do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import index
from typing import TYPE_CHECKING, Any

from frazil._core import SharedVariable, Variable

if TYPE_CHECKING:
    from frazil.compile.function import Function


def shapes_of_inputs(
    function: Function, shapes: Sequence[Any], named: Mapping[str, Any]
) -> list[list[int]]:
    """The shape of every input: given by position or by name, as a tuple or as an array.

    Those that a type states completely may be left out; shared variables have theirs.
    """
    parameters = [x for x in function.inputs if not isinstance(x, SharedVariable)]
    if len(shapes) > len(parameters):
        raise TypeError(f"the function takes {len(parameters)} arguments, given {len(shapes)}")
    unknown = set(named) - {x.name for x in parameters[len(shapes) :]}
    if unknown:
        raise TypeError(f"no argument is called {', '.join(map(repr, sorted(unknown)))}")
    dims = [_shape(x, shape) for x, shape in zip(parameters, shapes, strict=False)]
    for x in function.inputs[len(shapes) :]:
        if isinstance(x, SharedVariable):
            dims.append(_shape(x, x.get_value(borrow=True)))
        elif x.name is not None and x.name in named:
            dims.append(_shape(x, named[x.name]))
        elif None not in x.type.shape:
            dims.append([length or 0 for length in x.type.shape])
        else:
            raise TypeError(f"the shape of {x} is missing: it is {x.type}")
    return dims


def _shape(x: Variable, given: Any) -> list[int]:
    """The lengths that ``given`` states: a tuple of numbers, or something that has a shape."""
    shape = getattr(given, "shape", given)
    lengths = [index(length) for length in ((shape,) if isinstance(shape, int) else shape)]
    fits = len(lengths) == x.ndim and all(
        static is None or static == length
        for static, length in zip(x.type.shape, lengths, strict=True)
    )
    if not fits or min(lengths, default=0) < 0:
        raise ValueError(f"{x} is {x.type}, which shape {tuple(lengths)} does not fit")
    return lengths
