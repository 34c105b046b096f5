"""What ops say of their nodes, checked where they say it: values, lengths and derivatives.

An op of a user's own may return anything. What does not fit would broadcast, or be found far from
the op that gave it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from frazil._core import Constant, FrozenApply, Variable


def values_of(node: FrozenApply, arrays: Sequence[Any]) -> tuple[np.ndarray[Any, Any], ...]:
    """Return what ``perform`` of a node's op gives for its inputs, of the types of its outputs.

    Raises
    ------
    TypeError
        If it gives another number of outputs, or one of another type.
    """
    made = tuple(map(np.asarray, listed_values(node, node.op.perform(node, arrays))))
    for at, (value, kind) in enumerate(zip(made, node.output_types, strict=True)):
        fits = value.dtype == kind.numpy_dtype and value.ndim == len(kind.shape)
        if not fits or any(
            static not in (None, own) for static, own in zip(kind.shape, value.shape, strict=True)
        ):
            raise TypeError(
                f"perform of {node.op} gave output {at} the type {value.dtype}{list(value.shape)}; "
                f"make_node says {kind}"
            )
    return made


def listed_values(node: FrozenApply, given: Any) -> tuple[Any, ...]:
    """Return what a ``perform`` returned, which must be a value for each output of the node."""
    count = len(node.output_types)
    if type(given) is tuple and len(given) == count:
        return given
    return tuple(_listed(given, count, f"perform of {node.op}", "an array", "outputs"))


def lengths_of(
    node: FrozenApply, input_shapes: Sequence[tuple[Variable, ...]]
) -> list[tuple[Variable, ...] | None]:
    """Return the lengths of a node's outputs, as ``infer_shape`` of its op says.

    Raises
    ------
    TypeError, ValueError
        If it does not give a length for each dimension of each output, or one that the type
        contradicts.
    """
    what = f"infer_shape of {node.op}"
    wanted = "a tuple of lengths, or None,"
    given = _listed(
        node.op.infer_shape(node, input_shapes), len(node.outputs), what, wanted, "outputs"
    )
    return [
        None if shape is None else _checked_shape(f"{what}, output {at}", y, shape)
        for at, (shape, y) in enumerate(zip(given, node.outputs, strict=True))
    ]


def _checked_shape(what: str, y: Variable, shape: Any) -> tuple[Variable, ...]:
    from frazil.tensor.lengths import as_length

    if not isinstance(shape, tuple | list) or len(shape) != y.ndim:
        hint = " in a tuple for each output" if isinstance(shape, Variable | int) else ""
        raise TypeError(
            f"{what}: {y.ndim} lengths{hint} are needed, since it has type {y.type}; given {shape}"
        )
    lengths = []
    for axis, (length, static) in enumerate(zip(shape, y.type.shape, strict=True)):
        try:
            made = as_length(length)
        except TypeError as error:
            raise TypeError(f"{what}, axis {axis}: {error}") from None
        if isinstance(made, Constant) and static not in (None, int(made.data)):
            raise ValueError(
                f"{what}, axis {axis}: the length is said to be {made.data}, and {static} by the "
                f"type {y.type} that make_node gave"
            )
        lengths.append(made)
    return tuple(lengths)


def gradients_of(
    node: FrozenApply,
    given: Any,
    *,
    may_broadcast: bool = False,
) -> list[Variable | None]:
    """Return what the ``L_op`` of a node's op returned: a gradient of its type for each input.

    ``may_broadcast``: gradients may lack dimensions in front or have length 1 where they are equal.

    Raises
    ------
    TypeError
        If it is something else.
    """
    return _derivatives(f"L_op of {node.op}", "input", given, node.inputs, may_broadcast)


def tangents_of(node: FrozenApply, given: Any) -> list[Variable | None]:
    """Return what the ``R_op`` of a node's op returned: a tangent of its type for each output."""
    return _derivatives(f"R_op of {node.op}", "output", given, node.outputs, may_broadcast=False)


def elementwise_gradients(op: object, given: Any, inputs: Sequence[Variable]) -> list[Any]:
    """Return what the ``gradient`` of a scalar op returned: something for each operand."""
    return _listed(given, len(inputs), f"the gradient of {op}", "a variable, or None,", "operands")


def check_partial(op: object, at: int, partial: Any, output: Variable) -> None:
    """Raise a TypeError unless the gradient of a scalar op's operand broadcasts to its output."""
    what = f"the gradient of {op} for operand {at}"
    if not isinstance(partial, Variable):
        raise TypeError(
            f"{what} must be a variable, or None; given {partial!r} of type "
            f"{type(partial).__name__}"
        )
    if not _broadcasts(partial.type.shape, output.type.shape):
        raise TypeError(
            f"{what} must have the shape of the result, of type {output.type}, or broadcast to "
            f"it; given one of type {partial.type}"
        )


def _derivatives(
    what: str, place: str, given: Any, targets: Sequence[Variable], may_broadcast: bool
) -> list[Variable | None]:
    made = _listed(given, len(targets), what, "a variable, or None,", f"{place}s")
    for at, (g, x) in enumerate(zip(made, targets, strict=True)):
        if g is None:
            continue
        if not isinstance(g, Variable):
            raise TypeError(
                f"{what}: what is given for {place} {at} must be a variable, or None where there "
                f"is no derivative; given {g!r} of type {type(g).__name__}"
            )
        if not g.dtype.startswith("float"):
            raise TypeError(
                f"{what}: the derivative for {place} {at} must be floating-point, given one of "
                f"type {g.type}"
            )
        fits = _broadcasts if may_broadcast else _has_shape
        if not fits(g.type.shape, x.type.shape):
            raise TypeError(
                f"{what}: the derivative for {place} {at} must have the shape of {x}, which has "
                f"type {x.type}; given one of type {g.type}. Sum it over what was broadcast, or "
                "repeat it with ft.broadcast_to"
            )
    return made


Shape = Sequence[int | None]


def _has_shape(given: Shape, wanted: Shape) -> bool:
    """Whether a value of one static shape may have the other, without broadcasting."""
    return len(given) == len(wanted) and all(
        n == m or n is None or (m is None and n != 1) for n, m in zip(given, wanted, strict=True)
    )


def _broadcasts(given: Shape, wanted: Shape) -> bool:
    """Whether a value of one static shape may broadcast to the other."""
    skipped = len(wanted) - len(given)
    return skipped >= 0 and all(
        n in (1, None, m) or m is None for n, m in zip(given, wanted[skipped:], strict=True)
    )


def _listed(given: Any, count: int, what: str, each: str, things: str) -> list[Any]:
    """``given``, which must be a list or a tuple of ``count``."""
    one = things.removesuffix("s")
    if not isinstance(given, list | tuple):
        wrapped = "; write [...] around it" if count == 1 and given is not None else ""
        raise TypeError(
            f"{what} must return a list or tuple with {each} for each {one}; it returned "
            f"{_shown(given)}{wrapped}"
        )
    if len(given) != count:
        s = "" if count == 1 else "s"
        raise TypeError(
            f"{what} must return {each} for each {one}: the node has {count} {one}{s}, and "
            f"{len(given)} came back"
        )
    return list(given)


def _shown(given: Any) -> str:
    if given is None:
        return "None"
    if isinstance(given, Variable):
        return f"the bare variable {given}"
    article = "an" if type(given).__name__[0] in "aeiou" else "a"
    return f"{article} {type(given).__name__}"
