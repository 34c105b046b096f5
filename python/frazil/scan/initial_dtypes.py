"""Of which dtype a Python number is that an output starts from: of the one that steps give."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Protocol, TypeVar

import frazil._core as _core
from frazil._core import Constant, Variable
from frazil.scalar.constants import constant
from frazil.scan.arguments import Carried
from frazil.scan.body import depends


class Traced(Protocol):
    """What came of a step."""

    @property
    def lagged(self) -> Sequence[Sequence[Variable]]:
        """For each output that is carried what stands for its earlier values."""
        ...

    @property
    def outputs(self) -> Sequence[Variable]:
        """What the step gives."""
        ...


TracedT = TypeVar("TracedT", bound=Traced)


def infer_initial_dtypes(
    carried: Sequence[Carried | None], trace: Callable[[Sequence[Carried | None]], TracedT]
) -> TracedT:
    """Return what ``trace`` makes of starts whose dtypes steps keep, as far as there are such.

    A Python number is weakly typed, as where it meets an array: beside float32 alone it is float32,
    and an int is a float where the step makes one of it. ``trace`` is called again for each guess.
    """
    made = trace(carried)
    if not any(one is not None and one.number is not None for one in carried):
        return made
    # A guess leads to another: from bool to int to float, seldom further.
    for _ in range(3):
        found = {
            at: y.dtype
            for at, (one, y) in enumerate(zip(carried, made.outputs, strict=False))
            if one is not None and y.dtype != one.initial[0].dtype and _may_be(one.number, y)
        }
        if not found:
            return _narrowed(carried, made, trace)
        carried = _retyped(carried, found)
        made = trace(carried)
    return made


def _narrowed(
    carried: Sequence[Carried | None],
    made: TracedT,
    trace: Callable[[Sequence[Carried | None]], TracedT],
) -> TracedT:
    """``made``, with float32 in place of float64 where nothing else in a step is that wide."""
    attempted = {
        at: "float32"
        for at, one in enumerate(carried)
        if one is not None and one.number is not None and one.initial[0].dtype == "float64"
    }
    if not attempted or not _has_single(made):
        return made
    while attempted:
        attempt = trace(_retyped(carried, attempted))
        firm = _firm(attempt, attempted)
        if len(firm) == len(attempted):
            return attempt
        attempted = {at: "float32" for at in attempted if at in firm}
    return made


def _has_single(made: Traced) -> bool:
    """Whether a step works on any float32."""
    order = _core.toposort(list(made.outputs))
    met = (x for node in order for x in node.inputs)
    return any(x.dtype == "float32" and not isinstance(x, Constant) for x in met)


def _firm(made: Traced, attempted: Mapping[int, str]) -> set[int]:
    """The outputs that are float32 not only since they start so: of other values that are."""
    starts = {made.lagged[at][0]: at for at in attempted}
    moving = depends(made.outputs, starts)
    firm: set[int] = set()
    while True:
        more = {
            at
            for at in attempted
            if at not in firm and _meets(made.outputs[at], starts, moving, firm)
        }
        if not more:
            return firm
        firm |= more


def _meets(
    y: Variable, starts: Mapping[Variable, int], moving: set[Variable], firm: set[int]
) -> bool:
    """Whether ``y`` is float32 by way of a float32 that does not follow from these starts."""
    pending, met = [y], set()
    while pending:
        x = pending.pop()
        if x in met or x.dtype != "float32" or isinstance(x, Constant):
            continue
        met.add(x)
        if x not in moving or starts.get(x) in firm:
            return True
        if x.owner is not None:
            pending += x.owner.inputs
    return False


def _may_be(number: bool | int | float | None, y: Variable) -> bool:
    """Whether ``number`` is also one of the dtype of ``y``."""
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
