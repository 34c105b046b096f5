"""Guards: what must hold of a match beside its form."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from frazil._core import Variable


@dataclass(frozen=True, slots=True)
class Guard:
    """A property of what stands for parameters of a rule; the core's own has no ``predicate``."""

    name: str
    variables: tuple[Variable, ...]
    predicate: Callable[..., Any] | None = None

    def __str__(self) -> str:
        return f"{self.name}({', '.join(map(str, self.variables))})"


def same_dtype(*variables: Variable) -> Guard:
    """Return the guard that all have one dtype.

    Examples
    --------
    >>> from frazil.rewrite import Integer, rule, same_dtype
    >>> @rule
    ... def add_sub(x: Integer, y: Integer):
    ...     '''(x + y) - y == x, where both wrap around alike.'''
    ...     return (x + y) - y, x, same_dtype(x, y)
    """
    return Guard("same_dtype", variables)


def same_type(*variables: Variable) -> Guard:
    """Return the guard that all have one dtype and one static shape."""
    return Guard("same_type", variables)


def one_ring(*variables: Variable) -> Guard:
    """Return the guard that arithmetic between the variables happens in one ring.

    All are floats, or all have the same dtype: an integer that wraps around in a narrow dtype is
    not the one that wraps around in a wider one.
    """
    return Guard("one_ring", variables)


def not_constant(variable: Variable) -> Guard:
    """Return the guard that this is no constant."""
    return Guard("not_constant", (variable,))


def reads_buffer() -> Guard:
    """Return the guard that the matched op views no operand, and one comes from a distinct node.

    That is, the operand is an output of such a node, or a view of one.
    """
    return Guard("reads_buffer", ())


def holds(predicate: Callable[..., Any], *variables: Variable) -> Guard:
    """Return the guard that a Python function of what stands for the variables says.

    The function must depend on its arguments only, as what it says is remembered. It runs once a
    match, outside every lock; guards of the core are much faster.

    Examples
    --------
    >>> import frazil.tensor as ft
    >>> from frazil.rewrite import Float, holds, is_nonnegative, rule
    >>> @rule
    ... def abs_of_nonnegative(x: Float):
    ...     '''|x| == x if x has no sign.'''
    ...     return ft.abs(x), x, holds(is_nonnegative, x)
    """
    return Guard(getattr(predicate, "__name__", "holds"), variables, predicate)
