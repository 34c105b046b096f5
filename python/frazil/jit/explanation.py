"""Reports on a compiled Python function: its guards, and the reasons why it was traced again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from frazil._core import Guards
from frazil.graph.dataclass import dataclass
from frazil.jit.identity import is_one_of
from frazil.jit.specialization import Specialization
from frazil.jit.trace import DTYPES

_SHORT = (int, float, complex, bool, str, bytes, type(None))


class CacheInfo(NamedTuple):
    """Counts of the calls of a compiled function.

    Attributes
    ----------
    hits : int
        Calls that ran a compiled form.
    misses : int
        Calls that traced the function.
    plain : int
        Calls that ran it as plain Python, since it cannot be compiled.
    entries : int
        Compiled forms that are kept.
    """

    hits: int
    misses: int
    plain: int
    entries: int


@dataclass(frozen=True, slots=True)
class Form:
    """One compiled form, as one asks about it."""

    arguments: tuple[str, ...]
    guarded: tuple[str, ...]
    lengths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class JitExplanation:
    """The guards of a compiled function, and the reasons for its traces; ``str`` shows them.

    Attributes
    ----------
    name : str
        The function's name.
    forms : tuple of Form
        Compiled forms, each with the arguments it is for, what is guarded, lengths it holds for.
    uncacheable : tuple of str
        Why calls run as plain Python.
    changes : tuple of str
        The reasons for the last traces.
    """

    name: str
    forms: tuple[Form, ...]
    uncacheable: tuple[str, ...]
    changes: tuple[str, ...]

    def __str__(self) -> str:
        lines = [f"{self.name}: {len(self.forms)} compiled forms"]
        for at, form in enumerate(self.forms):
            lines.append(f"form {at}: {', '.join(form.arguments) or 'no arguments'}")
            lines += [f"    guards {path}" for path in form.guarded]
            lines += [f"    only for {length}" for length in form.lengths]
        lines += [f"uncacheable: {reason}" for reason in self.uncacheable]
        lines += [f"traced again: {change}" for change in self.changes]
        return "\n".join(lines)


def shown_arguments(called: Specialization, names: Sequence[str]) -> tuple[str, ...]:
    """Return the specialization of a call, leaf by leaf."""
    return tuple(
        f"{name}: {_kind(leaf)}" if at in called.arrays else f"{name} = {short(leaf)}"
        for at, (leaf, name) in enumerate(zip(called.leaves, names, strict=True))
    )


def _kind(array: Any) -> str:
    lengths = ", ".join("1" if n == 1 else "?" for n in array.shape)
    return f"{DTYPES[array.dtype]}[{lengths}]"


def short(value: object) -> str:
    """Return the text of a value, or of its class where making a text might run users' code."""
    if is_one_of(type(value), _SHORT):
        text = repr(value)
        return text if len(text) <= 60 else f"{text[:57]}..."
    if isinstance(value, np.ndarray):
        return f"an array {value.dtype}{list(value.shape)}"
    return f"a {type(value).__qualname__}"


def changed_guard(guards: Guards, told: Sequence[str], expected: Sequence[Any]) -> str | None:
    """Return which guard fails, with the old value and the new one."""
    at = guards.first_failure()
    if at is None:
        return None
    if told[at].startswith(("the elements of", "the attributes of")):
        return told[at]
    old = short(expected[at][0]) if expected[at] else "nothing"
    if len(expected[at]) > 1:
        old = f"an array of {expected[at][0]} with {len(expected[at][1])} dimensions"
    found = guards.read(at)
    new = short(found[0]) if found else "nothing"
    if old == new:
        old, new = "one", "another"
    return f"{told[at]}: {old} -> {new}"


def changed_arguments(before: Sequence[str], now: Sequence[str]) -> str:
    """Return the differences between the arguments of a call and of an earlier call."""
    if len(before) != len(now):
        return "another number of arguments, or of leaves in them"
    pairs = [(old, new) for old, new in zip(before, now, strict=True) if old != new]
    return ", ".join(f"{old} -> {new}" for old, new in pairs) or "another structure or order"
