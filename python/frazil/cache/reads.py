"""The things that functions read besides arguments: globals, and attributes of modules."""

from __future__ import annotations

import builtins
import types
from collections.abc import Iterable, Iterator, Mapping

from frazil.cache.imports import global_names, imported_modules
from frazil.cache.modules import Unknowable, is_users, version_of

_BLIND = frozenset(("eval", "exec", "globals", "locals", "vars", "open", "input", "__import__"))
"""Builtins whose results depend on more than code."""


def globals_read(function: types.FunctionType) -> Iterator[tuple[str, object]]:
    """Return the globals and attributes of modules that a function may read, with their values.

    Functions that are defined in it count, too. An attribute of an object counts as a global of its
    name, as code does not tell them apart.
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
) -> Iterator[tuple[str, object]]:
    pending, seen = dict(modules), set()
    while pending:
        own, module = pending.popitem()
        if own in seen:
            continue
        seen.add(own)
        if module is None:
            raise Unknowable(f"it imports {own}, which is not imported yet")
        if not is_users(own):
            yield own, version_of(own)
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
