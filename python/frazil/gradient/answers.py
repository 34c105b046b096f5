"""Checks of the derivatives that methods of ops return."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from frazil._core import FrozenApply, Variable, is_continuous
from frazil.graph.answers import listed
from frazil.graph.op import Op


def gradients_of(
    node: FrozenApply, given: object, *, may_broadcast: bool = False
) -> list[Variable | None]:
    """Return the gradients in ``given``, the result of an ``L_op``: one for each input of a node.

    ``may_broadcast``: gradients may lack dimensions in front or have length 1 where they are equal.

    Raises
    ------
    TypeError
        If ``given`` holds something else, or a gradient of another shape than its input.
    """
    return _derivatives("L_op", node.op, "input", given, node.inputs, may_broadcast)


def tangents_of(node: FrozenApply, given: object) -> list[Variable | None]:
    """Return the tangents in ``given``, the result of an ``R_op``: one for each output."""
    return _derivatives("R_op", node.op, "output", given, node.outputs, may_broadcast=False)


def elementwise_gradients(op: object, given: object, inputs: Sequence[Variable]) -> list[Any]:
    """Return the list in ``given``, the result of a scalar op's ``gradient``: one per operand."""
    return listed(given, len(inputs), f"the gradient of {op}", "a variable, or None,", "operands")


def check_partial(op: object, at: int, partial: object, output: Variable) -> None:
    """Raise a TypeError unless the gradient of a scalar op's operand broadcasts to its output."""
    if isinstance(partial, Variable) and _broadcasts(partial.type.shape, output.type.shape):
        return
    what = f"the gradient of {op} for operand {at}"
    if not isinstance(partial, Variable):
        raise TypeError(
            f"{what} must be a variable, or None; given {partial!r} of type "
            f"{type(partial).__name__}"
        )
    raise TypeError(
        f"{what} must have the shape of the result, of type {output.type}, or broadcast to "
        f"it; given one of type {partial.type}"
    )


def _derivatives(
    method: str, op: Op, place: str, given: object, targets: Sequence[Variable], may_broadcast: bool
) -> list[Variable | None]:
    fits = _broadcasts if may_broadcast else _has_shape
    if type(given) is list and len(given) == len(targets):
        made = given
        if _are_derivatives(made, targets, fits):
            return made
    # Texts of ops take as long as the gradients that they are seldom needed for.
    what = f"{method} of {op}"
    made = listed(given, len(targets), what, "a variable, or None,", f"{place}s")
    for at, (g, x) in enumerate(zip(made, targets, strict=True)):
        if g is None:
            continue
        if not isinstance(g, Variable):
            raise TypeError(
                f"{what}: the derivative for {place} {at} must be a variable, or None if there is "
                f"none; given {g!r} of type {type(g).__name__}"
            )
        if not is_continuous(g):
            raise TypeError(
                f"{what}: the derivative for {place} {at} must be floating-point, given one of "
                f"type {g.type}"
            )
        if not fits(g.type.shape, x.type.shape):
            raise TypeError(
                f"{what}: the derivative for {place} {at} must have the shape of {x}, which has "
                f"type {x.type}; given one of type {g.type}. Sum it over broadcast dimensions, or "
                "repeat it with ft.broadcast_to"
            )
    return made


Shape = Sequence[int | None]


def _are_derivatives(
    made: Sequence[object], targets: Sequence[Variable], fits: Callable[[Shape, Shape], bool]
) -> bool:
    for g, x in zip(made, targets, strict=True):
        if g is None:
            continue
        if not isinstance(g, Variable) or not is_continuous(g):
            return False
        given, wanted = g.type.shape, x.type.shape
        if given != wanted and not fits(given, wanted):
            return False
    return True


def _has_shape(given: Shape, wanted: Shape) -> bool:
    """Whether a value of one static shape may have the other, without broadcasting."""
    return given == wanted or (
        len(given) == len(wanted)
        and all(
            n == m or n is None or (m is None and n != 1)
            for n, m in zip(given, wanted, strict=True)
        )
    )


def _broadcasts(given: Shape, wanted: Shape) -> bool:
    """Whether a value of one static shape may broadcast to the other."""
    if given == wanted:
        return True
    skipped = len(wanted) - len(given)
    return skipped >= 0 and all(
        n in (1, None, m) or m is None for n, m in zip(given, wanted[skipped:], strict=True)
    )
