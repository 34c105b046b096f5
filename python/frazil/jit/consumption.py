"""Whether all that a run did with a captured array was to compute with it and traced ones.

Such an array is an input of the graph, and its elements matter to nothing else. This is known if
each instruction that loads the array hands it to an operation, and that operation computed with a
traced array each time it ran. Any other code may have read elements.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Container, Iterable, Mapping, Sequence
from functools import cache
from itertools import islice
from types import CellType, CodeType, FrameType, MappingProxyType, MemberDescriptorType

from frazil._core import Reach
from frazil.graph.dataclass import dataclass
from frazil.jit.code_names import REFLECTION
from frazil.jit.instructions import Instruction, instructions, repeated
from frazil.jit.operand_flow import Flow, Part, Root, flow_of

_OF_TRACED_ARRAYS = frozenset(
    (
        *("frazil.jit.captures", "frazil.jit.operands", "frazil.jit.traced"),
        *("frazil.jit.array_methods", "frazil.jit.callbacks", "frazil.jit.debug"),
    )
)
"""Modules whose code lies between an operation and the operands that it takes."""
_LOADS = ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_FROM_DICT_OR_DEREF")
_ATTRIBUTES = ("LOAD_ATTR", "LOAD_METHOD", "LOAD_SUPER_ATTR")
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
_OTHER_WAYS_TO_ATTRIBUTES = REFLECTION | frozenset(
    (
        *("__getattribute__", "__reduce__", "__reduce_ex__", "__getstate__", "__setstate__"),
        *("__array_interface__", "__array_struct__", "format", "format_map"),
    )
)
"""Names by which code reads attributes that it does not name."""


@dataclass(frozen=True, slots=True)
class Load:
    """The place where code loads a variable, and the instruction that takes it, if it is known."""

    name: str
    taken_at: int | None
    changed_at: tuple[int, ...] = ()
    """The instructions that change an array in place which is loaded here."""
    taken_to: int | None = None
    """The end of the instruction that takes it, where some releases say that a call is."""


class Lifts:
    """The code and the entry in it where captured arrays became operands of traced ones."""

    def __init__(self) -> None:
        self.places: dict[int, set[tuple[int, int, int]]] = {}

    def note(self, array: object, reach: Reach | None) -> None:
        """Note that the operation two calls above takes an array."""
        frame: FrameType | None = sys._getframe(2)
        while frame is not None and frame.f_globals.get("__name__") in _OF_TRACED_ARRAYS:
            frame = frame.f_back
        if frame is not None and reach is not None:
            entry = reach.entries(frame.f_code)
            place = (id(frame.f_code), frame.f_lasti, entry)
            self.places.setdefault(id(array), set()).add(place)


def is_operand_only(
    array: object,
    meetings: Sequence[tuple[object, object]],
    variables: Mapping[int, set[str]],
    owned: Container[int],
    codes: Collection[CodeType],
    attributes: set[str],
    lifts: Lifts,
    reach: Reach,
    loads_of: Callable[[CodeType], tuple[Load, ...]] | None = None,
) -> bool:
    """Whether every value of a variable that a run loaded became an operand of a traced array.

    ``meetings`` has the owners and keys under which the array was found. ``variables`` has the ids
    of the owners that are cells or dicts of modules, with the names of cells. ``owned`` has the ids
    of the dicts of attributes. ``attributes`` has the names of attributes in code. ``loads_of``
    finds the places where code loads variables.
    """
    places = {(id(owner), key) for owner, key in meetings}
    if len(places) != 1 or attributes & _OTHER_WAYS:
        return False
    owner, key = meetings[0]
    if type(key) is MemberDescriptorType or type(owner) is MappingProxyType or id(owner) in owned:
        name = key if type(key) is str else getattr(key, "__name__", "")
        if attributes & _OTHER_WAYS_TO_ATTRIBUTES or any(_spells(code, name) for code in codes):
            return False
        # The instruction may load this attribute of several objects, one at each entry.
        noted = set().union(*lifts.places.values())
        return _is_taken(noted, {name}, attribute_loads, codes, reach)
    if id(owner) not in variables:
        return False
    names = variables[id(owner)] if type(owner) is CellType else {str(key)}
    if type(owner) is not CellType and names & attributes:
        return False  # it may be read as an attribute of its module
    return _is_taken(lifts.places.get(id(array), set()), names, loads_of or loads, codes, reach)


def is_operand_by_flow(
    root: Root,
    uses: Callable[[Flow, Part], bool],
    codes: Collection[CodeType],
    traced: Mapping[int, set[str]],
    attributes: set[str],
    functions: Callable[[tuple[str, ...]], bool],
    lifts: Lifts,
    reach: Reach,
) -> bool:
    """Whether code that ran can only have used an array as an operand of traced ones.

    ``uses`` tells what else code may do with it. ``traced`` has, by the ids of code, the arguments
    that were traced arrays at an entry.
    ``functions`` tells whether a name is that of the builtin or of NumPy's function.
    """
    ways = _OTHER_WAYS_TO_ATTRIBUTES | _OTHER_WAYS if root.is_attribute else _OTHER_WAYS
    if attributes & ways or (not root.is_attribute and root.names & attributes):
        return False
    noted = set().union(*lifts.places.values())
    for code in codes:
        entries = reach.entries(code)
        if not entries:
            continue
        if root.is_attribute and any(_spells(code, name) for name in root.names):
            return False
        flow = flow_of(code, frozenset(traced.get(id(code), ()) if entries == 1 else ()))
        parts = root.parts()
        if any(uses(flow, part) for part in parts):
            return False
        for taken in (own for part in parts for own in flow.operations(part)):
            ends = taken.at, taken.to
            if not all(
                any((id(code), at, entry) in noted for at in ends)
                for entry in range(1, entries + 1)
            ):
                return False
        if {name for name, _ in flow.parts} & {name for name, _ in parts} and not all(
            map(functions, flow.called)
        ):
            return False
    return True


@cache
def _matches_classes(code: CodeType) -> bool:
    """Whether code matches values with patterns of classes, which read attributes unnamed."""
    return any(one.opname == "MATCH_CLASS" for one in instructions(code))


def _spells(code: CodeType, name: str) -> bool:
    """Whether code may read an attribute in other ways than by its name: by a text, by patterns."""
    return _matches_classes(code) or any(
        const == name or (type(const) is tuple and name in const)
        for const in code.co_consts
        if type(const) in (str, tuple)
    )


def _is_taken(
    noted: Container[tuple[int, int, int]],
    names: set[str],
    loads_of: Callable[[CodeType], tuple[Load, ...]],
    codes: Iterable[CodeType],
    reach: Reach,
) -> bool:
    """Whether each load of these names, whenever it ran, gave an operand that was noted."""
    for code in codes:
        entries = reach.entries(code)
        for load in loads_of(code) if entries else ():
            if load.name not in names:
                continue
            if load.taken_at is None:
                return False
            for entry in range(1, entries + 1):
                ends = (id(code), load.taken_at, entry), (id(code), load.taken_to, entry)
                if not any(place in noted for place in ends):
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
    return _loads(code, _LOADS)


@cache
def attribute_loads(code: CodeType) -> tuple[Load, ...]:
    """Return where code itself loads attributes.

    Examples
    --------
    >>> from frazil.jit.consumption import attribute_loads
    >>> code = (lambda x: x * a.w).__code__
    >>> [(load.name, load.taken_at is None) for load in attribute_loads(code)]
    [('w', False)]
    """
    return _loads(code, _ATTRIBUTES)


@cache
def method_loads(code: CodeType) -> tuple[Load, ...]:
    """Return what :func:`loads` does, where what is taken may be an attribute of the variable.

    Examples
    --------
    >>> from frazil.jit.consumption import loads, method_loads
    >>> code = (lambda x: call(seen.append, x)).__code__
    >>> [load.taken_at is None for load in loads(code)]
    [True, True]
    >>> [load.taken_at is None for load in method_loads(code)]
    [True, False]
    """
    return _loads(code, _LOADS, methods=True)


def _loads(code: CodeType, kinds: tuple[str, ...], methods: bool = False) -> tuple[Load, ...]:
    read = instructions(code)
    loops = repeated(code)
    found = []
    for at, one in enumerate(read):
        if one.opname in kinds:
            once = not any(start <= one.offset <= end for start, end in loops)
            follows = at + 1 < len(read) and read[at + 1].opname == "LOAD_ATTR"
            is_method = methods and follows and not _is_called(one)
            taken, changed = _taken_and_changed(read, at + is_method)
            if taken is None or not once:
                found.append(Load(one.name, None, changed))
            else:
                after = next((x.offset for x in read if x.offset > taken), taken + 2)
                found.append(Load(one.name, taken, changed, after - 2))
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


def _taken_and_changed(read: list[Instruction], at: int) -> tuple[int | None, tuple[int, ...]]:
    """The offset of the instruction that takes a loaded value, and those of its changes in place.

    Neither is known if a jump lies between.
    """
    if _is_called(read[at]):
        return None, ()
    above = 0
    for place, one in enumerate(islice(read, at + 1, None), at + 1):
        if one.opname == "COPY" and above and one.arg == above + 1:
            return None, _augmented_at(read[place:])
        effect = _effect(one)
        if effect is None:
            break
        takes, gives = effect
        if takes > above:
            taken = one.offset if one.opname in _CONSUMERS else None
            return taken, (one.offset,) if _changes(one, above) else ()
        above += gives - takes
    return None, ()


def _is_called(load: Instruction) -> bool:
    """Whether an instruction loads what is called, with something beside it on the stack."""
    if load.opname == "LOAD_ATTR":
        return sys.version_info >= (3, 12) and bool(load.arg & 1)
    if load.opname == "LOAD_GLOBAL":
        return bool(load.arg & 1)
    return load.opname in ("LOAD_METHOD", "LOAD_SUPER_ATTR")


def _changes(one: Instruction, above: int) -> bool:
    """Whether an instruction changes the array that has so many values above it on the stack."""
    if one.opname == "BINARY_OP":
        return above == 1 and one.is_augmented
    return {"STORE_SUBSCR": 1, "STORE_SLICE": 2}.get(one.opname) == above


def _augmented_at(read: list[Instruction]) -> tuple[int, ...]:
    """The places where an assignment to a part, as ``x[i] += 1``, computes and where it stores."""
    found = []
    for one in read:
        if one.is_augmented:
            found.append(one.offset)
        if one.opname in ("STORE_SUBSCR", "STORE_SLICE"):
            return (*found, one.offset)
        if one.is_jump or one.opname.startswith(("STORE_", "RETURN_")):
            break
    return ()


def _effect(one: Instruction) -> tuple[int, int] | None:
    """The numbers of values that an instruction takes from the stack and puts there."""
    name, argument = one.opname, one.arg
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
