"""Specializations: the dtypes, ranks, lengths of 1 and plain values that a form is compiled for."""

from __future__ import annotations

import inspect
import struct
from collections.abc import Callable, Container, Hashable, Iterable
from types import CodeType, FunctionType
from typing import Any

import numpy as np

from frazil.graph.dataclass import dataclass
from frazil.jit.identity import is_one_of
from frazil.jit.pytree import Node, Same, Structure, flatten, parts_of, paths
from frazil.jit.trace import is_array


def static_key(value: Any) -> Hashable:
    """Return what equals only the key of a value that Python cannot tell from this one.

    Examples
    --------
    >>> from frazil.jit.specialization import static_key
    >>> static_key(1) == static_key(True), static_key(0.0) == static_key(-0.0)
    (False, False)
    >>> static_key(float("nan")) == static_key(float("nan"))
    True
    """
    kind = type(value)
    if kind is float:
        return float, struct.pack("d", value)
    if kind is complex:
        return complex, struct.pack("dd", value.real, value.imag)
    if is_one_of(kind, (int, bool, str, bytes, type(None))):
        return kind, value
    if kind is np.ndarray or issubclass(kind, np.generic):
        return kind, value.dtype.str, np.shape(value), value.tobytes()
    return Same(value)


@dataclass(frozen=True, slots=True)
class Specialization:
    """The leaves of a call's arguments, and the specialization of the call."""

    leaves: list[Any]
    structures: tuple[Structure, ...]
    """One for each positional argument, then one for those given by name, as a dict."""
    arrays: tuple[int, ...]
    """The leaves that are arrays which the graph reads."""
    key: Hashable

    def classes(self) -> list[type]:
        """The classes of the containers, but for dicts, lists and tuples."""
        found: dict[type, None] = {}
        pending = list(self.structures)
        while pending:
            one = pending.pop()
            if isinstance(one, Node):
                pending += one.parts
                if not is_one_of(one.kind, (dict, list, tuple)):
                    found[one.kind] = None
        return list(found)

    def paths(self, names: Iterable[str], args: tuple[object, ...], kwargs: Any) -> list[str]:
        """The text of each leaf."""
        found = []
        known = list(names)
        for at, arg in enumerate(args):
            found += paths(arg, known[at] if at < len(known) else f"argument {at}")
        for name, arg in kwargs.items():
            found += paths(arg, name)
        return found


@dataclass(frozen=True, slots=True)
class StaticNames:
    """The arguments that are Python values and never traced."""

    positions: frozenset[int]
    names: frozenset[str]

    def specialize(self, args: tuple[object, ...], kwargs: dict[str, object]) -> Specialization:
        """Return what a call with these arguments is compiled for."""
        leaves: list[Any] = []
        arrays: list[int] = []
        structures = []
        for at, arg in enumerate(args):
            structures.append(_add(arg, leaves, arrays, at in self.positions))
        for name, arg in kwargs.items():
            structures.append(_add(arg, leaves, arrays, name in self.names))
        traced = frozenset(arrays)
        keys = [
            (leaf.dtype, tuple([n == 1 for n in leaf.shape]), type(leaf) is np.ndarray)
            if at in traced
            else static_key(leaf)
            for at, leaf in enumerate(leaves)
        ]
        key = (len(args), tuple(kwargs), tuple(structures), tuple(keys))
        return Specialization(leaves, tuple(structures), tuple(arrays), key)


def _add(arg: object, leaves: list[object], arrays: list[int], static: bool) -> Structure:
    own, structure = flatten(arg)
    if not static:
        arrays += [at for at, leaf in enumerate(own, len(leaves)) if is_array(leaf)]
    leaves += own
    return structure


def holds_repeated(values: Iterable[object], known: Container[int], *, arrays: bool = True) -> bool:
    """Whether an array or a container is in trees twice, or is one of those with known ids.

    Without ``arrays`` it looks at containers that may change.
    """
    met: set[int] = set()
    pending = list(values)
    while pending:
        value = pending.pop()
        taken = parts_of(value)
        if taken is None and not (arrays and isinstance(value, np.ndarray | np.generic)):
            continue
        if (id(value) in met or id(value) in known) and (arrays or type(value) is not tuple):
            return True
        met.add(id(value))
        pending += taken[0] if taken is not None else ()
    return False


def parameter_names(fn: Callable[..., object]) -> list[str]:
    """Return the names of the positional parameters; none for functions that do not tell."""
    code = _code_that_tells(fn)
    if code is not None:
        return list(code.co_varnames[: code.co_argcount])
    try:
        parameters = inspect.signature(fn).parameters.values()
    except (TypeError, ValueError):
        return []
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return [parameter.name for parameter in parameters if parameter.kind in kinds]


def static_names(
    fn: Callable[..., object],
    argnums: int | Iterable[int] | None,
    argnames: str | Iterable[str] | None,
) -> StaticNames:
    """Return which arguments are static: each by its position and by its name, if it has both.

    Raises
    ------
    ValueError
        If the function has no parameter of such a name.
    """
    names = parameter_names(fn)
    positions = {argnums} if isinstance(argnums, int) else set(argnums or ())
    positions = {at + len(names) if at < 0 else at for at in positions}
    given = {argnames} if isinstance(argnames, str) else set(argnames or ())
    unknown = given - set(names) - _keyword_names(fn)
    if unknown:
        raise ValueError(
            f"static_argnames: {fn!r} has no parameter {sorted(unknown)[0]!r}; "
            f"it has {', '.join(names) or 'none'}"
        )
    positions |= {at for at, name in enumerate(names) if name in given}
    given |= {names[at] for at in positions if at < len(names)}
    return StaticNames(frozenset(positions), frozenset(given))


def _code_that_tells(fn: Callable[..., object]) -> CodeType | None:
    """The code of a plain function, which names its parameters; ``inspect`` takes longer."""
    if type(fn) is not FunctionType or vars(fn).keys() & {"__wrapped__", "__signature__"}:
        return None
    return fn.__code__


def _keyword_names(fn: Callable[..., object]) -> set[str]:
    code = _code_that_tells(fn)
    if code is not None:
        first = code.co_argcount
        return set(code.co_varnames[first : first + code.co_kwonlyargcount])
    try:
        parameters = inspect.signature(fn).parameters.values()
    except (TypeError, ValueError):
        return set()
    return {x.name for x in parameters if x.kind is inspect.Parameter.KEYWORD_ONLY}
