"""The digest of Python values by their content: functions, classes and instances.

A file may have changed since it was imported, and a module may hold functions of other modules. So
the digest of a function covers what it holds in this process: instructions, constants, variables of
its closure, defaults, the globals that it reads (:mod:`frazil.cache.reads`) and, through these, the
functions that it calls. frazil, NumPy and the standard library count by their versions, other
installed packages by name, file and version (:mod:`frazil.cache.modules`).
"""

from __future__ import annotations

import copyreg
import functools
import hashlib
import types
from collections.abc import Iterable
from typing import Any

import numpy as np

from frazil._core import FrozenFunctionGraph, OpBase
from frazil.cache.modules import Unknowable, find_named, is_frazil, is_users, version_of
from frazil.cache.reads import globals_read

_MOST_VALUES = 20_000
_MOST_BYTES = 1 << 26
"""Limits: a digest of more would take longer than the compilation that it saves."""

_ATOMS = (type(None), bool, int, float, complex, str, type(...), type(NotImplemented))
_NAMED = (
    types.WrapperDescriptorType,
    types.MethodDescriptorType,
    types.ClassMethodDescriptorType,
    types.GetSetDescriptorType,
    types.MemberDescriptorType,
)
# Whether equal values of these types are one object depends on the compiler.
_SHARED = (tuple, frozenset, bytes, types.CodeType)
_NO_CONTENT = frozenset(
    (
        *("__doc__", "__module__", "__qualname__", "__annotations__", "__annotate__"),
        *("__annotate_func__", "__annotations_cache__", "__dict__", "__weakref__"),
        *("__dataclass_fields__", "__dataclass_params__", "__firstlineno__", "_abc_impl"),
        *("__static_attributes__", "__type_params__", "__wrapped__", "_op_class"),
    )
)
"""Attributes that do not change what a function or class does, or that are covered otherwise."""


def digest(values: Iterable[object]) -> str:
    """Return the digest of values by their content; it is the same in every process.

    Raises
    ------
    Unknowable
        If they refer to something whose content cannot be determined.

    Examples
    --------
    >>> from frazil.cache.content import digest
    >>> def scaled(by):
    ...     return lambda x: by * x
    >>> digest([scaled(2)]) == digest([scaled(2)]), digest([scaled(2)]) == digest([scaled(3)])
    (True, False)
    """
    return _Walk().digest(values).hex()


class _Walk:
    """Visits values and all that they refer to, and hashes their content."""

    def __init__(self) -> None:
        self._hash = hashlib.blake2b(digest_size=20)
        self._seen: dict[int, int] = {}
        self._kept: list[Any] = []  # alive, so that no other object gets the id of one of these
        self._values = 0
        self._bytes = 0
        self._pending: list[Any] = []

    def digest(self, values: Iterable[object]) -> bytes:
        """The digest of the values, in order."""
        self._visit_next(list(values))
        try:
            while self._pending:
                self._visit(self._pending.pop())
        except Unknowable:
            raise
        except Exception as error:
            # A method of the value itself may raise anything.
            raise Unknowable(f"{type(error).__name__}: {error}") from error
        return self._hash.digest()

    def _hash_words(self, *words: str | bytes) -> None:
        for word in words:
            content = word.encode(errors="surrogatepass") if isinstance(word, str) else word
            self._hash.update(len(content).to_bytes(8, "little"))
            self._hash.update(content)

    def _visit_next(self, values: list[object]) -> None:
        """Visit these next, in order."""
        self._values += len(values)
        if self._values > _MOST_VALUES:
            raise Unknowable("it refers to too many values")
        self._hash_words(str(len(values)))
        self._pending += reversed(values)

    def _visit(self, value: object) -> None:
        if type(value) in _ATOMS:
            self._hash_words(type(value).__name__, repr(value))
            return
        if type(value) not in _SHARED:
            number = self._seen.setdefault(id(value), len(self._seen))
            if number < len(self._kept):
                self._hash_words("seen", str(number))
                return
            self._kept.append(value)
        self._visit_new(value)

    def _visit_new(self, value: Any) -> None:
        if isinstance(value, np.ndarray | np.generic | np.dtype | bytes | bytearray):
            self._visit_data(value)
        elif type(value) in (tuple, list):
            self._hash_words(type(value).__name__)
            self._visit_next(list(value))
        elif type(value) in (dict, types.MappingProxyType):
            self._hash_words("dict")
            self._visit_next([part for item in value.items() for part in item])
        elif type(value) in (set, frozenset):
            self._hash_words("set", *sorted(map(self._digest_alone, value)))
        elif isinstance(value, OpBase):
            self._visit_op(value)
        elif isinstance(value, FrozenFunctionGraph):
            self._hash_words("graph", value.digest)
            self._visit_next(list(dict.fromkeys(node.op for node in value.toposort())))
        else:
            self._visit_code(value)

    def _visit_op(self, op: Any) -> None:
        self._hash_words("op")
        self._visit_next([type(op), *op._params(), *_attributes(op)])

    def _digest_alone(self, value: object) -> bytes:
        """The digest of a member of a set, whose members have no order."""
        self._values += 1
        walk = _Walk()
        walk._values = self._values
        found = walk.digest([value])
        self._values = walk._values
        return found

    def _visit_data(self, value: object) -> None:
        if isinstance(value, np.dtype):
            self._hash_words("dtype", repr(value))
        elif isinstance(value, bytes | bytearray):
            self._hash_bytes(value)
        elif type(value) is not np.ndarray and not isinstance(value, np.generic):
            self._visit_instance(value)  # of a subclass, which may hold more
        elif value.dtype.hasobject:
            self._hash_words("objects", repr(value.shape))
            self._visit_next(value.reshape(-1).tolist())
        else:
            self._hash_words("array", repr(value.dtype), repr(value.shape))
            self._hash_bytes(np.ascontiguousarray(value).reshape(-1).view(np.uint8).data)

    def _hash_bytes(self, content: Any) -> None:
        size = memoryview(content).nbytes
        self._bytes += size
        if self._bytes > _MOST_BYTES:
            raise Unknowable("it refers to too much data")
        self._hash_words("bytes", str(size))
        self._hash.update(content)

    def _visit_code(self, value: object) -> None:
        if isinstance(value, types.FunctionType | type):
            self._visit_definition(value)
        elif isinstance(value, types.CodeType):
            self._hash_words("code", value.co_name, value.co_code, repr(_signature(value)))
            self._visit_next([*value.co_names, *value.co_varnames, *value.co_consts])
        elif isinstance(value, types.CellType):
            self._hash_words("cell")
            self._visit_next(_cell_contents(value))
        elif isinstance(value, types.ModuleType):
            raise Unknowable(f"it refers to the module {value.__name__} as a whole")
        elif isinstance(value, types.MethodType):
            self._hash_words("method")
            self._visit_next([value.__func__, value.__self__])
        elif isinstance(value, types.BuiltinFunctionType):
            self._visit_builtin(value)
        elif isinstance(value, _NAMED):
            self._hash_words("slot", value.__name__)
            self._visit_next([value.__objclass__])
        elif isinstance(value, staticmethod | classmethod):
            self._hash_words(type(value).__name__)
            self._visit_next([value.__func__])
        elif isinstance(value, property):
            self._hash_words("property")
            self._visit_next([value.fget, value.fset, value.fdel])
        elif isinstance(value, functools.cached_property):
            self._hash_words("cached_property")
            self._visit_next([value.func])
        elif isinstance(value, functools._lru_cache_wrapper):
            self._hash_words("cache")
            self._visit_next([value.__wrapped__])
        else:
            self._visit_instance(value)

    def _visit_definition(self, value: Any) -> None:
        """A function or class: by name if a version covers its module, else by content."""
        module, name = value.__module__, value.__qualname__
        if module is not None and not is_users(module) and find_named(module, name) is value:
            self._hash_words("named", module, name, version_of(module))
        elif isinstance(value, type):
            self._hash_words("class", name)
            attributes = {k: v for k, v in vars(value).items() if k not in _NO_CONTENT}
            listed = [part for item in sorted(attributes.items(), key=_first) for part in item]
            self._visit_next([type(value), value.__bases__, *listed])
        elif getattr(value, "registry", None) and hasattr(value, "dispatch"):
            self._hash_words("dispatch")
            self._visit_next([dict(value.registry)])
        else:
            self._hash_words("function")
            own = {k: v for k, v in vars(value).items() if k not in _NO_CONTENT}
            reads = [part for pair in globals_read(value) for part in pair]
            self._visit_next(
                [
                    *(value.__code__, value.__defaults__, value.__kwdefaults__),
                    *(value.__closure__, own, reads),
                ]
            )

    def _visit_builtin(self, value: Any) -> None:
        owner = value.__self__
        if owner is None or isinstance(owner, types.ModuleType):
            module = value.__module__ or getattr(owner, "__name__", "builtins")
            self._hash_words("named", module, value.__qualname__, version_of(module))
        else:
            self._hash_words("builtin", value.__name__)
            self._visit_next([owner])

    def _visit_instance(self, value: object) -> None:
        """Any other value: by what its pickle would hold."""
        kind = type(value)
        if isinstance(value, np.ufunc):
            self._hash_words("ufunc", _name_of_ufunc(value))
            return
        if (function := getattr(value, "py_func", None)) is not None and not is_users(
            kind.__module__
        ):
            # A function compiled by Numba: by the Python function.
            self._hash_words("compiled")
            self._visit_next([kind, function, getattr(value, "targetoptions", None)])
            return
        reduce = copyreg.dispatch_table.get(kind)
        reduced = value.__reduce_ex__(4) if reduce is None else reduce(value)
        if isinstance(reduced, str):
            module = getattr(value, "__module__", None)
            if module is None or is_users(module):
                raise Unknowable(f"it refers to {reduced}, a {kind.__qualname__}")
            self._hash_words("named", module, reduced, version_of(module))
            return
        self._hash_words("instance")
        made_by, arguments, *rest = reduced
        state = rest[0] if rest else None
        items = [list(part) if part is not None else None for part in rest[1:3]]
        self._visit_next([kind, made_by, arguments, state, items, *rest[3:]])


def _first(item: tuple[str, object]) -> str:
    return item[0]


def _attributes(op: OpBase) -> list[object]:
    """The attributes of a user's op, computed ones included."""
    if is_frazil(type(op)):
        return []
    held = {
        name: value
        for name, value in sorted(getattr(op, "__dict__", {}).items())
        if not isinstance(getattr(type(op), name, None), functools.cached_property)
    }
    flags = ("view_map", "destroy_map", "commutative", "pure", "distinct")
    scalar = ("nin", "nout", "rule", "c", "numba")
    return [held, *(getattr(op, name, None) for name in (*flags, *scalar))]


def _signature(code: types.CodeType) -> tuple[object, ...]:
    return (
        *(code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags),
        *(code.co_freevars, code.co_cellvars, getattr(code, "co_exceptiontable", b"")),
    )


def _cell_contents(cell: types.CellType) -> list[object]:
    try:
        return [cell.cell_contents]
    except ValueError:
        return []  # not assigned yet


def _name_of_ufunc(function: np.ufunc) -> str:
    for module in ("numpy", "scipy.special"):
        if find_named(module, function.__name__) is function:
            return f"{module}.{function.__name__} {version_of(module)}"
    raise Unknowable(f"it refers to a ufunc {function.__name__} that neither NumPy nor SciPy has")
