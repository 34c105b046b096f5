"""Checks of the values that methods of ops return: their number and their types.

A user's op may return anything. Without these checks a wrong value would broadcast, or fail far
from the op that returned it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import frazil._core as _core
from frazil._core import Constant, FrozenApply, Variable
from frazil.graph.op import Array


def values_of(node: FrozenApply, arrays: Sequence[object]) -> tuple[Array, ...]:
    """Call ``perform`` of a node's op, and return the values: one an output, of the output's type.

    Raises
    ------
    TypeError
        If ``perform`` returns another number of values, or one of another type.
    """
    made = arrays_of(node, node.op.perform(node, arrays))
    for at, (value, kind) in enumerate(zip(made, node.output_types, strict=True)):
        fits = value.dtype == kind.numpy_dtype and value.ndim == len(kind.shape)
        if not fits or any(
            static not in (None, own) for static, own in zip(kind.shape, value.shape, strict=True)
        ):
            raise TypeError(
                f"perform of {node.op} gave output {at} the type {value.dtype}{list(value.shape)}; "
                f"make_node says {kind}"
            )
    return made


def arrays_of(node: FrozenApply, given: object) -> tuple[Array, ...]:
    """Return the values that ``perform`` returned as arrays, one for each output of the node."""
    made = []
    for at, value in enumerate(listed_values(node, given)):
        try:
            made.append(np.asarray(value))
        except Exception as error:
            error.add_note(f"as result {at} of {node.op} must be an array of numbers")
            raise
    return tuple(made)


def listed_values(node: FrozenApply, given: object) -> tuple[Any, ...]:
    """Return the values that ``perform`` returned, one for each output of the node."""
    count = len(node.output_types)
    if type(given) is tuple and len(given) == count:
        return given
    return tuple(listed(given, count, f"perform of {node.op}", "an array", "outputs"))


def listed(given: object, count: int, what: str, each: str, things: str) -> list[Any]:
    """Return ``given`` as a list, which must be a list or a tuple of ``count`` entries."""
    one = things.removesuffix("s")
    if not isinstance(given, list | tuple):
        wrapped = "; write [...] around it" if count == 1 and given is not None else ""
        raise TypeError(
            f"{what} must return a list or tuple with {each} for each {one}; it returned "
            f"{_shown(given)}{wrapped}"
        )
    if len(given) != count:
        s = "" if count == 1 else "s"
        raise TypeError(
            f"{what} must return {each} for each {one}: the node has {count} {one}{s}, and "
            f"{len(given)} came back"
        )
    return list(given)


def note_place(error: Exception, what: str, node: FrozenApply) -> None:
    """Add to an error of a function which node it was called for, and who built that.

    ``what`` names the function; of an op's ``perform``, it is empty.
    """
    source = node.source
    where = "" if source is None else f", first built at {source[0]}:{source[1]} in {source[2]}"
    error.add_note(f"in{f' {what}' if what else ':'} {node!r}{where}")


def strangers(made: Sequence[Variable], given: Sequence[Variable]) -> list[Variable]:
    """Return the inputs that some variables need beside those that ``given`` are computed from."""
    known = {*given, *_leaves(given)}
    return [x for x in _leaves(made) if x not in known]


def _leaves(variables: Sequence[Variable]) -> list[Variable]:
    read = [x for node in _core.toposort(variables) for x in node.inputs]
    found = [x for x in (*variables, *read) if x.owner is None and not isinstance(x, Constant)]
    return list(dict.fromkeys(found))


def _shown(given: object) -> str:
    if given is None:
        return "None"
    if isinstance(given, Variable):
        return f"the bare variable {given}"
    article = "an" if type(given).__name__[0].lower() in "aeiou" else "a"
    return f"{article} {type(given).__name__}"
