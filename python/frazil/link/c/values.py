"""The values of a kernel, and their expressions in C."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from frazil.link.c import syntax as c
from frazil.link.c.functions import C_TYPES
from frazil.link.c.scalar_loop import LoopFunctions
from frazil.link.c.unit import Unit
from frazil.link.kernel.loop_kernel import Cumulate, LoopKernel, RowFold, Statement, Write
from frazil.link.kernel.scalar_loop import ScalarLoopCall, scalar_loop_calls


def is_alone(kernel: LoopKernel, k: int) -> bool:
    """Whether a statement is computed for one element at a time, not for the lanes of a block."""
    return kernel.lanes == 1 or kernel.uniform[k]


class Values:
    """The values of one kernel: value ``k`` is a literal or has the name ``v`` and ``k``."""

    def __init__(self, unit: Unit, kernel: LoopKernel) -> None:
        self.unit = unit
        self.kernel = kernel
        self.dtypes = kernel.dtypes
        self.n_reads = len(kernel.reads)
        self.first_statement = self.n_reads + len(kernel.literals)
        self.texts = [f"v{k}" for k in range(len(kernel.dtypes))]
        self.texts[self.n_reads : self.first_statement] = unit.literals(
            kernel.literals, self.n_reads, kernel.statements
        )
        self.calls = scalar_loop_calls(kernel.ops)
        self.expressions: dict[int, str] = {}
        self._vector: dict[int, bool] = {}
        for k, own in kernel.ops.items():
            if isinstance(own, Statement) and k not in self.calls:
                expression = unit.statement_expression(own, self.dtypes, alone=is_alone(kernel, k))
                self.expressions[k] = expression.text.format(*[self.texts[a] for a in own.args])
                self._vector[k] = expression.vector

    def type(self, k: int) -> str:
        """The C type of a value."""
        return C_TYPES[self.dtypes[k]]

    def converted(self, k: int, dtype: str) -> str:
        """The expression of a value, converted to a dtype."""
        return self.unit.convert(self.texts[k], self.dtypes[k], dtype)

    def written(self, write: Write) -> str:
        """The expression of the written value, in the write's dtype."""
        return self.converted(write.value, write.dtype)

    def is_vector(self, k: int) -> bool:
        """Whether a loop over a statement can be vectorised."""
        return self._vector.get(k, False)

    def can_fail(self, k: int) -> bool:
        """Whether computing a value may set a status other than OK."""
        return k not in self.expressions or "status" in self.expressions[k]

    def is_declared(self, k: int) -> bool:
        """Whether a value has a name; literals have none."""
        return k < self.n_reads or k >= self.first_statement

    def computed(self, k: int) -> Iterator[c.Statement]:
        """Compute value ``k`` of one element; the values that it needs are there."""
        if k in self.calls:
            yield from results_of(self.unit, self.calls[k], k, self.texts, self.dtypes)
        else:
            yield c.Const(self.type(k), f"v{k}", self.expressions[k])


def reduction(own: RowFold | Cumulate, value: int) -> Write:
    """The reduction of a fold or a cumulation, as the write that would do it."""
    return Write(value, own.dtype, inner=False, reduce=own.reduce)


def results_of(
    unit: Unit, call: ScalarLoopCall, k: int, texts: Sequence[str], dtypes: Sequence[str]
) -> Iterator[c.Statement]:
    """The statements that make value ``k`` a result of a scalar loop, for one element.

    The loop runs at the first of its results. ``texts`` and ``dtypes`` tell of all values.
    """
    functions: LoopFunctions = unit.loop(call.loop)
    first = call.numbers[0]
    if k == first:
        operands = [
            unit.convert(texts[a], dtypes[a], to)
            for a, to in zip(call.args, call.operands, strict=True)
        ]
        yield c.Const(functions.struct, f"g{k}", functions.call(operands))
    result = call.results[call.numbers.index(k)]
    yield c.Const(C_TYPES[dtypes[k]], f"v{k}", f"g{first}.r{result}")
