"""A scalar op applied to whole arrays without a compiler: the reference for every linker.

Of four ways the first that fits is taken:

1. the op's ``ufunc``, which NumPy or SciPy runs at native speed;
2. its ``on_arrays``, which ops that hold graphs have;
3. ``numpy.frompyfunc`` over ``impl``, for up to 32 operands and results;
4. a loop over ``impl``, for any number of them.

Single elements without a ufunc go straight to ``impl``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any, Protocol

import numpy as np

from frazil.graph.op import Array
from frazil.scalar.float16 import STORED, computed_in, computes_wide


class Computed(Protocol):
    """The part of a scalar op that evaluation reads; see :class:`~frazil.scalar.ScalarOp`."""

    @property
    def table_name(self) -> str | None: ...
    @property
    def nout(self) -> int: ...
    @property
    def ufunc(self) -> Callable[..., Any] | None: ...
    @property
    def on_arrays(self) -> Callable[[Sequence[Any]], tuple[Any, ...]] | None: ...
    @property
    def converts_to(self) -> str | None: ...
    def operand_dtypes(self, dtypes: Sequence[str], result: str) -> tuple[str, ...]: ...
    def impl(self, *operands: object) -> Any: ...


FROMPYFUNC_LIMIT = 32
"""The largest number of operands and results that ``frompyfunc`` takes in every NumPy."""


def evaluate(
    op: Computed, results: Sequence[str], operands: Sequence[object], out: Array | None = None
) -> tuple[Array, ...]:
    """The results, of these dtypes, of ``op`` on operands that broadcast against each other.

    Parameters
    ----------
    op : ScalarOp
    results : sequence of str
        The dtype of each result.
    operands : sequence of array_like
    out : numpy.ndarray, optional
        Memory for the result of an op with one result: an operand, for example, that is not needed
        any more. It is used if the op has a ufunc that computes in its dtype.

    Returns
    -------
    tuple of numpy.ndarray

    Examples
    --------
    >>> import numpy as np
    >>> from frazil.scalar import exp
    >>> from frazil.scalar.evaluation import evaluate
    >>> x = np.zeros(2)
    >>> (y,) = evaluate(exp, ["float64"], [x], out=x)
    >>> y is x, x
    (True, array([1., 1.]))
    """
    arrays = [np.asarray(operand) for operand in operands]
    dtypes = op.operand_dtypes([_name(array.dtype) for array in arrays], results[0])
    with np.errstate(all="ignore"):
        if op.converts_to is not None:
            return (arrays[0].astype(op.converts_to),)
        if STORED in (*dtypes, *results) and computes_wide(op):
            return _rounded(op, results, arrays, dtypes)
        if op.ufunc is not None and len(results) == 1:
            return (_by_ufunc(op.ufunc, results[0], arrays, dtypes, out),)
        arrays = [a.astype(d, copy=False) for a, d in zip(arrays, dtypes, strict=True)]
        if all(array.ndim == 0 for array in arrays):
            return _of_elements(op, results, [array[()] for array in arrays])
        if op.on_arrays is not None:
            return op.on_arrays(arrays)
        if len(arrays) + len(results) <= FROMPYFUNC_LIMIT:
            return _by_frompyfunc(op, results, arrays)
        return _by_loop(op, results, arrays)


def _rounded(
    op: Computed, results: Sequence[str], arrays: Sequence[Array], dtypes: Sequence[str]
) -> tuple[Array, ...]:
    """Results that were computed in wider dtypes, in the dtypes that they are kept in."""
    wide = [a.astype(computed_in(d), copy=False) for a, d in zip(arrays, dtypes, strict=True)]
    made = evaluate(op, [*map(computed_in, results)], wide)
    return tuple(a.astype(d, copy=False) for a, d in zip(made, results, strict=True))


def _by_ufunc(
    ufunc: Callable[..., object],
    result: str,
    arrays: Sequence[Array],
    dtypes: Sequence[str],
    out: Array | None,
) -> Array:
    signature = _signature(ufunc, (*dtypes, result)) if isinstance(ufunc, np.ufunc) else None
    if signature is not None:
        # NumPy converts operands a block at a time; whole copies of them are never made.
        return np.asarray(ufunc(*arrays, out=out, signature=signature, casting="unsafe"))
    converted = [a.astype(d, copy=False) for a, d in zip(arrays, dtypes, strict=True)]
    return np.asarray(ufunc(*converted)).astype(result, copy=False)


@cache
def _name(dtype: np.dtype[np.generic]) -> str:
    return dtype.name


@cache
def _signature(ufunc: np.ufunc, dtypes: tuple[str, ...]) -> tuple[np.dtype[np.generic], ...] | None:
    """Return the dtypes of the operands and the result, if the ufunc computes in just these."""
    *operands, result = signature = tuple(map(np.dtype, dtypes))
    inputs = "".join(dtype.char for dtype in operands)
    return signature if f"{inputs}->{result.char}" in ufunc.types else None


def _of_elements(
    op: Computed, results: Sequence[str], elements: Sequence[object]
) -> tuple[Array, ...]:
    values = _given(op, op.impl(*elements))
    values = (values,) if op.nout == 1 else values
    return tuple(
        _converted(op, [value], dtype, 1).reshape(())
        for value, dtype in zip(values, results, strict=True)
    )


def _by_frompyfunc(
    op: Computed, results: Sequence[str], arrays: Sequence[Array]
) -> tuple[Array, ...]:
    function = np.frompyfunc(op.impl, len(arrays), len(results))
    values = function(*arrays)
    values = (values,) if len(results) == 1 else values
    return tuple(_numbers(op, value, dtype) for value, dtype in zip(values, results, strict=True))


def _numbers(op: Computed, values: Array, dtype: str) -> Array:
    """An array of Python's objects as one of numbers."""
    floating = np.dtype(dtype).kind in "fc"
    made = _converted(op, values.reshape(-1), dtype, values.size) if floating else None
    # NumPy takes None for NaN, and for False; floats without NaN need not be looked through.
    if made is None or np.isnan(made).any():
        for value in values.flat:
            _given(op, value)
    if made is None:
        made = _converted(op, values.reshape(-1), dtype, values.size)
    return made.reshape(values.shape)


def _by_loop(op: Computed, results: Sequence[str], arrays: Sequence[Array]) -> tuple[Array, ...]:
    shape = np.broadcast_shapes(*(array.shape for array in arrays))
    columns = [np.broadcast_to(array, shape).flat for array in arrays]
    count = int(np.prod(shape))
    rows = [_given(op, op.impl(*row)) for row in zip(*columns, strict=True)]
    if len(results) == 1:
        return (_converted(op, rows, results[0], count).reshape(shape),)
    made = tuple(np.empty(shape, dtype) for dtype in results)
    flat = [array.reshape(-1) for array in made]
    for at, row in enumerate(rows):
        for column, value, dtype in zip(flat, row, results, strict=True):
            column[at] = _converted(op, [value], dtype, 1)[0]
    return made


def _given(op: Computed, value: object) -> Any:
    """Return what ``impl`` gave of an element: anything but None, which NumPy takes for NaN."""
    if value is None:
        raise TypeError(f"impl of {op} returned None; it must return the result of the element")
    return value


def _converted(op: Computed, values: Iterable[object], dtype: str, count: int) -> Array:
    """The values as an array; integers wrap around, as in every linker."""
    target = np.dtype(dtype)
    try:
        if target.kind in "iu":
            mask = (1 << 8 * target.itemsize) - 1
            wrapped = (_whole(value) & mask for value in values)
            return np.fromiter(wrapped, f"u{target.itemsize}", count).view(target)
        return np.fromiter(values, target, count)
    except (TypeError, ValueError, OverflowError) as error:
        raise _refused(op, values, target, error) from error


def _whole(value: Any) -> int:
    made = int(value)
    if made != value:
        raise TypeError("it is no integer")
    return made


def _refused(
    op: Computed, values: Iterable[object], target: np.dtype[Any], error: Exception
) -> Exception:
    """The error that names the first value that the dtype cannot hold."""
    for value in values:
        try:
            _whole(value) if target.kind in "iu" else np.fromiter([value], target, 1)
        except Exception:
            kind = type(value).__name__
            shown = f"{value!r} of type {kind}" if not isinstance(value, float) else repr(value)
            floats = target.kind in "iu" and isinstance(value, float | np.floating)
            way_out = '. An op that makes floats of integers has rule = "float"' if floats else ""
            return type(error)(
                f"impl of {op} returned {shown}; it must return one number that "
                f"{target.name} can hold{way_out}"
            )
    return error
