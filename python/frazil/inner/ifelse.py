"""``fz.ifelse``: a choice between two branches; only the taken one runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from frazil._core import Constant, FrozenApply, FrozenFunctionGraph, TensorType, Variable
from frazil.graph.containers import in_container_of
from frazil.graph.dataclass import dataclass
from frazil.graph.op import Array
from frazil.inner.inner_graph import HasInnerGraph, KnownShape, Values, compute
from frazil.inner.op_from_graph import owned
from frazil.inner.outer_lengths import chosen_length, outer_lengths, presumed_lengths
from frazil.scalar.constants import TensorLike, as_tensor
from frazil.tensor.elementwise.table import neq
from frazil.tensor.lengths import Lengths


@dataclass(frozen=True, eq=False)
class IfElse(HasInnerGraph):
    """Computes one of two branches, by a condition; :func:`frazil.ifelse` builds it.

    Its inputs are the condition and the inputs of the graph. It computes the first half of the
    graph's outputs if the condition holds, else the second half.

    Parameters
    ----------
    fgraph : FrozenFunctionGraph
        Both branches.
    name : str, optional
        A name for messages.
    """

    fgraph: FrozenFunctionGraph
    name: str | None = None

    def __post_init__(self) -> None:
        count = len(self.fgraph.outputs)
        if count % 2:
            raise ValueError(
                f"both branches need the same number of outputs; given {count} together"
            )
        for at, (then, otherwise) in enumerate(zip(*self.branches, strict=True)):
            common_type(at, then, otherwise)

    def __str__(self) -> str:
        return f"IfElse{{{self.name or self.fgraph.digest[:8]}}}"

    @property
    def branches(self) -> tuple[tuple[Variable, ...], tuple[Variable, ...]]:
        """The outputs of the graph if the condition holds, and those if it does not."""
        outputs = self.fgraph.outputs
        half = len(outputs) // 2
        return outputs[:half], outputs[half:]

    @property
    def branch_graphs(self) -> tuple[FrozenFunctionGraph, FrozenFunctionGraph]:
        """The graph of each branch; each takes all inputs."""
        then, otherwise = self.branches
        graph = self.fgraph
        return (
            FrozenFunctionGraph(graph.inputs, then),
            FrozenFunctionGraph(graph.inputs, otherwise),
        )

    def make_node(self, condition: Variable, *inputs: Variable) -> FrozenApply:
        wanted = self.fgraph.inputs
        if len(inputs) != len(wanted):
            raise TypeError(f"{self} takes {len(wanted)} operands, given {len(inputs)}")
        if condition.ndim or condition.type.numpy_dtype.kind == "f":
            raise TypeError(
                f"the condition of {self} is a bool or an integer without dimensions, given "
                f"{condition} of type {condition.type}"
            )
        for at, (given, inner) in enumerate(zip(inputs, wanted, strict=True)):
            if not inner.type.accepts(given.type):
                raise TypeError(
                    f"operand {at} of {self} has type {inner.type}, given {given} of type "
                    f"{given.type}"
                )
        pairs = zip(*self.branches, strict=True)
        types = [common_type(at, a, b) for at, (a, b) in enumerate(pairs)]
        return FrozenApply(self, [condition, *inputs], types)

    def expand(self, inputs: Sequence[Variable]) -> list[Variable]:
        """Return the outputs of both branches, computed outside of the op."""
        with in_container_of(inputs):
            return self.fgraph.bind(inputs)

    def perform(self, node: FrozenApply, inputs: Sequence[Array]) -> tuple[Array, ...]:
        taken = self.branch_graphs[0 if inputs[0] else 1]
        return owned(compute(taken, inputs[1:]), inputs)

    def infer_shape(
        self, node: FrozenApply, input_shapes: Sequence[Lengths]
    ) -> tuple[Lengths | None, ...]:
        graph = self.fgraph
        shapes: dict[Variable, Lengths] = dict(zip(graph.inputs, input_shapes[1:], strict=True))
        values: dict[Variable, Variable] = dict(zip(graph.inputs, node.inputs[1:], strict=True))
        told = [outer_lengths(graph, branch, shapes, values) for branch in self.branches]
        return tuple(a if a == b else None for a, b in zip(*told, strict=True))

    def presume_lengths(
        self, node: FrozenApply, values: Values, input_shapes: Sequence[KnownShape]
    ) -> list[KnownShape]:
        graph, condition = self.fgraph, values[0]
        shapes: dict[Variable, KnownShape] = dict(zip(graph.inputs, input_shapes[1:], strict=True))
        known: dict[Variable, Variable] = {
            x: outer for x, outer in zip(graph.inputs, values[1:], strict=True) if outer is not None
        }
        told = presumed_lengths(graph, graph.outputs, shapes, known)
        half = len(told) // 2
        return [
            tuple(chosen_length(condition, a, b) for a, b in zip(then, otherwise, strict=True))
            for then, otherwise in zip(told[:half], told[half:], strict=True)
        ]


def ifelse(
    condition: TensorLike,
    then_branch: object,
    else_branch: object,
    name: str | None = None,
) -> Any:
    """Return one of two branches; only the taken one is computed.

    A node that both branches need, or that is needed elsewhere, is computed in any case. To choose
    element by element, use :func:`frazil.tensor.where`, which computes both.

    Parameters
    ----------
    condition : tensor_like
        A number without dimensions; zero is false, all others are true.
    then_branch, else_branch : tensor_like, or list of them
        The result if the condition holds, and if it does not: of the same dtypes and ranks.
    name : str, optional
        A name for messages.

    Returns
    -------
    Variable, or list of Variable
        A list if the branches are lists. Its type states the lengths that both branches have.

    Raises
    ------
    TypeError
        If dtypes or ranks of the branches differ, or the condition has dimensions.
    ValueError
        If one branch has more outputs than the other.

    Examples
    --------
    >>> import frazil as fz
    >>> import frazil.tensor as ft
    >>> x = ft.vector("x")
    >>> y = fz.ifelse(ft.sum(x) > 0, ft.log(x), -x)
    >>> f = fz.function([x], y)
    >>> f([1.0, 1.0]), f([-1.0, -2.0])
    (array([0., 0.]), array([1., 2.]))
    """
    several = isinstance(then_branch, list | tuple) or isinstance(else_branch, list | tuple)
    given = [_listed(branch) for branch in (then_branch, else_branch)]
    if len(given[0]) != len(given[1]):
        raise ValueError(
            "the branches of an ifelse need the same number of outputs: then_branch has "
            f"{len(given[0])}, else_branch {len(given[1])}"
        )
    pairs = list(zip(*given, strict=True))
    then = [_like(a, b) for a, b in pairs]
    otherwise = [_like(b, a) for a, b in pairs]
    chosen = as_tensor(condition)
    if chosen.ndim:
        raise TypeError(
            f"the condition of an ifelse has no dimensions, given {chosen} of type {chosen.type}; "
            "reduce it with ft.any or ft.all, or choose each element with ft.where"
        )
    for at, (a, b) in enumerate(zip(then, otherwise, strict=True)):
        common_type(at, a, b)
    if chosen.type.numpy_dtype.kind == "f":
        chosen = neq(chosen, 0)
    with in_container_of([chosen, *then, *otherwise]):
        outputs = branch_over(chosen, then, otherwise, name)
    return outputs if several else outputs[0]


def branch_over(
    condition: Variable,
    then: Sequence[Variable],
    otherwise: Sequence[Variable],
    name: str | None,
    boundary: Sequence[Variable] | None = None,
) -> list[Variable]:
    """Return the outputs of an IfElse whose branches compute ``then`` and ``otherwise``.

    They do so from ``boundary``; by default from these variables themselves, so that branches are
    empty.
    """
    both = [*then, *otherwise]
    if boundary is None:
        boundary = list(dict.fromkeys(x for x in both if not isinstance(x, Constant)))
    op = IfElse(FrozenFunctionGraph(boundary, both), name)
    return list(op.make_node(condition, *boundary).outputs)


def _listed(branch: object) -> list[object]:
    return list(branch) if isinstance(branch, list | tuple) else [branch]


def _like(x: Any, other: Any) -> Variable:
    """``x`` as a tensor; a Python number gets the dtype of ``other``, its counterpart."""
    weak = isinstance(x, bool | int | float) and isinstance(other, Variable)
    return as_tensor(x, other.dtype) if weak else as_tensor(x)


def common_type(at: int, then: Variable, otherwise: Variable) -> TensorType:
    """Return the type of output ``at``, with the lengths that both branches have."""
    if then.dtype != otherwise.dtype or then.ndim != otherwise.ndim:
        way = (
            "cast one of them"
            if then.dtype != otherwise.dtype
            else "give both as many dimensions, with ft.expand_dims or ft.broadcast_to"
        )
        raise TypeError(
            f"output {at} of an ifelse has type {then.type} in then_branch and {otherwise.type} "
            f"in else_branch; {way}"
        )
    shapes = zip(then.type.shape, otherwise.type.shape, strict=True)
    return TensorType(then.dtype, tuple(a if a == b else None for a, b in shapes))
