"""Attributes that are worked out once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

Value = TypeVar("Value")


class cached_property(Generic[Value]):
    """An attribute that is worked out when it is first asked for, and kept.

    That of ``functools`` locks in Python 3.11 whatever has the attribute while it is worked out: a
    child that is forked meanwhile waits for ever. Here nobody waits: two threads may both work it
    out, and the first value is that of all.

    Examples
    --------
    >>> from frazil.graph.cached_property import cached_property
    >>> class Word:
    ...     @cached_property
    ...     def letters(self):
    ...         return ["a", "b"]
    >>> word = Word()
    >>> word.letters is word.letters
    True
    """

    def __init__(self, work_out: Callable[[Any], Value]) -> None:
        self._work_out = work_out
        self.__doc__ = work_out.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type | None = None) -> cached_property[Value]: ...
    @overload
    def __get__(self, instance: object, owner: type | None = None) -> Value: ...
    def __get__(
        self, instance: object | None, owner: type | None = None
    ) -> cached_property[Value] | Value:
        if instance is None:
            return self
        value: Value = vars(instance).setdefault(self._name, self._work_out(instance))
        return value
