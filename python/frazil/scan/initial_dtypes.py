"""dtype of a Python number used as an initial state: the dtype of the steps' output."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Protocol, TypeVar

import frazil._core as _core
from frazil._core import Constant, Variable
from frazil.scalar.constants import constant
from frazil.scan.arguments import Carried
from frazil.scan.body import dependents


class StepCall(Protocol):
    """A call of the function of a step."""

    @property
    def lagged(self) -> Sequence[Sequence[Variable]]:
        """For each carried output the variables for its earlier values."""
        ...

    @property
    def outputs(self) -> Sequence[Variable]:
        """The results of the function."""
        ...


CallT = TypeVar("CallT", bound=StepCall)


def infer_initial_dtypes(
    carried: Sequence[Carried | None], call: Callable[[Sequence[Carried | None]], CallT]
) -> CallT:
    """Return the call of a step that keeps the dtypes of its initial states, if there is one.

    A Python number is weakly typed, as it is beside an array: beside float32 alone it is float32,
    and an int becomes a float if the step computes a float. ``call`` runs again for each guess.
    """
    made = call(carried)
    if not any(one is not None and one.number is not None for one in carried):
        return made
    # One guess leads to the next: from bool to int to float, seldom further.
    for _ in range(3):
        found = {
            at: y.dtype
            for at, (one, y) in enumerate(zip(carried, made.outputs, strict=False))
            if one is not None and y.dtype != one.initial[0].dtype and _may_be(one.number, y)
        }
        if not found:
            for narrow in ("float32", "float16"):
                carried, made = _narrowed(narrow, carried, made, call)
            return made
        carried = _retyped(carried, found)
        made = call(carried)
    return made


def _narrowed(
    narrow: str,
    carried: Sequence[Carried | None],
    made: CallT,
    call: Callable[[Sequence[Carried | None]], CallT],
) -> tuple[Sequence[Carried | None], CallT]:
    """Retry with a narrow float for states that only their Python number makes float64."""
    attempted = {
        at: narrow
        for at, one in enumerate(carried)
        if one is not None and one.number is not None and one.initial[0].dtype == "float64"
    }
    if not _reads(made, narrow):
        return carried, made
    while attempted:
        retyped = _retyped(carried, attempted)
        attempt = call(retyped)
        confirmed = _confirmed(attempt, attempted)
        if len(confirmed) == len(attempted):
            return retyped, attempt
        attempted = {at: narrow for at in attempted if at in confirmed}
    return carried, made


def _reads(made: StepCall, dtype: str) -> bool:
    """Whether a step reads any variable of a dtype."""
    order = _core.toposort(list(made.outputs))
    met = (x for node in order for x in node.inputs)
    return any(x.dtype == dtype and not isinstance(x, Constant) for x in met)


def _confirmed(made: StepCall, attempted: Mapping[int, str]) -> set[int]:
    """The outputs that another variable makes as narrow, not their initial states alone."""
    guessed = {made.lagged[at][0]: at for at in attempted}
    varying = dependents(made.outputs, guessed)
    confirmed: set[int] = set()
    while True:
        more = {
            at
            for at in attempted
            if at not in confirmed
            and _meets(attempted[at], made.outputs[at], guessed, varying, confirmed)
        }
        if not more:
            return confirmed
        confirmed |= more


def _meets(
    dtype: str,
    y: Variable,
    guessed: Mapping[Variable, int],
    varying: set[Variable],
    confirmed: set[int],
) -> bool:
    """Whether ``y`` is computed from a variable of ``dtype`` that depends on no guessed state."""
    pending, met = [y], set()
    while pending:
        x = pending.pop()
        if x in met or x.dtype != dtype or isinstance(x, Constant):
            continue
        met.add(x)
        if x not in varying or guessed.get(x) in confirmed:
            return True
        if x.owner is not None:
            pending += x.owner.inputs
    return False


def _may_be(number: bool | int | float | None, y: Variable) -> bool:
    """Whether the dtype of ``y`` can hold ``number``, which is of a lower kind."""
    if number is None:
        return False
    kinds = {bool: "biuf", int: "iuf", float: "f"}[type(number)]
    if y.type.numpy_dtype.kind not in kinds:
        return False
    return type(number) is not int or y.type.numpy_dtype.kind == "f" or _holds(y, number)


def _holds(y: Variable, number: float) -> bool:
    try:
        y.type.numpy_dtype.type(number)
    except OverflowError:
        return False
    return True


def _retyped(carried: Sequence[Carried | None], dtypes: Mapping[int, str]) -> list[Carried | None]:
    return [
        replace(one, initial=[constant(one.number, dtypes[at])])
        if at in dtypes and one is not None and one.number is not None
        else one
        for at, one in enumerate(carried)
    ]
