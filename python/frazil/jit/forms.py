"""Compiled forms as Rust takes them: conditions on arguments, and the structure of results.

See ``_core.CallCache``. Calls whose arguments or results hold other containers than dicts, lists
and tuples are looked up in Python.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np

from frazil.jit.identity import is_one_of
from frazil.jit.pytree import Node, Structure, key_of
from frazil.jit.specialization import Specialization

FormData: TypeAlias = tuple[Any, ...]


def told_arguments(
    called: Specialization, names: Sequence[str], pins: Sequence[tuple[int, int, int]]
) -> tuple[list[FormData], list[tuple[str, FormData]]] | None:
    """Return what positional and named arguments must be; None if Rust cannot tell."""
    arrays = frozenset(called.arrays)

    def leaf(at: int) -> FormData | None:
        value = called.leaves[at]
        if at in arrays:
            if type(value) is not np.ndarray:
                return "number", type(value)
            lengths = [(axis, length) for own, axis, length in pins if own == at]
            return "array", value.dtype, [n == 1 for n in value.shape], lengths
        if isinstance(value, np.ndarray | np.generic):
            return None
        return "value", value

    numbers = iter(range(len(called.leaves)))
    told = [_told(structure, numbers, leaf) for structure in called.structures]
    made = [own for own in told if own is not None]
    if len(made) < len(told):
        return None
    positional = len(told) - len(names)
    return made[:positional], list(zip(names, made[positional:], strict=True))


def told_result(
    structure: Structure, steps: Sequence[FormData], called: Specialization
) -> FormData | None:
    """Return what is returned; None if Rust cannot make it."""
    arrays = [(at, called.leaves[leaf], leaf) for at, leaf in enumerate(called.arrays)]
    places = {leaf: at for at, value, leaf in arrays if type(value) is np.ndarray}

    def leaf(at: int) -> FormData | None:
        kind, value = steps[at]
        if kind == "argument":
            return (kind, places[value]) if value in places else None
        return None if kind == "copy" else (kind, value)

    return _told(structure, iter(range(len(steps))), leaf)


def _told(
    structure: Structure, numbers: Iterator[int], leaf: Callable[[int], FormData | None]
) -> FormData | None:
    if not isinstance(structure, Node):
        return leaf(next(numbers))
    parts = [_told(part, numbers, leaf) for part in structure.parts]
    if any(part is None for part in parts) or not is_one_of(structure.kind, (list, tuple, dict)):
        return None
    if structure.kind is not dict:
        return structure.kind.__name__, parts
    keys: Any = structure.aux
    return "dict", [(key_of(told), part) for told, part in zip(keys, parts, strict=True)]
