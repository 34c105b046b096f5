"""Composite: a scalar op made of others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from frazil._core import Constant, FrozenFunctionGraph, Variable, elemwise
from frazil.scalar.op import ScalarOp


@dataclass(frozen=True, eq=False)
class Composite(ScalarOp):
    """A graph of scalar ops as one scalar op.

    Native linkers see through it: they run what it holds, each op in the loop that suits it. It
    needs no C code to be made, hashed, compared, differentiated or run.

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

    def __post_init__(self) -> None:
        from frazil.elemwise import Elemwise

        graph = self.fgraph
        if not isinstance(graph, FrozenFunctionGraph):
            raise TypeError(
                f"a Composite holds a FrozenFunctionGraph, given {type(graph).__name__}"
            )
        if not graph.outputs:
            raise TypeError("a Composite needs an output")
        for node in graph.toposort():
            if not isinstance(node.op, Elemwise):
                raise TypeError(f"a Composite is made of elementwise ops; {node.op} is none")
        for x in (*graph.inputs, *graph.outputs):
            if x.ndim:
                raise TypeError(
                    f"a Composite is made of scalars; {x} has type {x.type}. Write it with "
                    "ft.scalar() and apply the result to tensors"
                )

    @property
    def nin(self) -> int:
        return len(self.fgraph.inputs)

    @property
    def nout(self) -> int:
        return len(self.fgraph.outputs)

    @property
    def rule(self) -> str:
        return f"cast:{self.fgraph.outputs[0].dtype}"

    def __str__(self) -> str:
        return f"Composite{{{self.fgraph.digest[:8]}}}"

    def result_dtypes(self, first: str) -> tuple[str, ...]:
        return tuple(output.dtype for output in self.fgraph.outputs)

    def operand_dtypes(self, dtypes: Sequence[str], result: str) -> tuple[str, ...]:
        return tuple(nominal.dtype for nominal in self.fgraph.inputs)

    def impl(self, *operands: Any) -> Any:
        values = _steps(self.fgraph).run(operands)
        return values[0] if self.nout == 1 else values

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
        from frazil.tensor.constants import as_tensor

        graph = self.fgraph
        made: dict[Variable, Variable] = {
            nominal: as_tensor(operand, nominal.dtype)
            for nominal, operand in zip(graph.inputs, operands, strict=True)
        }
        for node in graph.toposort():
            results = node.op.make_node(*(made.get(x, x) for x in node.inputs)).outputs
            made.update(zip(node.outputs, results, strict=True))
        return [_over_all(made.get(output, output), operands) for output in graph.outputs]


def _over_all(result: Variable, operands: Sequence[Variable]) -> Variable:
    """``result`` in the shape of all operands, also of those that it does not depend on."""
    from frazil.scalar.logic import second
    from frazil.tensor.constants import as_tensor

    for operand in operands:
        widened = elemwise(second, as_tensor(operand, result.dtype), result)
        if widened.type != result.type:
            result = widened
    return result


class _Steps:
    """What ``impl`` does, told without variables: ops over numbered values."""

    def __init__(self, graph: FrozenFunctionGraph) -> None:
        numbers: dict[Variable, int] = {x: at for at, x in enumerate(graph.inputs)}
        self.inputs = [np.dtype(x.dtype).type for x in graph.inputs]
        self.constants: list[Any] = []
        self.steps: list[tuple[ScalarOp, list[tuple[int, Any]], list[Any]]] = []
        order = graph.toposort()
        met = [x for node in order for x in node.inputs] + list(graph.outputs)
        for x in met:
            if isinstance(x, Constant) and x not in numbers:
                numbers[x] = len(numbers)
                self.constants.append(x.data[()])
        for node in order:
            op: ScalarOp = node.op.scalar_op
            dtypes = [ty.dtype for ty in node.output_types]
            wanted = op.operand_dtypes([x.dtype for x in node.inputs], dtypes[0])
            operands = [
                (numbers[x], np.dtype(dtype).type)
                for x, dtype in zip(node.inputs, wanted, strict=True)
            ]
            self.steps.append((op, operands, [np.dtype(dtype).type for dtype in dtypes]))
            for output in node.outputs:
                numbers[output] = len(numbers)
        self.outputs = [numbers[output] for output in graph.outputs]

    def run(self, operands: Sequence[Any]) -> tuple[Any, ...]:
        values = [_converted(x, to) for x, to in zip(operands, self.inputs, strict=True)]
        values += self.constants
        with np.errstate(all="ignore"):
            for op, positions, dtypes in self.steps:
                results = op.impl(*[_converted(values[at], to) for at, to in positions])
                if len(dtypes) == 1:
                    results = (results,)
                values += [_converted(x, to) for x, to in zip(results, dtypes, strict=True)]
        return tuple(values[at] for at in self.outputs)


# Held by the graph's life, so that an op has no state; a graph never changes.
_known: WeakKeyDictionary[FrozenFunctionGraph, _Steps] = WeakKeyDictionary()


def _steps(graph: FrozenFunctionGraph) -> _Steps:
    steps = _known.get(graph)
    if steps is None:
        steps = _known.setdefault(graph, _Steps(graph))
    return steps


def _converted(value: Any, to: Any) -> Any:
    return value if type(value) is to else np.asarray(value).astype(to)[()]
