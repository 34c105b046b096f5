"""The base class of ops that SciPy solves: operands, calls of SciPy, gradients."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from frazil._core import Constant, FrozenApply, FrozenFunctionGraph, TensorType, Variable
from frazil.gradient.jacobians import jacobian
from frazil.gradient.reverse import grad, pull_back
from frazil.graph.op import Array
from frazil.inner.inner_graph import HasInnerGraph, compute
from frazil.optimize.options import Options
from frazil.scalar.constants import TensorLike, as_tensor, constant
from frazil.scan.build import loop_invariants
from frazil.tensor.broadcasting import broadcast_like
from frazil.tensor.joining import stack
from frazil.tensor.lengths import Lengths
from frazil.tensor.linalg import solve

Evaluate: TypeAlias = Callable[[Sequence[Array]], Sequence[Array]]
"""Takes the values of a graph's inputs, returns the values of its outputs."""

Bounds: TypeAlias = Mapping[str, tuple[float, ...]]
"""Keyword arguments of SciPy's functions that are operands of an op, by their names."""


class Solver(HasInnerGraph):
    """An op that searches an ``x`` for which a condition holds, and tells whether it found one.

    The inputs of its graph are ``x``, then the parameters; those of the op where to start, the
    parameters, then what ``bounds`` names, a vector each. The outputs are the solution, of the type
    of ``x``, and a bool.

    Attributes
    ----------
    fgraph : FrozenFunctionGraph
        Its first output says what is solved; its derivatives by ``x`` follow, as far as they are
        asked for.
    method : str
        The name of SciPy's method.
    options : tuple
        Further keyword arguments of SciPy; see :mod:`frazil.optimize.options`.
    """

    method: str
    options: Options
    bounds: tuple[str, ...] = ()
    """The keyword arguments of SciPy that are operands."""
    rank: ClassVar[int]
    """The rank of ``x``."""

    @abstractmethod
    def solve(
        self, evaluations: Evaluations, start: Array, bounds: Bounds
    ) -> tuple[npt.ArrayLike, bool]:
        """Return the last ``x``, and whether it is a solution."""

    @abstractmethod
    def condition(self, x: Variable, value: Variable) -> Variable:
        """Return an expression in the shape of ``x`` that is zero at a solution."""

    def make_node(self, *inputs: Variable) -> FrozenApply:
        x, *_ = expected = [one.type for one in self.fgraph.inputs]
        expected += [TensorType(x.dtype, (None,)) for _ in self.bounds]
        if len(inputs) != len(expected):
            raise TypeError(f"{self} takes {len(expected)} operands; given {len(inputs)}")
        if x.ndim != self.rank or x.numpy_dtype.kind != "f":
            raise TypeError(
                f"{self} solves for {self.rank}-dimensional floats; its graph starts with {x}"
            )
        for position, (one, type) in enumerate(zip(inputs, expected, strict=True)):
            if not type.accepts(one.type):
                raise TypeError(
                    f"operand {position} of {self} must have type {type}; given {one} of type "
                    f"{one.type}"
                )
        return FrozenApply(self, inputs, [x, TensorType("bool", ())])

    def perform(self, node: FrozenApply, inputs: Sequence[Array]) -> tuple[Array, ...]:
        return self.run(lambda arrays: compute(self.fgraph, arrays), inputs)

    def run(self, evaluate: Evaluate, inputs: Sequence[Array]) -> tuple[Array, Array]:
        """Return the outputs, computed with a function that evaluates the graph."""
        count = len(self.fgraph.inputs)
        start, *parameters = inputs[:count]
        bounds = {
            name: tuple(value.tolist())
            for name, value in zip(self.bounds, inputs[count:], strict=True)
        }
        if not start.size:
            return start.copy(), np.array(True)
        found, success = self.solve(Evaluations(evaluate, start, parameters), start, bounds)
        solution = np.array(found, start.dtype).reshape(start.shape)
        return solution, np.array(bool(success))

    def infer_shape(
        self, node: FrozenApply, input_shapes: Sequence[Lengths]
    ) -> tuple[Lengths, Lengths]:
        return input_shapes[0], ()

    def L_op(
        self,
        inputs: Sequence[Variable],
        outputs: Sequence[Variable],
        output_gradients: Sequence[Variable],
    ) -> list[Variable | None]:
        # Where F(x, p) = 0 defines x, dx = -(dF/dx)^-1 dF/dp dp.
        count = len(self.fgraph.inputs)
        x, *parameters = fresh = [one.type() for one in self.fgraph.inputs]
        g = outputs[0].type()
        condition = self.condition(x, self.fgraph.bind(fresh)[0])
        adjoint = self.adjoint(condition, x, g)
        differentiable = [one for one in parameters if one.type.numpy_dtype.kind == "f"]
        pulled = pull_back({condition: -adjoint}, differentiable, disconnected_inputs="ignore")
        # Apart from the outer graph first: there the solution depends on the parameters, too.
        known = [
            (one, by) for one, by in zip(differentiable, pulled, strict=True) if by is not None
        ]
        graph = FrozenFunctionGraph([*fresh, g], [by for _, by in known])
        bound = graph.bind([outputs[0], *inputs[1:count], output_gradients[0]])
        gradients = dict(zip((one for one, _ in known), bound, strict=True))
        # The solution depends neither on the start of the search nor on its bounds.
        start = broadcast_like(constant(0, x.dtype), inputs[0])
        return [start, *(gradients.get(one) for one in parameters), *([None] * len(self.bounds))]

    def adjoint(self, condition: Variable, x: Variable, g: Variable) -> Variable:
        """Return ``g`` times the inverse of the condition's derivative by ``x``."""
        if not self.rank:
            return g / grad(condition, x)
        rows = rows_of_derivatives(condition, x, written_out=self.written_out)
        return solve(rows, g, transposed=True)

    @property
    def written_out(self) -> bool:
        """Whether rows of derivatives are written out side by side, instead of by a scan."""
        return False


class Evaluations:
    """The outputs of a graph at the last ``x``, as SciPy asks for them one by one."""

    def __init__(self, evaluate: Evaluate, start: Array, parameters: Sequence[Array]) -> None:
        self._evaluate = evaluate
        self._shape, self._dtype = start.shape, start.dtype
        self._parameters = list(parameters)
        self._at: bytes | None = None
        self._last: list[Array] = []

    def all(self, x: object) -> list[float | Array]:
        """Return the values of all outputs at ``x``, as float64."""
        point = np.array(x, self._dtype).reshape(self._shape)
        at = point.tobytes()
        if self._at != at:
            values = self._evaluate([point, *self._parameters])
            self._last = [np.array(value, "float64") for value in values]
            self._at = at
        return [value.item() if value.ndim == 0 else value.copy() for value in self._last]

    def value(self, x: object) -> float | Array:
        """Return the value of the first output."""
        return self.all(x)[0]

    def first(self, x: object) -> float | Array:
        """Return the first derivative."""
        return self.all(x)[1]

    def second(self, x: object) -> float | Array:
        """Return the second derivative."""
        return self.all(x)[2]

    def with_first(self, x: object) -> tuple[float | Array, float | Array]:
        """Return the value and the first derivative."""
        value, first, *_ = self.all(x)
        return value, first


def rows_of_derivatives(expression: Variable, x: Variable, *, written_out: bool) -> Variable:
    """Return the Jacobian of a vector by another.

    ``written_out``: as an expression for each row, for which the length must be static; else by a
    scan.
    """
    if written_out and expression.type.shape[0] is None:
        raise ValueError(
            f"use_vectorized_jac=True needs a static length, but the derivatives are those of "
            f"{expression.type}; say ft.tensor(shape=(n,)), or leave it out for a scan"
        )
    return jacobian(expression, x, disconnected_inputs="ignore", vectorize=written_out)


def inner_graph(
    x: Variable, outputs: Sequence[Variable]
) -> tuple[FrozenFunctionGraph, list[Variable]]:
    """Return the graph of ``outputs`` over ``x`` and parameters, and the outer parameters."""
    parameters = loop_invariants(outputs, [x])
    return FrozenFunctionGraph([x, *parameters], outputs), parameters


def listed(x: Variable | Sequence[Variable]) -> list[Variable]:
    """Return one unknown, or several, as a list."""
    return [*x] if isinstance(x, list | tuple) else [cast(Variable, x)]


def check_problem(
    expression: object, unknowns: Sequence[Variable], what: str, *, subject: str, name: str
) -> None:
    """Raise if ``unknowns`` cannot be solved for: no variables, or not floating-point.

    ``what`` is the function that was called; ``subject`` says what the expression is, ``name`` what
    the unknowns are called.
    """
    if not unknowns:
        raise ValueError(f"{what} needs something to solve for; given no variable")
    for x in unknowns:
        _check_unknown(x, what, name)
    if not isinstance(expression, Variable):
        raise TypeError(f"{subject} must be a variable; given {expression!r}")
    if expression.type.numpy_dtype.kind != "f":
        raise TypeError(
            f"{subject} must be floating-point; given {expression} of type {expression.type}"
        )
    _check_depends(expression, unknowns, subject)


def _check_unknown(x: object, what: str, name: str) -> None:
    if not isinstance(x, Variable):
        raise TypeError(f"{name} must be a variable; given {x!r} of type {type(x).__name__}")
    if isinstance(x, Constant):
        raise TypeError(f"{name} must be a variable; given the constant {x}")
    if x.type.numpy_dtype.kind != "f":
        raise TypeError(
            f"{what} solves for floats; given {x} of type {x.type}. Use a variable of dtype "
            "float64, and cast where integers are needed."
        )


def _check_depends(expression: Variable, unknowns: Sequence[Variable], subject: str) -> None:
    """Raise if an expression does not depend on all ``unknowns``."""
    reached = {expression}
    pending = [expression]
    while pending:
        node = pending.pop().owner
        for one in () if node is None else node.inputs:
            if one not in reached:
                reached.add(one)
                pending.append(one)
    for x in unknowns:
        if x not in reached:
            raise ValueError(
                f"{subject} does not depend on {x} of type {x.type}, which it is to be solved for"
            )


def bound_operands(
    x: Variable, options: Options, **bounds: TensorLike | None
) -> tuple[tuple[str, ...], list[Variable]]:
    """Return the names of the ``bounds`` that are not None, and vectors of their values."""
    names = {name for name, _ in options}
    given = {name: value for name, value in bounds.items() if value is not None}
    for name in bounds:
        if name in names:
            raise ValueError(f"pass {name} as an argument of its own, not in optimizer_kwargs")
    vectors = []
    for name, value in given.items():
        vector = (
            stack([as_tensor(one, x.dtype) for one in value])
            if isinstance(value, list | tuple)
            else as_tensor(value, x.dtype)
        )
        if vector.ndim != 1:
            raise TypeError(f"{name} must be a vector or a pair of numbers; given {vector.type}")
        vectors.append(vector)
    return tuple(given), vectors
