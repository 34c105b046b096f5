"""Docstrings of similar functions: a common text, and the words of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import CO_VARARGS, CO_VARKEYWORDS, cleandoc
from types import CodeType, FunctionType
from typing import NamedTuple, TypeAlias, TypeVar, cast

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


ParameterTexts: TypeAlias = Mapping[str, tuple[str, str]]
"""The type of each parameter, and a text on it."""

_REDUCED: ParameterTexts = {
    "axis": ("int or tuple of int", "The dimensions to reduce; default: all."),
    "keepdims": ("bool", "Keep the reduced dimensions, with length 1."),
    "initial": ("tensor_like", "A number beside the elements, cast to the dtype of the result."),
    "where": ("tensor_like", "Of bool, and broadcasts to ``x``: which elements count."),
}
"""The parameters of a reduction."""

SECTIONS = """{summary}

Parameters
----------
{parameters}

Returns
-------
"""
"""The first sections of a docstring, up to the results."""

_MISSING = ", optional"
"""Behind the type of a parameter that is None by default."""

_told: dict[Callable[..., object], ParameterTexts] = {}
"""The parameters of the functions whose docstrings were completed."""


class Description(NamedTuple):
    """The facts in the docstring of a function before it is completed."""

    summary: str
    parameters: dict[str, tuple[str, str]]
    results: dict[str, str]
    raises: dict[str, str]
    example: str
    """As ``"arguments -> elements of the array"``, or lines that begin with ``>>>``."""


def described(function: Function) -> Function:
    """Complete the docstring of a function with the sections of numpydoc.

    Its first paragraphs are kept. The next one tells the parameters, the results, the errors and an
    example, each in a line, or more that are indented::

        x (tensor_like): Any tensor.
        axis1, axis2 (int): The dimensions of the matrices.
        returns: A view.
        raises ValueError: If ``x`` has fewer than two dimensions.
        example: [[1, 2], [3, 4]] -> [1, 4]

    Results are variables unless a type stands there, ``returns (list of Variable): ...``. One of
    several has a name, ``returns sign: ...``. Defaults come from the signature. The parameters of
    reductions need no text. Instead of ``example``, lines that begin with ``>>>`` may stand behind.
    """
    return completed(function, _REDUCED)


def described_like(other: Callable[..., object]) -> Callable[[Function], Function]:
    """Complete a docstring as :func:`described`, with what it lacks on parameters from another's.

    That of ``other`` must have been completed, too.
    """
    return lambda function: completed(function, _told[other])


def completed(function: Function, usual: ParameterTexts) -> Function:
    """Complete the docstring of ``function``, with ``usual`` on the parameters that it lacks."""
    made = cast(FunctionType, function)
    if made.__doc__ is None:  # as Python -OO leaves it
        _told[function] = {}
        return function
    description = read_description(made.__doc__)
    for name in description.parameters.keys() - made.__code__.co_varnames:
        raise TypeError(f"{made.__name__}() has no parameter {name}")
    told = _told[function] = {**usual, **description.parameters}
    text = SECTIONS.format(summary=description.summary, parameters=listed_parameters(made, told))
    text += f"{_entries(description.results)}\n"
    if description.raises:
        text += f"\nRaises\n------\n{_entries(description.raises)}\n"
    made.__doc__ = text + _examples(made, description.example)
    return function


def read_description(doc: str) -> Description:
    """Return the parts of a docstring that is written as :func:`described` says."""
    text, _, example = cleandoc(doc).partition("\n\n>>> ")
    summary, _, told = text.rpartition("\n\n")
    entries: list[tuple[str, str]] = []
    for line in told.split("\n"):
        if line.startswith(" "):
            head, so_far = entries.pop()
            entries.append((head, f"{so_far} {line.lstrip()}"))
        else:
            head, _, rest = line.partition(": ")
            entries.append((head, rest))
    found = Description(summary, {}, {}, {}, f">>> {example}" if example else "")
    for head, rest in entries:
        names, _, kind = head.partition(" (")
        kind = kind.removesuffix(")")
        first, _, second = names.partition(" ")
        if first == "returns":
            kind = kind or "Variable"
            found.results[f"{second} : {kind}" if second else kind] = rest
        elif first == "raises":
            found.raises[second] = rest
        elif first == "example":
            found = found._replace(example=rest)
        else:
            found.parameters.update(dict.fromkeys(names.split(", "), (kind, rest)))
    return found


_PACKAGES = {"fft", "linalg"}
"""The packages of ``frazil.tensor`` whose functions people call by the package's name."""


def _entries(told: Mapping[str, str]) -> str:
    """The entries of a section, each with its text below it."""
    return "\n".join(line for head, text in told.items() for line in (head, *indented(text)))


def _examples(function: FunctionType, example: str) -> str:
    if ">>>" in example:
        head = _EXAMPLES if example.startswith(">>> import") else _EXAMPLE_HEAD
        return f"{head}{example}\n"
    packages = _PACKAGES.intersection(function.__module__.split("."))
    name = ".".join([*packages, function.__name__])
    arguments, _, elements = example.partition(" -> ")
    return _EXAMPLE.format(name=name, arguments=arguments, elements=elements)


def listed_parameters(function: Callable[..., object], told: ParameterTexts) -> str:
    """The parameters as a docstring lists them: what is ``told`` of each, and the default of the
    signature. Neighbours with the same text are listed together.
    """
    made = cast(FunctionType, function)
    code, defaults = made.__code__, made.__defaults__ or ()
    first = code.co_argcount - len(defaults)
    known = dict(zip(code.co_varnames[first : code.co_argcount], defaults, strict=True))
    known |= made.__kwdefaults__ or {}
    groups: list[tuple[tuple[str, str], str, list[str]]] = []
    for name in _names(code):
        said = told[name.lstrip("*")]
        presence = (
            "" if name not in known else ", default " if known[name] is not None else _MISSING
        )
        if groups and groups[-1][:2] == (said, presence):
            groups[-1][2].append(name)
        else:
            groups.append((said, presence, [name]))
    entries = {}
    for (kind, text), presence, names in groups:
        if presence and presence is not _MISSING:
            presence += " and ".join(dict.fromkeys(_written(known[name]) for name in names))
        kinds = f" : {kind}{presence}" if kind or presence else ""
        entries[f"{', '.join(names)}{kinds}"] = text
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


def _written(default: object) -> str:
    return f'"{default}"' if isinstance(default, str) else repr(default)


def indented(text: str) -> list[str]:
    """The lines of a paragraph of a docstring's section."""
    lines = []
    while len(text) > 96:
        line, _, behind = text[:97].rpartition(" ")
        lines.append(f"    {line}")
        text = behind + text[97:]
    return [*lines, f"    {text}"]
