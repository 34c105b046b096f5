"""Docstrings of similar functions: a common text, and the words of each."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping
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

    The docstring is ``text`` with ``words`` put in. If these have an ``example``, written
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


_USUAL = {
    "axis": "int or tuple of int: The dimensions to reduce; default: all.",
    "keepdims": "bool: Keep the reduced dimensions, with length 1.",
    "initial": "tensor_like: A number beside the elements, cast to the dtype of the result.",
    "where": "tensor_like: Of bool, and broadcasts to ``x``: which elements count.",
}

_DESCRIBED = """{summary}

Parameters
----------
{parameters}

Returns
-------
Variable
    {result}
"""


def described(
    summary: str, result: str, example: str, **parameters: str
) -> Callable[[Function], Function]:
    """Give a function of arrays its docstring.

    ``parameters`` are the descriptions of each, ``"type: text"``; the usual descriptions of
    ``axis``, ``keepdims``, ``initial`` and ``where`` of a reduction need not be given. The
    ``example`` is written ``"arguments -> elements of the array"``.
    """

    def document(function: Function) -> Function:
        made = cast(FunctionType, function)
        told = listed_parameters(made, _USUAL | parameters)
        made.__doc__ = (_DESCRIBED + _EXAMPLE).format(
            name=made.__name__,
            summary=summary,
            parameters=told,
            result="\n".join(indented(result)).lstrip(),
            arguments=example.partition(" -> ")[0],
            elements=example.partition(" -> ")[2],
        )
        return function

    return document


def listed_parameters(function: Callable[..., object], told: Mapping[str, str]) -> str:
    """The parameters as a docstring lists them: the description ``told`` of each, ``"type: text"``,
    and the default of the signature.
    """
    made = cast(FunctionType, function)
    code, defaults = made.__code__, made.__defaults__ or ()
    positional = code.co_varnames[: code.co_argcount]
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    known = dict(zip(positional[len(positional) - len(defaults) :], defaults, strict=True))
    known |= made.__kwdefaults__ or {}
    lines = []
    for name in names:
        kind, _, text = told[name].partition(": ")
        if name in known:
            value = known[name]
            written = f'"{value}"' if isinstance(value, str) else repr(value)
            kind += ", optional" if value is None else f", default {written}"
        lines += [f"{name} : {kind}", *indented(text)]
    return "\n".join(lines)


def indented(text: str) -> list[str]:
    """The lines of a paragraph of a docstring's section."""
    if len(text) <= 96:  # as most are, at every import
        return [f"    {text}"]
    return textwrap.wrap(text, 100, initial_indent="    ", subsequent_indent="    ")
