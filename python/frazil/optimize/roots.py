"""Roots of equations."""

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
from frazil.tensor.reshaping import ravel


@dataclass(frozen=True, eq=False)
class Root(Solver):
    """The point where a vector is zero, as :func:`scipy.optimize.root` finds it from a start.

    The outputs of the graph: the vector, and the matrix of its derivatives if ``jac``.
    """

    fgraph: FrozenFunctionGraph
    method: str
    jac: bool
    use_vectorized_jac: bool
    options: Options
    rank: ClassVar[int] = 1

    def solve(
        self, evaluations: Evaluations, start: Array, bounds: Bounds
    ) -> tuple[npt.ArrayLike, bool]:
        from scipy.optimize import root

        found = root(
            evaluations.with_first if self.jac else evaluations.value,
            start,
            jac=self.jac or None,
            method=self.method,
            **thaw_options(self.options),
        )
        return found.x, found.success

    def condition(self, x: Variable, value: Variable) -> Variable:
        return value

    @property
    def written_out(self) -> bool:
        return self.use_vectorized_jac


@dataclass(frozen=True, eq=False)
class RootScalar(Solver):
    """The point where a number is zero, as :func:`scipy.optimize.root_scalar` finds it.

    The outputs of the graph: the number, its derivative if ``jac``, the next one if ``hess``.
    """

    fgraph: FrozenFunctionGraph
    method: str
    jac: bool
    hess: bool
    options: Options
    bounds: tuple[str, ...] = ()
    rank: ClassVar[int] = 0

    def solve(
        self, evaluations: Evaluations, start: Array, bounds: Bounds
    ) -> tuple[npt.ArrayLike, bool]:
        from scipy.optimize import root_scalar

        found = root_scalar(
            evaluations.value,
            x0=float(start),
            fprime=evaluations.first if self.jac else None,
            fprime2=evaluations.second if self.hess else None,
            method=self.method,
            **bounds,
            **thaw_options(self.options),
        )
        return found.root, found.converged

    def condition(self, x: Variable, value: Variable) -> Variable:
        return value


@overload
def root(
    equations: Variable,
    variables: Variable,
    method: str = "hybr",
    jac: bool = True,
    use_vectorized_jac: bool = False,
    optimizer_kwargs: Mapping[str, object] | None = None,
) -> tuple[Variable, Variable]: ...


@overload
def root(
    equations: Variable,
    variables: Sequence[Variable],
    method: str = "hybr",
    jac: bool = True,
    use_vectorized_jac: bool = False,
    optimizer_kwargs: Mapping[str, object] | None = None,
) -> tuple[list[Variable], Variable]: ...


@described
def root(
    equations: Variable,
    variables: Variable | Sequence[Variable],
    method: str = "hybr",
    jac: bool = True,
    use_vectorized_jac: bool = False,
    optimizer_kwargs: Mapping[str, object] | None = None,
) -> tuple[Variable | list[Variable], Variable]:
    """Return where equations hold, and whether that was found.

    The solution depends on all that the equations depend on besides ``variables``, and has
    gradients with respect to it, by the implicit function theorem. They mean nothing where
    ``success`` is false.

    equations (Variable): The expressions to be zero, floating-point; as many elements as in
        ``variables``.
    variables (Variable or sequence of Variable): The unknowns, of any shape. The search begins at
        their value.
    method (str): A method of :func:`scipy.optimize.root`.
    jac (bool): Give the method the matrix of derivatives; else it takes differences, or none.
    use_vectorized_jac (bool): Write derivatives out side by side, for which their number must be
        static; else a scan goes over the rows of their matrix.
    optimizer_kwargs (mapping): Further arguments of :func:`scipy.optimize.root`: numbers, strings,
        lists and dicts.
    returns solution (Variable or list of Variable): Where the equations hold, of the type of
        ``variables``; where the search ended if it failed.
    returns success: Whether the method says that it has found a root, a bool.

    >>> import frazil as fz
    >>> import frazil.tensor as ft
    >>> from frazil.optimize import root
    >>> x, a = ft.vector("x"), ft.vector("a")
    >>> solution, success = root(x**2 - a, x)
    >>> f = fz.function([x, a], [solution, success, fz.grad(solution.sum(), a)])
    >>> f([1.0, 1.0], [4.0, 9.0])
    [array([2., 3.]), array(True), array([0.25      , 0.16666667])]
    """
    unknowns = listed(variables)
    check_problem(equations, unknowns, "root", subject="the equation", name="variables")
    with in_container_of(unknowns):
        packing = Packing.of(unknowns)
        outputs = [ravel(packing.within(equations))]
        count, wanted = outputs[0].type.shape[0], packing.vector.type.shape[0]
        if count is not None and wanted is not None and count != wanted:
            raise ValueError(
                f"root needs as many equations as unknowns; given {count} equations, {equations} "
                f"of type {equations.type}, for {wanted} unknowns"
            )
        if jac:
            outputs.append(
                rows_of_derivatives(outputs[0], packing.vector, written_out=use_vectorized_jac)
            )
        fgraph, parameters = inner_graph(packing.vector, outputs)
        options = freeze_options(optimizer_kwargs)
        op = Root(fgraph, method, bool(jac), bool(use_vectorized_jac), options)
        found, success = op(packing.start, *parameters)
        parts = packing.unpack(found)
    return parts if isinstance(variables, list | tuple) else parts[0], success


@described
def root_scalar(
    equation: Variable,
    variable: Variable,
    method: str = "secant",
    jac: bool = False,
    hess: bool = False,
    bracket: TensorLike | None = None,
    optimizer_kwargs: Mapping[str, object] | None = None,
) -> tuple[Variable, Variable]:
    """Return where one equation in one number holds, and whether that was found.

    Gradients are as for :func:`root`.

    equation (Variable): The floating-point expression to be zero, without dimensions.
    variable (Variable): The unknown, without dimensions. The search begins at its value.
    method (str): A method of :func:`scipy.optimize.root_scalar`.
    jac, hess (bool): Give the method the first, and the second, derivative: "newton" needs the one,
        "halley" both.
    bracket (tensor_like): The ends of an interval in which the sign changes, as "brentq", "bisect"
        and others need; they may depend on other variables.
    optimizer_kwargs (mapping): Further arguments of :func:`scipy.optimize.root_scalar`.
    returns solution: Where the equation holds, of the type of ``variable``; where the search ended
        if it failed.
    returns success: Whether the method says that it has found a root, a bool.

    >>> import frazil as fz
    >>> import frazil.tensor as ft
    >>> from frazil.optimize import root_scalar
    >>> x, a = ft.scalar("x"), ft.scalar("a")
    >>> solution, success = root_scalar(x**2 - a, x, method="brentq", bracket=[0.0, a + 1.0])
    >>> f = fz.function([x, a], [solution, success, fz.grad(solution, a)])
    >>> found, success, slope = f(1.0, 4.0)
    >>> float(found.round(6)), bool(success), float(slope.round(6))
    (2.0, True, 0.25)
    """
    check_problem(equation, [variable], "root_scalar", subject="the equation", name="variable")
    for one in (equation, variable):
        if one.ndim:
            raise TypeError(
                f"root_scalar takes one equation in one number; given {one} of type {one.type}. "
                "Use root for several."
            )
    if hess and not jac:
        raise ValueError("hess=True needs jac=True: no method uses the second derivative alone")
    options = freeze_options(optimizer_kwargs)
    with in_container_of([variable]):
        names, vectors = bound_operands(variable, options, bracket=bracket)
        outputs = [equation]
        for _ in range(int(jac) + int(hess)):
            outputs.append(grad(outputs[-1], variable, disconnected_inputs="ignore"))
        fgraph, parameters = inner_graph(variable, outputs)
        op = RootScalar(fgraph, method, bool(jac), bool(hess), options, names)
        found, success = op(variable, *parameters, *vectors)
    return found, success
