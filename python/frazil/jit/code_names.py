"""The names that the code of a function uses, found without running it."""

from __future__ import annotations

import dis
from collections.abc import Iterator
from dataclasses import field
from functools import cache
from itertools import pairwise
from types import CodeType

from frazil.graph.dataclass import dataclass

_ATTRIBUTES = frozenset(
    ("LOAD_ATTR", "LOAD_METHOD", "STORE_ATTR", "DELETE_ATTR", "LOAD_SUPER_ATTR", "IMPORT_FROM")
)
_GLOBALS = frozenset(("LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"))
_FREE = frozenset(("LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_FROM_DICT_OR_DEREF"))
_GLOBAL_WRITES = frozenset(("STORE_GLOBAL", "DELETE_GLOBAL"))
_FREE_WRITES = frozenset(("STORE_DEREF", "DELETE_DEREF"))

_OF_NO_MEANING = frozenset(("CACHE", "PRECALL", "EXTENDED_ARG"))

REFLECTION = frozenset(
    ("getattr", "hasattr", "setattr", "delattr", "vars", "dir", "__dict__", "attrgetter")
)
"""Names by which code reads attributes whose names it works out."""


@dataclass(frozen=True, slots=True)
class Write:
    """A variable of an outer function or a module that code stores to or deletes."""

    kind: str
    name: str
    line: int


@dataclass(frozen=True, slots=True)
class Asked:
    """A call of ``type``: the code, and the argument of the code; None for other values."""

    code: CodeType
    argument: str | None
    line: int


@dataclass(frozen=True, slots=True)
class Names:
    """The names in a code object and in the code that it makes functions of."""

    uses: dict[str, set[tuple[str, ...]]] = field(default_factory=dict)
    """Global names, each with the attributes that are read from it at once; () if it is used so."""
    free_uses: dict[str, set[tuple[str, ...]]] = field(default_factory=dict)
    """Variables of outer functions, likewise."""
    attributes: set[str] = field(default_factory=set)
    imports: set[str] = field(default_factory=set)
    writes: list[Write] = field(default_factory=list)
    codes: list[CodeType] = field(default_factory=list)
    handles_errors: bool = False
    sequences_matched: list[tuple[CodeType, int]] = field(default_factory=list)
    """The places where values are matched with sequences of patterns."""
    tells_identity: bool = False
    """Whether values are compared by ``is`` with others than constants."""
    classes_asked: list[Asked] = field(default_factory=list)
    """Calls of ``type`` with one argument that may be a traced array."""
    lines: dict[str, int] = field(default_factory=dict)
    """The place where a name is first read."""


def nested(code: CodeType) -> Iterator[CodeType]:
    """The code object, and the code objects of the functions that it makes."""
    pending = [code]
    while pending:
        current = pending.pop()
        yield current
        pending += [const for const in current.co_consts if isinstance(const, CodeType)]


@cache
def names_of(code: CodeType) -> Names:
    """Return the names that a code object uses.

    Examples
    --------
    >>> from frazil.jit.code_names import names_of
    >>> names_of((lambda x: np.linalg.norm(x) + scale).__code__).uses
    {'np': {('linalg', 'norm')}, 'scale': {()}}
    """
    handles = any(own.co_exceptiontable for own in nested(code))
    identity = any(map(_tells_identity, nested(code)))
    found = Names(codes=list(nested(code)), handles_errors=handles, tells_identity=identity)
    own_free = frozenset(code.co_freevars)
    for each in found.codes:
        _scan(each, found, own_free)
    return found


def _instructions(code: CodeType) -> list[dis.Instruction]:
    return [one for one in dis.get_instructions(code) if one.opname not in _OF_NO_MEANING]


def _tells_identity(code: CodeType) -> bool:
    instructions = _instructions(code)
    return any(
        one.opname == "IS_OP" and before.opname != "LOAD_CONST"
        for before, one in pairwise(instructions)
    )


def _asked_class(
    instructions: list[dis.Instruction], at: int, code: CodeType, own_free: frozenset[str]
) -> tuple[str | None] | None:
    """Of what ``type`` is called: an argument that keeps its value, or None for other values.

    Nothing if it is not called so, or of a captured value, which is not traced.
    """
    if instructions[at].argval != "type" or not (instructions[at].arg or 0) & 1:
        return None
    value, call = instructions[at + 1], instructions[at + 2]
    if value.opname == "LOAD_CONST":
        return None  # a class is made
    if call.opname != "CALL":
        return (None,)
    if value.opname == "LOAD_GLOBAL" or (value.opname in _FREE and value.argval in own_free):
        return None
    arguments = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    stored = {str(one.argval) for one in instructions if one.opname.startswith("STORE_FAST")}
    kept = value.argval in arguments and not any(value.argval in names for names in stored)
    return (value.argval if kept and value.opname.startswith("LOAD_FAST") else None,)


def _scan(code: CodeType, found: Names, own_free: frozenset[str]) -> None:
    instructions = _instructions(code)
    line = code.co_firstlineno
    for at, one in enumerate(instructions):
        line = _line(one, line)
        name = one.argval
        if one.opname in _GLOBALS:
            found.uses.setdefault(name, set()).add(_chain(instructions, at))
            found.lines.setdefault(name, line)
            asked = _asked_class(instructions, at, code, own_free)
            if one.opname == "LOAD_GLOBAL" and asked is not None:
                found.classes_asked.append(Asked(code, asked[0], line))
        elif one.opname in _FREE and name in own_free:
            found.free_uses.setdefault(name, set()).add(_chain(instructions, at))
            found.lines.setdefault(name, line)
        elif one.opname in _GLOBAL_WRITES:
            found.writes.append(Write("global", name, line))
            found.uses.setdefault(name, set()).add(())
        elif one.opname in _FREE_WRITES and name in own_free:
            found.writes.append(Write("nonlocal", name, line))
        elif one.opname == "MATCH_SEQUENCE":
            found.sequences_matched.append((code, line))
        elif one.opname == "IMPORT_NAME":
            found.imports.add(name)
        if one.opname in _ATTRIBUTES:
            found.attributes.add(name)
    found.attributes.update(const for const in code.co_consts if isinstance(const, str))
    found.attributes.update(
        name
        for const in code.co_consts
        if isinstance(const, tuple)
        for name in const
        if isinstance(name, str)
    )


def _line(instruction: dis.Instruction, before: int) -> int:
    positions = instruction.positions
    line = None if positions is None else positions.lineno
    return before if line is None else line


def _chain(instructions: list[dis.Instruction], at: int) -> tuple[str, ...]:
    """The attributes that are read one of the other from what an instruction loads."""
    chain = []
    for one in instructions[at + 1 :]:
        if one.opname not in ("LOAD_ATTR", "LOAD_METHOD"):
            break
        chain.append(one.argval)
    return tuple(chain)
