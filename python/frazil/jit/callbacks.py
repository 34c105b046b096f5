"""The callbacks of a run: what they alone read, and what they may change that the function reads.

What only callbacks read needs no check: the function does not depend on it. For the rest, plain
Python gives the function what its callbacks have changed so far. A run is therefore for its own
call only where a callback may change objects that the call has made, or does visibly change what
the function reads.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Sequence

from frazil._core import Reach
from frazil.jit.code_names import REFLECTION
from frazil.jit.consumption import Lifts, is_operand_only, method_loads
from frazil.jit.identity import is_one_of
from frazil.jit.instructions import handled
from frazil.jit.kinds import is_unchanging
from frazil.jit.snapshot import Snapshot, take_snapshot
from frazil.jit.trace import leave, users_line
from frazil.jit.traced import is_traced
from frazil.jit.walk import Check, Policies

_OF_CONTAINERS = ("item", "keys", "elements", "element", "length")
_FIXED = (
    *(types.FunctionType, types.MethodType, types.BuiltinFunctionType, types.MethodWrapperType),
    *(types.ModuleType, tuple, frozenset, property, staticmethod, classmethod),
)
"""Classes whose instances change, if at all, by what they refer to, which is looked at, too."""


class Callbacks:
    """The callbacks of one run of a function."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._lifts = Lifts()
        self._read: list[tuple[str, object, Snapshot]] = []
        """The objects that callbacks may read, each with the callback's name."""
        self._cells: list[tuple[types.CellType, object, str]] = []
        """Variables of the call that callbacks read, with their values then."""
        self._reasons: list[str] = []

    def __bool__(self) -> bool:
        return bool(self._read)

    def note(self, function: object, values: Sequence[object], reach: Reach | None) -> None:
        """Note a callback that is about to be made, with its arguments that are not traced."""
        name = getattr(function, "__qualname__", type(function).__qualname__)
        roots = [(function, f"callback {name}"), *((own, f"what {name} takes") for own in values)]
        read = take_snapshot(roots, (), Policies("guard"))
        if any(map(is_traced, read.seen.values())):
            leave(
                f"the callback {name} refers to a traced array, which has no elements yet: pass it "
                "as an argument"
            )
        self._read.append((name, function, read))
        owner = getattr(function, "__self__", None)
        for handed in (function, owner, getattr(function, "__func__", None), *values):
            self._lifts.note(handed, reach)
        if _is_handled():
            self._reasons.append(f"an error of the callback {name} may be handled, {users_line()}")
        self._note_made(name, read)

    def _note_made(self, name: str, read: Snapshot) -> None:
        """Note objects and variables that the call has made, and that a callback may change."""
        known = self._snapshot
        for place, owner, _, expected in read.checks:
            if place == "attribute" and type(owner) is types.CellType:
                if id(owner) in known.variables:
                    continue
                variable = min(read.variables[id(owner)])
                self._cells.append((owner, expected, f"nonlocal {variable!r}"))
                if any(key == id(owner) for key, _ in read.stores):
                    self._reasons.append(f"nonlocal {variable!r} (written) by the callback {name}")
        for value in read.seen.values():
            kind = type(value)
            fixed = issubclass(kind, (type, *_FIXED)) or is_unchanging(kind)
            if not fixed and id(value) not in known.seen and not is_one_of(kind, (object,)):
                self._reasons.append(
                    f"the callback {name} may change a {kind.__qualname__} that the call has made"
                )

    def apart(self, reach: Reach) -> set[int]:
        """The ids of the objects that the function only hands to callbacks, or does not read."""
        known = self._snapshot
        places = known.places()
        ways = known.variables, known.owned, known.codes.values(), known.wanted, self._lifts, reach
        return {
            key
            for _, _, read in self._read
            for key, value in read.seen.items()
            if key in known.seen
            and key in places
            and known.root_of(value, places) is not None
            and is_operand_only(value, places[key], *ways, method_loads)
        }

    def reasons(self, kept: Snapshot) -> list[str]:
        """Why the run is for its own call only, given the checks that are kept."""
        found = dict.fromkeys(self._reasons)
        for cell, expected, path in self._cells:
            if _contents(cell) != expected:
                found[f"{path}, which a callback reads, changes in the call"] = None
        for name, function, read in self._read:
            places = {(id(owner), _name(key)) for _, owner, key, _ in read.checks}
            changed = _Changes(function, read, places)
            for check, about in zip(kept.checks, kept.told, strict=True):
                if about.policy == "guard" and changed.meet(check, kept):
                    found[f"{about.path} may be changed by the callback {name}"] = None
        return list(found)


class _Changes:
    """The objects that a callback visibly changes."""

    def __init__(
        self, function: object, read: Snapshot, places: set[tuple[int, str | None]]
    ) -> None:
        self._read, self._places = read, places
        owner = getattr(function, "__self__", None)
        self._method_of = 0 if type(function) is types.MethodType else id(owner)
        self._reflects = bool(read.wanted & REFLECTION)

    def meet(self, check: Check, kept: Snapshot) -> bool:
        """Whether what a check reads is among it."""
        place, owner, key, expected = check
        name = _name(key)
        if type(owner) is types.CellType:
            written = any(own == id(owner) for own, _ in self._read.stores)
            return written or self._changes_array(expected)
        if id(owner) in kept.variables:
            written = (id(owner), name) in self._read.stores
            return written or self._changes_array(expected)
        if place == "class item" or place == "member" or id(owner) in kept.owned:
            written = self._reflects or name in self._read.stored
            met = place == "class item" or (id(owner), name) in self._places
            return (written and met) or self._changes_array(expected)
        if place not in _OF_CONTAINERS:
            return False
        changes = self._read.changes_containers and id(owner) in self._read.seen
        return changes or id(owner) == self._method_of or self._changes_array(expected)

    def _changes_array(self, expected: tuple[object, ...]) -> bool:
        """Whether a value that was read is an array that the callback may change."""
        return self._read.changes_arrays and bool(expected) and id(expected[0]) in self._read.arrays


def _name(key: object) -> str | None:
    """The name of a variable or an attribute."""
    return key if type(key) is str else getattr(key, "__name__", None)


def _contents(cell: types.CellType) -> tuple[object, ...]:
    try:
        return (cell.cell_contents,)
    except ValueError:
        return ()


def _is_handled() -> bool:
    """Whether code of users between here and the start of the trace would get an error."""
    frame: types.FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__") != "frazil.jit.entry":
        at = frame.f_lasti
        own = not str(frame.f_globals.get("__name__", "")).startswith("frazil.")
        if own and any(part.start <= at < part.end for part in handled(frame.f_code)):
            return True
        frame = frame.f_back
    return False
