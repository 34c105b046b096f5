"""Functions that have a form for each class of their first argument.

The standard library's go through the abstract classes of all Python for each class that they meet
first: twenty microseconds, and a compilation took fifty such turns. Here a class has the form
of the first of its bases that has one.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, get_args, get_type_hints


def _singledispatch(function: Callable[..., object]) -> object:
    """Return a function that calls the form registered for the class of its first argument.

    It does what :func:`functools.singledispatch` does, except for classes that are registered as
    subclasses of an abstract class and do not derive from it.

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
        cls = first.__class__
        form = registry.get(cls)  # most often one of its own
        return (dispatch(cls) if form is None else form)(first, *others, **named)

    made: Any = wrapper
    made.register, made.dispatch, made.registry = known.register, dispatch, registry
    return made


def check_classes(dispatched: Any, check: Callable[[type[object]], None]) -> None:
    """Call ``check`` with each class that a form is registered for from now on.

    Parameters
    ----------
    dispatched : callable
        A function that :func:`singledispatch` made.
    check : callable
        Raises an error if the class is none to register a form for.

    Examples
    --------
    >>> from frazil.graph.dispatch import check_classes, singledispatch
    >>> @singledispatch
    ... def kind(x):
    ...     return "something"
    >>> check_classes(kind, print)
    >>> form = kind.register(int, lambda x: "a number")
    <class 'int'>
    >>> kind(1)
    'a number'
    """
    register = dispatched.register

    @functools.wraps(register)
    def checked(kind: object, form: object = None) -> Any:
        annotated = not isinstance(kind, type) and getattr(kind, "__annotations__", None)
        first = next(iter(get_type_hints(kind).values())) if annotated else kind
        for each in get_args(first) or (first,):
            if isinstance(each, type):
                check(each)
        return register(kind, form)

    dispatched.register = checked


if TYPE_CHECKING:  # checkers of types know the standard library's
    from functools import singledispatch as singledispatch
else:
    singledispatch = _singledispatch
