"""Rebuilding a graph: the variables that replace variables of the old graph."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from frazil._core import FrozenApply, FrozenFunctionGraph, TensorType, Variable
from frazil.tensor.broadcasting import with_lengths


class Successors:
    """Maps variables of a graph to the variables that replace them in a new one.

    The type of a successor states every length that the old type does; if it did not, the length is
    added and a run checks it. So every node that took the old variable takes the new one.

    Parameters
    ----------
    given : mapping of Variable to Variable, optional
        Successors to start from.
    after : Successors, optional
        A mapping for variables that have no successor here.

    Examples
    --------
    >>> import frazil.tensor as ft
    >>> from frazil.inner.successors import Successors
    >>> x, y = ft.tensor("x", shape=(3,)), ft.vector("y")
    >>> made = Successors()
    >>> made.put([x], [y])
    >>> made[x].type, made[y] is y
    (TensorType(float64[3]), True)
    """

    __slots__ = ("_after", "_own")

    def __init__(
        self, given: Mapping[Variable, Variable] | None = None, after: Successors | None = None
    ) -> None:
        self._own: dict[Variable, Variable] = {}
        self._after = after
        if given is not None:
            self.put(list(given), list(given.values()))

    def __contains__(self, x: Variable) -> bool:
        return x in self._own or (self._after is not None and x in self._after)

    def __getitem__(self, x: Variable) -> Variable:
        """Return the successor of ``x``; ``x`` itself if it has none."""
        found = self._own.get(x)
        if found is not None:
            return found
        return x if self._after is None else self._after[x]

    def of(self, variables: Iterable[Variable]) -> list[Variable]:
        """Return the successors of ``variables``."""
        if self._after is not None:
            return [self[x] for x in variables]
        own = self._own
        return [own.get(x, x) for x in variables]

    def put(self, old: Sequence[Variable], new: Sequence[Variable]) -> None:
        """Let ``new`` replace ``old``."""
        for x, y in zip(old, new, strict=True):
            self._own[x] = with_type_of(y, x.type)

    def apply(self, node: FrozenApply) -> None:
        """Apply the op of a node to the successors of its inputs, if any input has one."""
        inputs = self.of(node.inputs)
        if inputs != [*node.inputs]:
            self.put(node.outputs, node.op.make_node(*inputs).outputs)

    def move(self, node: FrozenApply) -> None:
        """Clone a node over the successors of its inputs, with the same output types."""
        inputs = self.of(node.inputs)
        if inputs != [*node.inputs]:
            self.put(node.outputs, node.clone_with_new_inputs(inputs).outputs)

    def graph(self, graph: FrozenFunctionGraph) -> FrozenFunctionGraph:
        """Return the new graph: the successors of the outputs, over the same inputs."""
        return FrozenFunctionGraph(list(graph.inputs), self.of(graph.outputs))


def with_type_of(x: Variable, wanted: TensorType) -> Variable:
    """Return ``x`` with the lengths that the type ``wanted`` states, so that it can replace such.

    Raises
    ------
    TypeError
        If the types differ by more than lengths that one of them leaves open.
    """
    if wanted.accepts(x.type):
        return x
    told = zip(wanted.shape, x.type.shape, strict=False)
    if (wanted.dtype, len(wanted.shape)) != (x.dtype, x.ndim) or any(
        None not in pair and pair[0] != pair[1] for pair in told
    ):
        raise TypeError(f"{x} of type {x.type} cannot take the place of a variable of {wanted}")
    return with_lengths(x, wanted)
