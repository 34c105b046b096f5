"""Scalar ops that hold a graph of scalar ops."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar
from weakref import WeakKeyDictionary

import numpy as np

from frazil._core import Constant, FrozenApply, FrozenFunctionGraph, Variable
from frazil.graph.op import Array
from frazil.scalar.elemwise import Elemwise
from frazil.scalar.evaluation import evaluate
from frazil.scalar.op import ScalarOp


class ScalarGraphOp(ScalarOp):
    """A scalar op that computes by a graph, its field ``fgraph``.

    The variables of the graph have no dimensions, and its nodes are elementwise.
    """

    fgraph: FrozenFunctionGraph
    article: ClassVar[str] = "a"

    def __post_init__(self) -> None:
        graph, this = self.fgraph, f"{self.article} {type(self).__name__}"
        if not isinstance(graph, FrozenFunctionGraph):
            raise TypeError(f"{this} holds a FrozenFunctionGraph, given {type(graph).__name__}")
        if not graph.outputs:
            raise TypeError(f"{this} needs an output")
        for node in graph.toposort():
            if not isinstance(node.op, Elemwise):
                raise TypeError(f"{this} is made of elementwise ops; {node.op} is not elementwise")
        for x in (*graph.inputs, *graph.outputs):
            if x.ndim:
                raise TypeError(
                    f"{this} is made of scalars; {x} has type {x.type}. Write it with "
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
        return f"{type(self).__name__}{{{self.fgraph.digest[:8]}}}"

    def result_dtypes(self, first: str) -> tuple[str, ...]:
        return tuple(output.dtype for output in self.fgraph.outputs)

    def operand_dtypes(self, dtypes: Sequence[str], result: str) -> tuple[str, ...]:
        return tuple(nominal.dtype for nominal in self.fgraph.inputs)


class Steps:
    """A graph of scalar ops as a list of steps over numbered values."""

    def __init__(self, graph: FrozenFunctionGraph) -> None:
        numbers: dict[Variable, int] = {x: at for at, x in enumerate(graph.inputs)}
        self.inputs = [np.dtype(x.dtype).type for x in graph.inputs]
        self.constants: list[Any] = []
        self.steps: list[tuple[ScalarOp, list[tuple[int, Any]], list[Any]]] = []
        order: list[FrozenApply] = graph.toposort()
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

    def run(self, operands: Sequence[object]) -> tuple[Any, ...]:
        """The outputs for single elements."""
        values = [_converted(x, to) for x, to in zip(operands, self.inputs, strict=True)]
        values += self.constants
        with np.errstate(all="ignore"):
            for op, positions, dtypes in self.steps:
                results = op.impl(*[_converted(values[at], to) for at, to in positions])
                if len(dtypes) == 1:
                    results = (results,)
                values += [_converted(x, to) for x, to in zip(results, dtypes, strict=True)]
        return tuple(values[at] for at in self.outputs)

    def run_arrays(self, arrays: Sequence[Array]) -> tuple[Array, ...]:
        """The outputs for arrays of one shape and of the dtypes of the inputs, in that shape."""
        shape = arrays[0].shape if arrays else ()
        values = [*arrays, *map(np.asarray, self.constants)]
        for op, positions, dtypes in self.steps:
            names = [np.dtype(dtype).name for dtype in dtypes]
            values += evaluate(op, names, [values[at] for at, _ in positions])
        return tuple(np.broadcast_to(values[at], shape) for at in self.outputs)


# Kept while the graph lives, so that ops have no state.
_known: WeakKeyDictionary[FrozenFunctionGraph, Steps] = WeakKeyDictionary()


def steps_of(graph: FrozenFunctionGraph) -> Steps:
    """The steps of a graph of scalar ops, made once."""
    steps = _known.get(graph)
    if steps is None:
        steps = _known.setdefault(graph, Steps(graph))
    return steps


def _converted(value: object, to: type[np.generic]) -> object:
    return value if type(value) is to else np.asarray(value).astype(to)[()]
