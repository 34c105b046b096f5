"""Random kernels: C, Cranelift, Numba and NumPy, statement by statement, agree."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from native import DTYPES, FLOATS, kernel, result_dtype, run, same, samples

from frazil.link.c import CCompiler
from frazil.link.cranelift import CraneliftCompiler
from frazil.link.kernel import passes
from frazil.link.kernel.loop_kernel import Read
from frazil.link.numba import NumbaCompiler
from frazil.scalar import TABLE, Elementary, cast

# Those whose results are the same to the bit everywhere, so that any chain of them is.
EXACT = [
    Elementary(name)
    for name in TABLE
    if name
    in {
        *("add", "sub", "mul", "truediv", "floordiv", "mod", "neg", "reciprocal", "sqr", "sqrt"),
        *("abs", "sign", "where", "eq", "neq", "lt", "le", "gt", "ge", "and_", "or_"),
        *("xor", "invert", "isnan", "isinf", "isfinite", "floor", "ceil", "trunc", "rint"),
        *("second", "identity"),
    }
] + [cast(dtype) for dtype in (*FLOATS, "bool", "int8", "int64")]


@st.composite
def kernels(draw):
    """A kernel of up to a dozen statements on operands of any dtypes."""
    reads = [
        Read(draw(st.sampled_from(DTYPES)), inner=draw(st.booleans()) or k == 0)
        for k in range(draw(st.integers(1, 3)))
    ]
    literals = draw(
        st.lists(
            st.sampled_from(
                [
                    *(("float64", 0.1), ("float64", -0.0), ("float64", float("inf")), ("int8", -3)),
                    *(("int64", -(2**63)), ("uint64", 2**64 - 1), ("bool", True)),
                    ("float32", 2.5),
                ]
            ),
            max_size=2,
        )
    )
    dtypes = [read.dtype for read in reads] + [dtype for dtype, _ in literals]
    statements = []
    for _ in range(draw(st.integers(1, 12))):
        op = draw(st.sampled_from(EXACT))
        args = [draw(st.integers(0, len(dtypes) - 1)) for _ in range(op.nin)]
        dtype = result_dtype(op, *(dtypes[a] for a in args))
        if dtype is None or (
            op.dtype is not None
            and dtypes[args[0]].startswith("float")
            and not op.dtype.startswith("float")
        ):
            continue
        statements.append((op, args))
        dtypes.append(dtype)
    made = kernel(reads, statements, [], literals)
    moving = [k for k, uniform in enumerate(made.uniform) if not uniform]
    return kernel(reads, statements, moving[-4:], literals)


def reference(made, operands):
    """Every statement computed by NumPy, one after the other."""
    n = next(len(x) for x, r in zip(operands, made.reads, strict=True) if r.inner)
    values = [*operands, *(np.array(c.value, dtype=c.dtype) for c in made.literals)]
    for statement in made.statements:
        values.append(statement.op.compute(statement.dtype, *(values[a] for a in statement.args)))
    return [np.broadcast_to(values[write.value], n) for write in made.writes]


def check(made, native):
    operands = [
        samples(read.dtype, 150, k) if read.inner else np.array(samples(read.dtype, 150, k)[7])
        for k, read in enumerate(made.reads)
    ]
    outs = run(native, made, operands)
    for write, got, want in zip(made.writes, outs, reference(made, operands), strict=True):
        equal = same(got, want)
        assert equal.all(), (write, got[~equal][:3], want[~equal][:3])


@given(made=kernels())
def test_a_kernel_without_folds_is_one_pass(made):
    assert passes._several_passes(made) == passes.Passes((passes._one_pass(made),), ())


@settings(max_examples=40)
@given(made=kernels())
def test_c(made):
    [native] = CCompiler().compile([made])
    check(made, native)


@settings(max_examples=100)
@given(made=kernels())
def test_cranelift(made):
    [native] = CraneliftCompiler().compile([made])
    check(made, native)


@settings(max_examples=10)
@given(made=kernels())
def test_numba(made):
    [native] = NumbaCompiler().compile([made])
    check(made, native)
