"""Programs as bytes: the same program comes back, and nothing else does."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import frazil as fz
import frazil.tensor as ft
from frazil._core import Function, Program, ProgramBuilder, TensorType
from frazil.compile.argument import convert
from frazil.tensor.blas import Gemm


def kernels_of(program):
    return [(keep.address, keep, operands) for keep, operands in program.kernels]


def again(program, **parts):
    """``program``, read back from its bytes."""
    given = {
        "kernels": kernels_of(program),
        "functions": program.functions,
        "origins": program.origins,
    }
    return Program.from_bytes(program.to_bytes(), **(given | parts))


def same_values(function, program, *arguments):
    read = Function(program, [(x.name, x.type) for x in function.inputs], [], [], None, convert)
    for expected, value in zip(function(*arguments), read(*arguments), strict=True):
        np.testing.assert_array_equal(value, expected)


def many_instructions(mode):
    """Every kind of instruction that linkers write."""
    x, v, n = ft.matrix("x"), ft.vector("v"), ft.scalar("n", dtype="int64")
    table = ft.constant(np.arange(12.0).reshape(3, 4).T)
    outputs = [
        ft.exp(x) + table.T,
        (x * 2).sum(axis=1),
        x.T[::-1, 1:],
        x.reshape((2, -1)),
        ft.broadcast_to(v, (2, v.shape[0])),
        x[n:].set(1.0),
        x[0].inc(v),
        x @ v,
        ft.full((n, 2), 3.0),
        n + x.shape[0],
        ft.squeeze(x[:1]),
        x.mean(),
        Gemm()(x, n * 1.0, x[:, :3], x, ft.constant(2.0)),
        *(ft.sort(x), ft.argsort(v), ft.argmax(x, 1), ft.argmin(v)),
        *(*ft.nonzero(x), ft.repeat(v, ft.argsort(v))),
    ]
    f = fz.function([x, v, n], outputs, mode=mode)
    return f, (np.arange(12.0).reshape(3, 4), np.ones(4), np.int64(2))


def test_a_program_comes_back_whole(mode):
    function, arguments = many_instructions(mode)
    read = again(function.program)
    assert read.instructions == function.program.instructions
    assert read.to_bytes() == function.program.to_bytes()
    same_values(function, read, *arguments)


def test_bytes_that_were_cut_are_refused(mode):
    program = many_instructions(mode)[0].program
    whole = program.to_bytes()
    for end in range(len(whole)):
        with pytest.raises(ValueError, match=r"program|start"):
            Program.from_bytes(whole[:end], kernels_of(program), program.functions, ())


@given(st.sampled_from(["py", "c", "cranelift", "numba"]), st.data())
def test_altered_bytes_are_refused_or_another_program(mode, data):
    program = many_instructions(mode)[0].program
    altered = bytearray(program.to_bytes())
    at = data.draw(st.integers(0, len(altered) - 1))
    altered[at] ^= data.draw(st.integers(1, 255))
    try:
        read = Program.from_bytes(bytes(altered), kernels_of(program), program.functions, ())
    except ValueError:
        return
    assert isinstance(read.instructions, list)


def test_missing_parts_are_errors():
    x = ft.vector("x")
    program = fz.function([x], ft.exp(x), mode="c").program
    with pytest.raises(ValueError, match="needs a kernel 0"):
        again(program, kernels=[])
    [(address, keep, operands)] = kernels_of(program)
    with pytest.raises(ValueError, match="does not take the operands"):
        again(program, kernels=[(address, keep, operands + b"x")])
    with pytest.raises(ValueError, match="no address"):
        again(program, kernels=[(0, keep, operands)])
    called = fz.function([x], ft.exp(x), mode="py").program
    with pytest.raises(ValueError, match="needs a function 0"):
        again(called, functions=[])


def test_errors_name_the_given_origins():
    x, y = ft.vector("x"), ft.vector("y")
    program = fz.function([x, y], x + y, mode="c").program
    for origins, note in [(["the sum"], "in: the sum"), ((), "expected")]:
        read = Function(
            again(program, origins=origins), [("x", x.type), ("y", y.type)], [], [], None, convert
        )
        with pytest.raises(ValueError, match=note):
            read(np.ones(3), np.ones(2))


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float32", "float64"])
@pytest.mark.parametrize("shape", [(), (3,), (0, 2), (2, 1, 3)])
def test_constants_of_every_kind(dtype, shape):
    value = np.resize(np.array([0, 1, 1], dtype), shape)
    for array in [value, np.asfortranarray(value), value[..., ::-1] if shape else value]:
        builder = ProgramBuilder()
        program = builder.finish([builder.constant(array)])
        [result] = Function(again(program), [], [], [], None, convert)()
        assert result.dtype == array.dtype
        np.testing.assert_array_equal(result, array)


def test_a_constant_is_given_to_functions_as_an_array():
    builder = ProgramBuilder()
    slot = builder.constant(np.arange(3.0))
    [out] = builder.call(lambda value: value + 1, [slot], [TensorType("float64", (3,))])
    [result] = Function(again(builder.finish([out])), [], [], [], None, convert)()
    np.testing.assert_array_equal(result, [1.0, 2.0, 3.0])
