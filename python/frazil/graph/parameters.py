"""The identity of an op: its class and its parameters.

Parameters are the fields of a frozen dataclass and the attributes named in ``__props__``. An op
holds nothing else: two ops that differ only in another attribute would be one object.
"""

from __future__ import annotations

import dataclasses
import itertools
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from types import NoneType
from typing import Any, Protocol, TypeVar, overload
from weakref import ReferenceType, ref

import numpy as np

from frazil._core import FrozenFunctionGraph
from frazil.graph.declarations import check_class


class Interned(Protocol):
    """An op under construction: if an equal op lives, that one is used."""

    def _interned(self) -> Any: ...


OpT = TypeVar("OpT", bound=Interned)

# Not from 0: a token of one process must not be taken for another's.
_tokens = itertools.count(int.from_bytes(os.urandom(7), "little"))

_ADVICE = (
    "Make {name} a frozen dataclass with fields for what it holds: @dataclass(frozen=True, "
    "eq=False); or name the attributes in __props__"
)


@dataclasses.dataclass(frozen=True, slots=True)
class OpClass:
    """The common properties of all ops of one class."""

    kind: str
    token: int | None
    parameters: tuple[str, ...]
    has_props: bool
    slots: tuple[str, ...]

    @staticmethod
    def of(cls: type) -> OpClass:
        """Return the record of a class, which is made with the first op of the class.

        Raises
        ------
        TypeError
            If the dataclass is not frozen, or ``__props__`` is no tuple of names.
        """
        known: OpClass | None = cls.__dict__.get("_op_class")
        if known is None:
            kind = f"{cls.__module__}.{cls.__qualname__}"
            fields, props = _fields(cls), _props(cls)
            check_class(cls)
            named = (*fields, *(name for name in props or () if name not in fields))
            known = OpClass(kind, _token(cls, kind), named, props is not None, _slots(cls))
            cls._op_class = known  # type: ignore[attr-defined]
        return known


# The class that an import finds under each name. Other processes find the same one.
_named: dict[str, ReferenceType[type]] = {}


def _token(cls: type, kind: str) -> int | None:
    """A number that distinguishes classes of one name; None for the one that an import finds.

    Running a cell or a function twice makes two classes of one name, whose ops must differ.
    """
    local = cls.__module__ == "__main__" or "<locals>" in cls.__qualname__
    if local or not _is_found(cls):
        return next(_tokens)
    first = _named.setdefault(kind, ref(cls))()
    if first is cls:
        return None
    if first is None:
        _named[kind] = ref(cls)
        return None
    return next(_tokens)


def _is_found(cls: type) -> bool:
    """Whether the module has the class under its name."""
    found: object = sys.modules.get(cls.__module__)
    for name in cls.__qualname__.split("."):
        found = getattr(found, name, None)
    return found is cls


def _fields(cls: type) -> tuple[str, ...]:
    declared = getattr(cls, "__dataclass_params__", None)
    if declared is None:
        return ()
    if not declared.frozen:
        raise TypeError(
            f"{cls.__qualname__} is a dataclass that is not frozen: equal ops are one "
            "object, so their fields must not change. Write @dataclass(frozen=True, eq=False)"
        )
    return tuple(field.name for field in dataclasses.fields(cls))


def _props(cls: type) -> tuple[str, ...] | None:
    props = getattr(cls, "__props__", None)
    if props is None:
        return None
    if not isinstance(props, tuple) or not all(isinstance(name, str) for name in props):
        raise TypeError(
            f"{cls.__qualname__}.__props__ must be a tuple of the names of attributes, as in "
            f'__props__ = ("axis",); given {props!r}'
        )
    return props


def _slots(cls: type) -> tuple[str, ...]:
    """The names by which instances keep values outside of ``__dict__``."""
    found: list[str] = []
    for base in cls.__mro__:
        own = base.__dict__.get("__slots__", ())
        for name in (own,) if isinstance(own, str) else own:
            mangled = name.startswith("__") and not name.endswith("__")
            found.append(f"_{base.__name__.lstrip('_')}{name}" if mangled else name)
    return tuple(name for name in found if name not in ("__dict__", "__weakref__"))


def parameters_of(op: object, known: OpClass) -> tuple[Any, ...]:
    """Return the values of the parameters of a new op.

    Raises
    ------
    TypeError
        If it lacks one, or holds anything else.
    """
    values = []
    for name in known.parameters:
        try:
            values.append(getattr(op, name))
        except AttributeError:
            raise TypeError(
                f"{type(op).__qualname__} has no attribute {name!r}, which is a parameter: "
                "__init__ must set it"
            ) from None
    if not known.has_props:
        held = [*vars(op), *(name for name in known.slots if hasattr(op, name))]
        stray = [name for name in held if name not in known.parameters]
        stray = [name for name in stray if not _is_derived(type(op), name)]
        if stray:
            name = type(op).__qualname__
            raise TypeError(
                f"{name} holds {', '.join(map(repr, stray))}, which is no parameter: ops that "
                f"differ in that alone would be one object. {_ADVICE.format(name=name)}"
            )
    return tuple(values)


def refuse_other_attributes(made: object, known: OpClass, taken: object) -> None:
    """Raise TypeError if a new op differs in an attribute from the equal op that is taken for it.

    Attributes may change later, so those are compared that the op had when it was made.
    """
    first: dict[str, object] = vars(taken).get(AS_MADE, {})
    for name, value in plain_attributes(made, known).items():
        if name in first and (type(first[name]), first[name]) != (type(value), value):
            raise TypeError(
                f"{made!r} has {name} = {value!r}, and an equal op has {first[name]!r}: equal ops "
                f"are one object. Add {name!r} to {type(made).__qualname__}.__props__"
            )


AS_MADE = "_as_made"
"""The attribute in which an op keeps the attributes that are no parameters, as it got them."""


def plain_attributes(op: object, known: OpClass) -> dict[str, object]:
    """Return the attributes of an op that are no parameters, of plain values alone."""
    return {
        name: value
        for name, value in vars(op).items()
        if name not in known.parameters and (type(value) is float or are_plain((value,)))
    }


def _is_derived(cls: type, name: str) -> bool:
    return isinstance(getattr(cls, name, None), cached_property)


def check_arguments(cls: type, args: tuple[object, ...], kwargs: dict[str, object]) -> None:
    """Raise TypeError for arguments of a class that has neither fields nor an ``__init__``."""
    if (args or kwargs) and cls.__init__ is object.__init__:  # type: ignore[misc]
        raise TypeError(
            f"{cls.__qualname__} takes no arguments: it has neither fields nor an __init__. "
            + _ADVICE.format(name=cls.__qualname__)
        )


_PLAIN = (int, str, bool, NoneType)


def are_plain(args: tuple[Any, ...]) -> bool:
    """Whether arguments that are equal, each of the same class, are the same parameters.

    Not so 0.0 and -0.0, nor (0,) and (False,).
    """
    for arg in args:
        kind = type(arg)
        if kind is tuple:
            for item in arg:
                if type(item) is not int:
                    return False
        elif kind not in _PLAIN:
            return False
    return True


def is_of_import(cls: type) -> bool:
    """Whether an op of a class was made before, and the class is the one that an import finds."""
    known: OpClass | None = cls.__dict__.get("_op_class")
    return known is not None and known.token is None and not known.has_props


@overload
def settled(value: tuple[object, ...]) -> tuple[Any, ...]: ...
@overload
def settled(value: object) -> object: ...
def settled(value: object) -> object:
    """Return the value of a parameter in the form in which ops keep it.

    Frozen graphs move to the default container, and NumPy scalars become Python numbers.
    """
    if isinstance(value, FrozenFunctionGraph):
        return value._in_default()
    if type(value) is tuple:
        items = tuple(map(settled, value))
        return items if any(a is not b for a, b in zip(items, value, strict=True)) else value
    return value.item() if isinstance(value, _SCALARS) else value


_SCALARS = (np.bool_, np.integer, np.float32, np.float64, np.str_, np.bytes_)


def remade(cls: type[OpT], state: dict[str, object]) -> OpT:
    """Return the op of a class whose attributes a pickle holds."""
    made = cls.__new__(cls)
    for name, value in state.items():
        object.__setattr__(made, name, value)
    interned: OpT = made._interned()
    return interned


def made_with(cls: type[OpT], parameters: tuple[object, ...]) -> OpT:
    """Return the op of a class that has these parameters."""
    names = OpClass.of(cls).parameters
    if len(names) != len(parameters):
        raise TypeError(
            f"{cls.__qualname__} has parameters {names}, {len(parameters)} values are given"
        )
    fields: Any = dataclasses.fields
    derived = {own.name for own in fields(cls) if not own.init} if _fields(cls) else ()
    given = zip(names, parameters, strict=True)
    made = cls(**{name: value for name, value in given if name not in derived})
    kept: list[Any] | None = getattr(_keeping, "ops", None)
    if kept is not None:
        kept.append(made)
    return made


_keeping = threading.local()


@contextmanager
def ops_kept() -> Iterator[None]:
    """Keep the objects of ops that this thread makes of parameters, until this ends.

    A node holds no object of its op alone: each question for it makes another one.
    """
    before: list[Any] | None = getattr(_keeping, "ops", None)
    _keeping.ops = [] if before is None else before
    try:
        yield
    finally:
        _keeping.ops = before
