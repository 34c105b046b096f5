"""The treatment of objects that a compiled function reads or writes outside of itself."""

from __future__ import annotations

import abc
import builtins
import time
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import CodeType, FrameType, FunctionType
from typing import Any, Literal, TypeAlias

import numpy as np

from frazil._core import Reach, Variable
from frazil.graph.background import background_time, users_threads
from frazil.graph.collection import is_mapping
from frazil.graph.op import Array
from frazil.jit.callbacks import Callbacks
from frazil.jit.consumption import Lifts, changed_at, is_operand_by_flow, is_operand_only
from frazil.jit.errors import SharpEdgeError
from frazil.jit.identity import is_one_of
from frazil.jit.instructions import repeated
from frazil.jit.operand_flow import Flow, Part
from frazil.jit.operands import deep
from frazil.jit.progress import make
from frazil.jit.reach import Reached, watched
from frazil.jit.snapshot import MAX_COMPARED_BYTES, take_snapshot
from frazil.jit.trace import Trace, users_frame, users_line
from frazil.jit.walk import Captured, Check, NamedCapture, Policies

Captures: TypeAlias = Literal["guard", "bind", "error"] | Mapping[str, str]

_NAMES = ("guard", "bind", "error")
_OTHERS_TIME = 20_000
"""Nanoseconds that threads of users may use while a trace is made, as clocks are read."""


def as_policies(captures: Captures) -> Policies:
    """Return the policies that ``captures`` stands for.

    Raises
    ------
    ValueError
        If it is not a policy, nor a dict of names to policies.
    """
    if is_mapping(captures):
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
        roots: Sequence[tuple[object, str]],
        extra: Mapping[CodeType, dict[str, object]],
        policies: Policies,
    ) -> None:
        self._policies = policies
        self._sources = roots, list(extra.items())
        self._registrations = abc.get_cache_token()
        """The number of times that classes were registered with abstract ones."""
        self._asks_abstract_classes = False
        self.snapshot = take_snapshot(*self._sources, policies)
        self.unknown: dict[CodeType, dict[str, Any]] = {}
        """Code that was reached by other ways than names; known to the next run."""
        self.reasons: list[str] = []
        """Why what the run did holds for this call only."""
        self.wrote: NamedCapture | None = None
        self.disturbed = False
        self.callbacks = Callbacks(self.snapshot)
        self.lifted: dict[int, Variable] = {}
        """Captured arrays that were operands of traced ones."""
        self.plain: set[int] = set()
        """Captured arrays that a function takes as such, for an axis or a shape."""
        self._lifts = Lifts()
        self._reach: Reach | None = None
        self._places: dict[int, list[tuple[object, object]]] | None = None
        self._traced_arguments: dict[int, set[str]] = {}
        """By code, the arguments that were traced arrays when it was entered."""
        self._overwritten: dict[int, NamedCapture] = {}
        """Captured arrays that had other elements when they were operands."""
        self.blind = self.snapshot.blind
        """The reasons why the run would differ, or differed, from plain Python."""
        self.left: list[str] = []
        """Why the run was left."""
        self.touched = False
        """Whether a run that would differ did more than compute: it cannot be begun anew."""
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
        alone = users_threads() == 1  # reading clocks is slow, so only where it is needed
        started = 0 if alone else _time_of_others()
        asked = self.snapshot.asked
        arguments = self._asked_arguments()
        with watched([*((code, name) for code, name, _ in asked), *arguments]) as reach:
            self._reach = reach
            try:
                yield
            finally:
                if reach is not None and self.callbacks:
                    self._keep_what_callbacks_leave(reach)
                found = [] if reach is None else reach.take_asked()
                self.blind = [*self.left, *(asked[at][2] for at in found if at < len(asked))]
                for at in found:
                    code, name = arguments[at - len(asked)] if at >= len(asked) else (None, "")
                    if code is not None:
                        self._traced_arguments.setdefault(id(code), set()).add(name)
                if self.blind:
                    self.touched = reach is None or self._has_effects(reach)
        if reach is None:
            self.reasons.append("another profiler is at work, so its calls cannot be watched")
            return
        reached = Reached(reach, self.snapshot.codes)
        self.unknown = reached.unknown
        self._asks_abstract_classes = reached.asks_abstract_classes
        change = self.snapshot.first_change() or next(iter(self._overwritten.values()), None)
        busy = users_threads() > 1 and (alone or _time_of_others() - started > _OTHERS_TIME)
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
            if own.array.nbytes > MAX_COMPARED_BYTES and not (
                id(own.array) in self.lifted or self._is_unread(own)
            ):
                self.reasons.append(
                    f"{self.snapshot.told[own.check].path} is large, and plain NumPy may read it"
                )
        for code in reached.unknown:
            self.reasons.append(f"{code.co_qualname} was met on the way")

    def _asked_arguments(self) -> list[tuple[CodeType, str]]:
        """The arguments that matter where loops or containers hand captured arrays to operations.

        Whether they are traced is noted.
        """
        snapshot = self.snapshot
        if not snapshot.arrays:
            return []
        functions = [getattr(root, "__func__", root) for root, _ in self._sources[0]]
        codes = [own.__code__ for own in functions if type(own) is FunctionType]
        codes += [code for code in snapshot.codes.values() if repeated(code) and code not in codes]
        if not any(map(repeated, codes)) and not any(
            map(self._is_contained, snapshot.arrays.values())
        ):
            return []
        return [
            (code, name)
            for code in codes
            for name in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        ]

    def _is_contained(self, captured: Captured) -> bool:
        """Whether a captured array was found in a list, a tuple or a dict."""
        owner = self.snapshot.checks[captured.check][1]
        if not is_one_of(type(owner), (list, dict, np.ndarray)):
            return False
        return id(owner) not in self.snapshot.variables and id(owner) not in self.snapshot.owned

    def note_callback(self, function: object, values: Sequence[object]) -> None:
        """Note a callback that is about to be made."""
        self.callbacks.note(function, values, self._reach)

    def make_unwatched(self, call: Callable[[], None]) -> None:
        """Run code that is no part of the function."""
        reach = self._reach
        if reach is None:
            call()
            return
        # Stops and starts in one frame, so that no end of a frame is noted without its beginning.
        reach.stop()
        try:
            call()
        finally:
            reach.start()

    def _keep_what_callbacks_leave(self, reach: Reach) -> None:
        """Drop the checks of what callbacks alone read; see what they may change of the rest."""
        apart = self.callbacks.apart(reach)
        if apart:
            self.snapshot.keep(take_snapshot(*self._sources, self._policies, apart))
        self.reasons += self.callbacks.reasons(self.snapshot)

    def _has_effects(self, reach: Reach) -> bool:
        """Whether what the run did may not be done again."""
        if self.snapshot.first_change() is not None:
            return True
        return bool(Reached(reach, self.snapshot.codes).refused)

    def _writer(self, change: NamedCapture) -> str:
        """The place of the code that stores to a variable; else of the code that reads it."""
        for write, code in self.snapshot.writes:
            if change.path == f"{write.kind} {write.name!r}":
                return f"{_file(code)}:{write.line} in {code.co_name}"
        return change.where

    def note_operand(self, captured: Captured) -> bool:
        """Note that a captured array becomes an operand; whether it is as before the run."""
        self._lifts.note(captured.array, self._reach)
        if captured.array.tobytes() == captured.contents:
            return True
        self._overwritten[id(captured.array)] = self.snapshot.told[captured.check]
        return False

    def is_overlapped(self, arrays: Iterable[object]) -> bool:
        """Whether a write to a captured array may change one of these."""
        return any(
            np.may_share_memory(own.array, array)
            for array in arrays
            if type(array) is np.ndarray  # numbers have memory of their own
            for own in self.snapshot.arrays.values()
        )

    def changed_here(self, frame: FrameType | None) -> str | None:
        """The variable with a captured array that a frame is about to change, and the place."""
        name = None if frame is None else changed_at(frame.f_code).get(frame.f_lasti)
        for at in (at for own in self.snapshot.meetings.values() for at in own):
            kind, path = self.snapshot.checks[at][0], self.snapshot.told[at].path
            if kind in _PLACES and path in (f"global {name!r}", f"nonlocal {name!r}"):
                return f"{path} (written), {users_line()}"
        return None

    def _is_operand_only(self, captured: Captured) -> bool:
        """Whether nothing but operations with traced arrays read a captured array."""
        snapshot, reach = self.snapshot, self._reach
        if reach is None or id(captured.array) not in self.lifted.keys() - self.plain:
            return False
        meetings = [snapshot.checks[at][1:3] for at in snapshot.meetings[id(captured.array)]]
        ways = snapshot.variables, snapshot.owned, snapshot.codes.values(), snapshot.wanted
        return is_operand_only(
            captured.array, meetings, *ways, self._lifts, reach
        ) or self._is_operand_by_flow(captured, Flow.uses)

    def _is_unread(self, captured: Captured) -> bool:
        """Whether nothing has read a captured array: it would be an input if an operation had."""
        met = self.lifted.keys() | self.plain
        return id(captured.array) not in met and self._is_operand_by_flow(captured, Flow.uses)

    def _is_operand_by_flow(self, captured: Captured, uses: Callable[[Flow, Part], bool]) -> bool:
        snapshot, reach = self.snapshot, self._reach
        if self._places is None:
            self._places = snapshot.places()
        root = snapshot.root_of(captured.array, self._places)
        known = self._traced_arguments, snapshot.wanted, self._is_known_function, self._lifts
        if root is None or reach is None:
            return False
        return is_operand_by_flow(root, uses, snapshot.codes.values(), *known, reach)

    def _is_known_function(self, path: tuple[str, ...]) -> bool:
        """Whether a name that code has is that of a builtin, or of NumPy."""
        wanted = np if len(path) > 1 else vars(builtins)[path[0]]
        found = [
            expected
            for place, owner, key, expected in self.snapshot.checks
            if place == "item" and key == path[0] and id(owner) in self.snapshot.variables
        ]
        return all(not own or own[0] is wanted for own in found)

    def guards(self, pinned: Container[Variable]) -> tuple[list[Check], list[str]]:
        """The checks for later calls, and the subject of each.

        Captured arrays that are operands of traced ones are read again at each call. Their elements
        are compared if anything else may have read them, or their lengths (``pinned``).
        """
        checks: list[Check] = []
        told: list[str] = []
        arrays = {own.check: own for own in self.snapshot.arrays.values()}
        free = {
            at
            for at, own in arrays.items()
            if self._is_operand_only(own) and self.lifted[id(own.array)] not in pinned
        }
        unread = {at for at, own in arrays.items() if at not in free and self._is_unread(own)}
        unseen = {at for at in unread if self._is_operand_by_flow(arrays[at], Flow.sees)}
        again = {
            at
            for own in free | unread
            for at in self.snapshot.meetings[id(arrays[own].array)]
            if at != own or at in unseen
        }
        for at in self.snapshot.order():
            check, about = self.snapshot.checks[at], self.snapshot.told[at]
            if about.policy == "bind" or at in again:
                continue
            own = arrays.get(at)
            if own is not None and id(own.array) in self.lifted and check[0] in _PLACES:
                ones = [n == 1 for n in own.array.shape]
                only = () if at in free else (own.array,)
                checks.append((*check[:3], (own.array.dtype, ones, *only)))
            else:
                checks.append(check)
            told.append(about.path)
        for own in arrays.values():
            path, policy = self.snapshot.told[own.check].path, self.snapshot.told[own.check].policy
            if policy != "bind" and own.check not in free | unread:
                checks.append(("layout", own.array, None, (own.layout,)))
                checks.append(("bytes", own.array, None, (own.contents,)))
                told += [f"the layout of {path}", f"the elements of {path}"]
        if self._asks_abstract_classes and self._policies.default != "bind":
            checks.append(("answer", abc.get_cache_token, None, (self._registrations,)))
            told.append("which classes are registered with abstract ones")
        return checks, told

    def lifted_inputs(self) -> list[Variable]:
        """The inputs for captured arrays, in the order in which the checks read these."""
        arrays = self.snapshot.arrays
        places = {arrays[key].check: key for key in self.lifted if key in arrays}
        return [self.lifted[places[at]] for at in self.snapshot.order() if at in places]


_PLACES = ("item", "attribute", "element", "member", "itself")
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
        captured = self._watch.snapshot.arrays.get(id(array))
        if captured is None or id(array) in self._watch.plain:
            return array
        if not self._watch.note_operand(captured):
            return array  # a constant: its present value
        known = lifted.get(id(array))
        if known is not None:
            return known
        about = self._watch.snapshot.told[captured.check]
        if about.policy == "bind" or self._watch.snapshot.checks[captured.check][0] not in _PLACES:
            return array
        lifted[id(array)] = self.add_input(captured.as_it_was(), about.path)
        return lifted[id(array)]

    def read_plainly(self, args: object) -> bool:
        """Make captured arrays among arguments constants; whether any was none before."""
        plain = self._watch.plain
        before = len(plain)

        def note(value: object) -> object:
            if type(value) is np.ndarray and id(value) in self._watch.snapshot.arrays:
                plain.add(id(value))
            return value

        deep(note, args)
        return len(plain) > before

    def changed_here(self) -> str | None:
        """The captured array that the user's code is about to change."""
        return self._watch.changed_here(users_frame())

    def is_captured(self, value: object) -> bool:
        """Whether a value was found outside of the function: a callback is given that itself."""
        return id(value) in self._watch.snapshot.seen

    def note_callback(self, function: object, values: Sequence[object]) -> None:
        """Note that a callback is about to be made, which may change what the function reads."""
        self._watch.note_callback(function, values)

    def _make(self, call: Callable[[], None]) -> None:
        self._watch.make_unwatched(lambda: make(call))


def _time_of_others() -> int:
    return time.process_time_ns() - time.thread_time_ns() - background_time()


def _file(code: CodeType) -> str:
    return code.co_filename.replace("\\", "/").rpartition("/")[2]
