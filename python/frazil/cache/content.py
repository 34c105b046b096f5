"""The content of Python code: what functions, classes and values are, wherever they were written.

What a file says now need not be what was imported from it, and what was imported may have been
made of other modules. So code is known by what it holds in this process: its instructions and
constants, what it closes over, its defaults, the globals it reads and, through these, the functions
that it calls. frazil, NumPy and the standard library are known by their versions, and other
installed packages by name, file and version.
"""

from __future__ import annotations

import builtins
import copyreg
import functools
import hashlib
import os
import sys
import sysconfig
import time
import types
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any

import numpy as np

from frazil._core import FrozenFunctionGraph
from frazil.cache.imports import global_names, imported_modules
from frazil.graph.op import Op

_MOST_VALUES = 20_000
_MOST_BYTES = 1 << 26
"""What takes longer to look at than to compile is not looked at."""

_BLIND = frozenset(("eval", "exec", "globals", "locals", "vars", "open", "input", "__import__"))
"""Builtins; what these give is in no code."""

_ATOMS = (type(None), bool, int, float, complex, str, type(...), type(NotImplemented))
_NAMED = (
    types.WrapperDescriptorType,
    types.MethodDescriptorType,
    types.ClassMethodDescriptorType,
    types.GetSetDescriptorType,
    types.MemberDescriptorType,
)
# Equal ones may be one object or several, as the compiler or a file of bytecode has it.
_SHARED = (tuple, frozenset, bytes, types.CodeType)
_NO_CONTENT = frozenset(
    (
        *("__doc__", "__module__", "__qualname__", "__annotations__", "__annotate__"),
        *("__annotate_func__", "__annotations_cache__", "__dict__", "__weakref__"),
        *("__dataclass_fields__", "__dataclass_params__", "__firstlineno__", "_abc_impl"),
        *("__static_attributes__", "__type_params__", "__wrapped__", "_op_class"),
        "_op_class",
    )
)
"""Attributes of functions and classes that say nothing of what these do, or are looked at anyway"""


class Unknowable(Exception):
    """A value whose content cannot be told; the message says which."""


def digest(values: Iterable[Any]) -> str:
    """The digest of the content of values: the same in every process where they do the same.

    Raises
    ------
    Unknowable
        If the content of something that they refer to cannot be told.

    Examples
    --------
    >>> from frazil.cache.content import digest
    >>> def scaled(by):
    ...     return lambda x: by * x
    >>> digest([scaled(2)]) == digest([scaled(2)]), digest([scaled(2)]) == digest([scaled(3)])
    (True, False)
    """
    return _Walk().digest(values).hex()


def is_frazil(value: Any) -> bool:
    """Whether a class or function is one of frazil's own."""
    return _top(value.__module__) == "frazil"


class _Walk:
    """Goes through values and all that they refer to, and feeds a hash with what there is."""

    def __init__(self) -> None:
        self._hash = hashlib.blake2b(digest_size=20)
        self._seen: dict[int, int] = {}
        self._kept: list[Any] = []  # no other object gets the number of one that was seen
        self._values = 0
        self._bytes = 0
        self._pending: list[Any] = []

    def digest(self, values: Iterable[Any]) -> bytes:
        """The digest of the values, in order."""
        self._later(list(values))
        try:
            while self._pending:
                self._look(self._pending.pop())
        except Unknowable:
            raise
        except Exception as error:
            # Code of the values' own says what they are made of.
            raise Unknowable(f"{type(error).__name__}: {error}") from error
        return self._hash.digest()

    def _tell(self, *words: str | bytes) -> None:
        for word in words:
            content = word.encode(errors="surrogatepass") if isinstance(word, str) else word
            self._hash.update(len(content).to_bytes(8, "little"))
            self._hash.update(content)

    def _later(self, values: list[Any]) -> None:
        """Looks at these next, in order."""
        self._values += len(values)
        if self._values > _MOST_VALUES:
            raise Unknowable("it refers to too many values")
        self._tell(str(len(values)))
        self._pending += reversed(values)

    def _look(self, value: Any) -> None:
        if type(value) in _ATOMS:
            self._tell(type(value).__name__, repr(value))
            return
        if type(value) not in _SHARED:
            number = self._seen.setdefault(id(value), len(self._seen))
            if number < len(self._kept):
                self._tell("seen", str(number))
                return
            self._kept.append(value)
        self._look_at_new(value)

    def _look_at_new(self, value: Any) -> None:
        if isinstance(value, np.ndarray | np.generic | np.dtype | bytes | bytearray):
            self._look_at_data(value)
        elif type(value) in (tuple, list):
            self._tell(type(value).__name__)
            self._later(list(value))
        elif type(value) in (dict, types.MappingProxyType):
            self._tell("dict")
            self._later([part for item in value.items() for part in item])
        elif type(value) in (set, frozenset):
            self._tell("set", *sorted(map(self._digest_alone, value)))
        elif isinstance(value, Op):
            self._tell("op")
            self._later([type(value), *value._params(), *_said(value)])
        elif isinstance(value, FrozenFunctionGraph):
            self._tell("graph", value.digest)
            self._later(list(dict.fromkeys(node.op for node in value.toposort())))
        else:
            self._look_at_code(value)

    def _digest_alone(self, value: Any) -> bytes:
        """The digest of a member of a set, whose members have no order."""
        self._values += 1
        walk = _Walk()
        walk._values = self._values
        found = walk.digest([value])
        self._values = walk._values
        return found

    def _look_at_data(self, value: Any) -> None:
        if isinstance(value, np.dtype):
            self._tell("dtype", repr(value))
        elif isinstance(value, bytes | bytearray):
            self._take(value)
        elif type(value) is not np.ndarray and not isinstance(value, np.generic):
            self._look_at_instance(value)  # of a subclass, which may hold more
        elif value.dtype.hasobject:
            self._tell("objects", repr(value.shape))
            self._later(value.reshape(-1).tolist())
        else:
            self._tell("array", repr(value.dtype), repr(value.shape))
            self._take(np.ascontiguousarray(value).reshape(-1).view(np.uint8).data)

    def _take(self, content: Any) -> None:
        size = memoryview(content).nbytes
        self._bytes += size
        if self._bytes > _MOST_BYTES:
            raise Unknowable("it refers to too much data")
        self._tell("bytes", str(size))
        self._hash.update(content)

    def _look_at_code(self, value: Any) -> None:
        if isinstance(value, types.FunctionType | type):
            self._look_at_definition(value)
        elif isinstance(value, types.CodeType):
            self._tell("code", value.co_name, value.co_code, repr(_shape_of_call(value)))
            self._later([*value.co_names, *value.co_varnames, *value.co_consts])
        elif isinstance(value, types.CellType):
            self._tell("cell")
            self._later(_held(value))
        elif isinstance(value, types.ModuleType):
            raise Unknowable(f"it refers to the module {value.__name__} as a whole")
        elif isinstance(value, types.MethodType):
            self._tell("method")
            self._later([value.__func__, value.__self__])
        elif isinstance(value, types.BuiltinFunctionType):
            self._look_at_builtin(value)
        elif isinstance(value, _NAMED):
            self._tell("slot", value.__name__)
            self._later([value.__objclass__])
        elif isinstance(value, staticmethod | classmethod):
            self._tell(type(value).__name__)
            self._later([value.__func__])
        elif isinstance(value, property):
            self._tell("property")
            self._later([value.fget, value.fset, value.fdel])
        elif isinstance(value, functools.cached_property):
            self._tell("cached_property")
            self._later([value.func])
        elif isinstance(value, functools._lru_cache_wrapper):
            self._tell("cache")
            self._later([value.__wrapped__])
        else:
            self._look_at_instance(value)

    def _look_at_definition(self, value: Any) -> None:
        """A function or class: by name where a version says what it is, else by content."""
        module, name = value.__module__, value.__qualname__
        if module is not None and not _is_users(module) and _found(module, name) is value:
            self._tell("named", module, name, _version_of(module))
        elif isinstance(value, type):
            self._tell("class", name)
            attributes = {k: v for k, v in vars(value).items() if k not in _NO_CONTENT}
            listed = [part for item in sorted(attributes.items(), key=_first) for part in item]
            self._later([type(value), value.__bases__, *listed])
        elif getattr(value, "registry", None) and hasattr(value, "dispatch"):
            self._tell("dispatch")
            self._later([dict(value.registry)])
        else:
            self._tell("function")
            own = {k: v for k, v in vars(value).items() if k not in _NO_CONTENT}
            reads = [part for pair in _globals_read(value) for part in pair]
            self._later(
                [
                    *(value.__code__, value.__defaults__, value.__kwdefaults__),
                    *(value.__closure__, own, reads),
                ]
            )

    def _look_at_builtin(self, value: Any) -> None:
        owner = value.__self__
        if owner is None or isinstance(owner, types.ModuleType):
            module = value.__module__ or getattr(owner, "__name__", "builtins")
            self._tell("named", module, value.__qualname__, _version_of(module))
        else:
            self._tell("builtin", value.__name__)
            self._later([owner])

    def _look_at_instance(self, value: Any) -> None:
        """What has no form of its own here: what a pickle of it would hold."""
        kind = type(value)
        if isinstance(value, np.ufunc):
            self._tell("ufunc", _place_of_ufunc(value))
            return
        if (function := getattr(value, "py_func", None)) is not None and not _is_users(
            kind.__module__
        ):
            # What Numba compiles is known by what it compiles.
            self._tell("compiled")
            self._later([kind, function, getattr(value, "targetoptions", None)])
            return
        reduce = copyreg.dispatch_table.get(kind)
        reduced = value.__reduce_ex__(4) if reduce is None else reduce(value)
        if isinstance(reduced, str):
            module = getattr(value, "__module__", None)
            if module is None or _is_users(module):
                raise Unknowable(f"it refers to {reduced}, a {kind.__qualname__}")
            self._tell("named", module, reduced, _version_of(module))
            return
        self._tell("instance")
        made_by, arguments, *rest = reduced
        state = rest[0] if rest else None
        items = [list(part) if part is not None else None for part in rest[1:3]]
        self._later([kind, made_by, arguments, state, items, *rest[3:]])


def _first(item: tuple[str, Any]) -> str:
    return item[0]


def _said(op: Op) -> list[Any]:
    """What an op of the user's says of itself, which a property may work out, and holds."""
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


def _shape_of_call(code: types.CodeType) -> tuple[Any, ...]:
    return (
        *(code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags),
        *(code.co_freevars, code.co_cellvars, getattr(code, "co_exceptiontable", b"")),
    )


def _held(cell: types.CellType) -> list[Any]:
    try:
        return [cell.cell_contents]
    except ValueError:
        return []  # not assigned yet


def _globals_read(function: types.FunctionType) -> Iterator[tuple[str, Any]]:
    """What a function, and those defined in it, may read of its module and of what it imports.

    A name that is read of an object is taken for a global of that name, too.
    """
    namespace = function.__globals__
    for code in _codes(function.__code__):
        names = code.co_names
        modules = imported_modules(code, namespace)
        for name in names:
            if name in namespace:
                found = namespace[name]
            elif name in _BLIND and name in global_names(code):
                raise Unknowable(f"{function.__qualname__} calls {name}")
            else:
                found = vars(builtins).get(name)
            if isinstance(found, types.ModuleType):
                modules[found.__name__] = found
            elif found is not None or name in namespace:
                yield name, found
        yield from _read_of_modules(modules, names)


def _read_of_modules(
    modules: Mapping[str, types.ModuleType | None], names: Iterable[str]
) -> Iterator[tuple[str, Any]]:
    pending, seen = dict(modules), set()
    while pending:
        own, module = pending.popitem()
        if own in seen:
            continue
        seen.add(own)
        if module is None:
            raise Unknowable(f"it imports {own}, which is not imported yet")
        if not _is_users(own):
            yield own, _version_of(own)
            continue
        if "getattr" in names:
            raise Unknowable(f"it may read anything of {own}")
        for name in names:
            value = vars(module).get(name)
            if isinstance(value, types.ModuleType):
                pending[value.__name__] = value
            elif name in vars(module):
                yield f"{own}.{name}", value


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    pending = [code]
    while pending:
        code = pending.pop()
        yield code
        pending += [const for const in code.co_consts if isinstance(const, types.CodeType)]


def _found(module: str, name: str) -> Any:
    """What has that name in a module; None if nothing has."""
    value: Any = sys.modules.get(module)
    for part in name.split("."):
        value = getattr(value, part, None)
    return value


def _place_of_ufunc(function: np.ufunc) -> str:
    for module in ("numpy", "scipy.special"):
        if _found(module, function.__name__) is function:
            return f"{module}.{function.__name__} {_version_of(module)}"
    raise Unknowable(f"it refers to a ufunc {function.__name__} that neither NumPy nor SciPy has")


def _top(module: str | None) -> str:
    return (module or "").partition(".")[0]


@cache
def _is_users(module: str) -> bool:
    """Whether a module is neither frazil's, nor of the standard library, nor installed."""
    top = _top(module)
    if top in ("frazil", "numpy") or _is_standard(module):
        return False
    place = _file(module)
    return place is None or not place.startswith(_installed_folders())


@cache
def _is_standard(module: str) -> bool:
    """Whether a module is of the standard library, and not one of the user's of that name."""
    if _top(module) not in sys.stdlib_module_names:
        return False
    place, standard = _file(module), os.path.realpath(os.path.dirname(os.__file__))
    return place is None or place.startswith(os.path.join(standard, ""))


def _version_of(module: str) -> str:
    """What says which content a module that is not the user's has."""
    if _is_standard(module):
        return sys.version
    if _top(module) in ("frazil", "numpy"):
        return ""  # part of every key
    return _installed_version(module)


@cache
def _installed_version(module: str) -> str:
    """The file of an installed module, and all that is installed beside it.

    Raises
    ------
    Unknowable
        If these changed since frazil was imported: what runs may be what was there before.
    """
    place = _file(module)
    if place is None:
        raise Unknowable(f"it refers to {module}, which has no file")
    told = [place]
    folders = [folder for folder in _installed_folders() if place.startswith(folder)]
    for path in (place, *folders):
        status = os.stat(path)
        if max(status.st_mtime, status.st_ctime) > _STARTED:
            raise Unknowable(f"{path} has changed")
        told.append(f"{status.st_size} {status.st_mtime_ns}")
    for folder in folders:
        names = os.listdir(folder)
        told += sorted(name for name in names if name.endswith((".dist-info", ".egg-info")))
    return "\n".join(told)


def _file(module: str) -> str | None:
    place = getattr(sys.modules.get(module), "__file__", None)
    return None if place is None else os.path.realpath(place)


@cache
def _installed_folders() -> tuple[str, ...]:
    paths = sysconfig.get_paths()
    names = ("purelib", "platlib")
    return tuple({os.path.join(os.path.realpath(paths[name]), "") for name in names})


_STARTED = time.time()
