"""Methods of NumPy's arrays as functions, which take the same arguments, and items as functions.

Traced arrays have these methods. A variable's method of the same name takes other arguments.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from frazil._core import Variable
from frazil.tensor import index_syntax


def _reshape(x: Any, *shape: object, **arguments: Any) -> Any:
    if not shape:
        return np.reshape(x, **arguments)
    return np.reshape(x, shape if len(shape) > 1 else shape[0], **arguments)


def _transpose(x: Any, *axes: Any) -> object:
    if not axes:
        return np.transpose(x)
    return np.transpose(x, axes if len(axes) > 1 else axes[0])


def _compress(x: Any, condition: Any, axis: Any = None, out: Any = None) -> object:
    return np.compress(condition, x, axis, out)


def _clip(x: Any, min: Any = None, max: Any = None, out: Any = None) -> object:
    return np.clip(x, min, max, out)


METHODS: dict[str, Callable[..., Any]] = {
    **{name: getattr(np, name) for name in ("sum", "prod", "mean", "var", "std", "max", "min")},
    **{name: getattr(np, name) for name in ("all", "any", "argmax", "argmin", "argsort")},
    **{name: getattr(np, name) for name in ("nonzero", "cumsum", "cumprod", "diagonal", "trace")},
    **{name: getattr(np, name) for name in ("take", "repeat", "dot", "ravel", "squeeze")},
    **{name: getattr(np, name) for name in ("swapaxes", "round", "searchsorted")},
    "flatten": np.ravel,
    "reshape": _reshape,
    "transpose": _transpose,
    "compress": _compress,
    "clip": _clip,
}
"""By their names. They give traced arrays to NumPy, which asks those for ``__array_function__``."""


def as_type(x: Any, dtype: object) -> Any:
    """Return ``x`` in another dtype."""
    return x.astype(dtype)


def get_item(x: Any, index: object) -> Any:
    """Return a part."""
    return x[index]


def set_item(x: object, index: Any, value: Any) -> Any:
    """Return ``x`` with a part replaced."""
    if isinstance(x, Variable):
        return index_syntax.with_item(x, index, value, replace=True)
    made = np.array(x)
    made[index] = value
    return made


def add_item(x: object, index: Any, value: Any) -> Any:
    """Return ``x`` with a part increased."""
    if isinstance(x, Variable):
        return index_syntax.with_item(x, index, value, replace=False)
    made = np.array(x)
    np.add.at(made, index, value)
    return made


def takes_both(function: object) -> bool:
    """Whether a function takes variables as well as arrays of NumPy's."""
    return function in _OF_BOTH


_OF_BOTH = frozenset((as_type, get_item, set_item, add_item))
