"""Docstrings of functions that are made alike: a text for all of them, and the words of each."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import TypeVar, cast

Function = TypeVar("Function", bound=Callable[..., object])

_EXAMPLE = """
Examples
--------
>>> import frazil.tensor as ft
>>> ft.{name}({arguments}).eval()
array({elements})
"""


def documented(function: Function, name: str, text: str, **words: str) -> Function:
    """Give ``function`` a name, a docstring, and the module where people and pickles find it.

    Its frames have the name, too, so that messages and tracebacks call the function by it.

    The docstring is ``text`` with ``words`` put in. Where these have an ``example``, written
    ``"arguments -> elements of the array"``, it becomes the last section.

    Examples
    --------
    >>> from frazil.tensor.docstrings import documented
    >>> def function(x):
    ...     return x
    >>> print(documented(function, "same", "Return {what}.", what="``x``").__doc__)
    Return ``x``.
    """
    if "example" in words:
        words["arguments"], _, words["elements"] = words.pop("example").partition(" -> ")
        text += _EXAMPLE
    renamed(function, name).__doc__ = text.format(name=name, **words)
    function.__module__ = "frazil.tensor"
    return function


def renamed(function: Function, name: str) -> Function:
    """Give ``function`` a name, which its frames have, too."""
    made = cast(FunctionType, function)
    made.__name__ = made.__qualname__ = name
    made.__code__ = made.__code__.replace(co_name=name, co_qualname=name)
    return function
