"""Products, which BLAS computes."""

from __future__ import annotations

import numpy as np

from frazil._core import FrozenApply
from frazil.link import blas
from frazil.link.lowering.node import lower_node
from frazil.link.lowering.state import Lowering
from frazil.op import Op
from frazil.tensor.products import Dot


@lower_node.register
def _(op: Dot, node: FrozenApply, lowering: Lowering) -> None:
    a, b = node.inputs
    if np.dtype(a.dtype).kind != "f":
        lower_node.dispatch(Op)(op, node, lowering)  # no BLAS for integers
        return
    blas.install()
    slot = lowering.builder.dot(lowering.slot(a), lowering.slot(b))
    lowering.place(node.outputs[0], slot)
