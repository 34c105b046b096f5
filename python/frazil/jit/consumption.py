"""Whether all that a run did with a captured array was to compute with it and traced ones.

Such an array is an input of the graph, and its elements matter to nothing else. That is known where
each instruction that loads it hands it to the next operation, and each time that operation ran, it
took the array for a traced one's operand. Code that cannot be told so may have read elements.
"""

from __future__ import annotations

import dis
import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from types import CellType, CodeType, FrameType

from frazil._core import Reach
from frazil.graph.dataclass import dataclass

_OF_TRACED_ARRAYS = frozenset(
    ("frazil.jit.captures", "frazil.jit.operands", "frazil.jit.traced", "frazil.jit.array_methods")
)
"""Modules whose code lies between an operation and the operands that it takes."""
_LOADS = ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_FROM_DICT_OR_DEREF")
_CONSUMERS = frozenset(("BINARY_OP", "BINARY_SUBSCR", "COMPARE_OP", "CALL", "CALL_KW"))
_NOTHING = frozenset(("PRECALL", "KW_NAMES", "NOP", "CACHE", "EXTENDED_ARG"))
_FIXED = {
    **dict.fromkeys(("BINARY_OP", "BINARY_SUBSCR", "COMPARE_OP"), (2, 1)),
    **dict.fromkeys(("UNARY_NEGATIVE", "UNARY_INVERT", "UNARY_NOT"), (1, 1)),
    "PUSH_NULL": (0, 1),
    "LOAD_METHOD": (1, 2),
    "STORE_SUBSCR": (3, 0),
    "STORE_SLICE": (4, 0),
}
_WITH_COUNT = {"CALL": 2, "CALL_KW": 3, "BUILD_TUPLE": 0, "BUILD_LIST": 0, "BUILD_SLICE": 0}
"""The number of values that an instruction takes beside those that its argument counts."""
_OTHER_WAYS = frozenset(
    (
        *("__dict__", "vars", "globals", "locals", "eval", "exec", "__globals__", "__closure__"),
        *("cell_contents", "f_globals", "f_locals"),
    )
)
"""Names by which code reads variables that it does not name."""


@dataclass(frozen=True, slots=True)
class Load:
    """The place where code loads a variable, and the instruction that takes it, if it is known."""

    name: str
    taken_at: int | None
    changed_at: tuple[int, ...] = ()
    """The instructions that change an array in place which is loaded here."""


class Lifts:
    """The code and the entry in it where captured arrays became operands of traced ones."""

    def __init__(self) -> None:
        self.places: dict[int, set[tuple[CodeType, int, int]]] = {}

    def note(self, array: object, reach: Reach | None) -> None:
        """Note that the operation two calls above takes an array."""
        frame: FrameType | None = sys._getframe(2)
        while frame is not None and frame.f_globals.get("__name__") in _OF_TRACED_ARRAYS:
            frame = frame.f_back
        if frame is not None and reach is not None:
            entry = reach.entries(frame.f_code)
            place = (frame.f_code, frame.f_lasti, entry)
            self.places.setdefault(id(array), set()).add(place)


def is_operand_only(
    array: object,
    meetings: Sequence[tuple[object, object]],
    variables: Mapping[int, set[str]],
    codes: Iterable[CodeType],
    attributes: set[str],
    lifts: Lifts,
    reach: Reach,
) -> bool:
    """Whether every value of a variable that a run loaded became an operand of a traced array.

    ``meetings`` has the owners and keys under which the array was found. ``variables`` has the ids
    of the owners that are cells or dicts of modules, with the names of cells. ``attributes`` has
    the names of attributes in code.
    """
    places = {(id(owner), key) for owner, key in meetings}
    if len(places) != 1 or attributes & _OTHER_WAYS:
        return False
    owner, key = meetings[0]
    if id(owner) not in variables:
        return False
    names = variables[id(owner)] if type(owner) is CellType else {key}
    if type(owner) is not CellType and names & attributes:
        return False  # it may be read as an attribute of its module
    noted = lifts.places.get(id(array), set())
    for code in codes:
        entries = reach.entries(code)
        for load in loads(code):
            if load.name not in names:
                continue
            met = {entry for own, at, entry in noted if own is code and at == load.taken_at}
            if load.taken_at is None or len(met) != entries:
                return False
    return True


@cache
def loads(code: CodeType) -> tuple[Load, ...]:
    """Return where code itself loads global variables and variables of outer functions.

    Examples
    --------
    >>> from frazil.jit.consumption import loads
    >>> [load.taken_at is None for load in loads((lambda x: (x * w, len(w))).__code__)]
    [False, True, False]
    """
    instructions = list(dis.get_instructions(code))
    loops = [
        (one.argval, one.offset)
        for one in instructions
        if one.opcode in _JUMPS and isinstance(one.argval, int) and one.argval <= one.offset
    ]
    found = []
    for at, one in enumerate(instructions):
        if one.opname in _LOADS:
            once = not any(start <= one.offset <= end for start, end in loops)
            taken, changed = _taken_and_changed(instructions, at)
            found.append(Load(str(one.argval), taken if once else None, changed))
    return tuple(found)


@cache
def changed_at(code: CodeType) -> dict[int, str]:
    """Return the instructions that change what a variable holds in place, each with its name.

    Examples
    --------
    >>> from frazil.jit.consumption import changed_at
    >>> def f(x):
    ...     w[0] = x
    ...     w[1:] += x
    >>> set(changed_at(f.__code__).values())
    {'w'}
    """
    return {at: load.name for load in loads(code) for at in load.changed_at}


_JUMPS = frozenset((*dis.hasjrel, *dis.hasjabs))


def _taken_and_changed(
    instructions: list[dis.Instruction], at: int
) -> tuple[int | None, tuple[int, ...]]:
    """The offsets of the instructions that take what another loads and that change it in place.

    Neither is known if a jump lies between.
    """
    if instructions[at].opname == "LOAD_GLOBAL" and (instructions[at].arg or 0) & 1:
        return None, ()  # it is called
    above = 0
    for place, one in enumerate(instructions[at + 1 :], at + 1):
        if one.opname == "COPY" and above and one.arg == above + 1:
            return None, _augmented_at(instructions[place:])
        effect = _effect(one)
        if effect is None:
            break
        takes, gives = effect
        if takes > above:
            taken = one.offset if one.opname in _CONSUMERS else None
            return taken, (one.offset,) if _changes(one, above) else ()
        above += gives - takes
    return None, ()


def _changes(one: dis.Instruction, above: int) -> bool:
    """Whether an instruction changes the array that has so many values above it on the stack."""
    if one.opname == "BINARY_OP":
        return above == 1 and one.argrepr.endswith("=")
    return {"STORE_SUBSCR": 1, "STORE_SLICE": 2}.get(one.opname) == above


def _augmented_at(instructions: list[dis.Instruction]) -> tuple[int, ...]:
    """The places where an assignment to a part, as ``x[i] += 1``, computes and where it stores."""
    found = []
    for one in instructions:
        if one.opname == "BINARY_OP" and one.argrepr.endswith("="):
            found.append(one.offset)
        if one.opname in ("STORE_SUBSCR", "STORE_SLICE"):
            return (*found, one.offset)
        if one.opcode in _JUMPS or one.opname.startswith(("STORE_", "RETURN_")):
            break
    return ()


def _effect(one: dis.Instruction) -> tuple[int, int] | None:
    """The numbers of values that an instruction takes from the stack and puts there."""
    name, argument = one.opname, one.arg or 0
    if name in _NOTHING:
        return (0, 0)
    if name in _FIXED:
        return _FIXED[name]
    if name in _WITH_COUNT:
        return (argument + _WITH_COUNT[name], 1)
    if name == "LOAD_GLOBAL":
        return (0, 1 + (argument & 1))
    if name == "LOAD_ATTR":
        return (1, 1 + (argument & 1 if sys.version_info >= (3, 12) else 0))
    if name.startswith(("LOAD_FAST", "LOAD_CONST", "LOAD_DEREF", "LOAD_NAME", "LOAD_SMALL_INT")):
        return (0, 2 if name.count("LOAD_FAST") == 2 else 1)
    return None
