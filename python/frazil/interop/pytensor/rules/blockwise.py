"""The rule for ``Blockwise``, which applies an op to each matrix or vector of a stack."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Any

from pytensor.tensor import math as ptm
from pytensor.tensor.blockwise import Blockwise

import frazil.tensor as ft
from frazil._core import Variable
from frazil.interop.pytensor.foreign import performed
from frazil.interop.pytensor.integers import known
from frazil.interop.pytensor.library import classes
from frazil.interop.pytensor.repeated import element
from frazil.interop.pytensor.translation import (
    Results,
    Translation,
    cast,
    own_type,
    rule,
    translate,
)
from frazil.scan.build import scan

if TYPE_CHECKING:
    from pytensor.graph.basic import Apply
    from pytensor.graph.op import Op as PyTensorOp

_OF_STACKS = classes(
    "Cholesky",
    "SolveTriangular",
    "CholeskySolve",
    "Solve",
    "MatrixInverse",
    "Det",
    "SLogDet",
    "LUFactor",
    "SVD",
    "QR",
    "Eigh",
)


@rule(Blockwise)
def _blockwise(op: PyTensorOp, node: Apply, t: Translation) -> Results:
    batch = op.batch_ndim(node)
    if isinstance(op.core_op, ptm.Dot):
        dtype = node.outputs[0].type.dtype
        left, right = (cast(x, dtype) for x in t.operands(node))
        return ft.matmul(left, right) if batch else ft.dot(left, right)
    if isinstance(op.core_op, _OF_STACKS):
        return translate(op.core_op, node, t)  # frazil's functions take stacks of matrices
    if not _has_rule(op.core_op) or any(own_type(x.type) is None for x in node.inputs):
        return performed(node, t)
    core = op._create_dummy_core_node(node.inputs)
    operands = t.operands(node)

    def apply(*values: Variable) -> list[Variable]:
        return Translation(outer=t, local=True).graph(core.inputs, core.outputs, values)

    leading = [x.type.shape[:batch] for x in node.inputs]
    if all(n == 1 for lengths in leading for n in lengths):
        front = tuple(range(batch))
        found = apply(*(x[(0,) * batch] if batch else x for x in operands))
        return [ft.expand_dims(x, front) if front else x for x in found]
    alike, lengths = _alike(node, batch)
    if alike:
        found = t.beside(op.core_op.make_node(*alike).outputs)
        return [ft.broadcast_to(x, [*lengths, *ft.shape(x)]) for x in found]
    return _each(apply, operands, node, batch)


def _alike(node: Apply, batch: int) -> tuple[list[object], list[int]]:
    """The operands of each element of the batch, and the batch shape.

    Nothing where elements may differ, or there may be none.
    """
    own = zip(*(x.type.shape[:batch] for x in node.inputs), strict=True)
    lengths = [next((n for n in of if n != 1), 1) for of in own]
    counted = [n for n in lengths if n]
    operands = [element(x, batch) for x in node.inputs]
    if len(counted) < batch or any(x is None for x in operands):
        return [], []
    return operands, counted


def _has_rule(op: PyTensorOp) -> bool:
    return translate.dispatch(type(op)) is not translate.dispatch(object)


def _each(apply: Any, operands: list[Variable], node: Apply, batch: int) -> list[Variable]:
    """All operands in one batch shape, then one loop along it."""
    shape: list[Any] = [1] * batch
    for theirs, x in zip(node.inputs, operands, strict=True):
        for i in range(batch):
            if theirs.type.shape[i] != 1:
                shape[i] = known(ft.as_tensor(ft.shape(x)[i]))
    count = reduce(ft.mul, [ft.as_tensor(n) for n in shape])
    rows = []
    for x in operands:
        own = ft.shape(x)[batch:]
        rows.append(ft.reshape(ft.broadcast_to(x, [*shape, *own]), [count, *own]))
    results = scan(
        lambda *values: apply(*values),
        sequences=rows,
        outputs_info=[None] * len(node.outputs),
        return_list=True,
        return_updates=False,
    )
    return [ft.reshape(x, [*shape, *ft.shape(x)[1:]]) for x in results]
