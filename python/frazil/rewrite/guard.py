"""Guards: conditions on a match, beside its form."""

from __future__ import annotations

from collections.abc import Callable
from inspect import getdoc, signature
from typing import TypeVar

from frazil._core import Variable
from frazil.graph.dataclass import dataclass
from frazil.tensor.docstrings import described


@dataclass(frozen=True, slots=True)
class Guard:
    """A condition on the variables that parameters matched; the core's own has no ``predicate``.

    Examples
    --------
    >>> import frazil.tensor as ft
    >>> from frazil.rewrite import same_dtype
    >>> same_dtype(ft.vector("x"), ft.vector("y")).predicate is None
    True
    """

    name: str
    variables: tuple[Variable, ...]
    predicate: Callable[..., object] | None = None

    def __str__(self) -> str:
        return f"{self.name}({', '.join(map(str, self.variables))})"


GuardT = TypeVar("GuardT", bound=Callable[..., Guard])

_PARAMETERS = """
Parameters
----------
{name} : Variable
    {what} of the rule.
"""
_RETURNS = """
Returns
-------
Guard
    To be returned by the rule, after its right side.
"""


def _documented(guard: GuardT) -> GuardT:
    """Add to a docstring the sections that those of all guards share."""
    shared = _RETURNS
    for parameter in signature(guard).parameters.values():
        several = parameter.kind is parameter.VAR_POSITIONAL
        what = "Parameters" if several else "A parameter"
        shared = _PARAMETERS.format(name=str(parameter).partition(":")[0], what=what) + shared
    guard.__doc__ = (getdoc(guard) or "").replace("\nExamples\n", f"{shared}\nExamples\n")
    return guard


@_documented
def same_dtype(*variables: Variable) -> Guard:
    """Return the guard that all variables have one dtype.

    Examples
    --------
    >>> from frazil.rewrite import Integer, rule, same_dtype
    >>> @rule
    ... def add_sub(x: Integer, y: Integer):
    ...     '''(x + y) - y == x, where both wrap around alike.'''
    ...     return (x + y) - y, x, same_dtype(x, y)
    """
    return Guard("same_dtype", variables)


@_documented
def same_type(*variables: Variable) -> Guard:
    """Return the guard that all variables have one dtype and one static shape.

    Examples
    --------
    >>> from frazil.rewrite import Float, same_type, rule
    >>> @rule
    ... def gather(x: Float, y: Float, z: Float):
    ...     "x * z + y * z == (x + y) * z."
    ...     return x * z + y * z, (x + y) * z, same_type(x, y)
    >>> print(gather)
    gather: x * z + y * z -> (x + y) * z if x: float, y: float, z: float, same_type(x, y)
    """
    return Guard("same_type", variables)


@_documented
def one_ring(*variables: Variable) -> Guard:
    """Return the guard that arithmetic between the variables happens in one ring.

    All are floats, or all have the same dtype: integers of a narrow dtype wrap around to other
    values than those of a wider one.

    Examples
    --------
    >>> from frazil.rewrite import Number, one_ring, rule
    >>> @rule
    ... def sub_neg(x: Number, y: Number):
    ...     "x - -y == x + y, as long as both wrap around alike."
    ...     return x - -y, x + y, one_ring(x, y)
    >>> print(sub_neg)
    sub_neg: x - -y -> x + y if x: number, y: number, one_ring(x, y)
    """
    return Guard("one_ring", variables)


@_documented
def not_constant(variable: Variable) -> Guard:
    """Return the guard that the variable is not a constant.

    Examples
    --------
    >>> import frazil.tensor as ft
    >>> from frazil.rewrite import Float, not_constant, rule
    >>> @rule
    ... def double(x: Float):
    ...     "x + x == x * 2."
    ...     return x + x, x * 2, not_constant(x)
    >>> print(double)
    double: x + x -> x * 2.0 if x: float, not_constant(x)
    """
    return Guard("not_constant", (variable,))


@_documented
def reads_buffer() -> Guard:
    """Return the guard that the matched op views no operand, and reads a distinct buffer.

    That is, an operand is an output of a distinct node, or a view of one.

    Examples
    --------
    >>> import frazil.tensor as ft
    >>> from frazil.rewrite import Float, reads_buffer, rule
    >>> @rule
    ... def exp_of_buffer(x: Float):
    ...     "exp(x) == 1 + expm1(x), where x is a buffer of its own."
    ...     return ft.exp(x), 1 + ft.expm1(x), reads_buffer()
    >>> print(exp_of_buffer)
    exp_of_buffer: exp(x) -> 1.0 + expm1(x) if x: float, reads_buffer()
    """
    return Guard("reads_buffer", ())


@_documented
def reads_one_element() -> Guard:
    """Return the guard that the matched op is applied to a single element with dimensions.

    The element is a constant, or a scalar with dimensions from a view. Its type says that all its
    dimensions have length 1.

    Examples
    --------
    >>> import frazil.tensor as ft
    >>> from frazil.rewrite import Float, reads_one_element, rule
    >>> @rule
    ... def exp_of_one(x: Float):
    ...     "exp(x) == 1 + expm1(x), where x is one element."
    ...     return ft.exp(x), 1 + ft.expm1(x), reads_one_element()
    >>> print(exp_of_one)
    exp_of_one: exp(x) -> 1.0 + expm1(x) if x: float, reads_one_element()
    """
    return Guard("reads_one_element", ())


@described
def holds(predicate: Callable[..., object], *variables: Variable) -> Guard:
    """Return the guard that a Python function of the matched variables returns true.

    The function must depend on its arguments only, since its result is remembered. It runs once a
    match, outside every lock; guards of the core are much faster.

    predicate (callable): Takes the variable that each of ``variables`` matched, and returns a truth
        value.
    variables (Variable): Parameters of the rule.
    returns (Guard): To be returned by the rule, after its right side.

    >>> from frazil.rewrite import Float, holds, is_nonnegative, rule
    >>> @rule
    ... def abs_of_nonnegative(x: Float):
    ...     '''|x| == x if x has no sign.'''
    ...     return ft.abs(x), x, holds(is_nonnegative, x)
    """
    return Guard(getattr(predicate, "__name__", "holds"), variables, predicate)
