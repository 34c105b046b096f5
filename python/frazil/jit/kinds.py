"""Kinds of values that a function may capture: values that may change, and values that are data."""

from __future__ import annotations

import collections
import datetime
import fractions
import functools
import re
import types
import weakref

import numpy as np

from frazil._core import OpBase, TensorType, Variable
from frazil.jit.callables import is_trusted_module
from frazil.jit.identity import is_one_of

SCALARS = (int, float, complex, bool, str, bytes, type(None), type(...), type(NotImplemented))
_NAMED_ELEMENT: type = type(vars(collections.namedtuple("_Named", "element"))["element"])
UNCHANGING = (
    _NAMED_ELEMENT,
    *(
        np.dtype,
        np.ufunc,
        np.generic,
        range,
        slice,
        re.Pattern,
        types.GenericAlias,
        types.UnionType,
    ),
    *(datetime.date, datetime.timedelta, datetime.time, datetime.tzinfo),
    *(fractions.Fraction, Variable, TensorType, OpBase, types.CodeType),
    *(types.GetSetDescriptorType, types.MemberDescriptorType, types.WrapperDescriptorType),
    *(types.MethodWrapperType, types.MethodDescriptorType, types.ClassMethodDescriptorType),
)
"""Classes whose instances never change, so that their identity says all."""
NOT_READ = frozenset(
    (
        *("__doc__", "__module__", "__qualname__", "__dict__", "__weakref__", "__annotations__"),
        *("__repr__", "__str__", "__dataclass_fields__", "__dataclass_params__", "__firstlineno__"),
        *(
            "__match_args__",
            "__static_attributes__",
            "__abstractmethods__",
            "__slots__",
            "_abc_impl",
        ),
        *(
            "__init_subclass__",
            "__subclasshook__",
            "__parameters__",
            "__orig_bases__",
            "__reduce__",
        ),
        *("__annotate__", "__annotate_func__", "__type_params__", "__replace__", "__sizeof__"),
        "__classdictcell__",
    )
)
"""The attributes of a class that are read only by name."""
_OF_ANY = (Variable, OpBase)
"""Classes whose subclasses, too, have instances that do not change."""
REMEMBERING = type(functools.lru_cache(id))
_HEAP_TYPE, _IMMUTABLE = 1 << 9, 1 << 8


def is_unchanging(kind: type) -> bool:
    """Whether the identity of an instance says all about it."""
    if not issubclass(kind, UNCHANGING):
        return False
    return kind is fractions.Fraction or issubclass(kind, _OF_ANY) or not is_written_in_python(kind)


def is_key(value: object) -> bool:
    """Whether no code of users runs when a value is hashed or compared.

    Examples
    --------
    >>> from frazil.jit.kinds import is_key
    >>> is_key(("a", 1)), is_key(object())
    (True, False)
    """
    kind = type(value)
    if kind is tuple:
        return all(map(is_key, value))  # type: ignore[call-overload]
    return is_one_of(kind, SCALARS) or kind is type


def is_data(value: object) -> bool:
    """Whether a captured value is data: no function, class, module or builtin.

    Examples
    --------
    >>> from frazil.jit.kinds import is_data
    >>> is_data(5), is_data(len), is_data(int)
    (True, False, False)
    """
    if isinstance(value, type | types.ModuleType):
        return False
    if isinstance(value, property | staticmethod | classmethod | functools.cached_property):
        return False
    if isinstance(value, functools.partial):
        return any(map(is_data, (value.func, *value.args, *value.keywords.values())))
    descriptors = (types.GetSetDescriptorType, types.MemberDescriptorType, _NAMED_ELEMENT)
    return not callable(value) and not isinstance(value, descriptors)


def is_written_in_python(kind: type) -> bool:
    """Whether a class statement made a class, so that its instances hold attributes and no more."""
    flags = kind.__flags__
    if not flags & _HEAP_TYPE or flags & _IMMUTABLE:
        return False
    own = vars(kind)
    slots = sum(type(member) is types.MemberDescriptorType for member in own.values())
    slots += ("__dict__" in own) + ("__weakref__" in own)
    base = kind.__base__
    return base is None or kind.__basicsize__ - base.__basicsize__ <= 8 * slots


def has_plain_layout(kind: type, base: type) -> bool:
    """Whether instances hold what instances of ``base`` hold, and attributes."""
    fixed = [one for one in kind.__mro__ if one is not object and not is_written_in_python(one)]
    return fixed == ([] if base is object else [base])


def told_state(value: object, path: str) -> str:
    kind = type(value)
    shown = (
        kind.__qualname__
        if kind.__module__ == "builtins"
        else (f"{kind.__module__}.{kind.__qualname__}")
    )
    if isinstance(value, weakref.ref):
        return f"{path} is a weak reference, which may die"
    return f"{path} is a {shown}, whose state cannot be told"


def belongs(value: object) -> bool:
    """Whether a value is of a package that does not depend on what its users change."""
    kind = type(value)
    if is_one_of(kind, SCALARS) or is_trusted_module(kind.__module__):
        return True
    if kind not in (types.FunctionType, types.BuiltinFunctionType, type):
        return False
    owner = getattr(value, "__self__", None)
    if owner is not None and type(owner) is not types.ModuleType:
        return is_trusted_module(type(owner).__module__)
    return is_trusted_module(value.__module__)


def is_dunder(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")
