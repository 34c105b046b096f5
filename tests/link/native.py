"""Kernels for tests: made, compiled and called through ctypes, without a graph or a runtime."""

import ctypes

import numpy as np
from native_kernel import KERNEL

from frazil import TensorType, _core
from frazil.link.kernel.loop_kernel import Literal, LoopKernel, Read, Statement, Write

SIGNED = ("int8", "int16", "int32", "int64")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
FLOATS = ("float32", "float64")
DTYPES = ("bool", *SIGNED, *UNSIGNED, *FLOATS)


def result_dtype(op, *dtypes):
    """The dtype of an op's result; None if the op does not take these operands."""
    try:
        return _core.elemwise_type(op, *(TensorType(dtype, (None,)) for dtype in dtypes)).dtype
    except TypeError:
        return None


def kernel(reads, statements, writes, literals=()):
    """A kernel of short descriptions.

    A read is a dtype (which moves) or a Read; a statement is (op, args), its dtype inferred; a
    write is a value's index (which moves) or (index, reduce) or a Write.
    """
    reads = tuple(Read(r, inner=True) if isinstance(r, str) else r for r in reads)
    literals = tuple(Literal(dtype, value) for dtype, value in literals)
    dtypes = [value.dtype for value in (*reads, *literals)]
    made = []
    for op, args in statements:
        dtype = result_dtype(op, *(dtypes[a] for a in args))
        made.append(Statement(op, tuple(args), dtype))
        dtypes.append(dtype)
    outs = []
    for write in writes:
        if isinstance(write, Write):
            outs.append(write)
        elif isinstance(write, tuple):
            outs.append(Write(write[0], dtypes[write[0]], inner=False, reduce=write[1]))
        else:
            outs.append(Write(write, dtypes[write], inner=True, reduce=None))
    return LoopKernel(reads, literals, tuple(made), tuple(outs))


def call(native, arrays, n_outer, n_inner, strides=None):
    """Call a native kernel on the buffers of arrays, reads before writes; gives its status."""
    pointers = (ctypes.c_void_p * len(arrays))(*(array.ctypes.data for array in arrays))
    steps = (ctypes.c_int64 * len(arrays))(*(strides or [0] * len(arrays)))
    return KERNEL(native.address)(pointers, n_outer, n_inner, steps)


def run(native, made, reads, initial=0):
    """The outputs of one row of a native kernel; operands that do not move are 0-d."""
    n = next((len(x) for x, r in zip(reads, made.reads, strict=True) if r.inner), 1)
    outs = [np.full(n if w.inner else (), initial, dtype=w.dtype) for w in made.writes]
    status = call(native, [*reads, *outs], 1, n)
    assert status == 0, status
    return outs


def samples(dtype, n, seed=0):
    """Values of a dtype: all that are special, and random ones of every size."""
    rng = np.random.default_rng(seed)
    if dtype == "bool":
        return rng.random(n) < 0.5
    bits = rng.integers(0, 256, n * np.dtype(dtype).itemsize, dtype=np.uint8).view(dtype)
    if np.dtype(dtype).kind != "f":
        limits = np.iinfo(dtype)
        special = [limits.min, limits.min + 1, limits.max - 1, limits.max, 0, 1, 2, 3, 7]
        special += [-1, -2, -3, -7] if limits.min else []
        small = rng.integers(-20 if limits.min else 0, 20, n // 2).astype(dtype)
        values = np.concatenate([np.array(special, dtype=dtype), small, bits])
    else:
        values = np.concatenate(
            [
                special_floats(dtype),
                bits,
                *((rng.normal(size=n // 4) * scale).astype(dtype) for scale in (1, 1e-3, 30, 1000)),
            ]
        )
    return np.ascontiguousarray(rng.permutation(values)[:n]) if len(values) > n else values


def special_floats(dtype):
    """Zeros, infinities, NaN, the ends of every range, and where functions change their ways."""
    limits = np.finfo(dtype)
    positive = [
        *(0, 1, 2, 0.5, 3, np.pi, np.pi / 2, 10, np.inf, np.nan, limits.eps),
        *(limits.tiny, limits.max, limits.smallest_subnormal, limits.smallest_subnormal * 3),
        *(np.nextafter(limits.dtype.type(1), limits.dtype.type(d)) for d in (0, 2)),
        *(88.7, 103.9, 709.78, 745.1, 20, 36.7, 1e15, 0.4, 2.0**31, 2.0**32, 2.0**63, 127.5, 255),
    ]
    return np.array([s * v for v in positive for s in (1, -1)], dtype=dtype)


def same(got, want):
    """Whether arrays are equal element by element, NaN where NaN, and zeros of one sign."""
    if got.dtype.kind != "f":
        return got == want
    return (np.isnan(got) & np.isnan(want)) | (
        (got == want) & (np.signbit(got) == np.signbit(want))
    )


def ulps(got, want):
    """The error of each element in units of the last place; ``want`` has more precision.

    It is infinite where one of them is NaN or infinite and the other is not the same, or where one
    zero has the sign of the other's opposite.
    """
    rounded = want.astype(got.dtype)
    with np.errstate(all="ignore"):
        error = np.abs(got.astype(np.longdouble) - want) / np.spacing(np.abs(rounded))
        finite = np.isfinite(got) & np.isfinite(rounded) & ((got != 0) | (rounded != 0))
    return np.where(finite, error, np.where(same(got, rounded), 0, np.inf))
