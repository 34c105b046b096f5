"""Derivatives that users write for an OpFromGraph, by one function or several."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from frazil._core import Variable
from frazil.inner.inner_graph import HasInnerGraph
from frazil.scalar.constants import as_tensor

Override: TypeAlias = Callable[..., Any] | Sequence[Callable[..., Any] | None]
"""A function of lists that returns all derivatives, or a list with a function for each.

None in the list leaves the derivative to the graph."""


def derivatives(
    override: Override, groups: Sequence[Sequence[Variable]], targets: Sequence[Variable], what: str
) -> list[Variable | None]:
    """Return the derivatives for ``targets`` that ``override`` returns; None: it returns none.

    Parameters
    ----------
    groups : sequence of sequence of Variable
        The lists to call it with.
    targets : sequence of Variable
        The variables whose ranks the derivatives have.
    what : str
        The name of the override, for messages.
    """
    count = len(targets)
    if isinstance(override, list | tuple):
        if len(override) != count:
            raise ValueError(
                f"a list as {what} needs an entry for each of {count} results, None where nothing "
                f"is overridden; given {len(override)}"
            )
        returned = [
            None if entry is None else _one(entry, groups, f"entry {at} of {what}")
            for at, entry in enumerate(override)
        ]
    elif callable(override):
        made = override(*map(list, groups))
        returned = list(made) if isinstance(made, list | tuple) else [made]
        if len(returned) != count:
            raise ValueError(
                f"{what} must return {count} results, None for one without derivative; "
                f"it returned {len(returned)}"
            )
    else:
        raise TypeError(
            f"{what} must be a function, an OpFromGraph, a list of these or None, given "
            f"{override!r}"
        )
    return [
        None if result is None else _like(result, target, f"result {at} of {what}")
        for at, (result, target) in enumerate(zip(returned, targets, strict=True))
    ]


def listed_overrides(override: Override) -> Sequence[Callable[..., Any] | None]:
    """Return the entries of an override that is a list; an empty list for a function."""
    return override if isinstance(override, list | tuple) else ()


def _one(entry: object, groups: Sequence[Sequence[Variable]], what: str) -> object:
    """The derivative that an entry of a list returns."""
    if not callable(entry):
        raise TypeError(f"{what} must be a function, an OpFromGraph or None, given {entry!r}")
    if isinstance(entry, HasInnerGraph):
        made: Any = entry(*(x for group in groups for x in group))
    else:
        made = entry(*map(list, groups))
    if not isinstance(made, list | tuple):
        return made
    if len(made) != 1:
        raise ValueError(f"{what} must return one result, it returned {len(made)}")
    return made[0]


def _like(result: Any, target: Variable, what: str) -> Variable:
    made = as_tensor(result, target.dtype)
    if made.ndim != target.ndim:
        raise TypeError(
            f"{what} must have {target.ndim} dimensions as {target} has, given one of type "
            f"{made.type}"
        )
    return made
