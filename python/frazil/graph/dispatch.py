"""Functions that have a form for each class of their first argument.

The standard library's go through the abstract classes of all Python for each class that they meet
first: twenty microseconds, and a compilation took fifty such turns. Here a class has the form
of the first of its bases that has one.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any


def _singledispatch(function: Callable[..., object]) -> object:
    """Return a function that calls the form registered for the class of its first argument.

    It does what :func:`functools.singledispatch` does, but for classes that are no more than
    registered as subclasses of an abstract one.

    Parameters
    ----------
    function : callable
        The form for whatever has no other.

    Examples
    --------
    >>> from frazil.graph.dispatch import singledispatch
    >>> @singledispatch
    ... def kind(x):
    ...     return "something"
    >>> @kind.register
    ... def _(x: int):
    ...     return "a number"
    >>> kind(True), kind("a")
    ('a number', 'something')
    """
    known = functools.singledispatch(function)
    registry = known.registry

    def dispatch(cls: type[object]) -> Callable[..., object]:
        for base in cls.__mro__:
            found = registry.get(base)
            if found is not None:
                return found
        raise AssertionError("the function itself is the form of all objects")

    @functools.wraps(function)
    def wrapper(first: object, /, *others: object, **named: object) -> object:
        return dispatch(first.__class__)(first, *others, **named)

    made: Any = wrapper
    made.register, made.dispatch, made.registry = known.register, dispatch, registry
    return made


if TYPE_CHECKING:  # checkers of types know the standard library's
    from functools import singledispatch as singledispatch
else:
    singledispatch = _singledispatch
