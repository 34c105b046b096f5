"""Traced arrays that outlive their trace, replaced where they lie by plain arrays."""

from __future__ import annotations

import gc
from collections import deque
from collections.abc import Callable, Iterable
from functools import partial
from types import CellType, FrameType, FunctionType, MemberDescriptorType

from frazil.jit.identity import is_one_of
from frazil.jit.trace import Trace
from frazil.jit.traced import TracedArray, TracedLength


def replace_leaked(trace: Trace, plain_leaf: Callable[[object], object]) -> None:
    """Put plain values in the place of the traced arrays of a trace, in all that holds them."""
    living = [x for x in gc.get_objects() if is_one_of(type(x), (TracedArray, TracedLength))]
    # Another thread may have replaced its own arrays in this list meanwhile.
    own = [x for x in living if getattr(x, "_trace", None) is trace]
    del living
    for at in range(len(own)):
        _replace(own[at], plain_leaf(own[at]), [own])


def _replace(old: object, new: object, above: list[object]) -> None:
    """Put ``new`` where ``old`` is, in mutable holders; of tuples and in these, in new ones.

    No comprehension here: one would hold ``old`` in a cell, which is a holder like others.
    """
    holders = gc.get_referrers(old)
    above = [*above, holders]
    for holder in holders:
        kind = type(holder)
        if _is_one_of(holder, above) or is_one_of(kind, (FrameType, TracedArray, TracedLength)):
            continue
        if kind is tuple:
            _replace(holder, _with_other(holder, old, new), above)
        elif issubclass(kind, list) or kind is deque:
            for at in _places(enumerate(holder), old):
                holder[at] = new
        elif issubclass(kind, dict):
            for key in _places(dict.items(holder), old):
                dict.__setitem__(holder, key, new)
        elif kind is CellType:
            holder.cell_contents = new
        elif kind is FunctionType:
            if holder.__defaults__ is old:
                holder.__defaults__ = new
        elif kind is partial:
            function, args, keywords, own = holder.__reduce__()[2]
            holder.__setstate__((function, new if args is old else args, keywords, own))
        else:
            _replace_members(holder, old, new)


def _is_one_of(value: object, objects: Iterable[object]) -> bool:
    return any(value is one for one in objects)


def _with_other(values: tuple[object, ...], old: object, new: object) -> tuple[object, ...]:
    return tuple([new if x is old else x for x in values])


def _places(items: Iterable[tuple[object, object]], wanted: object) -> list[object]:
    return [place for place, x in items if x is wanted]


def _replace_members(holder: object, old: object, new: object) -> None:
    """Put ``new`` in the slots and attributes of an object that hold ``old``."""
    for base in type(holder).__mro__:
        for member in list(vars(base).values()):
            if type(member) is not MemberDescriptorType:
                continue
            try:
                if member.__get__(holder) is old:
                    member.__set__(holder, new)
            except (AttributeError, TypeError):
                continue  # empty, or written in C
    if type(holder).__dictoffset__:
        own = object.__getattribute__(holder, "__dict__")
        for name in _places(own.items(), old):
            own[name] = new
