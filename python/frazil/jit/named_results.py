"""Tuples with names, for the several results of functions of linear algebra."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

NAMED = frozenset(
    (
        *(np.linalg.slogdet, np.linalg.eigh, np.linalg.qr, np.linalg.svd),
        *(np.broadcast_arrays, np.meshgrid),
        *(np.unique_all, np.unique_counts, np.unique_inverse),
    )
)
"""Functions of several results."""


def named(function: Callable[..., object], result: object) -> object:
    """Return several results as NumPy gives them: in a tuple of a class of its own."""
    kind = _class_of_results(function)
    fields = getattr(kind, "_fields", None)
    if isinstance(result, tuple | list) and fields is not None and len(fields) == len(result):
        return kind(*result)
    return tuple(result) if isinstance(result, list) else result


@cache
def _class_of_results(function: Callable[..., object]) -> type:
    return type(function(np.eye(1)))
