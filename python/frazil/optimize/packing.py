"""Unknowns of any shapes packed into one vector, and unpacked."""

from __future__ import annotations

from collections.abc import Sequence

import frazil._core as _core
from frazil._core import TensorType, Variable
from frazil.graph.dataclass import dataclass
from frazil.scalar.constants import as_tensor
from frazil.tensor.joining import concatenate
from frazil.tensor.lengths import lengths, product, static_length
from frazil.tensor.reshaping import ravel, reshape


@dataclass(frozen=True)
class Packing:
    """A vector with the elements of all unknowns."""

    unknowns: Sequence[Variable]
    """The unknowns, in the order of their elements in the vector."""
    vector: Variable
    """The variable that replaces them in an expression."""
    start: Variable
    """The initial value of the search."""

    @staticmethod
    def of(unknowns: Sequence[Variable]) -> Packing:
        """Return the vector of these unknowns; a single vector stands for itself."""
        if len(unknowns) == 1 and unknowns[0].ndim == 1:
            return Packing(unknowns, unknowns[0], unknowns[0])
        parts = [ravel(x) for x in unknowns]
        start = parts[0] if len(parts) == 1 else concatenate(parts)
        return Packing(unknowns, TensorType(start.dtype, start.type.shape)(), start)

    def within(self, expression: Variable) -> Variable:
        """Return an expression with the vector in place of the unknowns."""
        if self.vector is self.start:
            return expression
        pairs = list(zip(self.unknowns, self.unpack(self.vector), strict=True))
        (replaced,) = _core.graph_replace([expression], pairs)
        return replaced

    def unpack(self, vector: Variable) -> list[Variable]:
        """Return the parts of a vector, in the shapes of the unknowns."""
        if self.vector is self.start:
            return [vector]
        parts = []
        first: int | Variable = 0
        for x in self.unknowns:
            shape = lengths(x)
            size = product(shape)
            known = static_length(size)
            last = first + (size if known is None else known)
            parts.append(as_tensor(reshape(vector[first:last], shape), x.dtype))
            first = last
        return parts
