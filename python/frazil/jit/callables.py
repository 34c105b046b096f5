"""The functions and classes written in C that a compiled function may call.

They return the same for the same arguments, and change nothing but these. If they change an object
that a function captured, its guards notice.
"""

from __future__ import annotations

import _abc  # type: ignore[import-not-found]
import builtins
import collections
import datetime
import functools
import itertools
import operator
import os
import re
import types
import typing
from pathlib import Path

import numpy as np

from frazil.jit.identity import is_one_of

_MODULES = frozenset(
    ("math", "cmath", "_operator", "operator", "itertools", "_functools", "_struct", "binascii")
)
_TRUSTED = ("numpy", "scipy", "frazil", "_pytest")
"""pytest makes ``assert`` call functions of its own, which only report failures."""
_UNTRUSTED = ("numpy.random", "scipy.stats._qmc", "scipy.io")
_BUILTINS = frozenset(
    (
        *("abs", "aiter", "all", "anext", "any", "ascii", "bin", "callable", "chr", "delattr"),
        *("dir", "divmod", "format", "getattr", "hasattr", "hash", "hex", "isinstance", "iter"),
        *("issubclass", "len", "max", "min", "next", "oct", "ord", "pow", "repr", "round"),
        *("setattr", "sorted", "sum", "vars", "__build_class__", "__import__"),
    )
)
_SETTINGS = frozenset(
    (
        *("errstate", "geterr", "geterrcall", "getbufsize", "get_printoptions", "printoptions"),
        *("seterr", "seterrcall", "setbufsize", "set_printoptions"),
        *("array2string", "array_repr", "array_str"),
    )
)
_FILES = frozenset(("tofile", "dump", "fromfile"))
_PLAIN: tuple[type, ...] = (
    *(bool, int, float, complex, str, bytes, bytearray, list, tuple, dict, set, frozenset, range),
    *(slice, memoryview, type(None), np.ndarray, np.generic, np.dtype, types.GeneratorType),
    *(type({}.keys()), type({}.values()), type({}.items()), types.MappingProxyType),
    *(re.Pattern, re.Match, collections.deque, collections.OrderedDict, collections.defaultdict),
    *(datetime.date, datetime.timedelta, datetime.time),
)
"""Classes whose methods do nothing else than their arguments say."""

_TYPES = frozenset(
    (
        *_PLAIN,
        *(enumerate, zip, map, filter, reversed, type, object, super, property, staticmethod),
        *(classmethod, functools.partial, types.SimpleNamespace, types.MethodType),
        *(types.GenericAlias, types.UnionType, typing.Generic),
        *(operator.itemgetter, operator.attrgetter, operator.methodcaller),
        *(own for own in vars(itertools).values() if isinstance(own, type)),
        *(own for own in vars(builtins).values() if isinstance(own, type)),
    )
)
_OF_TYPES = frozenset(
    ("fromkeys", "from_bytes", "fromhex", "maketrans", "__new__", "mro", "from_float", "as_integer")
)


def is_trusted_module(name: str | None) -> bool:
    """Whether a package does not depend on what its users change: its code is not read.

    Examples
    --------
    >>> from frazil.jit.callables import is_trusted_module
    >>> is_trusted_module("numpy.linalg"), is_trusted_module("numpy.random.mtrand")
    (True, False)
    """
    if name is None or name.startswith(_UNTRUSTED):
        return False
    return name.partition(".")[0] in _TRUSTED


def reads_state(module: str, name: str) -> bool:
    """Whether a function of NumPy's gives a setting of NumPy, as of ``np.errstate``.

    Examples
    --------
    >>> from frazil.jit.callables import reads_state
    >>> reads_state("numpy", "geterr"), reads_state("numpy", "exp")
    (True, False)
    """
    return module == "numpy" and name in _SETTINGS


@functools.cache
def trusted_folders() -> tuple[str, ...]:
    """Folders of packages that do not depend on changes by users."""
    own, numpy = Path(__file__).parent.parent, Path(np.__file__).parent
    return tuple(f"{folder}{os.sep}" for folder in (own, numpy, numpy.parent / "scipy"))


def is_trusted_code(code: types.CodeType) -> bool:
    """Whether code is of a package that does not depend on what its users change."""
    return code.co_filename.startswith(trusted_folders())


def is_allowed_class(kind: type) -> bool:
    """Whether a class written in C makes the same of the same arguments."""
    if is_one_of(kind, _TYPES) or issubclass(kind, BaseException):
        return True
    return is_trusted_module(kind.__module__)


def is_check_of_abstract_class(function: object) -> bool:
    """Whether a function of C says what ``isinstance`` and ``issubclass`` say of abstract classes.

    It depends on the classes that are registered with these.
    """
    return function is _abc._abc_instancecheck or function is _abc._abc_subclasscheck


def refusal_of(function: object) -> str | None:
    """Return how one names a function of C that may not be called; None for one that may."""
    name = getattr(function, "__name__", repr(function))
    owner = getattr(function, "__self__", None)
    module = getattr(function, "__module__", None)
    if owner is None or isinstance(owner, types.ModuleType):
        if module is None and owner is None:
            return None if _is_plain_method(function) else name
        place = module or getattr(owner, "__name__", "")
        if place == "builtins":
            return None if name in _BUILTINS else name
        allowed = place in _MODULES or is_trusted_module(place)
        return None if allowed and name not in _FILES else f"{place}.{name}"
    if isinstance(owner, type):
        allowed = (is_one_of(owner, _PLAIN) or owner is object) and name in _OF_TYPES
        allowed = allowed or name in (
            "__new__",
            "__init_subclass__",
            "__subclasshook__",
            "__prepare__",
        )
        allowed = allowed or is_trusted_module(owner.__module__)
        return None if allowed else f"{owner.__qualname__}.{name}"
    if isinstance(owner, _PLAIN) or is_trusted_module(type(owner).__module__):
        return f"{type(owner).__name__}.{name}" if name in _FILES else None
    if is_one_of(type(owner), _TYPES) or isinstance(owner, BaseException):
        return None
    return f"{type(owner).__module__}.{type(owner).__qualname__}.{name}"


def _is_plain_method(function: object) -> bool:
    kind = getattr(function, "__objclass__", None)
    return kind is not None and is_allowed_class(kind)
