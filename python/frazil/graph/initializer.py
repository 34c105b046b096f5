"""``__init__`` of frozen dataclasses without a text to compile.

To compile the text of one takes a tenth of a millisecond, and a first compilation makes objects of
thirty classes. The methods below, one for each number of fields, are compiled with this module;
one for a class is a copy of its code with other names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import FunctionType
from typing import Any

_set = object.__setattr__


def initializer(names: Sequence[str], defaults: Mapping[str, Any]) -> FunctionType | None:
    """An ``__init__`` that takes these attributes and sets them; None if there are too many.

    Parameters
    ----------
    names : sequence of str
        What the parameters are called, in order, and the attributes.
    defaults : mapping
        The defaults of the last of them.

    Examples
    --------
    >>> from frazil.graph.initializer import initializer
    >>> class Point:
    ...     __init__ = initializer(["x", "y"], {"y": 0})
    >>> vars(Point(1)), vars(Point(y=3, x=2))
    ({'x': 1, 'y': 0}, {'x': 2, 'y': 3})
    """
    if len(names) >= len(_SETTERS):
        return None
    code = _SETTERS[len(names)].__code__
    renamed = dict(zip(_LETTERS, names, strict=False))
    code = code.replace(
        co_name="__init__",
        co_qualname="__init__",
        co_varnames=("self", *names),
        co_consts=tuple(renamed.get(value, value) for value in code.co_consts),
    )
    return FunctionType(code, {"_set": _set}, "__init__", tuple(defaults.values()))


_LETTERS = "abcdefgh"


def _0(self: object) -> None:
    pass


def _1(self: object, a: Any) -> None:
    _set(self, "a", a)


def _2(self: object, a: Any, b: Any) -> None:
    _set(self, "a", a)
    _set(self, "b", b)


def _3(self: object, a: Any, b: Any, c: Any) -> None:
    _set(self, "a", a)
    _set(self, "b", b)
    _set(self, "c", c)


def _4(self: object, a: Any, b: Any, c: Any, d: Any) -> None:
    _set(self, "a", a)
    _set(self, "b", b)
    _set(self, "c", c)
    _set(self, "d", d)


def _5(self: object, a: Any, b: Any, c: Any, d: Any, e: Any) -> None:
    _set(self, "a", a)
    _set(self, "b", b)
    _set(self, "c", c)
    _set(self, "d", d)
    _set(self, "e", e)


def _6(self: object, a: Any, b: Any, c: Any, d: Any, e: Any, f: Any) -> None:
    _set(self, "a", a)
    _set(self, "b", b)
    _set(self, "c", c)
    _set(self, "d", d)
    _set(self, "e", e)
    _set(self, "f", f)


def _7(self: object, a: Any, b: Any, c: Any, d: Any, e: Any, f: Any, g: Any) -> None:
    _set(self, "a", a)
    _set(self, "b", b)
    _set(self, "c", c)
    _set(self, "d", d)
    _set(self, "e", e)
    _set(self, "f", f)
    _set(self, "g", g)


def _8(self: object, a: Any, b: Any, c: Any, d: Any, e: Any, f: Any, g: Any, h: Any) -> None:
    _set(self, "a", a)
    _set(self, "b", b)
    _set(self, "c", c)
    _set(self, "d", d)
    _set(self, "e", e)
    _set(self, "f", f)
    _set(self, "g", g)
    _set(self, "h", h)


_SETTERS = (_0, _1, _2, _3, _4, _5, _6, _7, _8)
