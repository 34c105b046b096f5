"""Programs for tests: built by hand, called on arrays, without a graph."""

import numpy as np

from frazil._core import Function, ProgramBuilder, TensorType

SCALAR = TensorType("float64", ())
VECTOR = TensorType("float64", (None,))
MATRIX = TensorType("float64", (None, None))
INTEGER = TensorType("int64", ())

DTYPES = [
    "bool",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float32",
    "float64",
]


def convert(value, type, name):
    """A new array of the type's dtype: what a linker's slow path does, without its checks."""
    return np.require(value, dtype=type.numpy_dtype, requirements="AE")


def function(builder, outputs, *types, form=None, names=None, shared=(), updates=()):
    program = builder.finish(outputs)
    names = names or [f"x{at}" for at in range(len(types))]
    inputs = list(zip(names, types, strict=True))
    return Function(program, inputs, list(shared), list(updates), form, convert)


def run(build, *arrays, types=None):
    """The one output of the program that ``build`` makes from a slot for each array."""
    builder = ProgramBuilder()
    if types is None:
        types = [TensorType(array.dtype, (None,) * array.ndim) for array in arrays]
    slots = [builder.input(type) for type in types]
    return function(builder, [build(builder, *slots)], *types, form="single")(*arrays)


def same(actual, expected):
    assert type(actual) is np.ndarray
    assert actual.dtype == expected.dtype
    assert actual.shape == expected.shape
    np.testing.assert_array_equal(actual, expected)
