"""Dot, over operands of any strides."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from programs import DTYPES, run, same

from frazil import _core
from frazil.link.toolchain.blas import install


@pytest.fixture(autouse=True)
def blas():
    install()


@given(
    st.sampled_from(DTYPES),
    st.tuples(st.integers(0, 4), st.integers(0, 4), st.integers(0, 4)),
    st.booleans(),
    st.booleans(),
    st.tuples(st.integers(-2, 2), st.integers(-2, 2), st.integers(-2, 2), st.integers(-2, 2)),
    st.booleans(),
)
def test_dot_takes_any_strides(dtype, lengths, left_vector, right_vector, steps, fortran):
    rows, inner, columns = lengths
    order = "F" if fortran else "C"

    def operand(shape, steps):
        if 0 in steps:
            array = np.arange(1, shape[-1] + 1).astype(dtype)
            return np.broadcast_to(array, shape)
        base = np.arange(1, 1 + np.prod([abs(s) * n for s, n in zip(steps, shape, strict=True)]))
        base = base.astype(dtype).reshape([abs(s) * n for s, n in zip(steps, shape, strict=True)])
        return np.asarray(base, order=order)[tuple(slice(None, None, s) for s in steps)]

    a = operand((inner,), steps[:1]) if left_vector else operand((rows, inner), steps[:2])
    b = operand((inner,), steps[2:3]) if right_vector else operand((inner, columns), steps[2:])
    result = run(lambda builder, x, y: builder.dot(x, y), a, b)
    same(result, np.asarray(np.dot(a, b)))


def test_dot_checks_its_operands():
    with pytest.raises(ValueError, match=r"shapes \(2, 3\) and \(2, 3\) are not aligned: 3 != 2"):
        run(lambda b, x, y: b.dot(x, y), np.ones((2, 3)), np.ones((2, 3)))
    with pytest.raises(TypeError, match="int8 is needed"):
        run(lambda b, x, y: b.dot(x, y), np.ones(3, "int8"), np.ones(3, "int16"))
    with pytest.raises(ValueError, match="the runtime does not call"):
        _core.set_routines({"no_routine": 1})
