"""Checks that the C or Numba text of a scalar op is an expression of its operands.

A fault is reported with the name of the op, before a compiler sees the text.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection
from difflib import get_close_matches
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from frazil.scalar.op import ScalarOp

PLACE = re.compile(r"\{(\w+)\}")
"""A placeholder of an operand, a type or a function."""

_ASIDE = re.compile(r"""//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'""", re.DOTALL)
"""Comments and literals of C, in which anything may stand."""

_CLOSES = {")": "(", "]": "[", "}": "{"}
_WORDS = ("T", "inf")


def check_text(op: ScalarOp, language: str, text: str, functions: Collection[str]) -> None:
    """Check an op's text in ``"C"`` or ``"Numba"``, which may name ``functions``.

    Raises
    ------
    ValueError
        If the text is no expression of the op's operands.

    Examples
    --------
    >>> from frazil.scalar import mul
    >>> from frazil.scalar.expression_text import check_text
    >>> check_text(mul, "C", "({ double t = {0}; t * {1}; })", ["exp"])
    >>> check_text(mul, "C", "{0} * {2}", ["exp"])
    Traceback (most recent call last):
        ...
    ValueError: the C text of mul, '{0} * {2}', asks for operand {2}, but mul takes 2: {0} and {1}
    """
    fault = _fault(op, language, text, functions)
    if fault is not None:
        raise ValueError(f"the {language} text of {op}, {text!r}, {fault}")


def _fault(op: ScalarOp, language: str, text: str, functions: Collection[str]) -> str | None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        return f"has a lone surrogate at position {error.start}, which no source file can hold"
    for name in PLACE.findall(text):
        if name.isdigit():
            if int(name) >= op.nin:
                named = " and ".join(f"{{{k}}}" for k in range(op.nin))
                return f"asks for operand {{{name}}}, but {op} takes {op.nin}: {named}"
        elif name not in _WORDS and name not in functions:
            known = ", ".join(sorted(functions))
            near = get_close_matches(name, functions, 1)
            meant = f". Did you mean {{{near[0]}}}? They are" if near else ""
            return (
                f"names {{{name}}}, which is none of the functions that it may name{meant}: "
                f"{known}. What is C's or Numba's own is written without braces"
            )
    return _fault_of_c(text) if language == "C" else _fault_of_numba(text)


def _fault_of_c(text: str) -> str | None:
    """Braces that hold no placeholder are C's; semicolons stand only within them."""
    bare = _ASIDE.sub(" ", PLACE.sub("0", text))
    if not bare.strip():
        return "is empty: write an expression"
    opened: list[str] = []
    for sign in bare:
        if sign in "([{":
            opened.append(sign)
        elif sign in _CLOSES:
            if not opened or opened.pop() != _CLOSES[sign]:
                return f"closes {sign!r} that nothing opens: write one expression"
        elif sign == ";" and "{" not in opened:
            return (
                "holds a statement, but must be an expression: write statements as "
                "({ double t = {0}; t * t; })"
            )
    return f"does not close {opened[-1]!r}" if opened else None


def _fault_of_numba(text: str) -> str | None:
    bare = PLACE.sub(lambda found: f"place_{found[1]}", text)
    if "{" in bare or "}" in bare:
        return "has braces that stand for nothing: write {0} for the first operand, without spaces"
    try:
        ast.parse(bare.strip(), mode="eval")
    except SyntaxError as error:
        return f"is not a Python expression: {error.msg}"
    return None
