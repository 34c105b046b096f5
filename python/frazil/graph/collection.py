"""Whether a value is one value or several, asked without a lock of the interpreter.

``isinstance`` of an abstract class takes a lock in CPython: threads meet at it, and a process that
forks meanwhile leaves it held in the child. Nearly all values are of a few classes, which say at
once what they are. Only for values of other classes is the abstract class asked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from frazil._core import Variable

if TYPE_CHECKING:
    from typing_extensions import TypeIs

_SEVERAL = (tuple, list, range)
_ONE = (int, float, np.generic, np.ndarray, Variable, type(None))


def is_sequence(given: object) -> TypeIs[Sequence[Any]]:
    """Return whether ``given`` is a sequence; arrays and variables are none."""
    if isinstance(given, _SEVERAL):
        return True
    return not isinstance(given, (*_ONE, dict)) and isinstance(given, Sequence)


def is_mapping(given: object) -> TypeIs[Mapping[Any, Any]]:
    """Return whether ``given`` is a mapping."""
    if isinstance(given, dict):
        return True
    return not isinstance(given, (*_ONE, tuple, list)) and isinstance(given, Mapping)
