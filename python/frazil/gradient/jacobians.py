"""Jacobians and Hessians as a whole: as many gradients as there are elements, a row each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, overload

from frazil._core import Variable
from frazil.gradient.kinds import is_continuous
from frazil.gradient.reverse import grad, listed, pull_back, with_zeros
from frazil.graph.containers import in_container_of
from frazil.scan.build import scan
from frazil.tensor.diagonals import eye
from frazil.tensor.docstrings import described_like
from frazil.tensor.joining import stack
from frazil.tensor.lengths import lengths, size, static_length
from frazil.tensor.reshaping import reshape

Disconnected = Literal["raise", "warn", "ignore"]


@overload
def jacobian(
    expression: Variable,
    wrt: Variable,
    consider_constant: Iterable[Variable] | None = None,
    disconnected_inputs: Disconnected = "raise",
    vectorize: bool = False,
) -> Variable: ...


@overload
def jacobian(
    expression: Variable,
    wrt: Sequence[Variable],
    consider_constant: Iterable[Variable] | None = None,
    disconnected_inputs: Disconnected = "raise",
    vectorize: bool = False,
) -> list[Variable]: ...


@described_like(grad)
def jacobian(
    expression: Variable,
    wrt: Variable | Sequence[Variable],
    consider_constant: Iterable[Variable] | None = None,
    disconnected_inputs: Disconnected = "raise",
    vectorize: bool = False,
) -> object:
    """Return the derivatives of each element of an expression by each element of variables.

    Its products with vectors cost no more than a gradient: :func:`frazil.Lop`, :func:`frazil.Rop`.

    expression (Variable): The variable to differentiate: floating-point, of any rank.
    wrt (Variable or sequence of Variable): The variables by which to differentiate.
    vectorize (bool): Write the rows out side by side where their number is part of the type.
        Otherwise they are those of a scan; nodes that can run for all of them at once move out of
        it.
    returns (Variable or list of Variable): For each of ``wrt`` the derivatives, of the shape of
        ``expression`` followed by its own. A list if ``wrt`` is one.
    raises DisconnectedInputError: If the expression does not depend on one of ``wrt``.
    raises NotDifferentiableError: If the expression depends on one of ``wrt`` through an op without
        gradient.
    raises TypeError: If the expression or one of ``wrt`` is not floating-point.

    >>> import frazil as fz, frazil.tensor as ft
    >>> x = ft.vector("x")
    >>> fz.jacobian(x * ft.sum(x), x).eval({x: [2.0, 3.0]})
    array([[7., 2.],
           [3., 8.]])
    """
    if not isinstance(expression, Variable):
        raise TypeError(
            f"jacobian differentiates one variable; given {expression!r}. For several, call it for "
            "each, or join them with ft.concatenate"
        )
    if not is_continuous(expression):
        raise TypeError(
            f"only floating-point variables have derivatives, given {expression}: {expression.type}"
        )
    targets = listed(wrt)
    if not targets:
        return []
    with in_container_of([expression, *targets]):
        found = _rows(expression, targets, consider_constant, disconnected_inputs, vectorize)
        shape = lengths(expression)
        whole = [
            rows if len(shape) == 1 else reshape(rows, (*shape, *lengths(x)))
            for rows, x in zip(found, targets, strict=True)
        ]
    return whole[0] if isinstance(wrt, Variable) else whole


def _rows(
    expression: Variable,
    targets: Sequence[Variable],
    consider_constant: Iterable[Variable] | None,
    disconnected_inputs: Disconnected,
    vectorize: bool,
) -> list[Variable]:
    """The derivatives by each target, stacked along one axis for all elements."""
    shape = lengths(expression)
    constants = frozenset(consider_constant or ())

    def row(seed: Variable) -> list[Variable]:
        whole = seed if len(shape) == 1 else reshape(seed, shape)
        found = pull_back({expression: whole}, targets, constants, disconnected_inputs)
        return with_zeros(found, targets)

    count = size(expression)
    seeds = eye(count, dtype=expression.dtype)
    static = static_length(count)
    if static == 1 or (vectorize and static):
        rows = [row(seeds[at]) for at in range(static)]
        return [stack(column) for column in zip(*rows, strict=True)]
    stacks: list[Variable] = scan(row, seeds, return_list=True, return_updates=False)
    return stacks


@overload
def hessian(
    cost: Variable,
    wrt: Variable,
    consider_constant: Iterable[Variable] | None = None,
    disconnected_inputs: Disconnected = "raise",
) -> Variable: ...


@overload
def hessian(
    cost: Variable,
    wrt: Sequence[Variable],
    consider_constant: Iterable[Variable] | None = None,
    disconnected_inputs: Disconnected = "raise",
) -> list[Variable]: ...


@described_like(grad)
def hessian(
    cost: Variable,
    wrt: Variable | Sequence[Variable],
    consider_constant: Iterable[Variable] | None = None,
    disconnected_inputs: Disconnected = "raise",
) -> object:
    """Return the second derivatives of a scalar cost, by each two elements of a variable.

    If the cost depends on a variable and its gradient does not, the second derivatives are zeros.

    cost (Variable): A floating-point variable without dimensions.
    wrt (Variable or sequence of Variable): The variables by which to differentiate: each by itself,
        without mixed derivatives of two.
    returns (Variable or list of Variable): For each of ``wrt`` an array of its shape, twice. A list
        if ``wrt`` is one.
    raises DisconnectedInputError: If the cost does not depend on one of ``wrt``.
    raises TypeError: If the cost is not a floating-point scalar, or one of ``wrt`` is not
        floating-point.

    >>> import frazil as fz, frazil.tensor as ft
    >>> x = ft.vector("x")
    >>> fz.hessian(x[0] ** 2 * x[1], x).eval({x: [2.0, 3.0]})
    array([[6., 4.],
           [4., 0.]])
    """
    constants = frozenset(consider_constant or ())
    targets = listed(wrt)
    first = grad(cost, targets, constants, disconnected_inputs)
    found = [jacobian(g, x, constants, "ignore") for g, x in zip(first, targets, strict=True)]
    return found[0] if isinstance(wrt, Variable) else found
