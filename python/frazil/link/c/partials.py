"""The C functions that handle partial results.

The functions for floats come with the runtime: compiling them again with each kernel would take a
fifth of the time. The functions for other dtypes are here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from frazil.link.c import syntax as c
from frazil.link.c.definitions import Definitions, memory_type
from frazil.link.c.functions import C_TYPES
from frazil.link.c.unit import Unit
from frazil.link.kernel.loop_kernel import Write
from frazil.link.kernel.reduction import SETS, identity


def carry(definitions: Definitions, dtype: str, of: str, turns: str, width: int) -> c.Do:
    """Add the partial sums of floats to the next level."""
    code = C_TYPES[dtype]
    definitions.native(f"carry_{code}", "void", f"{code} *, i8, i8")
    return c.Do(f"carry_{code}({of}, {turns}, {width})")


def parts_of(array: str, vector: str, parts: int) -> list[str]:
    """The registers that hold the block which is an array."""
    if parts == 1:
        return [f"*({vector} *){array}"]
    return [f"(({vector} *){array})[{part}]" for part in range(parts)]


class Partials:
    """The partial results of a reduction, which come in sets of a block each."""

    def __init__(self, unit: Unit, write: Write, lanes: int) -> None:
        self._unit = unit
        self._dtype = write.dtype
        self._reduce = str(write.reduce)
        self._lanes = lanes
        self._type = C_TYPES[write.dtype]
        self._memory = memory_type(write.dtype)

    @property
    def _is_float(self) -> bool:
        return self._dtype.startswith("float")

    def fold(self, so_far: str, value: str) -> str:
        """The expression that folds one more value in."""
        return self._unit.fold(self._reduce, self._dtype, so_far, value)

    def identity(self) -> str:
        """The partial result of no elements."""
        return self._unit.identity(self._reduce, self._dtype)

    def both(self, even: str, odd: str) -> Iterator[c.Statement]:
        """Name the two parts of a fold."""
        yield c.Const(self._type, "even", even)
        yield c.Const(self._type, "odd", odd)

    def rows(
        self, to: str, of: str, rows: str, count: str, walked: str, *, sets: int
    ) -> c.Statement:
        """Fold the partial results of each of some rows to one; bools have as many ``sets``."""
        if self._is_float:
            name = f"fold_rows_{self._reduce}_{self._type}"
            operands = f"{self._type} *, {self._type} *, i8, i8, i8, i8"
            self._unit.native(name, "void", operands)
            return c.Do(f"{name}({to}, {of}, {rows}, {count}, {walked}, {self._lanes})")
        own = self.all(f"{of} + row * {count}", count, walked, sets=sets)
        return c.For("i8 row = 0", f"row < {rows}", "++row", [c.Assign(f"{to}[row]", own)])

    def columns(self, to: str, sets: str, count: str) -> c.Do:
        """Fold each lane of all sets into an output of its own."""
        name = f"fold_columns_{self._reduce}_{self._type}"
        if self._is_float:
            operands = f"{self._type} *, const {self._type} *, i8, i8"
            self._unit.native(name, "void", operands)
            return c.Do(f"{name}({to}, {sets}, {count}, {self._lanes})")
        name += f"_{self._lanes}"
        self._unit.define(c.text_of((self._columns_function(name),)))
        return c.Do(f"{name}({to}, {sets}, {count})")

    def all(self, of: str, count: str, walked: str, *, sets: int = SETS) -> str:
        """The expression that folds partial results to one; of integers in any order."""
        if self._is_float:
            name = f"fold_all_{self._reduce}_{self._type}"
            self._unit.native(name, self._type, f"{self._type} *, i8, i8, i8")
            return f"{name}({of}, {count}, {walked}, {self._lanes})"
        if self._dtype == "bool" and self._lanes > 1:
            decided = self.is_decided(of, sets * self._lanes // 8)
            return f"!{decided}" if identity(self._reduce, "bool") else decided
        name = f"fold_{self._reduce}_{self._type}_{self._lanes}"
        self._unit.define(c.text_of((self._all_function(name),)))
        return f"{name}({of}, {count})"

    def few(self, of: str, vector: str) -> str:
        """The expression that folds the sets of a short row to one float, in registers."""
        parts = self._unit.parts(self._lanes * np.dtype(self._dtype).itemsize)
        sets = [f"(({vector} *)of)[{at}]" for at in range(SETS * parts)]
        places = parts_of("a", vector, parts)
        joined: list[c.Statement] = [c.Array(self._memory, "a", self._lanes)]
        joined += (c.Assign(at, self.sets_joined(sets[k::parts])) for k, at in enumerate(places))
        return self._inlined("fold_few", f"const {self._memory} *of", joined, of)

    def one_set(self, of: str) -> str:
        """The expression that folds one set to one number, and writes over the set."""
        return self._inlined("fold_set", f"{self._memory} *a", (), of)

    def _inlined(self, name: str, operand: str, first: Sequence[c.Statement], of: str) -> str:
        """A call of a function of one operand that folds the set ``a``, which ``first`` makes."""
        folded, last = self._lanes_folded()
        name = f"{name}_{self._reduce}_{self._type}_{self._lanes}"
        body = [*first, *folded, c.Return(last)]
        function = c.Function(f"INLINE {self._type}", name, (operand,), body)
        self._unit.define(c.text_of((function,)))
        return f"{name}({of})"

    def sets_joined(self, sets: Sequence[str]) -> str:
        """The expression that folds the vectors of a sum or a product to one."""
        # In whichever place the sets are, the same two are folded.
        symbol = "+" if self._reduce == "add" else "*"
        first, second, third, fourth = sets
        return f"({first} {symbol} {third}) {symbol} ({second} {symbol} {fourth})"

    def is_decided(self, of: str, words: int) -> str:
        """Whether one of the partial results of bools, in words of eight, is not the identity: that
        decides the fold.
        """
        empty = identity(self._reduce, "bool")
        name = f"one_is_{'false' if empty else 'true'}"
        word = f"0x{'01' * 8 if empty else '0'}ULL"
        other = c.Assign("others", f"sets[k] ^ {word}", "|=")
        function = c.Function(
            "INLINE b1",
            name,
            ("const u8 *sets", "i4 words"),
            [
                c.Declare("u8", "others", "0"),
                c.For("i4 k = 0", "k < words", "++k", [other]),
                c.Return("others != 0"),
            ],
        )
        self._unit.define(c.text_of((function,)))
        return f"{name}((const u8 *)({of}), {words})"

    def _columns_function(self, name: str) -> c.Function:
        places = [f"sets[l + {turn * self._lanes}]" for turn in range(SETS)]
        even, odd = self.fold(places[0], places[2]), self.fold(places[1], places[3])
        one = [
            *self.both(even, odd),
            c.Const(self._type, "one", self.fold("even", "odd")),
            c.Assign("to[l]", self.fold("to[l]", "one")),
        ]
        operands = (f"{self._memory} *to", f"const {self._memory} *sets", "i8 count")
        return c.Function(
            "static NOINLINE void", name, operands, [c.lanes_loop("count", one, index="i8")]
        )

    def _all_function(self, name: str) -> c.Function:
        """The function that folds all sets, whose number is a power of two."""
        lanes = self._lanes
        folded, last = self._lanes_folded()
        even, odd = self.fold("a[l]", f"a[l + {2 * lanes}]"), f"a[l + {lanes}]"
        odd = self.fold(odd, f"a[l + {3 * lanes}]")
        joined = [*self.both(even, odd), c.Assign("a[l]", self.fold("even", "odd"))]
        halved = c.Assign("a[set + l]", self.fold("a[set + l]", "a[set + l + half]"))
        all_sets = c.For(
            "i8 set = 0",
            "set < half",
            f"set += {lanes}",
            [c.lanes_loop(lanes, [halved], pragma=c.simd(lanes))],
        )
        by_halves = c.For("i8 half = count / 2", f"half >= {lanes}", "half /= 2", [all_sets])
        four = c.lanes_loop(lanes, joined, pragma=c.simd(lanes))
        return c.Function(
            f"static NOINLINE {self._type}",
            name,
            (f"{self._memory} *a", "i8 count"),
            [c.If(f"count == 4 * {lanes}", [four], [by_halves]), *folded, c.Return(last)],
        )

    def _lanes_folded(self) -> tuple[list[c.Statement], str]:
        """The statements that fold one set to one number, and the expression of the number."""
        made: list[c.Statement] = []
        half = self._lanes // 2
        # Fold in vectors as long as that is quick. Comparisons are folded in vectors to the end: of
        # single numbers they would be branches that no processor foresees.
        while half > (4 if self._reduce in ("add", "mul") else 0):
            width = max(half, 2)
            folded = c.Assign("a[l]", self.fold("a[l]", f"a[l + {half}]"))
            made.append(c.lanes_loop(width, [folded], pragma=c.simd(width)))
            half //= 2
        names = [f"a[{k}]" for k in range(2 * half or 1)]
        while half > 0:
            for k in range(half):
                value = self.fold(names[k], names[half + k])
                made.append(c.Const(self._type, f"r{half}_{k}", value))
            names = [f"r{half}_{k}" for k in range(half)]
            half //= 2
        return made, names[0]
