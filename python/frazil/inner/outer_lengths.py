"""Lengths of what an inner graph computes, as expressions in outer variables.

A graph that never runs, as the step of a scan without steps, has results of a shape too: the one
that the shapes of its inputs tell. Its lengths are *presumed*.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from weakref import WeakKeyDictionary

import frazil._core as _core
import frazil.scalar as scalar
from frazil._core import Constant, FrozenApply, FrozenFunctionGraph, Variable
from frazil.inner.inner_graph import HasInnerGraph, KnownShape
from frazil.tensor.lengths import Lengths, Shape_i, literal
from frazil.tensor.shapes import Shapes, is_size_arithmetic


def outer_lengths(
    fgraph: FrozenFunctionGraph,
    variables: Sequence[Variable],
    input_shapes: Mapping[Variable, KnownShape],
    values: Mapping[Variable, Variable],
) -> list[Lengths | None]:
    """Return the lengths of inner ``variables`` as expressions in outer variables.

    Parameters
    ----------
    input_shapes : mapping of Variable to tuple of Variable
        The outer lengths of each inner input.
    values : mapping of Variable to Variable
        The outer variables of inner inputs, as far as they are known.

    Returns
    -------
    list of tuple of Variable or None
        None where the lengths depend on inner values.
    """
    outer = _OuterLengths(fgraph, input_shapes, values, presume=False)
    found: list[Lengths | None] = []
    for x in variables:
        told = outer.told(x)
        whole = tuple(length for length in told if length is not None)
        found.append(whole if len(whole) == len(told) else None)
    return found


def presumed_lengths(
    fgraph: FrozenFunctionGraph,
    variables: Sequence[Variable],
    input_shapes: Mapping[Variable, KnownShape],
    values: Mapping[Variable, Variable],
) -> list[KnownShape]:
    """Return the lengths that inner ``variables`` would have if the graph ran.

    The parameters are those of :func:`outer_lengths`. None stands for a length that depends on
    inner values even so.
    """
    outer = _OuterLengths(fgraph, input_shapes, values, presume=True)
    return [outer.told(x) for x in variables]


def chosen_length(
    condition: Variable | None, then: Variable | None, otherwise: Variable | None
) -> Variable | None:
    """Return the presumed length of a choice between branches of these lengths; None: unknown.

    ``condition`` is None if its value is unknown outside. The length is then that of both branches,
    and 0 if they differ, as only a step that runs can tell.
    """
    if then is None or otherwise is None:
        return None
    if then is otherwise:
        return then
    if isinstance(condition, Constant):
        return then if condition.data else otherwise
    if condition is not None and condition.dtype in ("bool", "int64"):
        not_taken = _core.elemwise(scalar.eq, condition, _zero_like(condition))
        return _core.elemwise(scalar.where, not_taken, otherwise, then)
    if isinstance(then, Constant) and isinstance(otherwise, Constant):
        return literal(0)  # equal constants are one
    same = _core.elemwise(scalar.eq, then, otherwise)
    return _core.elemwise(scalar.where, same, then, literal(0))


def _zero_like(condition: Variable) -> Constant:
    return _core.constant(condition.type.numpy_dtype.type(0))


class _OuterLengths:
    """The lengths of one inner graph's variables, found as they are asked for."""

    def __init__(
        self,
        fgraph: FrozenFunctionGraph,
        input_shapes: Mapping[Variable, KnownShape],
        values: Mapping[Variable, Variable],
        *,
        presume: bool,
    ) -> None:
        shapes = _shapes.get(fgraph)
        if shapes is None:
            shapes = _shapes[fgraph] = Shapes(fgraph.toposort())
        self._inner = shapes
        self._input_shapes = input_shapes
        self._values = values
        self._presume = presume
        self._known: dict[Variable, Variable | None] = {}
        self._presumed: dict[FrozenApply, Sequence[KnownShape]] = {}

    def told(self, x: Variable) -> KnownShape:
        """The lengths of ``x``."""
        return tuple(self._outer(length) for length in self._inner.lengths(x))

    def _outer(self, length: Variable) -> Variable | None:
        known = self._known
        pending = [length]
        while pending:
            current = pending[-1]
            if current not in known:
                missing = [x for x in self._operands(current) if x not in known]
                if missing:
                    pending += missing
                    continue
                known[current] = self._found(current)
            pending.pop()
        return known[length]

    def _operands(self, length: Variable) -> Sequence[Variable]:
        """The lengths that must be known before this one."""
        node = length.owner
        if node is None or length in self._values:
            return ()
        if is_size_arithmetic(length):
            return node.inputs
        holder = self._holder(length)
        if holder is None:
            return ()
        values = [x for x in holder.inputs if not x.ndim]
        return [*values, *(own for x in holder.inputs for own in self._inner.lengths(x))]

    def _holder(self, length: Variable) -> FrozenApply | None:
        """The node whose graph may tell the length; None if there is none."""
        node = length.owner
        if not self._presume or node is None or not isinstance(node.op, Shape_i):
            return None
        maker = node.inputs[0].owner
        return maker if maker is not None and isinstance(maker.op, HasInnerGraph) else None

    def _found(self, length: Variable) -> Variable | None:
        """The length in outer variables, once its operands are known."""
        if isinstance(length, Constant):
            return length
        if length in self._values:
            return self._values[length]
        node = length.owner
        if node is None:
            return None
        if isinstance(node.op, Shape_i):
            (x,) = node.inputs
            holder = self._holder(length)
            if holder is not None:
                return self._presumed_of(holder)[x.index][node.op.axis]
            of = self._input_shapes.get(x)
            return None if of is None else of[node.op.axis]
        if not is_size_arithmetic(length):
            return None
        operands = [own for x in node.inputs if (own := self._known[x]) is not None]
        return node.op(*operands) if len(operands) == len(node.inputs) else None

    def _presumed_of(self, holder: FrozenApply) -> Sequence[KnownShape]:
        if holder not in self._presumed:
            self._presumed[holder] = holder.op.presume_lengths(
                holder,
                [None if x.ndim else self._known[x] for x in holder.inputs],
                [tuple(self._known[own] for own in self._inner.lengths(x)) for x in holder.inputs],
            )
        return self._presumed[holder]


# Kept as long as the graph is alive.
_shapes: WeakKeyDictionary[FrozenFunctionGraph, Shapes] = WeakKeyDictionary()
