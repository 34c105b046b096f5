"""The arguments of :func:`frazil.scan`: sequences, initial states and their taps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from frazil._core import TensorType, Variable
from frazil.graph.collection import is_mapping
from frazil.graph.dataclass import dataclass
from frazil.scalar.constants import TensorLike, as_tensor
from frazil.tensor.lengths import add, length, literal

WithTaps: TypeAlias = Mapping[str, Any]
"""``dict(input=..., taps=...)`` or ``dict(initial=..., taps=...)``."""

Sequences: TypeAlias = TensorLike | WithTaps | Sequence[TensorLike | WithTaps] | None
OutputsInfo: TypeAlias = TensorLike | WithTaps | Sequence[TensorLike | WithTaps | None] | None
NonSequences: TypeAlias = TensorLike | Sequence[TensorLike] | None


@dataclass(frozen=True)
class Tap:
    """The element of a sequence at a distance of ``lag`` steps from the present one."""

    rows: Variable
    lag: int
    name: str | None

    def element(self) -> Variable:
        """A variable for the element of one step."""
        return TensorType(self.rows.dtype, self.rows.type.shape[1:])(self.name)


@dataclass(frozen=True)
class Carried:
    """An output that later steps read: each of ``taps`` reads its value so many steps ago.

    ``initial`` holds its values before the first step, the latest first.
    """

    initial: Sequence[Variable]
    taps: Sequence[int]
    name: str
    number: bool | int | float | None = None
    """The initial value as the user wrote it, if it is a Python number, which has no dtype."""


def read_sequences(sequences: Sequences, *, go_backwards: bool) -> list[Tap]:
    """Return the elements that each step reads of the sequences, in order: one row for each step.

    Raises
    ------
    TypeError
        If a sequence has no dimensions, or a dict names no sequence.
    """
    taps: list[Tap] = []
    for position, given in enumerate(listed(sequences)):
        lags: Sequence[int] = (0,)
        if is_mapping(given):
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
                f"sequence {position}, {x}, has no dimensions: a scan goes along the first axis. "
                "If each step needs the same value, pass it as one of non_sequences"
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


def read_outputs_info(outputs_info: OutputsInfo) -> list[Carried | None]:
    """Return how later steps read each output; None for an output that no step reads.

    Raises
    ------
    TypeError, ValueError
        If a tap is not negative, or there are fewer initial values than the taps need.
    """
    carried: list[Carried | None] = []
    for position, given in enumerate(listed(outputs_info)):
        lags: Sequence[int] = (-1,)
        if is_mapping(given):
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


def listed(given: object) -> list[Any]:
    """Return a list of one value, of several or, for None, of nothing."""
    if given is None:
        return []
    if isinstance(given, list | tuple):
        return list(given)
    return [given]


def refuse_surplus(left: Mapping[str, object], what: str, known: str) -> None:
    """Raise TypeError if a dict has other keys than the ``known`` ones."""
    if left:
        raise TypeError(f"{what} does not take {', '.join(map(repr, left))}; it takes {known}")
