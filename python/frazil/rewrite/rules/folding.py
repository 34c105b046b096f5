"""Constant folding: what depends on constants only is worked out once, by the op itself."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import frazil.tensor as ft
from frazil._core import Constant, FrozenApply, TensorType
from frazil.rewrite.definition import Law, rule
from frazil.rewrite.sort import Known
from frazil.rewrite.wildcard import anything

MAX_ELEMENTS = 1024
"""Larger arrays are cheaper to work out again than to keep."""


def _is_small(kind: TensorType) -> bool:
    lengths = kind.shape
    return None not in lengths and math.prod(n for n in lengths if n is not None) <= MAX_ELEMENTS


def _value(node: FrozenApply, first: Constant, rest: Sequence[Constant]) -> Any:
    operands = (first, *rest)
    if not all(map(_is_small, (*node.output_types, *(x.type for x in operands)))):
        return None
    try:
        values = node.op.perform(node, [x.data for x in operands])
    except Exception:
        # What cannot be worked out says so when the graph runs, if it does.
        return None
    results = []
    for kind, value in zip(node.output_types, values, strict=True):
        constant = ft.constant(value)
        if not kind.accepts(constant.type):
            return None
        results.append(constant)
    return results


@rule
def fold(x: Known, *rest: Known) -> Law:
    """f(c, ...) is a constant if f's outputs follow from its inputs."""
    return anything(x, *rest), _value


RULES = (fold,)
