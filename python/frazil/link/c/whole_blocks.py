"""The loop over rows of whole blocks that indices choose, in C."""

from __future__ import annotations

from collections.abc import Iterator

from frazil.graph.dataclass import dataclass
from frazil.link.c import syntax as c
from frazil.link.c.definitions import load, memory_type, place
from frazil.link.c.functions import C_TYPES
from frazil.link.c.indexed_rows import indexed_rows
from frazil.link.c.lanes import BlockWriter
from frazil.link.c.operands import Operands
from frazil.link.c.partials import Partials
from frazil.link.c.rows import Rows
from frazil.link.c.stages import Stages
from frazil.link.c.values import Values
from frazil.link.kernel.loop_kernel import Write
from frazil.link.kernel.passes import Pass
from frazil.link.kernel.reduction import folds_row
from frazil.link.kernel.whole_blocks import AHEAD


@dataclass(frozen=True, slots=True)
class RowFolding:
    """The fold of a row of one block, into an output with an element for each row."""

    values: Values
    k: int
    write: Write

    def enter_block(self) -> Iterator[c.Statement]:
        """Declare the elements."""
        yield c.Array(memory_type(self.write.dtype), f"c{self.k}", self.values.kernel.lanes)

    def fold_lane(self, value: str) -> c.Statement:
        """Keep the value of lane ``l``."""
        return c.Assign(f"c{self.k}[l]", value)

    def leave_row(self, element: str) -> Iterator[c.Statement]:
        """Fold the elements, and the result into the output, whose element is at a pointer."""
        k, dtype, lanes = self.k, self.write.dtype, self.values.kernel.lanes
        partials = Partials(self.values.unit, self.write, lanes)
        both = partials.fold("so_far", "row_folded")
        yield c.Const(C_TYPES[dtype], "so_far", load(dtype, element, "0"))
        yield c.Const(C_TYPES[dtype], "row_folded", partials.one_set(f"c{k}"))
        yield c.Assign(place(dtype, element, "0"), both)


class WholeBlockRows:
    """Writes the loop over rows of whole blocks, which is a function of its own."""

    def __init__(self, values: Values, operands: Operands, rows: Rows, row_pass: Pass) -> None:
        self.values = values
        self.operands = operands
        self.rows = rows
        self.moving = operands.of_pass(row_pass)
        self.indexed = indexed_rows(values, row_pass)
        numbered = enumerate(values.kernel.writes, values.n_reads)
        self.foldings = [RowFolding(values, k, w) for k, w in numbered if folds_row(w)]
        self.stages = Stages(values, row_pass)
        self.block = BlockWriter(values, row_pass, self.stages, self.foldings)

    def function(self, name: str) -> c.Function:
        """The function that does all rows.

        It has registers for all of its pointers, which it had not as a part of the kernel's.
        """
        rows = [
            *self.rows.uniform_reads(),
            *self.rows.uniform_values(0),
            *self._row(),
            *self.rows.uniform_writes(),
            *(c.Assign(f"p{x}", self.operands.stride(x), "+=") for x in self.operands.moved),
        ]
        body = [
            c.Declare("i4", "status", "0"),
            *self.operands.declare(),
            *self.block.before_blocks(),
            c.For("i8 outer = 0", "outer < n_outer", "++outer", rows),
            c.Return("status"),
        ]
        operands = ("char *const *ptr", "i8 n_outer", "i8 n_inner", "const i8 *outer_stride")
        return c.Function("static NOINLINE i4", name, operands, body)

    def call(self, name: str) -> c.If:
        """The call of the function of this name where rows are such."""
        lanes = self.values.kernel.lanes
        conditions = [f"n_inner == {lanes}" if self.foldings else f"n_inner % {lanes} == 0"]
        conditions += [row.lies_densely for row in self.indexed]
        # An output that stays where it is gathers all rows.
        conditions += [self.operands.stride(each.k) for each in self.foldings]
        call = c.Return(f"{name}(ptr, n_outer, n_inner, outer_stride)")
        return c.If(" && ".join(conditions), [call])

    def _row(self) -> Iterator[c.Statement]:
        for row in self.indexed:
            yield from row.find()
        yield from self._prefetched()
        body: list[c.Statement] = []
        body += [c.Declare("char", f"*q{x.name}", f"p{x.name} + i * {x.size}") for x in self.moving]
        body += [row.start_block() for row in self.indexed]
        body += self.block.one_block()
        if self.foldings:
            yield c.Const("i8", "i", "0")
            yield from body
        else:
            yield c.For("i8 i = 0", "i < n_inner", f"i += {self.values.kernel.lanes}", body)
        for each in self.foldings:
            yield c.Block([*each.leave_row(self.rows.element(each.k))])

    def _prefetched(self) -> Iterator[c.Statement]:
        """Prefetch the rows that are chosen some rows later, if they have several blocks: the
        processor itself reads several rows of a block side by side.
        """
        foretold = [] if self.foldings else [row for row in self.indexed if row.is_foretold]
        if not foretold:
            return
        lanes = self.values.kernel.lanes
        body: list[c.Statement] = [own for row in foretold for own in row.find_later(self.operands)]
        blocks = [row.prefetch() for row in foretold]
        body.append(c.For("i8 i = 0", "i < n_inner", f"i += {lanes}", blocks))
        yield c.Const("i8", "ahead", f"outer + {AHEAD} < n_outer ? {AHEAD} : 0")
        yield c.If(f"n_inner > {lanes}", body)
