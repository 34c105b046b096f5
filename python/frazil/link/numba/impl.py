"""Which functions of users may become native: what Numba compiles, and computes as Python does.

Numba is imported for functions that nothing here refuses.
"""

from __future__ import annotations

import builtins
import importlib
import inspect
import types
from collections.abc import Iterator, Sequence
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from frazil.cache.content import is_frazil
from frazil.cache.imports import global_names
from frazil.scalar.op import ScalarOp

_STABLE = frozenset(("math", "numpy", "scipy"))
"""Modules whose contents nobody changes."""

_known: WeakKeyDictionary[ScalarOp, dict[tuple[tuple[str, ...], str], str | None]] = (
    WeakKeyDictionary()
)


def refusal(op: ScalarOp, params: Sequence[str], result: str) -> str | None:
    """Why ``impl`` cannot be compiled for operands and a result of these types; None if it can.

    Asked once an op and its types.
    """
    known = _known.setdefault(op, {})
    key = tuple(params), result
    if key not in known:
        known[key] = _refusal(op, *key)
    return known[key]


def _refusal(op: ScalarOp, params: tuple[str, ...], result: str) -> str | None:
    if is_frazil(type(op)):
        return "frazil has none for this type"
    if op.ufunc is not None or op.on_arrays is not None:
        return "it is computed by a function of whole arrays, and has no text for Numba"
    if "uint64" in params:
        return "Numba computes uint64 and other integers in float64, where Python is exact"
    function = function_of(op)
    if function is None:
        return "its impl is no function written in Python"
    for found in _read(function):
        if found is not None:
            return found
    try:
        jitted = importlib.import_module("frazil.link.numba.jitted")
    except Exception as error:
        return f"Numba cannot be imported: {type(error).__name__}: {error}"
    fault: str | None = jitted.fault(op, params, result)
    return fault


def function_of(op: ScalarOp) -> types.FunctionType | None:
    """What ``impl`` is, as it was written; None where it is no Python function."""
    found = inspect.getattr_static(op, "impl")
    if isinstance(found, staticmethod):
        found = found.__func__
    return found if isinstance(found, types.FunctionType) else None


def held(op: ScalarOp) -> dict[str, Any]:
    """What ``impl`` reads of its op: numbers, and tuples of them."""
    function = function_of(op)
    names = () if function is None else function.__code__.co_names
    # Numba's namedtuples have no names that begin with an underscore.
    read = [name for name in names if not name.startswith("_") and hasattr(op, name)]
    return {name: value for name in read if _is_number(value := getattr(op, name))}


def _is_number(value: object) -> bool:
    if isinstance(value, tuple):
        return bool(value) and all(map(_is_number, value))
    return isinstance(value, bool | int | float)


def _read(function: types.FunctionType) -> Iterator[str | None]:
    """For all that a function reads besides its operands: what is wrong with it, or None.

    Machine code holds what was there when it was made, so nothing may change later.
    """
    pending, seen = [function], {function}
    while pending:
        function = pending.pop()
        for name, value in _globals(function):
            yield (
                None
                if _is_stable(value)
                else (f"it reads the global {name}, which may change: make it a field of the op")
            )
        cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
        for name, cell in cells:
            value = _content(cell)
            value = getattr(value, "py_func", value)  # compiled by Numba already
            if not isinstance(value, types.FunctionType):
                fits = _is_number(value) or _is_stable(value)
                yield None if fits else f"it closes over {name}, which is no number"
            elif value not in seen:
                seen.add(value)
                pending.append(value)


def _globals(function: types.FunctionType) -> Iterator[tuple[str, Any]]:
    codes = [function.__code__]
    for code in codes:
        codes += (part for part in code.co_consts if isinstance(part, types.CodeType))
        for name in sorted(global_names(code)):
            yield name, function.__globals__.get(name, getattr(builtins, name, None))


def _content(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return None  # not assigned yet


def _is_stable(value: Any) -> bool:
    if isinstance(value, types.ModuleType):
        return value.__name__.partition(".")[0] in _STABLE
    return isinstance(value, np.ufunc | types.BuiltinFunctionType | type)
