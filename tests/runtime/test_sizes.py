"""Lengths and integers that programs compute with."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from programs import INTEGER, VECTOR, function, run, same

from frazil._core import ProgramBuilder

SIZE_OPS = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "floordiv": lambda a, b: a // b,
    "mod": lambda a, b: a % b,
    "minimum": min,
    "maximum": max,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "eq": lambda a, b: a == b,
}


@pytest.mark.parametrize("op", SIZE_OPS)
@given(a=st.integers(-9, 9), b=st.integers(-9, 9))
def test_sizes_are_pythons_integers(op, a, b):
    builder = ProgramBuilder()
    slots = [builder.input(INTEGER), builder.input(INTEGER)]
    size = builder.size_binary(op, *map(builder.size_value, slots))
    call = function(builder, [builder.size_scalar(size)], INTEGER, INTEGER, form="single")
    if b == 0 and op in ("floordiv", "mod"):
        assert call(a, b) == 0  # NumPy's answer
    else:
        assert call(a, b) == SIZE_OPS[op](a, b)


def test_sizes_follow_shapes_and_values():
    builder = ProgramBuilder()
    x, count = builder.input(VECTOR), builder.input(INTEGER)
    start = builder.size_binary("sub", builder.size_of(x, 0), builder.size_value(count))
    tail = builder.slice(x, [(start, None, builder.size_literal(1))])
    length = builder.size_scalar(builder.size_of(tail, 0))
    known = builder.size_binary("lt", builder.size_literal(0), builder.size_of(x, 0))
    one = builder.size_literal(1)
    nothing = builder.size_binary("floordiv", one, builder.size_of(x, 0))
    chosen = builder.size_scalar(builder.size_where(known, nothing, one))
    call = function(builder, [tail, length, chosen], VECTOR, INTEGER)
    for size in (5, 3, 1, 5):
        array = np.arange(float(size))
        tail, length, chosen = call(array, 1)
        same(tail, array[-1:])
        same(length, np.array(1))
        assert chosen == 1 // size
    assert call(np.ones(0), 0)[2] == 1


def test_requirements_name_what_is_wrong():
    builder = ProgramBuilder()
    x, y = builder.input(VECTOR), builder.input(VECTOR)
    builder.origin("log(x) in model.py:3")
    builder.require_equal(builder.size_of(x, 0), builder.size_of(y, 0), "lengths of x and y")
    call = function(builder, [x], VECTOR, VECTOR)
    call(np.ones(2), np.ones(2))
    with pytest.raises(ValueError, match="lengths of x and y") as raised:
        call(np.ones(2), np.ones(3))
    assert str(raised.value) == "lengths of x and y: 2 != 3\n  in: log(x) in model.py:3"


def test_what_cannot_be_allocated_is_an_error():
    for length, error in [(2**62, ValueError), (2**57, MemoryError), (-3, ValueError)]:

        def build(builder, x, length=length):
            return builder.full("float64", x, [builder.size_literal(length)])

        with pytest.raises(error):
            run(build, np.array(1.0))
