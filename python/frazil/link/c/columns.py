"""Short rows of a tile side by side, in C: a block has one element of each row, a column.

Where a row is a block or two, half of the lanes may be empty, and what the walk does once a row
takes longer than the blocks. So a kernel that folds rows takes full tiles of short rows through its
first passes column by column; the rows of a tile are as many as a block has lanes. Operands go to
columns on the stack first, and kept values go back to rows before the last pass, which walks along
the rows: it may gather them into one row, whose elements are folded from row to row.

Rows are folded in the order in which the walk along a row folds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from frazil.graph.dataclass import dataclass
from frazil.link.c import syntax as c
from frazil.link.c.functions import C_TYPES
from frazil.link.c.lanes import BlockWriter, PlainLanes
from frazil.link.c.operands import Moving, Operands
from frazil.link.c.rows import Rows
from frazil.link.c.stages import Stages
from frazil.link.c.unit import Unit
from frazil.link.c.values import Values, reduction
from frazil.link.kernel.loop_kernel import BLOCK_BYTES, Write
from frazil.link.kernel.passes import Pass, Passes
from frazil.link.kernel.tiles import SHORT, TILE, is_side_by_side

HALVES = (4, 2, 1)
"""How far the lanes of a block are apart that are folded, one step after the other."""

_SHUFFLE = """
#if defined(__clang__)
#define SHUFFLE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define SHUFFLE(a, b, ...) __builtin_shuffle(a, b, (TYPE){__VA_ARGS__})
#endif
"""


def _transposing(vector: str, parts: int) -> str:
    """The function that turns rows to columns, and columns to rows: squares of a block's side.

    ``next`` is the bytes from one row or column to the next, ``block`` those from one square to the
    next. Squares are transposed in registers: stores of single elements would keep the loads of
    what follows waiting. Where a block takes two registers, its square has four of a register's
    side.
    """
    operands = (
        "char *to, i8 to_next, i8 to_block, const char *of, i8 of_next, i8 of_block, i8 count"
    )
    step = f"at += {TILE}, to += to_block, of += of_block"
    lines = [
        f"static NOINLINE void transpose({operands}) {{",
        f"  for (i8 at = 0; at < count; {step}) {{",
    ]
    square = ("of", "to")
    if parts > 1:
        square = ("from", "into")
        side, size = TILE // parts, BLOCK_BYTES // parts
        row, column = f"(part / {parts})", f"(part % {parts})"
        lines += [
            f"    for (i8 part = 0; part < {parts * parts}; ++part) {{",
            f"    const char *from = of + {row} * {side} * of_next + {column} * {size};",
            f"    char *into = to + {column} * {side} * to_next + {row} * {size};",
        ]
    lines += _square(vector, TILE // parts, *square)
    if parts > 1:
        lines.append("    }")
    return "\n".join([*lines, "  }", "}", ""])


def _square(vector: str, side: int, of: str, to: str) -> Iterator[str]:
    """The lines that transpose a square of a register's side."""
    for lane in range(side):
        yield f"    {vector} x{lane} = *(const {vector}_at *)({of} + {lane} * of_next);"
    for apart in reversed([own for own in HALVES if own < side]):
        yield "    {"
        for lane in range(side):
            low, high = f"x{lane & ~apart}", f"x{lane | apart}"
            places = [_place(lane & apart, apart, at, side) for at in range(side)]
            shuffled = f"SHUFFLE({low}, {high}, {', '.join(places)})"
            yield f"      const {vector} y{lane} = {shuffled};"
        yield "      " + " ".join(f"x{lane} = y{lane};" for lane in range(side))
        yield "    }"
    for lane in range(side):
        yield f"    *({vector}_at *)({to} + {lane} * to_next) = x{lane};"


def _place(is_high: int, apart: int, at: int, side: int) -> str:
    """The element of two registers that goes to a place when squares of a side are transposed."""
    own, other = at & ~apart | (apart if is_high else 0), at & apart
    return f"{own + side if other else own}"


def define_transposing(unit: Unit) -> None:
    """Define the function that turns rows to columns and back."""
    parts = unit.parts(BLOCK_BYTES)
    vector = unit.vector("int64", TILE // parts)
    unit.define(_SHUFFLE.replace("TYPE", vector))
    unit.define(_transposing(vector, parts))


@dataclass(frozen=True, slots=True)
class ColumnFolding:
    """The fold of each row of a tile: its elements wait in columns until all are there."""

    values: Values
    k: int
    write: Write

    @property
    def columns(self) -> str:
        """The array in which they wait."""
        return f"of{self.k}"

    def declare(self) -> Iterator[c.Statement]:
        """Room for two blocks; what is behind the end of a row changes no result."""
        unit, write = self.values.unit, self.write
        vector = unit.vector(write.dtype, TILE)
        yield c.Array(C_TYPES[write.dtype], self.columns, SHORT * TILE)
        none = f"{unit.identity(str(write.reduce), write.dtype)} - ({vector}){{}}"
        padding = c.Assign(f"(({vector} *){self.columns})[at]", none)
        yield c.For("i8 at = n_inner", f"at < {SHORT}", "++at", [padding])

    def enter_block(self) -> Iterator[c.Statement]:
        """Point to the column of the present elements."""
        yield c.Declare(C_TYPES[self.write.dtype], f"*c{self.k}", f"{self.columns} + i * {TILE}")

    def fold_lane(self, value: str) -> c.Statement:
        """Keep the value of row ``l``."""
        return c.Assign(f"c{self.k}[l]", value)

    def leave_rows(self) -> c.Do:
        """Fold the elements of each row to one."""
        unit, write = self.values.unit, self.write
        parts = unit.parts(BLOCK_BYTES)
        vector = unit.vector(write.dtype, TILE // parts)
        unit.define(_folding(str(write.reduce), vector, parts))
        columns, to = f"({vector} *){self.columns}", f"({vector} *)row{self.k}"
        return c.Do(f"fold_{write.reduce}_of_columns({to}, {columns}, n_inner)")


_CHOSEN = "(VECTOR_OF_F8)(((VECTOR_OF_I8)b & ({0})) | ((VECTOR_OF_I8)a & ~({0})))"
_BOTH = {
    "add": "a + b",
    "mul": "a * b",
    "maximum": _CHOSEN.format("(b > a) | (b != b)"),
    "minimum": _CHOSEN.format("(b < a) | (b != b)"),
}
"""The fold of two columns, for each reduction: vectors, as loops take long to compile."""


def _folding(reduce: str, vector: str, parts: int) -> str:
    """The function that folds the columns of rows to one, as the lanes of blocks are folded.

    Where a column takes two registers, so does the result.
    """
    both = _BOTH[reduce].replace("VECTOR_OF_F8", vector)
    both = both.replace("VECTOR_OF_I8", vector.replace("f8", "i8"))

    def fold(lane: int, other: str) -> str:
        return f"{{ const {vector} a = x{lane}, b = {other}; x{lane} = {both}; }}"

    name = f"fold_{reduce}_of_columns"
    second = " ".join(fold(lane, f"of[{parts * (lane + TILE)}]") for lane in range(TILE))
    halves = [fold(lane, f"x{lane + apart}") for apart in HALVES for lane in range(apart)]
    each_part = [f"  for (i8 part = 0; part < {parts}; ++part, ++to, ++of) {{"]
    return "\n".join(
        [
            "",
            f"static NOINLINE void {name}({vector} *to, const {vector} *of, i8 count) {{",
            *(each_part if parts > 1 else ()),
            *(f"  {vector} x{lane} = of[{parts * lane}];" for lane in range(TILE)),
            f"  if (count > {TILE}) {{ {second} }}",
            *(f"  {one}" for one in halves),
            "  *to = x0;",
            *("  }" for _ in each_part if parts > 1),
            "}",
            "",
        ]
    )


class ColumnBlock(BlockWriter):
    """Writes the work of a pass on a column: each lane has the uniform values of its row."""

    def _body(self, lanes: PlainLanes) -> list[c.Statement]:
        values = self.values
        used = (k for k in sorted({*self.stages.used_values()}) if self.kernel.uniform[k])
        rows = (c.Const(values.type(k), f"v{k}", f"t{k}[l]") for k in used if values.is_declared(k))
        return [*rows, *super()._body(lanes)]

    def _block(self, k: int, vector: str) -> str:
        if self.kernel.uniform[k] and self.values.is_declared(k):
            return f"*(const {vector} *)t{k}"
        return super()._block(k, vector)


class RowColumns:
    """The way of a kernel through full tiles of short rows, in all passes but the last."""

    condition = "beside"

    def __init__(self, values: Values, operands: Operands, rows: Rows, passes: Passes) -> None:
        self.values = values
        self.kernel = values.kernel
        self.operands = operands
        self.rows = rows
        *self.first, self.last = passes.passes

    def declare(self) -> Iterator[c.Statement]:
        """Room for the columns of a tile, and what moves rows to columns and back."""
        define_transposing(self.values.unit)
        for each in [*self._read(), *self._kept()]:
            yield c.Array(C_TYPES[each.dtype], f"k{each.name}", SHORT * TILE)
        for fold in (own for row_pass in self.first for own in self._foldings(row_pass)):
            yield from fold.declare()

    def enter(self) -> Iterator[c.Statement]:
        """Find out whether the present rows are taken side by side, and gather their operands."""
        fits = f"{self.rows.count} == {TILE} && n_inner > 0 && n_inner <= {SHORT}"
        yield c.Const("b1", self.condition, fits)
        # The ends of rows are copied, and so are rows that have one: there may be no memory behind.
        for each in self._read():
            stride = self.operands.stride(each.name)
            of = f"rest ? (const char *)e{each.name} : p{each.name}"
            of_next = f"rest ? padded * {each.size} : {stride}"
            to = f"(char *)k{each.name}, {BLOCK_BYTES}, {TILE * BLOCK_BYTES}"
            gathered = c.Do(f"transpose({to}, {of}, {of_next}, {BLOCK_BYTES}, n_inner)")
            # Values that are the same for all rows are there already.
            yield c.If(f"{self.condition} && ({stride} || !outer)", [gathered])

    def takes(self, row_pass: Pass) -> bool:
        """Whether a pass is taken so."""
        return row_pass in self.first

    def walk(self, row_pass: Pass, along_rows: Sequence[c.Statement]) -> c.If:
        """A pass, by columns where the present rows are short, else by other statements."""
        foldings = self._foldings(row_pass)
        block = ColumnBlock(self.values, row_pass, Stages(self.values, row_pass), foldings)
        starts = [
            c.Declare("char", f"*q{each.name}", f"(char *)k{each.name} + i * {BLOCK_BYTES}")
            for each in self.operands.of_pass(row_pass)
        ]
        by_columns = [
            *block.before_blocks(),
            c.For("i8 i = 0", "i < n_inner", "++i", [*starts, *block.one_block()]),
            *(each.leave_rows() for each in foldings),
        ]
        return c.If(self.condition, by_columns, along_rows)

    def leave(self) -> Iterator[c.Statement]:
        """Scatter the kept values to the rows through which the last pass walks."""
        loaded = [each for each in self._kept() if each in self.operands.of_pass(self.last)]
        scattered: list[c.Statement] = []
        for each in loaded:
            columns, vector = f"k{each.name}", self.values.unit.vector("int64", TILE)
            last = c.Assign(f"(({vector} *){columns})[at]", f"(({vector} *){columns})[n_inner - 1]")
            scattered.append(c.For("i8 at = n_inner", "at < whole", "++at", [last]))
            to = f"p{each.name}, {self.operands.stride(each.name)}, {BLOCK_BYTES}"
            of = f"(const char *){columns}, {BLOCK_BYTES}, {TILE * BLOCK_BYTES}"
            scattered.append(c.Do(f"transpose({to}, {of}, n_inner)"))
        if scattered:
            yield c.If(self.condition, scattered)

    def _foldings(self, row_pass: Pass) -> list[ColumnFolding]:
        folds, n_writes = self.kernel.folds, len(self.kernel.writes)
        return [
            ColumnFolding(self.values, n_writes + k, reduction(folds[k], folds[k].arg))
            for k in row_pass.folds
        ]

    def _read(self) -> list[Moving]:
        """The operands that the passes read."""
        return [each for each in self._moving() if each.is_read]

    def _kept(self) -> list[Moving]:
        """The buffers of values that the passes keep."""
        return [each for each in self._moving() if each.is_buffer]

    def _moving(self) -> list[Moving]:
        found = (each for row_pass in self.first for each in self.operands.of_pass(row_pass))
        return [*dict.fromkeys(found)]


def takes_columns_of_rows(values: Values, passes: Passes) -> bool:
    """Whether a kernel takes short rows side by side: a column of a tile is a block."""
    return values.unit.register_bits >= 256 and is_side_by_side(values.kernel, passes.passes)
