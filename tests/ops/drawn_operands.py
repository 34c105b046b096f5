"""Arrays for a case: lengths by letters, values of several kinds, and memory of any layout."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

#: Few, so that shapes agree by chance, and some that fill a register, two, or leave a rest.
LENGTHS = (2, 1, 0, 3, 4, 9, 17, 40)


def values(rng, shape, dtype):
    """Whole numbers, fractions, or a few numbers that are none among either."""
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return rng.random(shape) < rng.choice([0.5, 0.02, 0.98])
    if dtype.kind in "iu":
        made = rng.integers(-4 if dtype.kind == "i" else 0, 5, shape).astype(dtype)
        wide = min(np.iinfo(dtype).max, 2**31)  # whose squares have a sum
        limits = np.array([-wide if dtype.kind == "i" else wide, wide], dtype)
        return np.where(rng.random(shape) < rng.choice([0.0, 0.1]), rng.choice(limits, shape), made)
    made = finite(rng, shape, dtype)
    odd = rng.choice(np.array([np.nan, np.inf, -np.inf, -0.0, 0.0], dtype), shape)
    return np.where(rng.random(shape) < rng.choice([0.0, 0.0, 0.03, 0.3]), odd, made).astype(dtype)


def finite(rng, shape, dtype):
    """Whole numbers, which often are equal, or fractions."""
    if np.dtype(dtype).kind not in "fc":
        return rng.integers(0, 4, shape).astype(dtype)
    if rng.random() < 0.5:
        return rng.integers(-4, 5, shape).astype(dtype)
    made = rng.normal(size=shape)
    # Products of two such have few digits, too: then only the last step is rounded.
    return (np.round(8 * made) / 8 if dtype == "float16" else made).astype(dtype)


def positive(rng, shape, dtype):
    """Numbers between 0.1 and 2."""
    return rng.uniform(0.1, 2, shape).astype(dtype)


def whole(low, high):
    """Whole numbers from ``low`` to ``high``, with both; of the dtype int64 unless it is given."""

    def fill(rng, shape, dtype):
        return rng.integers(low, high + 1, shape).astype(dtype)

    return fill


def chosen(*numbers):
    """Some of ``numbers``."""

    def fill(rng, shape, dtype):
        return rng.choice(np.array(numbers, dtype), shape)

    return fill


def ordered(rng, shape, dtype):
    """Numbers that grow, some of them twice."""
    return np.sort(values(rng, shape, dtype), axis=-1)


def rising(rng, shape, dtype):
    """Numbers of which each is greater than the one before."""
    return np.cumsum(rng.uniform(0.1, 1, shape), axis=-1).astype(dtype)


def symmetric(rng, shape, dtype):
    """Matrices equal to their transposes."""
    made = rng.normal(size=shape)
    return (made + np.swapaxes(made, -1, -2)).astype(dtype)


def definite(rng, shape, dtype):
    """Symmetric matrices with eigenvalues above one."""
    made = rng.normal(size=shape)
    return (made @ np.swapaxes(made, -1, -2) + np.eye(shape[-1])).astype(dtype)


def mostly_definite(rng, shape, dtype):
    """Definite matrices, but for one in eight."""
    made = definite(rng, shape, dtype)
    return -made if rng.random() < 0.125 else made


def dominant(rng, shape, dtype):
    """Matrices whose diagonals outweigh the rest, so that systems of them are solved well."""
    rows, columns = shape[-2:]
    return (rng.normal(size=shape) / (columns + 1) + 3 * np.eye(rows, columns)).astype(dtype)


def mostly_regular(rng, shape, dtype):
    """Such matrices, but one in eight is zero, and has no inverse."""
    made = dominant(rng, shape, dtype)
    return np.zeros_like(made) if rng.random() < 0.125 else made


@dataclass(frozen=True)
class Operand:
    """An array of a case: a letter or a static length for each dimension, its values and dtype."""

    dims: str
    fill: Callable[..., np.ndarray] = values
    dtype: str | None = None
    free: bool = True
    """Whether another length may stand in the place of one, by which shapes disagree."""

    @property
    def shape(self):
        """The lengths that its type knows."""
        return tuple(int(one) if one.isdigit() else None for one in self.dims)


def drawn(draw, operands, dtype, lengths=LENGTHS, *, misfits=True):
    """Draw arrays for operands; one length in thirty or so is not that of its letter."""
    known, arrays = {}, []
    misfit = misfits and draw(st.integers(0, 9)) == 9
    for operand in operands:
        shape = []
        for one in operand.dims:
            if one.isdigit():
                shape.append(int(one))
                continue
            if one not in known:
                known[one] = draw(st.sampled_from(lengths))
            # NumPy repeats any length of 1, frazil one that is declared.
            other = misfit and operand.free and known[one] != 1 and draw(st.booleans())
            unlike = [n for n in lengths if n != 1]
            shape.append(draw(st.sampled_from(unlike)) if other else known[one])
        rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
        made = np.asarray(operand.fill(rng, tuple(shape), operand.dtype or dtype))
        if not made.ndim:
            arrays.append(made)
            continue
        layouts = (*LAYOUTS, _repeated) if operand.fill in (values, finite) else LAYOUTS
        arrays.append(draw(st.sampled_from(layouts))(made))
    return arrays


def _backwards(array):
    along = (slice(None, None, -1),) * array.ndim
    return array[along].copy()[along]


def _apart(array):
    wide = np.zeros(tuple(2 * n for n in array.shape), array.dtype)
    part = wide[(slice(None, None, 2),) * array.ndim]
    part[...] = array
    return part


def _columns_first(array):
    return np.asfortranarray(array)


def _moved(array):
    """Rows that begin in the middle of others' cache lines, and not where registers like it."""
    room = np.zeros(array.size + 1, array.dtype)
    part = room[1:].reshape(array.shape)
    part[...] = array
    return part


def _repeated(array):
    """The first row of each matrix, over and over: a stride of zero."""
    if array.ndim < 2 or not array.shape[-2]:
        return array
    return np.broadcast_to(array[..., :1, :].copy(), array.shape)


def _as_made(array):
    return array


LAYOUTS = (_as_made, _as_made, _columns_first, _backwards, _apart, _moved)
