"""Lengths that are 1: NumPy broadcasts and drops them by their value, frazil by their type."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from frazil._core import Variable
from frazil.jit.array_methods import add_item, get_item, set_item
from frazil.jit.operands import deep
from frazil.jit.trace import Trace

_REPEATING = frozenset(
    (
        *(np.where, np.select, np.choose, np.clip, np.isclose, np.allclose, np.array_equiv),
        *(np.linspace, np.logspace, np.geomspace, np.cross, np.linalg.cross),
        *(np.broadcast_arrays, np.take_along_axis),
    )
)
"""Functions that are no ufuncs, and bring their operands into one shape."""


def typed(
    trace: Trace, function: Callable[..., Any], args: Sequence[Any], arguments: dict[str, object]
) -> Sequence[Any]:
    """Return arguments whose types say which lengths are 1 now, where the function asks for it."""
    if isinstance(function, np.ufunc):
        return trace.aligned(args)
    if function in _REPEATING:
        return _aligned(trace, args)
    if function is get_item:
        return args[0], _index(trace, args[1])
    if function in (set_item, add_item):
        x, index, value = args
        index = _index(trace, index)
        return x, index, trace.aligned([value, x[index]])[0] if _has_rows(value) else value
    if function is np.broadcast_to and isinstance(args[0], Variable):
        return trace.declared(args[0]), *args[1:]
    if function is np.squeeze and len(args) == 1 and arguments.get("axis") is None:
        return (trace.settled_ones(args[0]),)
    return args


def _has_rows(value: object) -> bool:
    return isinstance(value, Variable) and value.ndim > 0


def _index(trace: Trace, index: object) -> object:
    """An index whose arrays of integers have one shape. Masks are not repeated."""
    if type(index) is not tuple:
        return index
    arrays = [item for item in index if isinstance(item, Variable | np.ndarray) and item.ndim]
    if len(arrays) < 2 or any(item.dtype == "bool" for item in arrays):
        return index
    return _aligned(trace, index)


def _aligned(trace: Trace, given: Sequence[object]) -> tuple[object, ...]:
    """Arguments with their arrays aligned, those too that stand in lists."""
    found: list[Any] = []
    deep(found.append, tuple(given))
    aligned = iter(trace.aligned(found))
    made: tuple[Any, ...] = deep(lambda own: next(aligned), tuple(given))
    return made
