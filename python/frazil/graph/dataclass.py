"""Frozen dataclasses that are quick to define.

The standard library writes and compiles the text of six methods for each class, although most of
them are never called. That took a fifth of ``import frazil``. Here classes share all methods except
``__init__``, which is made at its first use, and seldom from a text.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable
from dataclasses import MISSING, Field, FrozenInstanceError
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any, TypeAlias

from frazil.graph.initializer import initializer

Values: TypeAlias = Callable[[object], tuple[Any, ...]]


def _dataclass(
    *, frozen: bool, eq: bool = True, slots: bool = False
) -> Callable[[type[Any]], type[Any]]:
    """Return a decorator that makes a class what :func:`dataclasses.dataclass` makes of it.

    All parameters of the standard library's fields work, but for ``init=False``, ``kw_only`` and
    ``hash``. Subclasses may be made by the standard library, too.

    Parameters
    ----------
    frozen : bool
        Must be true: there is no other kind.
    eq : bool
        Instances are equal where their fields are, and have hashes.
    slots : bool
        Instances have slots instead of a dictionary.

    Examples
    --------
    >>> from frazil.graph.dataclass import dataclass
    >>> @dataclass(frozen=True, slots=True)
    ... class Point:
    ...     x: int
    ...     y: int = 0
    >>> Point(1), Point(1) == Point(1, 0), Point(1) == Point(2)
    (Point(x=1, y=0), True, False)
    """
    if not frozen:
        raise TypeError("only frozen dataclasses are made here: use dataclasses.dataclass")

    def decorate(cls: type[Any]) -> type[Any]:
        own = _own_fields(cls)
        cls = _with_slots(cls, own) if slots else cls
        inherited: dict[str, Field[Any]] = {}
        for base in reversed(cls.__mro__[1:]):
            inherited |= base.__dict__.get("__dataclass_fields__", {})
        cls.__dataclass_fields__ = inherited | own
        cls.__dataclass_params__ = _PARAMS[eq]
        fields = dataclasses.fields(cls)
        added: dict[str, Any] = {
            "__match_args__": tuple(field.name for field in fields),
            "__init__": _Init(cls, fields),
            "__repr__": _repr_of(tuple(field.name for field in fields if field.repr)),
        }
        if eq:
            values = _values_of([field.name for field in fields if field.compare])
            added["__eq__"] = _eq_of(values)
            if cls.__dict__.get("__hash__") is None:
                cls.__hash__ = _hash_of(values)
        for name, value in added.items():
            if name not in cls.__dict__:
                setattr(cls, name, value)
        cls.__setattr__, cls.__delattr__ = _refusals(cls, frozenset(cls.__dataclass_fields__))
        return cls

    return decorate


if TYPE_CHECKING:  # checkers of types know the standard library's
    from dataclasses import dataclass as dataclass
else:
    dataclass = _dataclass


# By these the standard library recognizes classes that are bases of other dataclasses.
_PARAMS = {
    eq: dataclasses.make_dataclass("Sample", [], frozen=True, eq=eq).__dataclass_params__  # type: ignore[attr-defined]
    for eq in (False, True)
}


def _own_fields(cls: type[object]) -> dict[str, Field[object]]:
    """The fields that a class declares itself, in whose place their defaults are left."""
    declared = inspect.get_annotations(cls)
    defaults = {name: vars(cls)[name] for name in declared if name in vars(cls)}
    about = {"__annotations__": declared, "__module__": cls.__module__, "__doc__": "Fields."}
    read = dataclasses.dataclass(init=False, repr=False, eq=False, match_args=False)
    declaring: Any = read(type("Declaring", (), defaults | about))
    found: dict[str, Field[Any]] = declaring.__dataclass_fields__
    for field in found.values():
        if not field.init or field.kw_only is True or field.hash is not None:
            raise TypeError(
                f"{cls.__qualname__}.{field.name} says init, kw_only or hash: use "
                "dataclasses.dataclass"
            )
        if isinstance(vars(cls).get(field.name), Field):
            if field.default is MISSING:
                delattr(cls, field.name)
            else:
                setattr(cls, field.name, field.default)
    return found


def _with_slots(cls: type[object], own: dict[str, Field[object]]) -> type[Any]:
    """The class with slots for its fields; a new one, since slots cannot be added to a class."""
    names = _names_of_slots(cls, own)
    left_out = {*names, "__dict__", "__weakref__"}
    body = {name: value for name, value in vars(cls).items() if name not in left_out}
    body |= {"__slots__": names, "__qualname__": cls.__qualname__}
    metaclass: Any = type(cls)
    made: Any = metaclass(cls.__name__, cls.__bases__, body)

    def __getstate__(self: object) -> list[object]:
        return [getattr(self, field.name) for field in dataclasses.fields(made)]

    def __setstate__(self: object, state: list[object]) -> None:
        for field, value in zip(dataclasses.fields(made), state, strict=True):
            object.__setattr__(self, field.name, value)

    made.__getstate__, made.__setstate__ = __getstate__, __setstate__
    slotted: type[Any] = made
    return slotted


def _names_of_slots(cls: type[object], own: dict[str, Field[object]]) -> tuple[str, ...]:
    instance_fields = type("Fields", (), {"__dataclass_fields__": own})
    return tuple(
        field.name
        for field in dataclasses.fields(instance_fields)
        if not any(field.name in base.__dict__.get("__slots__", ()) for base in cls.__mro__[1:])
    )


class _Init:
    """Stands for ``__init__`` until its first use."""

    __slots__ = ("_cls", "_fields")

    def __init__(self, cls: type[Any], fields: tuple[Field[Any], ...]) -> None:
        self._cls = cls
        self._fields = fields

    def __get__(self, instance: object, owner: type[Any] | None = None) -> Any:
        cls = self._cls
        if vars(cls)["__init__"] is self:
            cls.__init__ = _init_of(cls, self._fields)
        return vars(cls)["__init__"].__get__(instance, owner)


def _init_of(cls: type[object], fields: tuple[Field[Any], ...]) -> object:
    """The ``__init__`` of a class: most need no text of their own."""
    annotations: dict[str, object] = {}
    defaults: list[object] = []
    own = False
    for field in fields:
        annotations[field.name] = field.type
        if field.default is not MISSING:
            defaults.append(field.default)
        elif defaults or field.default_factory is not MISSING:
            own = True
    checks = hasattr(cls, "__post_init__")
    found: Any = None if own else initializer(tuple(annotations), defaults, checks=checks)
    if found is None:
        found = _written_init(cls, fields)
    found.__qualname__ = f"{cls.__qualname__}.__init__"
    found.__module__ = cls.__module__
    annotations["return"] = None
    found.__annotations__ = annotations
    return found


def _written_init(cls: type[object], fields: tuple[Field[Any], ...]) -> object:
    known: dict[str, Any] = {"_set": object.__setattr__, "_MADE": MISSING}
    taken, lines = ["self"], []
    for field in fields:
        name, value = field.name, field.name
        if field.default is not MISSING:
            known[f"_default_{name}"] = field.default
            taken.append(f"{name}=_default_{name}")
        elif field.default_factory is not MISSING:
            known[f"_default_{name}"] = field.default_factory
            taken.append(f"{name}=_MADE")
            value = f"_default_{name}() if {name} is _MADE else {name}"
        else:
            taken.append(name)
        lines.append(f"_set(self, {name!r}, {value})")
    if hasattr(cls, "__post_init__"):
        lines.append("self.__post_init__()")
    body = "\n    ".join(lines) or "pass"
    exec(f"def __init__({', '.join(taken)}):\n    {body}", known)
    return known["__init__"]


def _values_of(names: list[str]) -> Values:
    """The function that returns the values of some attributes, always as a tuple."""
    if len(names) > 1:
        return attrgetter(*names)
    return lambda instance: tuple(getattr(instance, name) for name in names)


def _eq_of(values: Values) -> object:
    def __eq__(self: object, other: object) -> bool:
        if other.__class__ is not self.__class__:
            return NotImplemented
        return values(self) == values(other)

    return __eq__


def _hash_of(values: Values) -> Any:
    def __hash__(self: object) -> int:
        return hash(values(self))

    return __hash__


def _repr_of(names: tuple[str, ...]) -> object:
    @recursive_repr()
    def __repr__(self: object) -> str:
        shown = ", ".join(f"{name}={getattr(self, name)!r}" for name in names)
        return f"{self.__class__.__qualname__}({shown})"

    return __repr__


def _refusals(cls: type[Any], names: frozenset[str]) -> tuple[Any, Any]:
    """The methods that set and delete attributes: no field changes."""

    def __setattr__(self: object, name: str, value: object) -> None:
        if type(self) is cls or name in names:
            raise FrozenInstanceError(f"cannot assign to field {name!r}")
        super(cls, self).__setattr__(name, value)

    def __delattr__(self: object, name: str) -> None:
        if type(self) is cls or name in names:
            raise FrozenInstanceError(f"cannot delete field {name!r}")
        super(cls, self).__delattr__(name)

    return __setattr__, __delattr__
