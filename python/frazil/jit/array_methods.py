"""Methods and items as functions, which take variables as well as arrays of NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as np

from frazil._core import Variable
from frazil.tensor import items

METHODS = (
    *("sum", "prod", "mean", "var", "std", "max", "min", "all", "any", "argmax", "argmin"),
    *("argsort", "nonzero", "cumsum", "cumprod", "diagonal", "trace", "take", "repeat", "dot"),
    *("reshape", "ravel", "flatten", "squeeze", "transpose", "swapaxes", "astype", "clip", "round"),
)
"""The methods that variables and arrays have both."""


class Method:
    """A method that variables and arrays have, as a function."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, x: Any, *args: Any, **kwargs: Any) -> Any:
        return getattr(x, self.name)(*args, **kwargs)


def get_item(x: Any, index: Any) -> Any:
    """Return a part."""
    return x[index]


def set_item(x: Any, index: Any, value: Any) -> Any:
    """Return ``x`` with a part replaced."""
    if isinstance(x, Variable):
        return items.set_subtensor(x[index], value)
    made = np.array(x)
    made[index] = value
    return made


def add_item(x: Any, index: Any, value: Any) -> Any:
    """Return ``x`` with a part increased."""
    if isinstance(x, Variable):
        return items.inc_subtensor(x[index], value)
    made = np.array(x)
    np.add.at(made, index, value)
    return made


def takes_both(function: Any) -> bool:
    """Whether a function is one of those here."""
    return type(function) is Method or function in _OF_ITEMS


_OF_ITEMS = frozenset((get_item, set_item, add_item))
