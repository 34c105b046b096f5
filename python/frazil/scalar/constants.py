"""Constants, and how Python values become variables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

import frazil._core as _core
from frazil._core import Constant, Variable
from frazil.graph.op import Array
from frazil.scalar.logic import cast

TensorLike: TypeAlias = Variable | npt.ArrayLike
"""An argument of tensor functions: a variable, or anything that NumPy makes an array of."""


def constant(value: npt.ArrayLike, dtype: npt.DTypeLike | None = None) -> Constant:
    """Return the constant that holds ``value``; equal constants are one object.

    Parameters
    ----------
    value : array_like
        Copied, and read-only from then on.
    dtype : dtype_like, optional
        Default: as NumPy chooses, so a Python float is float64 and a Python int int64.

    Returns
    -------
    Constant
        Of the shape and the dtype of the array.

    Examples
    --------
    >>> import frazil.tensor as ft
    >>> ft.constant([1.0, 2.0]).data
    array([1., 2.])
    >>> ft.constant(2.0) is ft.constant(2.0)
    True
    """
    return _core.constant(_as_array(value) if isinstance(value, list | tuple) else value, dtype)


def as_tensor(x: TensorLike, dtype: npt.DTypeLike | None = None) -> Variable:
    """Return ``x`` as a variable: itself if it is one, else a constant.

    Parameters
    ----------
    x : tensor_like
        A variable, array, Python number, or nested list of numbers and variables.
    dtype : dtype_like, optional
        Cast the result to it.

    Returns
    -------
    Variable
        ``x`` itself, or a :class:`frazil.Constant` of its shape and dtype; of lists with variables
        what :func:`frazil.tensor.stack` makes of them.

    Examples
    --------
    >>> import frazil.tensor as ft
    >>> x = ft.vector("x")
    >>> ft.as_tensor(x) is x
    True
    >>> ft.as_tensor([1, 2]).dtype
    'int64'
    >>> ft.as_tensor([x[0], 1.0, x.sum()]).eval({x: [2.0, 3.0]})
    array([2., 1., 5.])
    """
    if not isinstance(x, Variable) and isinstance(x, list | tuple) and _holds_variables(x):
        x = _stacked(x)
    if not isinstance(x, Variable):
        standing: Variable | None = getattr(x, "__frazil_variable__", None)
        if standing is None:
            return constant(x, dtype)
        x = standing
    if dtype is None or np.dtype(dtype) == x.type.numpy_dtype:
        return x
    return _core.elemwise(cast(np.dtype(dtype).name), x)


as_tensor_variable = as_tensor


def as_written(x: TensorLike, dtype: npt.DTypeLike) -> Variable:
    """Return ``x`` in ``dtype``, as what is written into an array: Python ints must fit.

    Examples
    --------
    >>> from frazil.scalar.constants import as_written
    >>> as_written(2.5, "int8").eval()
    array(2, dtype=int8)
    >>> try:
    ...     as_written(300, "int8")
    ... except OverflowError as error:
    ...     print(error)
    Python integer 300 out of bounds for int8
    """
    return as_tensor(x if isinstance(x, int | float) else as_tensor(x), dtype)


def as_operand(x: TensorLike) -> TensorLike:
    """Return ``x`` in a form that ``_core.elemwise`` takes; Python numbers stay weakly typed."""
    if isinstance(x, list | tuple):
        return _stacked(x) if _holds_variables(x) else _as_array(x)
    return x


StackT = TypeVar("StackT", bound=Callable[[Sequence[Variable]], Variable])
_STACKS: list[Callable[[Sequence[Variable]], Variable]] = []


def register_stack(stack: StackT) -> StackT:
    """Say what makes one variable of several, for lists that hold variables."""
    _STACKS.append(stack)
    return stack


def _holds_variables(values: Sequence[object]) -> bool:
    """Whether a nested list holds a variable."""
    pending = [values]
    while pending:
        row = pending.pop()
        if any(isinstance(one, Variable) or hasattr(one, "__frazil_variable__") for one in row):
            return True
        pending += [one for one in row if isinstance(one, list | tuple)]
    return False


def _stacked(values: Sequence[Any]) -> Variable:
    return _STACKS[-1]([as_tensor(one) for one in values])


def _as_array(value: npt.ArrayLike) -> Array:
    try:
        return np.asarray(value)
    except TypeError as error:
        raise TypeError(
            f"a list that holds variables is no constant: {value!r}. Write ft.as_tensor(...)"
        ) from error
