"""Basic indices, as sizes of a program."""

from __future__ import annotations

from collections.abc import Sequence

from frazil._core import Variable
from frazil.link.lowering.state import Lowering
from frazil.tensor.basic_indexing import DYNAMIC, Template

Index = list[int | tuple[int | None, int | None, int]]


def sized_index(
    template: Template, ndim: int, dynamic: Sequence[Variable], lowering: Lowering
) -> Index:
    """An entry for every dimension, with sizes of the program as its bounds."""
    operands = iter(lowering.sizes(dynamic))

    def size(bound: int | str) -> int:
        return next(operands) if bound == DYNAMIC else lowering.builder.size_literal(int(bound))

    index: Index = []
    for entry in template:
        if isinstance(entry, tuple):
            start, stop, step = entry
            index.append(
                (
                    None if start is None else size(start),
                    None if stop is None else size(stop),
                    size(1 if step is None else step),
                )
            )
        else:
            index.append(size(entry))
    whole = (None, None, lowering.builder.size_literal(1))
    return index + [whole] * (ndim - len(index))
