"""The instructions of code objects, as far as names and the stack need them.

The standard library's ``dis`` makes texts of all arguments, finds labels and reads all positions;
that took most of a function's first trace.
"""

from __future__ import annotations

import dis
import sys
from functools import cache
from types import CodeType
from typing import NamedTuple

_CACHE = dis.opmap.get("CACHE", 0)
_EXTENDED = dis.opmap["EXTENDED_ARG"]
_NAMES = {
    **dict.fromkeys(dis.hasname, 0),
    dis.opmap["LOAD_GLOBAL"]: 1,
    dis.opmap["LOAD_ATTR"]: 1 if sys.version_info >= (3, 12) else 0,
}
"""By instruction, how many bits of the argument stand below the number of the name."""
if "LOAD_SUPER_ATTR" in dis.opmap:
    _NAMES[dis.opmap["LOAD_SUPER_ATTR"]] = 2
_LOCALS = frozenset((*dis.haslocal, *dis.hasfree))
_PAIRS = frozenset(
    op
    for op in dis.haslocal
    if dis.opname[op].count("_FAST") == 2 and dis.opname[op].count("_") > 2
)
"""Instructions on two local variables, whose numbers have four bits each."""
_FIRST_IN_PLACE, _LAST_IN_PLACE = 13, 25


class Instruction(NamedTuple):
    """One instruction."""

    opname: str
    arg: int
    name: str
    """The name or the variable that it is about, both if there are two; else nothing."""
    offset: int

    @property
    def is_augmented(self) -> bool:
        """Whether it computes ``x += y`` or the like."""
        return self.opname == "BINARY_OP" and _FIRST_IN_PLACE <= self.arg <= _LAST_IN_PLACE

    @property
    def is_jump(self) -> bool:
        """Whether another instruction than the next one may follow it."""
        return "JUMP" in self.opname or self.opname in ("FOR_ITER", "SEND")


def instructions(code: CodeType) -> list[Instruction]:
    """Return the instructions of a code object itself, without those that mean nothing.

    Examples
    --------
    >>> from frazil.jit.instructions import instructions
    >>> [one.name for one in instructions((lambda x: np.sum(x)).__code__) if one.name]
    ['np', 'sum', 'x']
    """
    names = code.co_names
    taken = frozenset(code.co_varnames)
    cells = [name for name in code.co_cellvars if name not in taken]
    variables = (*code.co_varnames, *cells, *code.co_freevars)
    units = code.co_code
    found = []
    extended = 0
    for offset in range(0, len(units), 2):
        op = units[offset]
        if op == _CACHE:
            continue
        arg = units[offset + 1] | extended
        if op == _EXTENDED:
            extended = arg << 8
            continue
        extended = 0
        shift = _NAMES.get(op)
        if shift is not None:
            name = names[arg >> shift]
        elif op in _PAIRS:
            name = f"{variables[arg >> 4]}, {variables[arg & 15]}"
        else:
            name = variables[arg] if op in _LOCALS else ""
        found.append(Instruction(dis.opname[op], arg, name, offset))
    return found


@cache
def repeated(code: CodeType) -> list[tuple[int, int]]:
    """Return the parts of code that jumps back repeat: the first offset and the last of each.

    Examples
    --------
    >>> from frazil.jit.instructions import repeated
    >>> len(repeated(compile("for x in y: print(x)", "", "exec")))
    1
    """
    found = []
    known = instructions(code)
    for at, one in enumerate(known):
        if "JUMP_BACKWARD" in one.opname:
            # What follows has its own prefixes of long arguments; the caches of this one end there.
            after = one.offset + 2
            while after < len(code.co_code) and code.co_code[after] == _CACHE:
                after += 2
            found.append((after - 2 * known[at].arg, one.offset))
    return found


def line_at(code: CodeType, offset: int) -> int:
    """Return the line of an instruction; without one, that of the code.

    Examples
    --------
    >>> from frazil.jit.instructions import line_at
    >>> line_at(compile("x = 1\\ny = 2", "", "exec"), 6)
    2
    """
    lines = [line for start, end, line in code.co_lines() if start <= offset < end and line]
    return lines[0] if lines else code.co_firstlineno


class Handled(NamedTuple):
    """A part of code in which an error is handled: offsets of its start, its end, the handler."""

    start: int
    end: int
    target: int
    depth: int
    """The number of values that stay on the stack."""
    keeps_place: bool
    """Whether the place of the error is put there, below the error."""


def handled(code: CodeType) -> list[Handled]:
    """Return the parts of code in which errors are handled.

    Examples
    --------
    >>> from frazil.jit.instructions import handled
    >>> handled(compile("x = 1", "", "exec"))
    []
    >>> len(handled(compile("with x: y", "", "exec"))) > 0
    True
    """
    numbers = []
    number = 0
    for byte in code.co_exceptiontable:  # six bits a byte, the next one belongs to it if 64 is set
        number = (number << 6) + (byte & 63)
        if not byte & 64:
            numbers.append(number)
            number = 0
    parts = zip(numbers[::4], numbers[1::4], numbers[2::4], numbers[3::4], strict=True)
    return [  # offsets are in units of two bytes
        Handled(2 * at, 2 * (at + count), 2 * target, last >> 1, bool(last & 1))
        for at, count, target, last in parts
    ]
