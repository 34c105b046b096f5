"""Operands beside traced arrays in the arguments of a function: other classes, containers."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from frazil._core import Traced, Variable
from frazil.jit.kinds import is_written_in_python

UNLIKE_ARRAYS = (str, bytes, type(None))
"""Classes of values that no array equals."""
_FAMILIAR = (
    *(Variable, np.generic, np.dtype, int, float, complex, list, tuple, dict, type),
    *UNLIKE_ARRAYS,
)
"""Classes that operands and arguments have here as with NumPy's arrays."""
_PROTOCOLS = ("__array_ufunc__", "__array_function__", "__array_priority__")


def is_foreign(value: object, is_operator: bool) -> bool:
    """Whether a value decides itself what is computed with arrays, as masked arrays do."""
    kind = type(value)
    if kind is np.ndarray or issubclass(kind, (Traced, *_FAMILIAR)):
        return False
    if issubclass(kind, np.ndarray) or any(hasattr(kind, name) for name in _PROTOCOLS):
        return True
    return is_operator and is_written_in_python(kind)


_OF_THEIR_OWN = {"numpy.ma": "a MaskedArray", "scipy.sparse": "a sparse matrix of SciPy's"}
"""Modules of classes whose methods take traced arrays for NumPy's, and what they are methods of."""


def class_that_asks() -> str | None:
    """The method of such a class that asks for elements of an array, two calls above."""
    module = str(sys._getframe(2).f_globals.get("__name__", ""))
    return next((told for name, told in _OF_THEIR_OWN.items() if module.startswith(name)), None)


def deep(change: Callable[[object], object], value: Any) -> Any:
    """Return ``value`` with the arrays changed that stand in lists, tuples, dicts and slices."""
    kind = type(value)
    if kind is tuple:
        return tuple([deep(change, part) for part in value])
    if kind is list:
        return [deep(change, part) for part in value]
    if kind is dict:
        return {key: deep(change, part) for key, part in value.items()}
    if kind is slice:
        return slice(*[deep(change, part) for part in (value.start, value.stop, value.step)])
    return change(value)
