"""Attributes that are computed once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

Value = TypeVar("Value")


class cached_property(Generic[Value]):
    """An attribute that is computed on first access and kept.

    In Python 3.11 ``functools.cached_property`` holds a lock during the computation, so a child
    that is forked meanwhile waits for ever. This one has no lock: two threads may both compute the
    value, and the first one is kept.

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

    def __init__(self, compute: Callable[[Any], Value]) -> None:
        self._compute = compute
        self.__doc__ = compute.__doc__

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
        value: Value = vars(instance).setdefault(self._name, self._compute(instance))
        return value
