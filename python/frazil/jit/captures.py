"""The treatment of objects that a compiled function reads or writes outside of itself."""

from __future__ import annotations

import abc
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import CodeType
from typing import Any, Literal, TypeAlias

from frazil._core import Reach, Variable
from frazil.graph.op import Array
from frazil.jit.errors import SharpEdgeError
from frazil.jit.reach import Reached, watched
from frazil.jit.snapshot import LARGE, Check, Policies, Told, take_snapshot
from frazil.jit.trace import Trace

Captures: TypeAlias = Literal["guard", "bind", "error"] | Mapping[str, str]

_NAMES = ("guard", "bind", "error")
_OTHERS_TIME = 20_000
"""Nanoseconds that other threads may use while a trace is made, as clocks are read."""


def as_policies(captures: Captures) -> Policies:
    """Return the policies that ``captures`` stands for.

    Raises
    ------
    ValueError
        If it is not a policy, nor a dict of names to policies.
    """
    if isinstance(captures, Mapping):
        for name, policy in captures.items():
            if policy not in _NAMES:
                raise ValueError(f"captures[{name!r}] must be one of {_NAMES}, given {policy!r}")
        return Policies("guard", dict(captures))
    if captures not in _NAMES:
        raise ValueError(
            f"captures must be one of {_NAMES}, or a dict of names to these; given {captures!r}"
        )
    return Policies(captures)


class Watch:
    """One run of a function under watch: what it may read, and what it did."""

    def __init__(
        self,
        roots: Sequence[tuple[Any, str]],
        extra: Mapping[CodeType, dict[str, Any]],
        policies: Policies,
    ) -> None:
        self._policies = policies
        self._registrations = abc.get_cache_token()
        """How often classes were registered with abstract ones."""
        self._asks_abstract_classes = False
        self.snapshot = take_snapshot(roots, extra.items(), policies)
        self.unknown: dict[CodeType, dict[str, Any]] = {}
        """Code that was reached by other ways than names; known to the next run."""
        self.reasons: list[str] = []
        """Why what the run did holds for this call only."""
        self.wrote: Told | None = None
        self.disturbed = False
        self.lifted: dict[int, Variable] = {}
        """Captured arrays that were operands of traced ones."""
        self.blind = self.snapshot.blind
        """Why the run would not be that of plain Python, or was not."""
        self.left: list[str] = []
        """Why the run was left."""
        self.touched = False
        """Whether such a run did more than compute."""
        self._refuse_data()
        if self.snapshot.reasons and policies.default != "guard":
            raise SharpEdgeError(self.snapshot.reasons[0] + _WAY_OUT)
        self.reasons += self.snapshot.reasons

    def _refuse_data(self) -> None:
        """Raise where code stores to, or reads, data that is not to be captured."""
        if not any(told.policy == "error" for told in (*self.snapshot.data, *self.snapshot.told)):
            return
        for write, code in self.snapshot.writes:
            if self._policies.of(write.name, self._policies.default) == "error":
                place = f"{_file(code)}:{write.line} in {code.co_name}"
                raise SharpEdgeError(f"{write.kind} {write.name!r} (written), {place}{_WAY_OUT}")
        for told in self.snapshot.data:
            if told.policy == "error":
                raise SharpEdgeError(f"{told.path} (read), {told.where}{_WAY_OUT}")

    @contextmanager
    def running(self) -> Iterator[None]:
        """Watch this thread, and see afterwards what has changed."""
        alone = threading.active_count() == 1  # reading clocks is slow, so only where it is needed
        started = 0 if alone else _time_of_others()
        asked = self.snapshot.asked
        with watched([(code, name) for code, name, _ in asked]) as reach:
            try:
                yield
            finally:
                found = [] if reach is None else reach.take_asked()
                self.blind = [*self.left, *(asked[at][2] for at in found)]
                if self.blind:
                    self.touched = reach is None or self._has_effects(reach)
        if reach is None:
            self.reasons.append("another profiler is at work, so its calls cannot be watched")
            return
        reached = Reached(reach, self.snapshot.codes)
        self.unknown = reached.unknown
        self._asks_abstract_classes = reached.asks_abstract_classes
        change = self.snapshot.first_change()
        busy = threading.active_count() > 1 and (
            alone or _time_of_others() - started > _OTHERS_TIME
        )
        busy = busy or (change is not None and reach.was_interrupted())
        if change is not None and not busy:
            self.wrote = change
            what = f"{change.path} (written), {self._writer(change)}"
            if change.policy != "guard":
                raise SharpEdgeError(what + _WAY_OUT)
            self.reasons.append(what)
        elif change is not None or busy:
            self.disturbed = True
            self.reasons.append("other threads, or handlers of signals, ran while it was traced")
        for name in reached.refused:
            what = f"{name} is called, whose results may differ from call to call"
            if self._policies.default != "guard":
                raise SharpEdgeError(what + _WAY_OUT)
            self.reasons.append(what)
        for own in self.snapshot.arrays.values():
            if own.array.nbytes > LARGE and id(own.array) not in self.lifted:
                self.reasons.append(
                    f"{self.snapshot.told[own.check].path} is large, and plain NumPy may read it"
                )
        for code in reached.unknown:
            self.reasons.append(f"{code.co_qualname} was met on the way")

    def _has_effects(self, reach: Reach) -> bool:
        """Whether what the run did may not be done again."""
        if self.snapshot.first_change() is not None:
            return True
        return bool(Reached(reach, self.snapshot.codes).refused)

    def _writer(self, change: Told) -> str:
        """Where the code is that stores to a variable; else where it is read."""
        for write, code in self.snapshot.writes:
            if change.path == f"{write.kind} {write.name!r}":
                return f"{_file(code)}:{write.line} in {code.co_name}"
        return change.where

    def guards(self) -> tuple[list[Check], list[str]]:
        """The checks for later calls, and what each is about.

        Captured arrays that are operands of traced ones are read again at each call; contents are
        compared, since plain NumPy may have read them too.
        """
        checks: list[Check] = []
        told: list[str] = []
        arrays = {own.check: own for own in self.snapshot.arrays.values()}
        for at in self.snapshot.order():
            check, about = self.snapshot.checks[at], self.snapshot.told[at]
            if about.policy == "bind":
                continue
            own = arrays.get(at)
            if own is not None and id(own.array) in self.lifted and check[0] in _PLACES:
                ones = [n == 1 for n in own.array.shape]
                checks.append((*check[:3], (own.array.dtype, ones)))
            else:
                checks.append(check)
            told.append(about.path)
        for own in arrays.values():
            path, policy = self.snapshot.told[own.check].path, self.snapshot.told[own.check].policy
            if policy != "bind":
                checks.append(("attribute", own.array, "shape", (own.array.shape,)))
                checks.append(("bytes", own.array, None, (own.contents,)))
                told += [f"the shape of {path}", f"the elements of {path}"]
        if self._asks_abstract_classes and self._policies.default != "bind":
            checks.append(("answer", abc.get_cache_token, None, (self._registrations,)))
            told.append("which classes are registered with abstract ones")
        return checks, told

    def lifted_inputs(self) -> list[Variable]:
        """The inputs for captured arrays, in the order in which the checks read these."""
        places = {check: place for place, check in enumerate(self.snapshot.order())}
        found = sorted((places[own.check], key) for key, own in self.snapshot.arrays.items())
        return [self.lifted[key] for _, key in found if key in self.lifted]


_PLACES = ("item", "attribute", "element", "member")
_WAY_OUT = (
    '. Pass it as an argument and return what is new; captures="guard" allows it, and does what '
    "Python does"
)


class CapturingTrace(Trace):
    """A trace that makes inputs of captured arrays."""

    def __init__(self, watch: Watch) -> None:
        super().__init__()
        self._watch = watch
        self.left = watch.left

    def lift(self, array: Array) -> Variable | Array:
        """Return the input for a captured array; another one is a constant."""
        lifted = self._watch.lifted
        known = lifted.get(id(array))
        if known is not None:
            return known
        captured = self._watch.snapshot.arrays.get(id(array))
        if captured is None:
            return array
        about = self._watch.snapshot.told[captured.check]
        if about.policy == "bind" or self._watch.snapshot.checks[captured.check][0] not in _PLACES:
            return array
        lifted[id(array)] = self.add_input(array, about.path)
        return lifted[id(array)]


def _time_of_others() -> int:
    return time.process_time_ns() - time.thread_time_ns()


def _file(code: CodeType) -> str:
    return code.co_filename.replace("\\", "/").rpartition("/")[2]
