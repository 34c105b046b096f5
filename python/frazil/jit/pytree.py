"""Containers as trees: their leaves in order, and a structure to build them again from.

Dicts (in the order of their keys), lists, tuples, namedtuples, dataclasses and registered classes
are containers. All else, None too, is a leaf.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Any, Final, TypeAlias, TypeVar

import numpy as np

from frazil.graph.dataclass import dataclass
from frazil.jit.identity import is_one_of
from frazil.tensor.docstrings import described

ClassT = TypeVar("ClassT")
Flatten: TypeAlias = Callable[[Any], tuple[Iterable[Any], Hashable]]
Unflatten: TypeAlias = Callable[[Any, Iterable[Any]], Any]

_registered: dict[int, tuple[type, Flatten, Unflatten]] = {}
"""By the id of the class, whose metaclass may hash by code of users."""


class CircularContainerError(ValueError):
    """A container holds itself."""


class _Leaf:
    """Stands for a leaf in a structure."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "*"


LEAF: Final = _Leaf()


@dataclass(frozen=True, slots=True)
class Node:
    """A container in a structure: its class, what tells it from others of the class, its parts."""

    kind: type
    aux: Hashable
    parts: tuple[Structure, ...]


Structure: TypeAlias = _Leaf | Node


@described
def register_pytree(
    kind: type[ClassT],
    flatten: Callable[[ClassT], tuple[Iterable[object], Hashable]],
    unflatten: Callable[[Any, Iterable[Any]], ClassT],
) -> type[ClassT]:
    """Make instances of a class containers of arrays, for arguments and results of functions.

    kind (type): The class; instances of its subclasses are not meant.
    flatten (callable): Takes an instance; returns its parts, and hashable data that identify the
        rest.
    unflatten (callable): Takes these data and the parts; returns an instance.
    returns (type): The class.
    raises ValueError: If instances of the class are containers already.

    >>> import frazil as fz
    >>> class Line:
    ...     def __init__(self, slope, offset):
    ...         self.slope, self.offset = slope, offset
    >>> _ = fz.register_pytree(
    ...     Line, lambda line: ((line.slope, line.offset), None), lambda _, parts: Line(*parts)
    ... )
    """
    if id(kind) in _registered or is_one_of(kind, (dict, list, tuple)):
        raise ValueError(f"{kind.__qualname__} is a container already")
    _registered[id(kind)] = (kind, flatten, unflatten)
    return kind


def flatten(
    value: object, is_leaf: Callable[[object], bool] = lambda _: False
) -> tuple[list[Any], Structure]:
    """Return the leaves of a tree, and its structure.

    Parameters
    ----------
    value : object
        The tree.
    is_leaf : callable, optional
        Says of a container whether it counts as a leaf.

    Raises
    ------
    CircularContainerError
        If a container holds itself.

    Examples
    --------
    >>> from frazil.jit.pytree import flatten, unflatten
    >>> leaves, structure = flatten({"a": [1, 2], "b": (3, None)})
    >>> leaves
    [1, 2, 3, None]
    >>> unflatten(structure, [10, 20, 30, 40])
    {'a': [10, 20], 'b': (30, 40)}
    """
    leaves: list[Any] = []
    return leaves, _flatten(value, leaves, (), is_leaf)


def _flatten(
    value: object, leaves: list[object], above: tuple[int, ...], is_leaf: Callable[[object], bool]
) -> Structure:
    taken = None if is_leaf(value) else parts_of(value)
    if taken is None:
        leaves.append(value)
        return LEAF
    if id(value) in above:
        raise CircularContainerError(f"a {type(value).__name__} holds itself")
    parts, aux = taken
    inner = (*above, id(value))
    return Node(type(value), aux, tuple([_flatten(part, leaves, inner, is_leaf) for part in parts]))


_LEAVES = frozenset(
    id(kind)
    for kind in (
        *(np.ndarray, int, float, bool, complex, str, bytes, type(None)),
        *(np.float64, np.float32, np.int64, np.int32, np.bool_, np.complex128),
    )
)
"""The identities of classes whose instances are leaves, which need no further questions."""


def is_registered(kind: type) -> bool:
    """Whether :func:`register_pytree` was told of a class."""
    return id(kind) in _registered


def parts_of(value: Any) -> tuple[list[Any], Hashable] | None:
    """Return the parts of a container and the data of the rest; None for a leaf."""
    kind = type(value)
    if id(kind) in _LEAVES and id(kind) not in _registered:
        return None
    if kind is tuple or kind is list:
        return list(value), None
    if kind is dict:
        return list(value.values()), tuple([_told_key(key) for key in value])
    if id(kind) in _registered:
        parts, aux = _registered[id(kind)][1](value)
        return list(parts), aux
    if issubclass(kind, tuple) and hasattr(kind, "_fields"):
        return list(value), None
    if dataclasses.is_dataclass(kind):
        names = _fields(kind)
        if names is not None and hasattr(value, "__dict__") and set(vars(value)) - set(names):
            return None  # more than its fields
        return None if names is None else ([getattr(value, name) for name in names], None)
    return None


@dataclass(frozen=True, slots=True, eq=False)
class Same:
    """Equals only what holds the same object; no code of that object's class runs."""

    value: Any

    def __eq__(self, other: object) -> bool:
        return type(other) is Same and other.value is self.value

    def __hash__(self) -> int:
        return id(self.value)


_PLAIN_KEYS: frozenset[type] = frozenset((str, int, float, bool, bytes, type(None)))


def _told_key(key: object) -> tuple[object, object]:
    """A key of a dict, with what tells it from equal ones, or as itself alone."""
    kind = type(key)
    return (kind, key) if is_one_of(kind, _PLAIN_KEYS) else (Same, Same(key))


def key_of(told: tuple[object, Any]) -> object:
    """Return the key of a dict, from its form in a structure."""
    kind, key = told
    return key.value if kind is Same else key


def _fields(kind: type) -> tuple[str, ...] | None:
    """The fields of a dataclass whose instances can be built again from them."""
    fields = dataclasses.fields(kind)
    return tuple(field.name for field in fields) if all(field.init for field in fields) else None


def unflatten(structure: Structure, leaves: Iterable[object]) -> Any:
    """Return a tree of this structure, with new containers."""
    return _unflatten(structure, iter(leaves))


def _unflatten(structure: Structure, leaves: Iterator[object]) -> object:
    if not isinstance(structure, Node):
        return next(leaves)
    parts = [_unflatten(part, leaves) for part in structure.parts]
    return build(structure.kind, structure.aux, parts)


def build(kind: type, aux: Any, parts: list[object]) -> Any:
    """Return a new container of these parts."""
    if kind is list:
        return parts
    if kind is tuple:
        return tuple(parts)
    if kind is dict:
        return dict(zip(map(key_of, aux), parts, strict=True))
    if id(kind) in _registered:
        return _registered[id(kind)][2](aux, parts)
    if issubclass(kind, tuple):
        return kind._make(parts)  # type: ignore[attr-defined]
    made = object.__new__(kind)
    for name, part in zip(_fields(kind) or (), parts, strict=True):
        object.__setattr__(made, name, part)
    return made


def _shown_key(told: Any) -> str:
    kind, key = told
    return f"a {type(key.value).__qualname__}" if kind is Same else repr(key)


def paths(value: object, root: str) -> list[str]:
    """Return how one writes each leaf of a tree that is called ``root``."""
    taken = parts_of(value)
    if taken is None:
        return [root]
    parts, aux = taken
    if type(value) is dict and isinstance(aux, tuple):
        names = [f"{root}[{_shown_key(told)}]" for told in aux]
    elif is_one_of(type(value), (list, tuple)):
        names = [f"{root}[{at}]" for at in range(len(parts))]
    elif hasattr(value, "_fields"):
        names = [f"{root}.{name}" for name in value._fields]
    elif dataclasses.is_dataclass(value):
        names = [f"{root}.{field.name}" for field in dataclasses.fields(value)]
    else:
        names = [f"{root}<{at}>" for at in range(len(parts))]
    found = []
    for name, part in zip(names, parts, strict=True):
        found += paths(part, name)
    return found
