"""The containers that a traced function is given, and what it does to them.

The function gets copies, whose arrays are traced. What it changes in these is done to the caller's
containers afterwards.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Container, Iterator, Sequence
from typing import Any, TypeAlias

from frazil.graph.dataclass import dataclass
from frazil.jit.pytree import build, flatten, is_registered, parts_of

Made: TypeAlias = dict[int, tuple[object, Any]]
"""Plain containers by the identities of those they stand for, which it keeps alive."""


@dataclass(frozen=True, slots=True, eq=False)
class Pair:
    """A container of the caller, the function's copy of it, and what that held before."""

    copy: Any
    real: Any
    before: tuple[object, list[object]]

    def is_changed(self) -> bool:
        """Whether the function has changed its copy."""
        told, parts = _contents(self.copy)
        known, others = self.before
        return told != known or len(parts) != len(others) or any(map(_is_not, parts, others))


class Given:
    """The containers in the arguments of a call, each with the function's copy of it."""

    def __init__(self, copies: Sequence[object], args: Sequence[object]) -> None:
        pairs = [pair for both in zip(copies, args, strict=True) for pair in _pairs(*both)]
        self._pairs = [Pair(copy, real, _contents(copy)) for copy, real in pairs]

    def changed(self) -> list[Pair]:
        """Return what the function has changed."""
        return [pair for pair in self._pairs if pair.is_changed()]

    def originals(self) -> Made:
        """Return the caller's containers for the copies."""
        return {id(pair.copy): (pair.copy, pair.real) for pair in self._pairs}


def can_be_written(changed: Sequence[Pair]) -> bool:
    """Whether these containers can be changed; a registered class does not tell how."""
    return not any(is_registered(type(pair.copy)) for pair in changed)


def write_back(
    changed: Sequence[Pair],
    plain_leaf: Callable[[object], object],
    made: Made,
    leaves: Container[int],
) -> None:
    """Do to the caller's containers what the function did to its copies."""
    for pair in changed:
        _, parts = _contents(pair.copy)
        _fill(pair.real, pair.copy, [plain_tree(part, plain_leaf, made, leaves) for part in parts])


def plain_tree(
    value: object,
    plain_leaf: Callable[[object], object],
    made: Made,
    leaves: Container[int] = (),
) -> Any:
    """Return a tree with plain arrays; what has the identity of one of ``leaves`` is a leaf.

    New containers are added to ``made``, so that one that is there twice stays one.
    """
    if id(value) in made:
        return made[id(value)][1]
    taken = None if id(value) in leaves else parts_of(value)
    if taken is None:
        return plain_leaf(value)
    parts, aux = taken
    own: Any = [] if type(value) is list else value
    made[id(value)] = value, own  # for a container that holds itself
    plain_parts = [plain_tree(part, plain_leaf, made, leaves) for part in parts]
    if type(value) is list:
        own += plain_parts
    else:
        made[id(value)] = value, build(type(value), aux, plain_parts)
    return made[id(value)][1]


def _pairs(copy: object, real: object) -> Iterator[tuple[object, object]]:
    """The containers of two trees of one structure that stand at one place."""
    taken, own = parts_of(copy), parts_of(real)
    if taken is None or own is None or type(copy) is not type(real):
        return
    yield copy, real
    if not is_registered(type(copy)):
        for part, original in zip(taken[0], own[0], strict=False):
            yield from _pairs(part, original)


def _contents(value: Any) -> tuple[object, list[object]]:
    """The places in a container, in a form that compares, and the elements there."""
    kind = type(value)
    if is_registered(kind):
        leaves, structure = flatten(value)
        return structure, leaves
    if dataclasses.is_dataclass(kind):
        names = _attributes(value)
        return names, [getattr(value, name) for name in names]
    if kind is dict:
        return list(map(id, value)), list(value.values())
    return len(value), list(value)


def _attributes(value: Any) -> list[str]:
    """The names of what an instance of a dataclass holds."""
    names = [field.name for field in dataclasses.fields(value)]
    names += [name for name in getattr(value, "__dict__", ()) if name not in names]
    return [name for name in names if hasattr(value, name)]


def _fill(real: Any, copy: Any, parts: list[object]) -> None:
    """Put into a container what its copy holds."""
    if type(real) is list:
        real[:] = parts
    elif type(real) is dict:
        made = dict(zip(copy, parts, strict=True))
        real.clear()
        real.update(made)
    else:
        names = _attributes(copy)
        for name in set(_attributes(real)) - set(names):
            object.__delattr__(real, name)
        for name, part in zip(names, parts, strict=True):
            if getattr(real, name, _fill) is not part:
                object.__setattr__(real, name, part)


def _is_not(one: object, other: object) -> bool:
    return one is not other
