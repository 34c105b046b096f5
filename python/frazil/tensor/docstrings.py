"""Docstrings of similar functions: a common text, and the words of each."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping
from inspect import CO_VARARGS, CO_VARKEYWORDS, cleandoc
from itertools import groupby
from types import CodeType, FunctionType
from typing import TypeVar, cast

Function = TypeVar("Function", bound=Callable[..., object])

_EXAMPLES = """
Examples
--------
"""
_EXAMPLE_HEAD = f"{_EXAMPLES}>>> import frazil.tensor as ft\n"
_EXAMPLE = (
    _EXAMPLE_HEAD
    + """\
>>> ft.{name}({arguments}).eval()
array({elements})
"""
)


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
{results}
"""

_descriptions: dict[Callable[..., object], Mapping[str, str]] = {}
"""The parameters of the functions that :func:`described` has given docstrings."""


def described(
    result: str | Mapping[str, str],
    example: str,
    /,
    *,
    returns: str = "Variable",
    like: Callable[..., object] | None = None,
    both: str | None = None,
    raises: Mapping[str, str] | None = None,
    **parameters: str,
) -> Callable[[Function], Function]:
    """Complete the docstring of a function of arrays, which says what it returns.

    ``result`` is the text on the result, and ``returns`` its type. Of several results, it has the
    name and the text of each, ``"name : type"`` where their types differ. ``parameters`` are the
    descriptions of each, ``"type: text"``. Those that are not given are as for the function
    ``like``, which is described too; without it, ``axis``, ``keepdims``, ``initial`` and ``where``
    are those of a reduction. ``both`` describes two that have no other description. ``raises``
    says when each error is raised. The ``example`` is written
    ``"arguments -> elements of the array"``, or as lines that begin with ``>>>``. Lines that begin
    with an import have all that they need; others have ``ft``.
    """

    if isinstance(result, str):
        results = {returns: result}
    else:
        results = {
            name if " : " in name else f"{name} : {returns}": text for name, text in result.items()
        }

    def document(function: Function) -> Function:
        made = cast(FunctionType, function)
        usual = _USUAL if like is None else _descriptions[like]
        told = _descriptions[function] = {**usual, **parameters}
        if both is not None:
            for name in _names(made.__code__):
                told.setdefault(name.lstrip("*"), both)
        text = _DESCRIBED.format(
            summary=cleandoc(made.__doc__ or "").rstrip(),  # Python -OO removes docstrings
            parameters=listed_parameters(made, told),
            results=_entries(results),
        )
        if raises:
            text += f"\nRaises\n------\n{_entries(raises)}\n"
        made.__doc__ = text + _examples(made, example)
        return function

    return document


_PACKAGES = {"fft", "linalg"}
"""The packages of ``frazil.tensor`` whose functions people call by the package's name."""


def _entries(told: Mapping[str, str]) -> str:
    """The entries of a section, each with its text below it."""
    return "\n".join(line for head, text in told.items() for line in (head, *indented(text)))


def _examples(function: FunctionType, example: str) -> str:
    if ">>>" in example:
        lines = cleandoc(example)
        head = _EXAMPLES if lines.startswith(">>> import") else _EXAMPLE_HEAD
        return f"{head}{lines}\n"
    packages = _PACKAGES.intersection(function.__module__.split("."))
    name = ".".join([*packages, function.__name__])
    arguments, _, elements = example.partition(" -> ")
    return _EXAMPLE.format(name=name, arguments=arguments, elements=elements)


def listed_parameters(function: Callable[..., object], told: Mapping[str, str]) -> str:
    """The parameters as a docstring lists them: the description ``told`` of each, ``"type: text"``,
    and the default of the signature. Neighbours with one description are listed together.
    """
    made = cast(FunctionType, function)
    code, defaults = made.__code__, made.__defaults__ or ()
    positional = code.co_varnames[: code.co_argcount]
    known = dict(zip(positional[len(positional) - len(defaults) :], defaults, strict=True))
    known |= made.__kwdefaults__ or {}
    alike = groupby(_names(code), lambda name: (told[name.lstrip("*")], _presence(known, name)))
    entries = {}
    for (description, presence), group in alike:
        kind, _, text = description.partition(": ")
        several = list(group)
        if presence == ", default ":
            written = dict.fromkeys(_written(known[name]) for name in several)
            presence += " and ".join(written)
        head = f"{', '.join(several)} : {kind}{presence}"
        entries[head.removesuffix(" : ")] = text
    return _entries(entries)


def _names(code: CodeType) -> list[str]:
    """The names of a function's parameters, in the order of its signature."""
    count = code.co_argcount + code.co_kwonlyargcount
    rest = iter(code.co_varnames[count:])
    names = [*code.co_varnames[: code.co_argcount]]
    if code.co_flags & CO_VARARGS:
        names.append(f"*{next(rest)}")
    names += code.co_varnames[code.co_argcount : count]
    if code.co_flags & CO_VARKEYWORDS:
        names.append(f"**{next(rest)}")
    return names


def _presence(known: Mapping[str, object], name: str) -> str:
    """The words on whether an argument may be missing."""
    if name not in known:
        return ""
    return ", optional" if known[name] is None else ", default "


def _written(default: object) -> str:
    return f'"{default}"' if isinstance(default, str) else repr(default)


def indented(text: str) -> list[str]:
    """The lines of a paragraph of a docstring's section."""
    if len(text) <= 96:  # as most are, at every import
        return [f"    {text}"]
    return textwrap.wrap(text, 100, initial_indent="    ", subsequent_indent="    ")
