"""The frame of the user's code on the stack, for messages and warnings."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

_PACKAGE = str(Path(__file__).parent.parent)
_IN_BETWEEN = {str(Path(_PACKAGE, "jit", name)) for name in ("traced.py", "array_methods.py")}
"""Files of functions that stand between the user's code and the function it calls."""


def called_function() -> str:
    """The name of the function of frazil that the user has called, as the user knows it.

    Examples
    --------
    >>> import frazil.tensor as ft
    >>> try:
    ...     ft.softmax(ft.vector("x"), axis=1)
    ... except ValueError as error:
    ...     print(error)
    softmax takes axes from -1 to 0 here: axis 1 is out of bounds for array of dimension 1
    """
    codes = [frame.f_code for frame in _own_frames()]
    names = [code.co_name for code in codes if code.co_filename not in _IN_BETWEEN]
    return next(name for name in reversed(names) if _is_known_to_users(name))


def _is_known_to_users(name: str) -> bool:
    if name.startswith("__"):
        return not name.startswith("__array_")
    return name.isidentifier() and not name.startswith("_")


def users_level() -> int:
    """The ``stacklevel`` at which a warning of the caller names the user's line."""
    # The frame of this function, which is counted, stands for the user's.
    return sum(1 for _ in _own_frames())


def _own_frames() -> Iterator[FrameType]:
    """The frames of frazil, innermost first, from the caller's caller on."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        yield frame
        frame = frame.f_back
