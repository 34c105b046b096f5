"""Composite: a scalar op made of others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import frazil._core as _core
from frazil._core import FrozenFunctionGraph, Variable, elemwise
from frazil.graph.containers import in_container_of
from frazil.graph.dataclass import dataclass
from frazil.graph.op import Array
from frazil.scalar.constants import as_tensor
from frazil.scalar.graph import ScalarGraphOp, steps_of
from frazil.scalar.logic import second


@dataclass(frozen=True, eq=False)
class Composite(ScalarGraphOp):
    """A graph of scalar ops as one scalar op.

    Native linkers expand it: each op that it holds runs in the loop that suits it. Nothing is
    compiled to make, compare, differentiate or evaluate it.

    Parameters
    ----------
    fgraph : FrozenFunctionGraph
        Inputs and outputs without dimensions; every node is elementwise. Composites may nest.

    Raises
    ------
    TypeError
        If the graph has no output, a variable with dimensions, or a node that is not elementwise.

    Examples
    --------
    >>> import frazil as fz
    >>> import frazil.tensor as ft
    >>> from frazil.scalar import Composite
    >>> a, b = ft.scalar(), ft.scalar()
    >>> op = Composite(fz.FrozenFunctionGraph([a, b], [a * a + b, ft.exp(a)]))
    >>> op.nin, op.nout
    (2, 2)
    >>> x = ft.vector("x")
    >>> fz.function([x], op(x, 1.0))([0.0, 2.0])
    [array([1., 5.]), array([1.       , 7.3890561])]
    """

    fgraph: FrozenFunctionGraph

    def impl(self, *operands: object) -> Any:
        values = steps_of(self.fgraph).run(operands)
        return values[0] if self.nout == 1 else values

    def on_arrays(self, arrays: Sequence[Array]) -> tuple[Array, ...]:
        """Each op of the graph for all elements at once."""
        return tuple(map(np.array, steps_of(self.fgraph).run_arrays(np.broadcast_arrays(*arrays))))

    def expand(self, operands: Sequence[Variable]) -> list[Variable]:
        """The outputs as elementwise expressions of ``operands``, which broadcast.

        Examples
        --------
        >>> import frazil as fz
        >>> import frazil.tensor as ft
        >>> from frazil.scalar import Composite
        >>> a = ft.scalar()
        >>> double = Composite(fz.FrozenFunctionGraph([a], [a + a]))
        >>> x = ft.vector("x")
        >>> double.expand([x])[0] is x + x
        True
        """
        graph = self.fgraph
        with in_container_of(x for x in operands if isinstance(x, Variable)):
            places = [x.type(None) for x in graph.inputs]
            outputs = graph.bind(places)
            made: dict[Variable, Variable] = {
                place: as_tensor(operand, place.dtype)
                for place, operand in zip(places, operands, strict=True)
            }
            for node in _core.toposort(outputs, places):
                results = node.op.make_node(*(made.get(x, x) for x in node.inputs)).outputs
                made.update(zip(node.outputs, results, strict=True))
            return [_over_all(made.get(output, output), operands) for output in outputs]


def _over_all(result: Variable, operands: Sequence[Variable]) -> Variable:
    """``result`` in the shape of all operands, also of those that it does not depend on."""
    for operand in operands:
        widened = elemwise(second, as_tensor(operand, result.dtype), result)
        if widened.type != result.type:
            result = widened
    return result
