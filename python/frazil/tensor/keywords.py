"""Names of arguments in other libraries, for functions that frazil has, too."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, MutableMapping
from typing import Any

from frazil.tensor.docstrings import renamed

_FIRST = (
    *("all", "any", "argmax", "argmin", "count_nonzero", "cumprod", "cumsum", "diagonal"),
    *("expand_dims", "flatnonzero", "full_like", "max", "min", "mean", "moveaxis", "nanargmax"),
    *("nanargmin", "nancumprod", "nancumsum", "nanmax", "nanmean", "nanmin", "nanprod", "nanstd"),
    *("nansum", "nanvar"),
    *("nonzero", "ones_like", "permute_dims", "prod", "ravel", "shape", "size", "squeeze", "std"),
    *("sum", "swapaxes", "trace", "transpose", "var", "zeros_like"),
)
"""Functions whose ``x`` is NumPy's ``a``."""

OTHERS: Mapping[str, Mapping[str, str]] = {
    **{name: {"a": "x"} for name in _FIRST},
    **{name: {"a": "x", "input": "x"} for name in ("mean", "prod", "std", "sum", "var")},
    **{name: {"x": "a"} for name in ("diff", "median", "roll", "searchsorted")},
    "broadcast_to": {"array": "x"},
    "clip": {"a": "x", "a_min": "min", "a_max": "max"},
    "empty_like": {"prototype": "x"},
    "eye": {"N": "n", "M": "m"},
    "flip": {"arr": "m"},
    "ones_like": {"a": "x", "model": "x"},
    "outer": {"a": "x1", "b": "x2", "x": "x1", "y": "x2"},
    "pad": {"x": "array"},
    "reshape": {"a": "x", "newshape": "shape"},
    "stack": {"arrays": "tensors"},
    "tril_indices_from": {"a": "arr"},
    "triu_indices_from": {"a": "arr"},
    "unravel_index": {"dims": "shape"},
    "zeros_like": {"a": "x", "model": "x"},
}
"""For functions of ``frazil.tensor``: NumPy's and PyTensor's names of arguments, and the own."""


def take_others(namespace: MutableMapping[str, Any]) -> None:
    """Have the functions of a module take the names of other libraries, too."""
    for name, others in OTHERS.items():
        namespace[name] = _taking(name, namespace[name], others)


def _taking(
    name: str, function: Callable[..., object], others: Mapping[str, str]
) -> Callable[..., object]:
    @functools.wraps(function)
    def call(*args: object, **kwargs: object) -> object:
        if not kwargs.keys().isdisjoint(others):
            for other in [key for key in kwargs if key in others]:
                own = others[other]
                if own in kwargs:
                    raise TypeError(f"{name} takes {own}= or {other}=, not both")
                kwargs[own] = kwargs.pop(other)
        return function(*args, **kwargs)

    made = renamed(call, name)
    made.__module__ = "frazil.tensor"
    return made
