"""The notes of a snapshot on the values that it meets, before they are taken apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Mapping
from dataclasses import field
from types import CodeType
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from frazil.graph.dataclass import dataclass
from frazil.jit.code_names import REFLECTION, Names
from frazil.jit.identity import is_one_of
from frazil.jit.kinds import SCALARS, is_data, is_dunder, is_unchanging
from frazil.jit.trace import is_array
from frazil.jit.traced import is_traced

Check: TypeAlias = tuple[str, Any, Any, tuple[Any, ...]]
CodePlace: TypeAlias = tuple[CodeType, Names, str, str]
"""Code, its names, the name that it reads, and the name of its function."""


@dataclass(frozen=True, slots=True)
class Captured:
    """An array found outside of the function: where to read it again."""

    array: np.ndarray[Any, Any]
    check: int
    contents: bytes
    layout: tuple[Any, ...]

    def as_it_was(self) -> np.ndarray[Any, Any]:
        """The array as it was when it was found."""
        if not self.array.size:
            return self.array
        return np.frombuffer(self.contents, self.layout[0]).reshape(self.layout[1])


@dataclass(frozen=True, slots=True)
class Policies:
    """The treatment of captured variables: ``guard``, ``bind`` or ``error``, by their names."""

    default: str
    of_names: Mapping[str, str] = field(default_factory=dict)

    def of(self, name: str, above: str) -> str:
        """The policy of a variable that code reads which is itself subject to ``above``."""
        return self.of_names.get(name, above)


class NamedCapture(NamedTuple):
    """The name of something captured, its treatment, and the place that reads it."""

    path: str
    policy: str
    place: CodePlace | None

    @property
    def where(self) -> str:
        """The place that reads it, as people say it; seldom asked for."""
        if self.place is None:
            return ""
        code, names, used, function = self.place
        return shown_place(code, names.line(used), function)


def shown_place(code: CodeType, line: int | None, name: str) -> str:
    """Return the place of code, as people say it: ``model.py:3 in inner``."""
    file = code.co_filename.replace("\\", "/").rpartition("/")[2]
    return f"{file}:{line or code.co_firstlineno} in {name.rpartition('.')[2]}"


class Walk:
    """The checks of values, with the subject of each, and the values that are to be taken apart."""

    def __init__(
        self,
        names: frozenset[str],
        handles: bool,
        policies: Policies,
        apart: Container[int] = frozenset(),
    ) -> None:
        """``apart`` has the ids of values that are not taken apart."""
        self._apart = apart
        self.checks: list[Check] = []
        self.told: list[NamedCapture] = []
        """The subject of each check."""
        self.reasons: list[str] = []
        """The captures that cannot be guarded."""
        self.whole: list[tuple[Check, NamedCapture]] = []
        """Names that objects and classes have, to find what a run adds."""
        self.data: list[NamedCapture] = []
        """Captured values that are data: no functions, classes or modules."""
        self.arrays: dict[int, Captured] = {}
        self.meetings: dict[int, list[int]] = {}
        """For arrays, by their ids, the checks of all places where they were found."""
        self.seen: dict[int, Any] = {}
        self.visits: Counter[int] = Counter()
        """By the ids of values that have parts, how often each was met, with a check or without."""
        self.handles = handles
        """Whether code catches errors, so that what is missing may matter."""
        self._names = names
        self._reflects = bool(names & REFLECTION)
        self.owned: set[int] = set()
        """The ids of the dicts of attributes."""
        self._pending: list[tuple[Any, str, str, CodePlace | None]] = []
        self._policies = policies
        self._policy = policies.default
        self._where: CodePlace | None = None

    def _check(
        self, place: str, obj: object, key: object, expected: tuple[object, ...], path: str
    ) -> None:
        self.checks.append((place, obj, key, expected))
        self.told.append(NamedCapture(path, self._policy, self._where))

    def _note_names(self, names: Any, path: str) -> None:
        """Note which names a dict of attributes has; what is added later was written."""
        place = "keys" if type(names) is dict else "class keys"
        check: Check = (place, names, None, (tuple(names),))
        self.whole.append((check, NamedCapture(path, self._policy, self._where)))

    def _visit(self, value: Any, path: str) -> None:
        """Come back to a value later, unless it has no parts or was met before."""
        kind = type(value)
        if kind is np.ndarray:
            self.meetings.setdefault(id(value), []).append(len(self.checks) - 1)
        if is_one_of(kind, SCALARS) or id(value) in self._apart:
            return
        self.visits[id(value)] += 1
        if id(value) in self.seen:
            return
        self.seen[id(value)] = value
        if is_traced(value):
            self.reasons.append(f"{path} is an array of another trace")
        elif kind is np.ndarray:
            self._add_array(value, path)
        elif is_unchanging(kind):
            return
        else:
            self._pending.append((value, path, self._policy, self._where))

    def _add_array(self, array: np.ndarray[Any, Any], path: str) -> None:
        if not is_array(array):
            self.reasons.append(f"{path} is an array of {array.dtype}")
            return
        at = len(self.checks) - 1
        if at < 0 or (self.checks[at][3] != () and self.checks[at][3][0] is not array):
            self._check("itself", array, None, (array,), path)
            at += 1
        layout = (array.dtype, array.shape, array.strides, array.flags.num)
        self.arrays[id(array)] = Captured(array, at, array.tobytes(), layout)

    def _read(self, place: str, obj: object, key: object, value: object, path: str) -> None:
        """Check that a value is read there, and visit it."""
        self._check(place, obj, key, (value,), path)
        self._visit(value, path)

    def _visit_data(self, value: object, path: str) -> None:
        if is_data(value):
            self.data.append(NamedCapture(path, self._policy, self._where))
        self._visit(value, path)

    def _missed(self, present: Container[str]) -> list[str]:
        """Names of attributes that are not there, where code may go on without them."""
        if not (self._reflects or self.handles):
            return []
        absent = (name for name in self._names if name not in present and not is_dunder(name))
        return sorted(name for name in absent if name.isidentifier())
