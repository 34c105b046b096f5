"""The names that the code of a function uses, found without running it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from itertools import islice, pairwise
from types import CodeType
from typing import Literal

from frazil.graph.dataclass import dataclass
from frazil.jit.instructions import Instruction, instructions, line_at

_ATTRIBUTES = frozenset(
    ("LOAD_ATTR", "LOAD_METHOD", "STORE_ATTR", "DELETE_ATTR", "LOAD_SUPER_ATTR", "IMPORT_FROM")
)
_GLOBALS = frozenset(("LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"))
_FREE = frozenset(("LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_FROM_DICT_OR_DEREF"))
_GLOBAL_WRITES = frozenset(("STORE_GLOBAL", "DELETE_GLOBAL"))
_FREE_WRITES = frozenset(("STORE_DEREF", "DELETE_DEREF"))
_STORE = "STORE_FAST"
_CHANGES = frozenset(("STORE_SUBSCR", "DELETE_SUBSCR", "STORE_SLICE"))
_OF_CONTAINERS = frozenset(
    (
        *("append", "extend", "insert", "pop", "remove", "clear", "update", "setdefault", "sort"),
        *("popitem", "add", "discard", "reverse", "appendleft", "extendleft", "popleft", "rotate"),
        *("difference_update", "intersection_update", "symmetric_difference_update"),
    )
)
"""Methods that change a container."""
_OF_ARRAYS = frozenset(
    (
        *("fill", "put", "resize", "partition", "itemset", "setflags", "sort", "byteswap"),
        *("copyto", "place", "putmask", "put_along_axis", "at"),
    )
)
"""Methods and functions that change an array, beside the argument ``out``."""
_MAKERS = frozenset(("__init__", "__new__", "__post_init__", "__set_name__", "__init_subclass__"))
"""Functions that store to objects which are being made."""

REFLECTION = frozenset(
    ("getattr", "hasattr", "setattr", "delattr", "vars", "dir", "__dict__", "attrgetter")
)
"""Names by which code reads attributes whose names it works out."""


@dataclass(frozen=True, slots=True)
class Write:
    """A variable of an outer function or a module that code stores to or deletes."""

    kind: Literal["global", "nonlocal"]
    """The statement that would declare it."""
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
    stored: set[str] = field(default_factory=set)
    """Attributes that code stores to or deletes."""
    changes_containers: bool = False
    """Whether code stores to elements, or names a method that changes a container."""
    changes_arrays: bool = False
    """Likewise, for arrays."""
    read_at: dict[str, tuple[CodeType, int]] = field(default_factory=dict)
    """The place where a name is first read: the code, and the offset in it."""

    def line(self, name: str) -> int | None:
        """The line where a name is first read."""
        place = self.read_at.get(name)
        return None if place is None else line_at(*place)


def nested(code: CodeType) -> Iterator[CodeType]:
    """The code object, and the code objects of the functions that it makes."""
    pending = [code]
    while pending:
        current = pending.pop()
        yield current
        pending += [const for const in current.co_consts if isinstance(const, CodeType)]


def names_of(code: CodeType) -> Names:
    """Return the names that a code object uses.

    Examples
    --------
    >>> from frazil.jit.code_names import names_of
    >>> names_of((lambda x: np.linalg.norm(x) + scale).__code__).uses
    {'np': {('linalg', 'norm')}, 'scale': {()}}
    """
    known = _known.get(id(code))
    if known is None:
        if len(_known) >= _MOST:
            _known.clear()
        known = _known[id(code)] = code, _names_of(code)
    return known[1]


_known: dict[int, tuple[CodeType, Names]] = {}
"""By its id, each code object with its names: equal ones are not the same."""
_MOST = 4096


def _names_of(code: CodeType) -> Names:
    codes = list(nested(code))
    read = [_meaningful(each) for each in codes]
    handles = any(each.co_exceptiontable for each in codes)
    identity = any(map(_tells_identity, read))
    found = Names(
        codes=codes,
        handles_errors=handles,
        tells_identity=identity,
        changes_containers=any(_changes(own, _OF_CONTAINERS) for own in read),
        changes_arrays=any(_changes(own, _OF_ARRAYS) for own in read) or _gives_out(codes),
    )
    own_free = frozenset(code.co_freevars)
    for each, own in zip(codes, read, strict=True):
        _scan(each, own, found, own_free)
    return found


def _meaningful(code: CodeType) -> list[Instruction]:
    return [one for one in instructions(code) if one.opname != "PRECALL"]


def _tells_identity(read: list[Instruction]) -> bool:
    return any(
        one.opname == "IS_OP" and before.opname != "LOAD_CONST" for before, one in pairwise(read)
    )


def _changes(read: list[Instruction], methods: frozenset[str]) -> bool:
    """Whether code stores to elements, adds to a value in place, or names one of these methods."""
    return any(one.opname in _CHANGES or one.is_augmented or one.name in methods for one in read)


def _gives_out(codes: list[CodeType]) -> bool:
    """Whether code gives an argument ``out``."""
    named = (const for each in codes for const in each.co_consts if type(const) is tuple)
    return any("out" in const for const in named)


def _asked_class(
    read: list[Instruction], at: int, code: CodeType, own_free: frozenset[str]
) -> tuple[str | None] | None:
    """The operand of a call of ``type``: an argument that keeps its value; None for other values.

    Nothing if it is not called so, or of a captured value, which is not traced.
    """
    if read[at].name != "type" or not read[at].arg & 1:
        return None
    value, call = read[at + 1], read[at + 2]
    if value.opname == "LOAD_CONST":
        return None  # a class is made
    if call.opname != "CALL":
        return (None,)
    if value.opname == "LOAD_GLOBAL" or (value.opname in _FREE and value.name in own_free):
        return None
    arguments = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    stored = {name for one in read if _STORE in one.opname for name in one.name.split(", ")}
    kept = value.name in arguments and value.name not in stored
    return (value.name if kept and value.opname.startswith("LOAD_FAST") else None,)


def _scan(code: CodeType, read: list[Instruction], found: Names, own_free: frozenset[str]) -> None:
    for at, one in enumerate(read):
        name = one.name
        if one.opname in _GLOBALS:
            found.uses.setdefault(name, set()).add(_chain(read, at))
            found.read_at.setdefault(name, (code, one.offset))
            if name == "type" and one.opname == "LOAD_GLOBAL":
                asked = _asked_class(read, at, code, own_free)
                if asked is not None:
                    line = line_at(code, one.offset)
                    found.classes_asked.append(Asked(code, asked[0], line))
        elif one.opname in _FREE and name in own_free:
            found.free_uses.setdefault(name, set()).add(_chain(read, at))
            found.read_at.setdefault(name, (code, one.offset))
        elif one.opname in _GLOBAL_WRITES:
            found.writes.append(Write("global", name, line_at(code, one.offset)))
            found.uses.setdefault(name, set()).add(())
        elif one.opname in _FREE_WRITES and name in own_free:
            found.writes.append(Write("nonlocal", name, line_at(code, one.offset)))
        elif one.opname == "MATCH_SEQUENCE":
            found.sequences_matched.append((code, line_at(code, one.offset)))
        elif one.opname == "IMPORT_NAME":
            found.imports.add(name)
        if one.opname in _ATTRIBUTES:
            found.attributes.add(name)
        if one.opname in ("STORE_ATTR", "DELETE_ATTR") and code.co_name not in _MAKERS:
            found.stored.add(name)
    found.attributes.update(const for const in code.co_consts if isinstance(const, str))
    found.attributes.update(
        name
        for const in code.co_consts
        if isinstance(const, tuple)
        for name in const
        if isinstance(name, str)
    )


def _chain(read: list[Instruction], at: int) -> tuple[str, ...]:
    """The attributes that are read one of the other from what an instruction loads."""
    chain = []
    for one in islice(read, at + 1, None):
        if one.opname not in ("LOAD_ATTR", "LOAD_METHOD"):
            break
        chain.append(one.name)
    return tuple(chain)
