"""Elementwise application of scalar ops to tensors."""

from __future__ import annotations

from collections.abc import Sequence

import frazil._core as _core
from frazil._core import FrozenApply, TensorType, Variable
from frazil.graph.dataclass import dataclass
from frazil.graph.op import Array, Op
from frazil.scalar.evaluation import evaluate
from frazil.scalar.op import ScalarOp


@dataclass(frozen=True, eq=False)
class Elemwise(Op):
    """A scalar op applied to every element, ranks aligned from the last dimension as in NumPy.

    A dimension broadcasts only where its type says 1.

    Examples
    --------
    >>> import frazil.tensor as ft
    >>> from frazil.scalar.elemwise import Elemwise
    >>> from frazil.scalar import add
    >>> x = ft.vector("x")
    >>> Elemwise(add)(x, 1) is x + 1
    True
    """

    scalar_op: ScalarOp

    @property
    def commutative(self) -> bool:  # type: ignore[override]
        return self.scalar_op.commutative

    @property
    def takes_complex(self) -> bool:  # type: ignore[override]
        return self.scalar_op.takes_complex

    def _rule(self) -> str:
        return self.scalar_op.rule

    def _arity(self) -> int:
        return self.scalar_op.nin

    def __str__(self) -> str:
        return str(self.scalar_op)

    def make_node(self, *inputs: object) -> FrozenApply:
        node = _core.elemwise(self, *inputs).owner
        assert node is not None
        if self.scalar_op.nout == 1:
            return node
        (first,) = node.output_types
        dtypes = self.scalar_op.result_dtypes(first.dtype)
        return FrozenApply(self, node.inputs, [TensorType(dtype, first.shape) for dtype in dtypes])

    def perform(
        self, node: FrozenApply, inputs: Sequence[Array], out: Array | None = None
    ) -> tuple[Array, ...]:
        """The outputs' values, by the ways of :mod:`frazil.scalar.evaluation`.

        ``out``, if it is given, may be written to: an array of the output's shape, which may be one
        of ``inputs``.
        """
        _check_lengths(node, inputs)
        results = [ty.dtype for ty in node.output_types]
        return evaluate(self.scalar_op, results, inputs, out)

    def infer_shape(
        self, node: FrozenApply, input_shapes: Sequence[tuple[Variable, ...]]
    ) -> tuple[tuple[Variable, ...], ...]:
        types = node.output_types
        whole = types[0].shape
        if not whole:
            return ((),) * len(types)
        operands = [
            (x.broadcastable, shape)
            for x, shape in zip(node.inputs, input_shapes, strict=True)
            if shape
        ]
        if operands and whole.count(None) == len(whole) == len(operands[0][1]):
            repeats, shape = operands[0]
            if True not in repeats:  # the most frequent case
                return (shape,) * len(types)

        def length(axis: int) -> Variable:
            static = whole[axis]
            if static is not None:
                return _core.constant(static)
            # Every operand that does not broadcast here has the same length; the run checks it.
            for repeats, shape in operands:
                if len(shape) >= -axis and not repeats[axis]:
                    return shape[axis]
            # A rebuilt node may have a type that does not show the length 1 of its operands.
            return _core.constant(1)

        shape = tuple(length(axis) for axis in range(-len(whole), 0))
        return (shape,) * len(types)


ScalarOp.elementwise = Elemwise


def _check_lengths(node: FrozenApply, inputs: Sequence[Array]) -> None:
    """Raises where NumPy would broadcast a length 1 that no type declared."""
    ndim = node.output_types[0].ndim
    for axis in range(-ndim, 0):
        lengths = {
            array.shape[axis]
            for x, array in zip(node.inputs, inputs, strict=True)
            if x.ndim >= -axis and not x.broadcastable[axis]
        }
        if len(lengths) > 1:
            raise ValueError(
                f"{node.op}: operands have lengths {sorted(lengths)} at dimension {axis}"
                + (
                    "; a length 1 broadcasts only where the type declares it, "
                    "as in ft.tensor(shape=(None, 1))"
                    if 1 in lengths
                    else ""
                )
            )
