"""Kernels over operands of any strides, and what they refuse."""

import ctypes

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from programs import run, same

KERNEL = ctypes.CFUNCTYPE(
    ctypes.c_int32,
    ctypes.POINTER(ctypes.c_void_p),
    ctypes.c_int64,
    ctypes.c_int64,
    ctypes.POINTER(ctypes.c_int64),
)


def kernel(body, operands, status=0):
    """A native kernel over float64 that calls ``body`` with a row of each operand."""

    @KERNEL
    def loop(pointers, n_outer, n_inner, strides):
        for i in range(n_outer):
            rows = []
            for k, moves in enumerate(operands):
                count = n_inner if moves else 1
                row = (ctypes.c_double * count).from_address(pointers[k] + i * strides[k])
                rows.append(np.frombuffer(row, np.float64))
            body(*rows)
        return status

    return loop, ctypes.cast(loop, ctypes.c_void_p).value


def add(a, b, out):
    out[:] = a + b


def accumulate(a, out):
    out += a.sum()


def add_loop(builder, a, b, ndim, status=0):
    keep, address = kernel(add, (True, True, True), status)
    dims = [builder.size_of(a, axis) for axis in range(ndim)]
    axes = list(range(ndim))
    return builder.loop(address, keep, dims, [(a, axes), (b, axes)], [("float64", axes, None)])[0]


def sum_loop(builder, a, ndim):
    keep, address = kernel(accumulate, (True, False))
    dims = [builder.size_of(a, axis) for axis in range(ndim)]
    writes = [("float64", [-1] * ndim, (0.0, "add"))]
    return builder.loop(address, keep, dims, [(a, list(range(ndim)))], writes)[0]


@given(
    st.lists(st.integers(0, 4), min_size=2, max_size=3),
    st.booleans(),
    st.booleans(),
    st.integers(-2, 2).filter(bool),
)
def test_loops_take_any_strides(shape, fortran, transposed, step):
    ndim = len(shape)
    wide = (*shape[:-1], shape[-1] * abs(step))
    a = np.arange(float(np.prod(wide))).reshape(wide)[..., ::step]
    b = np.asarray(a + 1, order="F" if fortran else "C")
    if transposed:
        a, b = a.T, b.T

    def build(builder, x, y):
        return add_loop(builder, x, y, ndim)

    same(run(build, a, b), a + b)
    total = run(lambda builder, x: sum_loop(builder, x, ndim), a)
    same(total, np.asarray(a.sum()))


def test_results_are_laid_out_as_their_operands():
    a = np.asfortranarray(np.ones((3, 4)))
    assert run(lambda builder, x: add_loop(builder, x, x, 2), a).flags.f_contiguous
    assert run(lambda builder, x: add_loop(builder, x, x, 2), a.T).flags.c_contiguous


def test_a_kernel_that_refuses_raises():
    with pytest.raises(ValueError, match="negative integer powers"):
        run(lambda builder, x: add_loop(builder, x, x, 1, status=1), np.ones(3))
    with pytest.raises(RuntimeError, match="status 9"):
        run(lambda builder, x: add_loop(builder, x, x, 1, status=9), np.ones(3))


def test_a_one_that_was_not_declared_says_how_to_broadcast():
    with pytest.raises(ValueError, match="a dimension broadcasts only where") as raised:
        run(lambda builder, x, y: add_loop(builder, x, y, 1), np.ones(3), np.ones(1))
    message = str(raised.value)
    assert message.startswith('operand 1 (input 1 ("x1")) has length 1 along axis 0 where 3 is')
    assert "ft.tensor(shape=(1, None))" in message
