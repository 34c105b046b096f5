"""The values that the ``impl`` of a user's op reads: machine code keeps those of its making."""

from __future__ import annotations

import builtins
import inspect
import types
from collections.abc import Iterator

import numpy as np

from frazil.cache.imports import global_names
from frazil.scalar.op import ScalarOp

_STABLE = frozenset(("math", "numpy", "scipy"))
"""Modules whose contents do not change."""


def function_of(op: ScalarOp) -> types.FunctionType | None:
    """The function ``impl`` as it was written; None where it is no Python function."""
    found = inspect.getattr_static(op, "impl")
    if isinstance(found, staticmethod):
        found = found.__func__
    return found if isinstance(found, types.FunctionType) else None


def held(op: ScalarOp) -> dict[str, object]:
    """The attributes of its op that ``impl`` reads: numbers, and tuples of them."""
    function = function_of(op)
    names = () if function is None else function.__code__.co_names
    # Numba's namedtuples have no names that begin with an underscore.
    read = [name for name in names if not name.startswith("_") and hasattr(op, name)]
    return {name: value for name in read if _is_number(value := getattr(op, name))}


def _is_number(value: object) -> bool:
    if isinstance(value, tuple):
        return bool(value) and all(map(_is_number, value))
    return isinstance(value, bool | int | float)


def faults_of_reads(function: types.FunctionType) -> Iterator[str | None]:
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


def _globals(function: types.FunctionType) -> Iterator[tuple[str, object]]:
    codes = [function.__code__]
    for code in codes:
        codes += (part for part in code.co_consts if isinstance(part, types.CodeType))
        for name in sorted(global_names(code)):
            yield name, function.__globals__.get(name, getattr(builtins, name, None))


def _content(cell: types.CellType) -> object:
    try:
        return cell.cell_contents
    except ValueError:
        return None  # not assigned yet


def _is_stable(value: object) -> bool:
    if isinstance(value, types.ModuleType):
        return value.__name__.partition(".")[0] in _STABLE
    return isinstance(value, np.ufunc | types.BuiltinFunctionType | type)
