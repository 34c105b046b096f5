"""What the variables of a graph became in a pass over it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from frazil._core import FrozenApply, FrozenFunctionGraph, TensorType, Variable
from frazil.tensor.broadcasting import with_lengths


class Successors:
    """For variables of a graph what takes their place.

    No successor says less than what it takes the place of: a length that the type of the old
    variable told, and that of the new one does not, is told again, and a run checks it. So whoever
    took the old variable takes the new one.

    Parameters
    ----------
    given : mapping of Variable to Variable, optional
        Successors to start from.
    after : Successors, optional
        What variables became that have no successor here.

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
        """What ``x`` became; itself if it stayed."""
        found = self._own.get(x)
        if found is not None:
            return found
        return x if self._after is None else self._after[x]

    def of(self, variables: Iterable[Variable]) -> list[Variable]:
        """What each of ``variables`` became."""
        return [self[x] for x in variables]

    def put(self, old: Sequence[Variable], new: Sequence[Variable]) -> None:
        """Let ``new`` take the places of ``old``."""
        for x, y in zip(old, new, strict=True):
            self._own[x] = as_told(y, x.type)

    def apply(self, node: FrozenApply) -> None:
        """Apply a node anew to what its inputs became, if that is anything else."""
        inputs = self.of(node.inputs)
        if any(a is not b for a, b in zip(inputs, node.inputs, strict=True)):
            self.put(node.outputs, node.op.make_node(*inputs).outputs)

    def move(self, node: FrozenApply) -> None:
        """Let a node of the very types read what its inputs became, if that is anything else."""
        inputs = self.of(node.inputs)
        if any(a is not b for a, b in zip(inputs, node.inputs, strict=True)):
            self.put(node.outputs, node.clone_with_new_inputs(inputs).outputs)

    def graph(self, graph: FrozenFunctionGraph) -> FrozenFunctionGraph:
        """``graph`` with what its outputs became."""
        return FrozenFunctionGraph(list(graph.inputs), self.of(graph.outputs))


def as_told(x: Variable, wanted: TensorType) -> Variable:
    """Return ``x``, which stands for a variable of type ``wanted``, with the lengths that it tells.

    Raises
    ------
    TypeError
        If they differ by more than in lengths that one of them does not tell.
    """
    if wanted.accepts(x.type):
        return x
    told = zip(wanted.shape, x.type.shape, strict=False)
    if (wanted.dtype, len(wanted.shape)) != (x.dtype, x.ndim) or any(
        None not in pair and pair[0] != pair[1] for pair in told
    ):
        raise TypeError(f"{x} of type {x.type} cannot take the place of a variable of {wanted}")
    return with_lengths(x, wanted)
