"""Choices among several values for each element, and replacements of NaN and infinities."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

import frazil.scalar as scalar
from frazil._core import Variable, elemwise
from frazil.scalar.constants import TensorLike, as_tensor
from frazil.tensor.checks import Check, checked
from frazil.tensor.docstrings import described


@described
def select(
    condlist: Sequence[TensorLike], choicelist: Sequence[TensorLike], default: TensorLike = 0
) -> Variable:
    """Return for each element the choice of the first condition that is true.

    condlist (sequence of tensor_like): Conditions, of bool; their shapes broadcast.
    choicelist (sequence of tensor_like): As many values, whose shapes broadcast with them.
    default (tensor_like): The value where no condition is true.
    returns: As :func:`numpy.select` gives.

    >>> x = ft.constant([-2.0, 0.5, 3.0])
    >>> ft.select([x < 0, x < 1], [0.0, x], 1.0).eval()
    array([0. , 0.5, 1. ])
    """
    if len(condlist) != len(choicelist):
        raise ValueError(
            f"select takes as many conditions as choices; given {len(condlist)} and "
            f"{len(choicelist)}"
        )
    if not condlist:
        raise ValueError("select needs one condition at least")
    conditions = [as_tensor(condition) for condition in condlist]
    for condition in conditions:
        if condition.dtype != "bool":
            raise TypeError(f"the conditions of select must be of bool; given {condition.type}")
    # Python's numbers are weak, but not against each other alone.
    weak = [x if type(x) in (int, float) else as_tensor(x) for x in (*choicelist, default)]
    dtype = np.result_type(*(x.dtype if isinstance(x, Variable) else x for x in weak))
    *choices, chosen = (as_tensor(x, dtype) for x in weak)
    for condition, choice in zip(reversed(conditions), reversed(choices), strict=True):
        chosen = elemwise(scalar.where, condition, choice, chosen)
    return chosen


@described
def choose(
    a: TensorLike, choices: Sequence[TensorLike] | Variable, mode: str = "raise"
) -> Variable:
    """Return each element of one of several tensors, the one whose position ``a`` holds.

    a (tensor_like): Integers from 0 to ``len(choices) - 1``.
    choices (sequence of tensor_like): The tensors; all shapes broadcast.
    mode ({"raise", "clip", "wrap"}): The meaning of other integers: an error, the nearest tensor,
        or the tensor of the remainder.
    returns: As :func:`numpy.choose` gives.
    raises ValueError: With "raise", if a call finds an integer that stands for no tensor.
    example: [0, 1, 0], [[1, 2, 3], [10, 20, 30]] -> [ 1, 20,  3]
    """
    a = as_tensor(a)
    if a.type.numpy_dtype.kind not in "iub":
        raise TypeError(f"choose takes integers to choose by; given {a.type}")
    if mode not in ("raise", "clip", "wrap"):
        raise ValueError(f"mode must be 'raise', 'clip' or 'wrap'; given {mode!r}")
    values = [as_tensor(choice) for choice in choices]
    if not values:
        raise ValueError("choose needs one tensor at least to choose from")
    position = as_tensor(a, "int64")
    if mode == "wrap":
        position = elemwise(scalar.mod, position, len(values))
    elif mode == "raise":
        first, last = elemwise(scalar.le, 0, position), elemwise(scalar.lt, position, len(values))
        check = Check(f"choose takes integers from 0 to {len(values) - 1} to choose by")
        position = checked(position, [first, last], check)
    chosen = values[-1]
    for number in range(len(values) - 2, -1, -1):
        chosen = elemwise(
            scalar.where, elemwise(scalar.le, position, number), values[number], chosen
        )
    if len(values) == 1:
        return elemwise(scalar.where, elemwise(scalar.le, position, 0), chosen, chosen)
    return chosen


@described
def nan_to_num(
    x: TensorLike,
    nan: TensorLike = 0.0,
    posinf: TensorLike | None = None,
    neginf: TensorLike | None = None,
) -> Variable:
    """Return a tensor with numbers in the place of NaN and of infinities.

    x (tensor_like): Any tensor.
    nan (tensor_like): The value in place of NaN.
    posinf, neginf (tensor_like): The values in place of inf and -inf; default: the largest and the
        least finite number of the dtype.
    returns: Of the dtype of ``x``, as :func:`numpy.nan_to_num` gives. No gradient flows into what
        was replaced.
    example: [1.0, ft.nan, ft.inf], posinf=99.0 -> [ 1.,  0., 99.]
    """
    x = as_tensor(x)
    if x.type.numpy_dtype.kind == "c":
        parts = (elemwise(part, x) for part in (scalar.real, scalar.imag))
        return elemwise(scalar.complex, *(nan_to_num(part, nan, posinf, neginf) for part in parts))
    if x.type.numpy_dtype.kind != "f":
        return x
    limits = np.finfo(x.dtype)
    for predicate, value in (
        (elemwise(scalar.isnan, x), nan),
        (elemwise(scalar.eq, x, np.inf), float(limits.max) if posinf is None else posinf),
        (elemwise(scalar.eq, x, -np.inf), float(limits.min) if neginf is None else neginf),
    ):
        x = elemwise(scalar.where, predicate, as_tensor(value, x.dtype), x)
    return x
