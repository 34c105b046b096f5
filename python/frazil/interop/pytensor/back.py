"""Frazil's graphs as PyTensor's ops: the way back."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pytensor.tensor as pt
from pytensor.gradient import DisconnectedType, disconnected_type
from pytensor.graph.basic import Apply
from pytensor.graph.op import Op

from frazil._core import FrozenFunctionGraph, SharedVariable, Variable, root_inputs
from frazil.compile.function import Function, function
from frazil.gradient.products import Lop
from frazil.interop.pytensor.translation import Results, Translation, rule
from frazil.tensor.docstrings import described

if TYPE_CHECKING:
    from pytensor.graph.op import Op as PyTensorOp


class FrazilGraph(Op):
    """A graph of frazil's, as one op of PyTensor's.

    In the mode ``"FRAZIL"`` the graph itself becomes part of the whole again. In other modes the op
    calls frazil's function.

    Parameters
    ----------
    graph : FrozenFunctionGraph
        The graph.
    """

    __props__ = ("graph",)

    def __init__(self, graph: FrozenFunctionGraph) -> None:
        self.graph = graph

    def make_node(self, *inputs: Any) -> Any:
        """The application of the op to variables of PyTensor's."""
        kinds = [pt.TensorType(x.dtype, shape=x.type.shape) for x in self.graph.inputs]
        if len(inputs) != len(kinds):
            raise TypeError(f"{self} takes {len(kinds)} inputs, given {len(inputs)}")
        given = [_as(pt.as_tensor_variable(x), k) for x, k in zip(inputs, kinds, strict=True)]
        outputs = [pt.tensor(dtype=x.dtype, shape=x.type.shape) for x in self.graph.outputs]
        return Apply(self, given, outputs)

    def perform(self, node: Apply, inputs: Sequence[object], output_storage: Sequence[Any]) -> None:
        """Call frazil's function."""
        for cell, value in zip(output_storage, _function(self.graph)(*inputs), strict=True):
            cell[0] = value

    def L_op(
        self, inputs: Sequence[Any], outputs: Sequence[object], output_gradients: Sequence[Any]
    ) -> list[Any]:
        """The gradients, by frazil's rules; integers have none."""
        given = [
            pt.zeros_like(out) if isinstance(gradient.type, DisconnectedType) else gradient
            for out, gradient in zip(outputs, output_gradients, strict=True)
        ]
        floats = [at for at, x in enumerate(self.graph.inputs) if x.dtype.startswith("float")]
        made = FrazilGraph(_gradient(self.graph))(*inputs, *given) if floats else []
        found = dict(zip(floats, made if isinstance(made, list) else [made], strict=True))
        return [found[at] if at in found else disconnected_type() for at in range(len(inputs))]

    pullback = L_op  # its name in newer versions

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        """Integers are connected to nothing."""
        return [[x.dtype.startswith("float")] * len(node.outputs) for x in self.graph.inputs]

    def __str__(self) -> str:
        return f"FrazilGraph{{{self.graph.digest[:8]}}}"


def _as(x: Any, kind: Any) -> object:
    """``x`` in that type, where no value is lost."""
    safe = np.can_cast(x.type.dtype, kind.dtype, "safe")
    return kind.filter_variable(pt.cast(x, kind.dtype) if safe else x)


@lru_cache(maxsize=256)
def _function(graph: FrozenFunctionGraph) -> Function:
    inputs, outputs = _free(graph)
    return function(inputs, outputs, on_unused_input="ignore")


def _free(graph: FrozenFunctionGraph) -> tuple[list[Variable], list[Variable]]:
    """Variables for a graph's inputs, and its outputs made of them."""
    inputs: list[Variable] = [x.type() for x in graph.inputs]
    return inputs, graph.bind(inputs)


@lru_cache(maxsize=256)
def _gradient(graph: FrozenFunctionGraph) -> FrozenFunctionGraph:
    """The gradients of the inputs that are floats, given those of the outputs."""
    inputs, outputs = _free(graph)
    given = [x.type() for x in outputs]
    real = [(x, g) for x, g in zip(outputs, given, strict=True) if x.dtype.startswith("float")]
    wrt = [x for x in inputs if x.dtype.startswith("float")]
    products = Lop([x for x, _ in real], wrt, [g for _, g in real], disconnected_inputs="ignore")
    return FrozenFunctionGraph([*inputs, *given], products)


@rule(FrazilGraph)
def _graph(op: PyTensorOp, node: object, t: Translation) -> Results:
    found: list[Variable] = op.graph.bind(t.operands(node))
    return found


@described
def to_pytensor(inputs: Sequence[Variable], outputs: Variable | Sequence[Variable]) -> FrazilGraph:
    """Return an op of PyTensor's that computes a graph of frazil's.

    inputs (sequence of Variable): The variables that the op's inputs stand for.
    outputs (Variable or sequence of Variable): The outputs; called with PyTensor's variables, the
        op returns a variable or a list.
    returns (FrazilGraph): It has gradients, infers no shapes, and may be part of a model of PyMC's
        in any mode.
    raises ValueError: If the graph needs a variable that is not among the inputs.

    >>> import pytensor, pytensor.tensor as pt
    >>> import frazil.tensor as ft
    >>> from frazil.interop.pytensor import to_pytensor
    >>> x = ft.vector("x")
    >>> norm = to_pytensor([x], ft.sqrt(ft.sum(x**2)))
    >>> y = pt.dvector("y")
    >>> slope = pytensor.grad(norm(y), y)
    >>> pytensor.function([y], slope, mode="FRAZIL")([3.0, 4.0])
    array([0.6, 0.8])
    """
    wanted = [outputs] if isinstance(outputs, Variable) else list(outputs)
    for x in root_inputs(wanted):
        if x not in inputs:
            kind = "shared variable" if isinstance(x, SharedVariable) else "variable"
            raise ValueError(f"the graph needs the {kind} {x}; name it among the inputs")
    return FrazilGraph(FrozenFunctionGraph(inputs, wanted))
