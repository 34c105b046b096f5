"""Conversion of keyword arguments of SciPy to values that an op can hold, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from frazil.graph.collection import is_mapping

Options = tuple[tuple[str, Any], ...]

_MAPPING, _LIST = "mapping", "list"


def freeze_options(given: Mapping[str, object] | None) -> Options:
    """Return the arguments as tuples, sorted by name, so that their order makes no difference.

    Examples
    --------
    >>> from frazil.optimize.options import freeze_options, thaw_options
    >>> frozen = freeze_options({"tol": 1e-8, "options": {"maxiter": 10}})
    >>> frozen
    (('options', ('mapping', ('maxiter', 10))), ('tol', 1e-08))
    >>> thaw_options(frozen)
    {'options': {'maxiter': 10}, 'tol': 1e-08}
    """
    given = given or {}
    return tuple((name, _frozen(given[name], name)) for name in sorted(given))


def thaw_options(options: Options) -> dict[str, Any]:
    """Return the arguments that :func:`freeze_options` was given; sequences as lists."""
    return {name: _thawed(value) for name, value in options}


def _frozen(value: object, name: str) -> object:
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, np.generic | np.ndarray):
        return _frozen(value.tolist(), name)
    if is_mapping(value):
        return (_MAPPING, *((key, _frozen(value[key], name)) for key in sorted(value)))
    if isinstance(value, list | tuple):
        return (_LIST, *(_frozen(one, name) for one in value))
    raise TypeError(
        f"optimizer_kwargs[{name!r}] must be made of numbers, strings, None, lists and dicts, as "
        f"it is part of the op; given {value!r} of type {type(value).__name__}"
    )


def _thawed(value: object) -> object:
    if not isinstance(value, tuple):
        return value
    kind, *parts = value
    if kind == _MAPPING:
        return {key: _thawed(one) for key, one in parts}
    return [_thawed(one) for one in parts]
