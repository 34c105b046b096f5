"""Minima of expressions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, overload

import numpy.typing as npt

from frazil._core import FrozenFunctionGraph, Variable
from frazil.gradient.reverse import grad
from frazil.graph.containers import in_container_of
from frazil.graph.dataclass import dataclass
from frazil.graph.op import Array
from frazil.optimize.options import Options, freeze_options, thaw_options
from frazil.optimize.packing import Packing
from frazil.optimize.solver import (
    Bounds,
    Evaluations,
    Solver,
    bound_operands,
    check_problem,
    inner_graph,
    listed,
    rows_of_derivatives,
)
from frazil.scalar.constants import TensorLike
from frazil.tensor.docstrings import described


@dataclass(frozen=True, eq=False)
class Minimize(Solver):
    """The point where a number is least, as :func:`scipy.optimize.minimize` finds it from a start.

    The outputs of the graph: the number, its gradient if ``jac``, its Hessian if ``hess``.
    """

    fgraph: FrozenFunctionGraph
    method: str
    jac: bool
    hess: bool
    use_vectorized_jac: bool
    options: Options
    rank: ClassVar[int] = 1

    def solve(
        self, evaluations: Evaluations, start: Array, bounds: Bounds
    ) -> tuple[npt.ArrayLike, bool]:
        from scipy.optimize import minimize

        found = minimize(
            evaluations.with_first if self.jac else evaluations.value,
            start,
            jac=self.jac or None,
            hess=evaluations.second if self.hess else None,
            method=self.method,
            **thaw_options(self.options),
        )
        return found.x, found.success

    def condition(self, x: Variable, value: Variable) -> Variable:
        return grad(value, x)

    @property
    def written_out(self) -> bool:
        return self.use_vectorized_jac


@dataclass(frozen=True, eq=False)
class MinimizeScalar(Solver):
    """The point where a number is least, as :func:`scipy.optimize.minimize_scalar` finds it."""

    fgraph: FrozenFunctionGraph
    method: str
    options: Options
    bounds: tuple[str, ...] = ()
    rank: ClassVar[int] = 0

    def solve(
        self, evaluations: Evaluations, start: Array, bounds: Bounds
    ) -> tuple[npt.ArrayLike, bool]:
        from scipy.optimize import minimize_scalar

        found = minimize_scalar(
            evaluations.value, method=self.method, **bounds, **thaw_options(self.options)
        )
        return found.x, found.success

    def condition(self, x: Variable, value: Variable) -> Variable:
        return grad(value, x)


@overload
def minimize(
    objective: Variable,
    x: Variable,
    method: str = "BFGS",
    jac: bool = True,
    hess: bool = False,
    use_vectorized_jac: bool = False,
    optimizer_kwargs: Mapping[str, object] | None = None,
) -> tuple[Variable, Variable]: ...


@overload
def minimize(
    objective: Variable,
    x: Sequence[Variable],
    method: str = "BFGS",
    jac: bool = True,
    hess: bool = False,
    use_vectorized_jac: bool = False,
    optimizer_kwargs: Mapping[str, object] | None = None,
) -> tuple[list[Variable], Variable]: ...


@described
def minimize(
    objective: Variable,
    x: Variable | Sequence[Variable],
    method: str = "BFGS",
    jac: bool = True,
    hess: bool = False,
    use_vectorized_jac: bool = False,
    optimizer_kwargs: Mapping[str, object] | None = None,
) -> tuple[Variable | list[Variable], Variable]:
    """Return where an expression is least, and whether that was found.

    The solution depends on the parameters of the objective, which are all its variables but ``x``.
    It has gradients with respect to them by the implicit function theorem. They are those of a
    minimum that moves, and mean nothing where ``success`` is false.

    objective (Variable): A floating-point expression without dimensions.
    x (Variable or sequence of Variable): The unknown, of any shape. The search begins at its value.
    method (str): A method of :func:`scipy.optimize.minimize`.
    jac (bool): Give the method the gradient of the objective; else it takes differences.
    hess (bool): Give it the matrix of second derivatives, too. Some methods need it, others warn.
    use_vectorized_jac (bool): Write second derivatives out side by side, for which the length of
        ``x`` must be static; else a scan goes over their rows.
    optimizer_kwargs (mapping): Further arguments of :func:`scipy.optimize.minimize`: numbers,
        strings, lists and dicts.
    returns solution (Variable or list of Variable): Where the objective is least, of the type of
        ``x``; where the search ended if it failed.
    returns success: Whether the method says that it has found a minimum, a bool.
    raises TypeError: If the objective is not a floating-point scalar, or ``x`` not floating-point.
    raises ValueError: If the objective does not depend on ``x``.

    >>> import frazil as fz
    >>> import frazil.tensor as ft
    >>> from frazil.optimize import minimize
    >>> x, a = ft.vector("x"), ft.vector("a")
    >>> solution, success = minimize(ft.sum((x - a) ** 4 + (x - a) ** 2), x)
    >>> f = fz.function([x, a], [solution, success, fz.grad(solution.sum(), a)])
    >>> found, success, slope = f([0.0, 0.0], [1.0, 2.0])
    >>> found.round(4), success, slope.round(4)
    (array([1., 2.]), array(True), array([1., 1.]))
    """
    unknowns = listed(x)
    _check_objective(objective, unknowns, "minimize")
    with in_container_of(unknowns):
        packing = Packing.of(unknowns)
        outputs = [packing.within(objective)]
        if jac or hess:
            outputs.append(grad(outputs[0], packing.vector))
        if hess:
            rows = rows_of_derivatives(outputs[1], packing.vector, written_out=use_vectorized_jac)
            outputs.append(rows)
            if not jac:
                raise ValueError("hess=True needs jac=True: no method uses the second alone")
        fgraph, parameters = inner_graph(packing.vector, outputs)
        op = Minimize(
            fgraph,
            method,
            bool(jac),
            bool(hess),
            bool(use_vectorized_jac),
            freeze_options(optimizer_kwargs),
        )
        found, success = op(packing.start, *parameters)
        parts = packing.unpack(found)
    return parts if isinstance(x, list | tuple) else parts[0], success


@described
def minimize_scalar(
    objective: Variable,
    x: Variable,
    method: str = "brent",
    bracket: TensorLike | None = None,
    bounds: TensorLike | None = None,
    optimizer_kwargs: Mapping[str, object] | None = None,
) -> tuple[Variable, Variable]:
    """Return where an expression of one number is least, and whether that was found.

    Gradients are as for :func:`minimize`.

    objective (Variable): A floating-point expression without dimensions.
    x (Variable): The unknown, without dimensions. Its value is not used: see ``bracket``.
    method ({"brent", "bounded", "golden"}): A method of :func:`scipy.optimize.minimize_scalar`.
    bracket (tensor_like): Two or three numbers to begin with; they may depend on other variables.
    bounds (tensor_like): The ends of the interval that the method "bounded" looks in; they may
        depend on other variables.
    optimizer_kwargs (mapping): Further arguments of :func:`scipy.optimize.minimize_scalar`.
    returns solution: Where the objective is least, of the type of ``x``; where the search ended if
        it failed.
    returns success: Whether the method says that it has found a minimum, a bool.

    >>> import frazil as fz
    >>> import frazil.tensor as ft
    >>> from frazil.optimize import minimize_scalar
    >>> x, a = ft.scalar("x"), ft.scalar("a")
    >>> solution, success = minimize_scalar((x - a) ** 2, x)
    >>> f = fz.function([x, a], [solution, success, fz.grad(solution, a)])
    >>> found, success, slope = f(0.0, 3.0)
    >>> float(found.round(6)), bool(success), float(slope.round(6))
    (3.0, True, 1.0)
    """
    _check_objective(objective, [x], "minimize_scalar")
    if x.ndim:
        raise TypeError(f"minimize_scalar solves for one number; given {x} of type {x.type}")
    options = freeze_options(optimizer_kwargs)
    with in_container_of([x]):
        names, vectors = bound_operands(x, options, bracket=bracket, bounds=bounds)
        fgraph, parameters = inner_graph(x, [objective])
        found, success = MinimizeScalar(fgraph, method, options, names)(x, *parameters, *vectors)
    return found, success


def _check_objective(objective: Variable, unknowns: Sequence[Variable], what: str) -> None:
    check_problem(objective, unknowns, what, subject="the objective", name="x")
    if objective.ndim:
        raise TypeError(
            f"the objective must be one number; given {objective} of type {objective.type}. "
            "Reduce it first, for example with .sum()."
        )
