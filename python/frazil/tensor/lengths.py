"""Lengths of dimensions: 0-d int64 variables, constants wherever the static type knows them.

The arithmetic below folds constants, so that a static length never becomes a computation.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

import numpy as np

import frazil._core as _core
import frazil.scalar as scalar
from frazil._core import Constant, FrozenApply, TensorType, Variable
from frazil.graph.dataclass import dataclass
from frazil.graph.dispatch import singledispatch
from frazil.graph.op import Array, Gradients, Op, Variables
from frazil.scalar.constants import TensorLike, as_tensor
from frazil.tensor.axes import normalize_axes
from frazil.tensor.docstrings import described

LENGTH = TensorType("int64", ())

Lengths: TypeAlias = tuple[Variable, ...]
LengthLike: TypeAlias = int | np.integer | Variable


@dataclass(frozen=True, eq=False)
class Shape_i(Op):
    """The length of dimension ``axis`` of a tensor."""

    takes_complex = True

    axis: int

    def make_node(self, x: Variable) -> FrozenApply:
        if not 0 <= self.axis < x.ndim:
            raise np.exceptions.AxisError(self.axis, x.ndim)
        return FrozenApply(self, [x], [LENGTH])

    def perform(self, node: FrozenApply, inputs: Sequence[Array]) -> tuple[Array, ...]:
        return (np.array(inputs[0].shape[self.axis], dtype=np.int64),)

    def infer_shape(self, node: FrozenApply, input_shapes: Sequence[Lengths]) -> tuple[Lengths]:
        return ((),)

    def L_op(self, inputs: Variables, outputs: Variables, output_gradients: Variables) -> Gradients:
        return [None]


def literal(value: int) -> Constant:
    """Return the length ``value`` as a constant of the current container."""
    return _core.constant(value)


def static_length(length: Variable) -> int | None:
    """Return the value of a constant length, else ``None``."""
    return int(length.data) if isinstance(length, Constant) else None


def is_length(value: Variable) -> bool:
    """Return whether ``value`` is the length of some dimension, so never negative."""
    return value.owner is not None and isinstance(value.owner.op, Shape_i)


def length(x: Variable, axis: int) -> Variable:
    """Return the length of dimension ``axis`` (not negative) of ``x``."""
    static = x.type.shape[axis]
    return Shape_i(axis)(x) if static is None else literal(static)


def lengths(x: Variable) -> Lengths:
    """Return the lengths of all dimensions of ``x``."""
    return tuple(length(x, axis) for axis in range(x.ndim))


def as_length(value: LengthLike) -> Variable:
    """Return ``value``, an integer or a 0-d integer variable, as a length."""
    if isinstance(value, Variable):
        if value.ndim == 0 and value.type.numpy_dtype.kind in "iu":
            return value if value.dtype == "int64" else as_tensor(value, "int64")
        raise TypeError(f"a length must be an integer without dimensions; given {value.type}")
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        return literal(int(value))
    raise _no_length(value)


def _no_length(value: object) -> TypeError:
    return TypeError(
        f"a length must be an int or a 0-d integer variable; given {value!r} "
        f"of type {type(value).__name__}"
    )


def as_lengths(shape: LengthLike | Iterable[LengthLike]) -> Lengths:
    """Return ``shape``, one length or a sequence of them, as lengths.

    A 1-d integer variable will do where its own length is static.
    """
    if isinstance(shape, Variable):
        return (as_length(shape),) if shape.ndim == 0 else _elements(shape)
    if isinstance(shape, int | np.integer):
        return (as_length(shape),)
    if not hasattr(shape, "__iter__"):
        raise _no_length(shape)
    return tuple(map(as_length, shape))


def _elements(vector: Variable) -> Lengths:
    """Return the elements of a 1-d integer variable as lengths."""
    if vector.ndim != 1:
        raise TypeError(f"a shape has one dimension; given {vector.type}")
    if isinstance(vector, Constant):
        return tuple(map(as_length, vector.data))
    if vector.type.shape[0] is None:
        raise TypeError(
            f"how many dimensions the shape {vector} has is not known before a call. Say it by "
            "ft.specify_shape(shape, (n,)), or declare it: "
            "ft.tensor('shape', dtype='int64', shape=(n,))"
        )
    made = None if vector.owner is None else elements_made_of(vector.owner.op, vector.owner)
    return tuple(map(as_length, vector if made is None else made))


@singledispatch
def elements_made_of(op: Op, node: FrozenApply) -> Sequence[Variable] | None:
    """Return the 0-d variables that ``node`` makes a vector of; None if it does something else."""
    return None


def static_shape(shape: Iterable[Variable]) -> tuple[int | None, ...]:
    """Return the static shape that ``shape`` gives a type; negative lengths raise."""
    static = tuple(static_length(value) for value in shape)
    for value in static:
        if value is not None and value < 0:
            raise ValueError(f"a length cannot be negative; given shape {static}")
    return static


def add(a: Variable, b: Variable) -> Variable:
    """Return ``a + b``."""
    match static_length(a), static_length(b):
        case int(m), int(n):
            return literal(m + n)
        case 0, _:
            return b
        case _, 0:
            return a
    return _core.elemwise(scalar.add, a, b)


def subtract(a: Variable, b: Variable) -> Variable:
    """Return ``a - b``."""
    match static_length(a), static_length(b):
        case int(m), int(n):
            return literal(m - n)
        case _, 0:
            return a
    return literal(0) if a is b else _core.elemwise(scalar.sub, a, b)


def multiply(a: Variable, b: Variable) -> Variable:
    """Return ``a * b``."""
    match static_length(a), static_length(b):
        case int(m), int(n):
            return literal(m * n)
        case 1, _:
            return b
        case _, 1:
            return a
        case (0, _) | (_, 0):
            return literal(0)
    return _core.elemwise(scalar.mul, a, b)


def floor_divide(a: Variable, b: Variable) -> Variable:
    """Return ``a // b``."""
    match static_length(a), static_length(b):
        case int(m), int(n) if n != 0:
            return literal(m // n)
        case _, 1:
            return a
    return _core.elemwise(scalar.floordiv, a, b)


def minimum(a: Variable, b: Variable) -> Variable:
    """Return the smaller one."""
    return _extremum(min, scalar.minimum, a, b)


def maximum(a: Variable, b: Variable) -> Variable:
    """Return the larger one."""
    return _extremum(max, scalar.maximum, a, b)


def _extremum(
    of_values: Callable[[int, int], int], op: scalar.ScalarOp, a: Variable, b: Variable
) -> Variable:
    match static_length(a), static_length(b):
        case int(m), int(n):
            return literal(of_values(m, n))
    return a if a is b else _core.elemwise(op, a, b)


def product(values: Iterable[Variable]) -> Variable:
    """Return the product of ``values``, the constant factors gathered in one."""
    factor = 1
    symbolic = None
    for value in values:
        static = static_length(value)
        if static is not None:
            factor *= static
        else:
            symbolic = value if symbolic is None else multiply(symbolic, value)
    return literal(factor) if symbolic is None else multiply(literal(factor), symbolic)


@described
def shape(x: TensorLike) -> Lengths:
    """Return the lengths of ``x``, a tuple of 0-d int64 variables.

    x (tensor_like): Any tensor; lengths that its type knows are constants.
    returns (tuple of Variable): One length a dimension, as :func:`numpy.shape` gives.

    >>> rows, columns = ft.shape(ft.tensor("x", shape=(None, 3)))
    >>> columns.data
    array(3)
    """
    return lengths(as_tensor(x))


@described
def size(x: TensorLike, axis: int | Sequence[int] | None = None) -> Variable:
    """Return the number of elements of ``x``, a 0-d int64 variable.

    x (tensor_like): Any tensor; where its type knows all lengths, the size is a constant.
    axis (int or sequence of int): The dimensions that count; default: all.
    returns: The product of the lengths, as :func:`numpy.size` gives.

    >>> ft.size([[1.0, 2.0], [3.0, 4.0]]).data
    array(4)
    """
    x = as_tensor(x)
    own = lengths(x)
    return product(own if axis is None else [own[at] for at in normalize_axes(axis, x.ndim)])


def static_size(shape: Sequence[int | None]) -> int | None:
    """Return the product of ``shape``, ``None`` where it is not known."""
    known = [value for value in shape if value is not None]
    if 0 in known:
        return 0
    return math.prod(known) if len(known) == len(shape) else None
