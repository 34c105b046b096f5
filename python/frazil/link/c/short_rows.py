"""Short rows side by side in a kernel of one pass, in C.

A kernel that does nothing but fold each row into an element of its own has no tiles: a row waits
for no other pass. But where a row is a block or two, what is done once a row takes several times as
long as the blocks. So such a kernel has a function that takes full tiles of short rows, column by
column as in the first passes of other kernels (:mod:`frazil.link.c.columns`). It folds in the same
order as the walk along a row, which goes on with the rows that are left.

Columns are made of whole squares, which may reach into the rows behind. So the function leaves the
last rows to the walk, as there may be no memory behind them.
"""

from __future__ import annotations

from collections.abc import Iterator

from frazil.link.c import syntax as c
from frazil.link.c.columns import ColumnBlock, ColumnFolding, define_transposing
from frazil.link.c.definitions import load, place
from frazil.link.c.functions import C_TYPES
from frazil.link.c.operands import Moving, Operands
from frazil.link.c.partials import Partials
from frazil.link.c.rows import RowTiles
from frazil.link.c.stages import Stages
from frazil.link.c.values import Values
from frazil.link.kernel.loop_kernel import BLOCK_BYTES
from frazil.link.kernel.passes import Passes
from frazil.link.kernel.tiles import SHORT, TILE, folds_side_by_side


class ShortRows:
    """Writes the function that folds full tiles of short rows."""

    def __init__(self, values: Values, operands: Operands, passes: Passes) -> None:
        self.values = values
        self.operands = operands
        [row_pass] = passes.passes
        self.rows = RowTiles(values, operands, passes)
        self.moving = operands.of_pass(row_pass)
        numbered = enumerate(values.kernel.writes, values.n_reads)
        self.foldings = [ColumnFolding(values, k, write) for k, write in numbered]
        self.block = ColumnBlock(values, row_pass, Stages(values, row_pass), self.foldings)

    def function(self, name: str) -> c.Function:
        """The function, which returns the number of rows that it has done."""
        define_transposing(self.values.unit)
        body = [
            *self.operands.declare(),
            *self.rows.declare_kept(),
            *(own for each in self.foldings for own in each.declare()),
            *(own for each in self.foldings for own in self._results(each)),
            *(own for each in self.moving for own in self._columns(each)),
            c.Const("i8", "rows", f"{TILE}"),
            c.Const("i8", "behind", f"(((n_inner + {TILE - 1}) & -{TILE}) - 1) / n_inner"),
            c.Declare("i8", "outer", "0"),
            c.For("", f"outer + {TILE} + behind <= n_outer", f"outer += {TILE}", [*self._tile()]),
            c.Return("outer"),
        ]
        operands = ("char *const *ptr", "i8 n_outer", "i8 n_inner", "const i8 *outer_stride")
        return c.Function("static NOINLINE i8", name, operands, body)

    def call(self, name: str) -> c.If:
        """The call of the function of this name where rows are short; the others are left."""
        conditions = [f"n_outer >= {TILE} && n_inner > 1 && n_inner <= {SHORT}"]
        # An output that stays where it is gathers all rows.
        conditions += [self.operands.stride(each.k) for each in self.foldings]
        for each in self.moving:
            stride = self.operands.stride(each.name)
            conditions.append(f"(!{stride} || {stride} >= n_inner * {each.size})")
        done = [
            c.Const("i8", "done", f"{name}(ptr, n_outer, n_inner, outer_stride)"),
            *(
                c.Assign(f"p{own}", f"done * {self.operands.stride(own)}", "+=")
                for own in self.operands.moved
            ),
            c.Assign("n_outer", "done", "-="),
        ]
        return c.If(" && ".join(conditions), done)

    def _results(self, folding: ColumnFolding) -> Iterator[c.Statement]:
        """Room for what the rows of a tile are folded to."""
        yield c.Array(C_TYPES[folding.write.dtype], f"row{folding.k}", TILE)

    def _columns(self, operand: Moving) -> Iterator[c.Statement]:
        """Room for the columns of an operand, which are there already if all rows are one."""
        columns = f"k{operand.name}"
        yield c.Array(C_TYPES[operand.dtype], columns, SHORT * TILE)
        element = load(operand.dtype, f"p{operand.name}", "i")
        lane = c.Assign(f"{columns}[i * {TILE} + l]", element)
        same = [c.For("i8 i = 0", "i < n_inner", "++i", [c.lanes_loop(TILE, [lane])])]
        yield c.If(f"!{self.operands.stride(operand.name)}", same)

    def _tile(self) -> Iterator[c.Statement]:
        """The work on the rows of a tile."""
        yield from self.rows.uniform_reads()
        yield from self.rows.uniform_values(0)
        starts: list[c.Statement] = []
        for each in self.moving:
            stride = self.operands.stride(each.name)
            to = f"(char *)k{each.name}, {BLOCK_BYTES}, {TILE * BLOCK_BYTES}"
            of = f"p{each.name}, {stride}, {BLOCK_BYTES}"
            yield c.If(stride, [c.Do(f"transpose({to}, {of}, n_inner)")])
            start = f"(char *)k{each.name} + i * {BLOCK_BYTES}"
            starts.append(c.Declare("char", f"*q{each.name}", start))
        yield from self.block.before_blocks()
        yield c.For("i8 i = 0", "i < n_inner", "++i", [*starts, *self.block.one_block()])
        yield from (each.leave_rows() for each in self.foldings)
        results = [own for each in self.foldings for own in self._folded(each)]
        yield c.For("i8 r = 0", "r < rows", "++r", results)
        for own in self.operands.moved:
            yield c.Assign(f"p{own}", f"rows * {self.operands.stride(own)}", "+=")

    def _folded(self, folding: ColumnFolding) -> Iterator[c.Statement]:
        """Fold what a row is folded to into its element of the output."""
        dtype, element = folding.write.dtype, self.rows.element(folding.k)
        partials = Partials(self.values.unit, folding.write, TILE)
        so_far = load(dtype, element, "0")
        both = partials.fold(so_far, f"row{folding.k}[r]")
        yield c.Assign(place(dtype, element, "0"), both)


def takes_short_rows(values: Values, passes: Passes) -> bool:
    """Whether a kernel of one pass has a function for short rows."""
    kernel = values.kernel
    return (
        values.unit.register_bits >= 256
        and folds_side_by_side(kernel, passes.passes)
        and not any(map(values.can_fail, kernel.ops))
    )
