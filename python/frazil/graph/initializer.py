"""``__init__`` of frozen dataclasses without a text to compile.

Compiling the text of an ``__init__`` takes a tenth of a millisecond, and a first compilation makes
objects of thirty classes. The methods below, one for each number of fields, are compiled with this
module. The method of a class is a copy of their code with other names.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import FunctionType
from typing import Any

_set = object.__setattr__


def initializer(
    names: tuple[str, ...], defaults: Sequence[object], *, checks: bool = False
) -> FunctionType | None:
    """An ``__init__`` that takes these attributes and sets them; None if there are too many.

    Parameters
    ----------
    names : tuple of str
        The names of the parameters, in order, and of the attributes.
    defaults : sequence
        The defaults of the last of them, in order.
    checks : bool
        Whether ``__post_init__`` runs then. There must be an attribute.

    Examples
    --------
    >>> from frazil.graph.initializer import initializer
    >>> class Point:
    ...     __init__ = initializer(("x", "y"), [0])
    >>> vars(Point(1)), vars(Point(y=3, x=2))
    ({'x': 1, 'y': 0}, {'x': 2, 'y': 3})
    """
    if len(names) >= len(_SETTERS) or (checks and not names):
        return None
    code = _SETTERS[len(names)].__code__
    renamed = dict(zip(_LETTERS, names, strict=False))
    code = code.replace(
        co_name="__init__",
        co_qualname="__init__",
        co_varnames=("self", *names),
        co_consts=tuple([renamed.get(value, value) for value in code.co_consts]),
    )
    return FunctionType(code, _CHECKS if checks else _SETS, "__init__", tuple(defaults))


def _set_and_check(self: Any, name: str, value: object) -> None:
    """Set the last attribute."""
    _set(self, name, value)
    self.__post_init__()


_last = _set


_SETS = {"_set": _set, "_last": _set}
_CHECKS = {"_set": _set, "_last": _set_and_check}
_LETTERS = "abcdefghi"


def _0(self: object) -> None:
    pass


def _1(self: object, a: object) -> None:
    _last(self, "a", a)


def _2(self: object, a: object, b: object) -> None:
    _set(self, "a", a)
    _last(self, "b", b)


def _3(self: object, a: object, b: object, c: object) -> None:
    _set(self, "a", a)
    _set(self, "b", b)
    _last(self, "c", c)


def _4(self: object, a: object, b: object, c: object, d: object) -> None:
    _set(self, "a", a)
    _set(self, "b", b)
    _set(self, "c", c)
    _last(self, "d", d)


def _5(self: object, a: object, b: object, c: object, d: object, e: object) -> None:
    _set(self, "a", a)
    _set(self, "b", b)
    _set(self, "c", c)
    _set(self, "d", d)
    _last(self, "e", e)


def _6(self: object, a: object, b: object, c: object, d: object, e: object, f: object) -> None:
    _set(self, "a", a)
    _set(self, "b", b)
    _set(self, "c", c)
    _set(self, "d", d)
    _set(self, "e", e)
    _last(self, "f", f)


def _7(
    self: object, a: object, b: object, c: object, d: object, e: object, f: object, g: object
) -> None:
    _set(self, "a", a)
    _set(self, "b", b)
    _set(self, "c", c)
    _set(self, "d", d)
    _set(self, "e", e)
    _set(self, "f", f)
    _last(self, "g", g)


def _8(
    self: object,
    a: object,
    b: object,
    c: object,
    d: object,
    e: object,
    f: object,
    g: object,
    h: object,
) -> None:
    _set(self, "a", a)
    _set(self, "b", b)
    _set(self, "c", c)
    _set(self, "d", d)
    _set(self, "e", e)
    _set(self, "f", f)
    _set(self, "g", g)
    _last(self, "h", h)


def _9(
    self: object,
    a: object,
    b: object,
    c: object,
    d: object,
    e: object,
    f: object,
    g: object,
    h: object,
    i: object,
) -> None:
    _set(self, "a", a)
    _set(self, "b", b)
    _set(self, "c", c)
    _set(self, "d", d)
    _set(self, "e", e)
    _set(self, "f", f)
    _set(self, "g", g)
    _set(self, "h", h)
    _last(self, "i", i)


_SETTERS = (_0, _1, _2, _3, _4, _5, _6, _7, _8, _9)
