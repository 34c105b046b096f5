"""Comparisons of classes that run no code of users: a metaclass may define ``__eq__``."""

from __future__ import annotations

from collections.abc import Container


def is_one_of(kind: type, kinds: Container[type]) -> bool:
    """Whether a class is one of some that have no metaclass of their own.

    Examples
    --------
    >>> from frazil.jit.identity import is_one_of
    >>> is_one_of(int, (float, int)), is_one_of(str, (float, int))
    (True, False)
    """
    return type(kind) is type and kind in kinds
