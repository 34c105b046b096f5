"""What the builder of programs refuses, and what a program says of itself."""

import numpy as np
import pytest
from programs import VECTOR

from frazil._core import ProgramBuilder, TensorType


def test_the_builder_refuses_what_does_not_fit():
    builder = ProgramBuilder()
    x = builder.input(VECTOR)
    size = builder.size_of(x, 0)
    for error, attempt in [
        (IndexError, lambda: builder.copy(99)),
        (IndexError, lambda: builder.size_of(x, 1)),
        (IndexError, lambda: builder.size_binary("add", size, 99)),
        (ValueError, lambda: builder.size_binary("xor", size, size)),
        (TypeError, lambda: builder.size_value(x)),
        (ValueError, lambda: builder.transpose(x, [0, 0])),
        (ValueError, lambda: builder.loop(0, None, [], [], [])),
        (ValueError, lambda: builder.loop(1, None, [size], [(x, [-2])], [])),
        (ValueError, lambda: builder.loop(1, None, [size], [], [("float64", [-1], None)])),
        (TypeError, lambda: builder.constant(np.zeros(2, "longdouble"))),
        (TypeError, lambda: builder.constant([1.0])),
        (OverflowError, lambda: builder.copy(-1)),
        (IndexError, lambda: builder.finish([99])),
    ]:
        with pytest.raises(error):
            attempt()


def test_a_program_has_a_text_form():
    builder = ProgramBuilder()
    x = builder.input(TensorType("float64", (None, 3)))
    one = builder.size_literal(1)
    column = builder.slice(x, [(None, None, one), one])
    program = builder.finish(builder.call(np.sin, [column], [VECTOR]))
    assert program.instructions == [
        "%0 = input float64[?, 3]",
        "n0 = 1",
        "%1 = slice %0 [::n0, n0]",
        "%2 = call sin %1",
        "return %2",
    ]
