"""What a loop goes over and what it carries, as its user says it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from frazil._core import TensorType, Variable
from frazil.scalar.constants import as_tensor
from frazil.tensor.lengths import add, length, literal


@dataclass(frozen=True)
class Tap:
    """The element of a sequence that lies ``lag`` steps from the present one."""

    rows: Variable
    lag: int
    name: str | None

    def element(self) -> Variable:
        """A variable that stands for the element of a step."""
        return TensorType(self.rows.dtype, self.rows.type.shape[1:])(self.name)


@dataclass(frozen=True)
class Carried:
    """An output that the next steps read: its value ``lag`` steps ago, for each of ``taps``.

    ``initial`` holds its values before the first step, the latest first.
    """

    initial: Sequence[Variable]
    taps: Sequence[int]
    name: str
    number: bool | int | float | None = None
    """What it starts from if that is a Python number, of no dtype by itself."""


def read_sequences(sequences: Any, *, go_backwards: bool) -> list[Tap]:
    """Return what each step reads of the sequences, in order, as rows for each step.

    Raises
    ------
    TypeError
        If one has no dimension to go along, or says nothing of itself.
    """
    taps: list[Tap] = []
    for position, given in enumerate(listed(sequences)):
        lags: Sequence[int] = (0,)
        if isinstance(given, Mapping):
            given = dict(given)
            lags = tuple(listed(given.pop("taps", None))) or (0,)
            if "input" not in given:
                raise TypeError(
                    f"sequence {position} is a dict without 'input'; write "
                    "dict(input=x, taps=[...])"
                )
            sequence = given.pop("input")
            refuse_surplus(given, f"sequence {position}", "input, taps")
        else:
            sequence = given
        x = as_tensor(sequence)
        if x.ndim == 0:
            raise TypeError(
                f"sequence {position}, {x}, has no dimensions: a loop goes along the first axis. "
                "Pass what is the same in each step as one of non_sequences"
            )
        least, most = min(0, *lags), max(0, *lags)
        rows = length(x, 0)
        for lag in lags:
            start = lag - least
            stop = add(rows, literal(start - (most - least)))
            part = x if (start, most - least) == (0, 0) else x[start:stop]
            suffix = "t" if lag == 0 else f"t{lag:+}"
            name = f"{x.name}[{suffix}]" if x.name else None
            taps.append(Tap(part[::-1] if go_backwards else part, lag, name))
    return taps


def read_outputs_info(outputs_info: Any) -> list[Carried | None]:
    """Return how each output goes on to the next steps; None where it does not.

    Raises
    ------
    TypeError, ValueError
        If taps do not look back, or there are less initial values than they need.
    """
    carried: list[Carried | None] = []
    for position, given in enumerate(listed(outputs_info)):
        lags: Sequence[int] = (-1,)
        if isinstance(given, Mapping):
            given = dict(given)
            lags = tuple(listed(given.pop("taps", None))) or (-1,)
            initial = given.pop("initial", None)
            refuse_surplus(given, f"output {position}", "initial, taps")
        else:
            initial = given
        if initial is None:
            carried.append(None)
            continue
        x = as_tensor(initial)
        if any(lag >= 0 for lag in lags):
            raise ValueError(
                f"the taps of output {position} are {list(lags)}; an output is read at steps "
                "before the present one, which have negative numbers"
            )
        name = x.name or f"output {position}"
        if lags == (-1,):
            number = initial if type(initial) in (bool, int, float) else None
            carried.append(Carried([x], [1], name, number))
            continue
        need = -min(lags)
        if x.ndim == 0 or (x.type.shape[0] is not None and x.type.shape[0] < need):
            raise ValueError(
                f"output {position} has taps {list(lags)}, so its initial value needs {need} rows "
                f"or more along the first axis; given {x} of type {x.type}"
            )
        values = [x[need - lag] for lag in range(1, need + 1)]
        carried.append(Carried(values, [-lag for lag in lags], name))
    return carried


def listed(given: Any) -> list[Any]:
    """Return what is given, one or several or None, as a list."""
    if given is None:
        return []
    if isinstance(given, list | tuple):
        return list(given)
    return [given]


def refuse_surplus(left: Mapping[str, Any], what: str, known: str) -> None:
    """Raise TypeError if anything is left of a dict."""
    if left:
        raise TypeError(f"{what} does not take {', '.join(map(repr, left))}; it takes {known}")
