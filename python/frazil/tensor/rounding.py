"""Ops that compute with float16 in float32, and round each result once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import frazil._core as _core
from frazil._core import Variable
from frazil.graph.op import Op
from frazil.scalar import cast
from frazil.scalar.float16 import STORED, computed_in


class RoundedOp(Op):
    """Base of ops that are applied to float16 as float32; their floats become float16 again.

    So a sum of many numbers is rounded once, and no op but casts needs to know the dtype.

    Examples
    --------
    >>> import frazil.tensor as ft
    >>> from frazil.tensor.reductions import Sum
    >>> x = ft.vector("x", dtype="float16")
    >>> Sum((0,))(x)
    cast{float16}.out: float16[]
    """

    def __call__(self, *inputs: object) -> Any:
        """The output of the op applied to ``inputs``; a list where there are several."""
        for x in inputs:
            if isinstance(x, Variable) and x.dtype == STORED:
                return self._applied_wide(inputs)
        return super().__call__(*inputs)

    def _applied_wide(self, inputs: Sequence[object]) -> object:
        wide = computed_in(STORED)
        given = [_as(x, STORED, wide) for x in inputs]
        outputs = Op.__call__(self, *given)
        if isinstance(outputs, list):
            return [_as(y, wide, STORED) for y in outputs]
        return _as(outputs, wide, STORED)


def _as(x: object, dtype: str, other: str) -> object:
    """``x`` as the other dtype, if it has this one."""
    if not isinstance(x, Variable) or x.dtype != dtype:
        return x
    return _core.elemwise(cast(other), x)
