"""Integers wrap around, also where a compiler that took it for impossible could conclude more."""

import numpy as np
import pytest
from native import kernel, run, samples

from frazil.link.c import CCompiler
from frazil.link.cranelift import CraneliftCompiler
from frazil.link.kernel.loop_kernel import Read
from frazil.link.numba import NumbaCompiler
from frazil.scalar import abs, add, floordiv, gt, lt, mul, neg, pow, sqr, sub

COMPILERS = {"c": CCompiler, "cranelift": CraneliftCompiler, "numba": NumbaCompiler}

CONCLUSIONS = {
    "a double has the sign of its half": [(add, (0, 0)), (lt, (4, 1))],
    "one more is more": [(add, (0, 2)), (gt, (4, 0))],
    "one less is less": [(sub, (0, 2)), (lt, (4, 0))],
    "what is less has a difference below zero": [(sub, (0, 3)), (lt, (4, 1))],
    "a product has the signs of its factors": [(mul, (0, 3)), (lt, (4, 1))],
    "half of the double is the same": [(mul, (0, 3)), (floordiv, (4, 3))],
    "a product of equals is not negative": [(mul, (0, 0)), (lt, (4, 1))],
    "a square is not negative": [(sqr, (0,)), (lt, (4, 1))],
    "a power of two is not negative": [(pow, (0, 3)), (lt, (4, 1))],
    "a negative has the other sign": [(neg, (0,)), (lt, (4, 1))],
    "an absolute value is not negative": [(abs, (0,)), (lt, (4, 1))],
}
"""Statements on an operand, 0, and the literals zero, one and two, which are 1, 2 and 3. Each ends
with a value that would be known if the one before could not overflow."""


@pytest.fixture(params=COMPILERS)
def compiler(request):
    return COMPILERS[request.param]()


def integers(dtype):
    """Values of a dtype, with both ends of its range."""
    limits = np.iinfo(dtype)
    return np.concatenate([np.array([limits.min, limits.max], dtype=dtype), samples(dtype, 150)])


def wrong_values(compiler, made, operands):
    """The values of a kernel that are not NumPy's, each with where it is and what is right."""
    [native] = compiler.compile([made])
    values = [*operands, *(np.array(c.value, dtype=c.dtype) for c in made.literals)]
    for statement in made.statements:
        values.append(statement.op.compute(statement.dtype, *(values[a] for a in statement.args)))
    return [
        (write.value, int(values[0][k]), got[k], values[write.value][k])
        for write, got in zip(made.writes, run(native, made, operands), strict=True)
        for k in np.flatnonzero(got != values[write.value])
    ]


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", "uint64"])
def test_nothing_is_concluded_from_what_wraps_around(compiler, dtype):
    statements = []
    writes = {}
    for conclusion, steps in CONCLUSIONS.items():
        before = len(statements)
        statements += [(op, [a + before if a > 3 else a for a in args]) for op, args in steps]
        writes[len(statements) + 3] = conclusion
    made = kernel([dtype], statements, list(writes), [(dtype, value) for value in range(3)])
    wrong = wrong_values(compiler, made, [integers(dtype)])
    assert not {writes[value]: (x, got) for value, x, got, _ in wrong}


@pytest.mark.parametrize("dtype", ["int8", "int64"])
def test_the_absolute_value_of_a_sum_beside_that_of_its_term(compiler, dtype):
    """The sign of ``x + x + bit`` is not that of ``x``, though ``abs(x)`` asks for it already."""
    statements = [(add, (0, 0)), (add, (1, 2)), (abs, (0,)), (abs, (0,)), (abs, (3,))]
    made = kernel([dtype, Read("bool", inner=False)], statements, [4, 5, 6])
    assert not wrong_values(compiler, made, [integers(dtype), np.array(True)])
