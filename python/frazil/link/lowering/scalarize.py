"""Ops on small arrays as scalar ops on their elements, for the steps of scan kernels.

An array is represented by an object array, which holds for each element the number of its value. So
views cost nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise, product
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from frazil._core import Constant, FrozenApply, Variable
from frazil.graph.dispatch import singledispatch
from frazil.graph.op import Array, Op
from frazil.link.kernel.loop_kernel import Literal
from frazil.scalar.elementary import Elementary
from frazil.scalar.elemwise import Elemwise
from frazil.scalar.op import ScalarOp
from frazil.tensor.basic_indexing import IncSubtensor, NumpyIndex, Subtensor, numpy_index
from frazil.tensor.blas import Gemm, Gemv, Ger
from frazil.tensor.broadcasting import BroadcastTo
from frazil.tensor.creation import Full
from frazil.tensor.cumulation import CumOp
from frazil.tensor.diagonals import AllocDiag, ExtractDiag, Eye
from frazil.tensor.dims import DropDims, ExpandDims
from frazil.tensor.joining import Join
from frazil.tensor.lengths import Shape_i
from frazil.tensor.products import Dot
from frazil.tensor.reductions import Reduce
from frazil.tensor.reshaping import Reshape
from frazil.tensor.transposition import Transpose

Elements: TypeAlias = npt.NDArray[Any]
"""An object array of ints: for each element the number of its value."""


Computed: TypeAlias = tuple[ScalarOp, tuple[int, ...], str]
"""A scalar op, the values that it is applied to, and the dtype of its result."""


class NotScalarizable(Exception):
    """An array is too large or of unknown shape, or an op has no form on single elements."""


class Emitter:
    """Collects the literals and statements of a step, each once.

    Values are numbered from 0; literals have negative numbers.
    """

    def __init__(self, lowers: Callable[[ScalarOp, Sequence[str], str], bool], limit: int) -> None:
        self._lowers = lowers
        self._limit = limit
        self._lowered: set[tuple[ScalarOp, tuple[str, ...], str]] = set()
        self._elementary: dict[str, ScalarOp] = {}
        self.literals: dict[Literal, int] = {}
        self.statements: dict[Computed, int] = {}
        self.dtypes: dict[int, str] = {}
        self._next = 0

    def new_value(self, dtype: str) -> int:
        """A new value, which no statement computes."""
        self._next += 1
        self.dtypes[self._next - 1] = dtype
        return self._next - 1

    def literal(self, dtype: str, value: bool | int | float) -> int:
        """The value of a literal."""
        number = self.literals.setdefault(Literal(dtype, value), -1 - len(self.literals))
        self.dtypes[number] = dtype
        return number

    def constant(self, array: Array) -> Elements:
        """The values of the elements of a constant array."""
        dtype = str(array.dtype)
        return _filled(array.shape, [self.literal(dtype, x) for x in array.ravel().tolist()])

    def apply(self, op: ScalarOp, args: Sequence[int], dtype: str) -> int:
        """The value of a scalar op on values."""
        if len(self.statements) >= self._limit:
            raise NotScalarizable(f"more than {self._limit} statements")
        step = op, tuple(args), dtype
        number = self.statements.get(step)
        if number is None:
            own = tuple([self.dtypes[argument] for argument in args])
            if (op, own, dtype) not in self._lowered:
                if not self._lowers(op, own, dtype):
                    raise NotScalarizable(f"{op} has no native form")
                self._lowered.add((op, own, dtype))
            number = self.statements[step] = self.new_value(dtype)
        return number

    def arithmetic(self, name: str, a: int, b: int) -> int:
        """The value of the elementary op ``name`` on two values of one dtype."""
        op = self._elementary.get(name)
        if op is None:
            op = self._elementary[name] = Elementary(name)
        return self.apply(op, (a, b), self.dtypes[a])

    def times(self, factor: int, value: int) -> int:
        """The product of two values of one dtype; a factor of one is no instruction."""
        one = self.literals.get(Literal(self.dtypes[value], 1.0))
        return value if factor == one else self.arithmetic("mul", factor, value)

    def total(self, terms: Sequence[int], name: str = "add") -> int:
        """The values ``terms`` folded in order."""
        so_far = terms[0]
        for term in terms[1:]:
            so_far = self.arithmetic(name, so_far, term)
        return so_far

    def dot(self, a: Elements, b: Elements, dtype: str) -> Elements:
        """The product of vectors or matrices."""
        # NumPy does not infer a length of -1 where there are no elements.
        rows = np.atleast_2d(a).tolist()
        columns = b.reshape(b.shape[0], math.prod(b.shape[1:])).T.tolist()
        made: list[int] = []
        for row, column in product(rows, columns):
            terms = [self.arithmetic("mul", x, y) for x, y in zip(row, column, strict=True)]
            made.append(self.total(terms) if terms else self.literal(dtype, 0))
        return _filled(a.shape[:-1] + b.shape[1:], made)


@singledispatch
def scalarize(op: Op, node: FrozenApply, operands: Sequence[Elements], emit: Emitter) -> Elements:
    """The elements of a node's only output, computed from the elements of its operands.

    Raises
    ------
    NotScalarizable
        If the op has no form on single elements.
    """
    raise NotScalarizable(f"{op} has no form for single elements")


@scalarize.register
def _(op: Elemwise, node: FrozenApply, operands: Sequence[Elements], emit: Emitter) -> Elements:
    if len(node.output_types) != 1:
        raise NotScalarizable(f"{op} has several results")
    scalar_op, dtype = op.scalar_op, node.output_types[0].dtype
    shape = _static(node.outputs[0])
    aligned = [_aligned(x, shape) for x in operands]
    return _filled(
        shape, [emit.apply(scalar_op, each, dtype) for each in zip(*aligned, strict=True)]
    )


@scalarize.register
def _(op: Reduce, node: FrozenApply, operands: Sequence[Elements], emit: Emitter) -> Elements:
    (x,) = operands
    dtype = node.output_types[0].dtype
    kept = [axis for axis in range(x.ndim) if axis not in op.axes]
    shape = tuple([x.shape[axis] for axis in kept])
    count = math.prod([x.shape[axis] for axis in op.axes])
    moved = np.transpose(x, [*kept, *op.axes]).reshape(math.prod(shape), count)
    if count:
        return _filled(shape, [emit.total(terms, op.fold) for terms in moved.tolist()])
    if shape and not len(moved):
        return np.empty(shape, object)
    if op.needs_elements:
        raise NotScalarizable("a reduction of no elements")
    identity = np.dtype(dtype).type(op.identity(dtype)).item()
    return np.full(shape, emit.literal(dtype, identity), object)


@scalarize.register
def _(op: Dot, node: FrozenApply, operands: Sequence[Elements], emit: Emitter) -> Elements:
    a, b = operands
    if a.shape[-1:] != b.shape[:1]:
        raise NotScalarizable("lengths differ")
    return emit.dot(a, b, node.output_types[0].dtype)


@scalarize.register
def _(op: Gemm | Gemv, node: FrozenApply, operands: Sequence[Elements], emit: Emitter) -> Elements:
    z, alpha, a, b, beta = operands
    dtype = node.output_types[0].dtype
    return _accumulated(emit, z, alpha.item(), emit.dot(a, b, dtype), node.inputs[4], beta.item())


@scalarize.register
def _(op: Ger, node: FrozenApply, operands: Sequence[Elements], emit: Emitter) -> Elements:
    a, alpha, x, y = operands
    dtype = node.output_types[0].dtype
    outer = emit.dot(x[:, None], y[None, :], dtype)
    return _accumulated(emit, a, alpha.item(), outer, None, emit.literal(dtype, 1.0))


def _accumulated(
    emit: Emitter, z: Elements, alpha: int, products: Elements, beta: Variable | None, factor: int
) -> Elements:
    """``factor * z + alpha * products``; ``z`` is not read where ``factor`` is known to be zero."""
    if z.shape != products.shape:
        raise NotScalarizable("shapes differ")
    unread = isinstance(beta, Constant) and not beta.data.any()
    made: list[int] = []
    for addend, term in zip(z.ravel().tolist(), products.ravel().tolist(), strict=True):
        own = emit.times(alpha, term)
        if not unread:
            own = emit.arithmetic("add", emit.times(factor, addend), own)
        made.append(own)
    return _filled(z.shape, made)


# ---------------------------------------------------------------- views


@scalarize.register
def _(op: Transpose, node: FrozenApply, operands: Sequence[Elements], emit: Emitter) -> Elements:
    return np.transpose(operands[0], op.axes)


@scalarize.register
def _(op: ExpandDims, node: FrozenApply, operands: Sequence[Elements], emit: Emitter) -> Elements:
    return np.expand_dims(operands[0], op.axes)


@scalarize.register
def _(op: DropDims, node: FrozenApply, operands: Sequence[Elements], emit: Emitter) -> Elements:
    return operands[0].reshape(_static(node.outputs[0]))


@scalarize.register
def _(op: Reshape, node: FrozenApply, operands: Sequence[Elements], emit: Emitter) -> Elements:
    shape = _static(node.outputs[0])
    if math.prod(shape) != operands[0].size:
        raise NotScalarizable("sizes differ")
    return operands[0].reshape(shape)


@scalarize.register
def _(op: BroadcastTo, node: FrozenApply, operands: Sequence[Elements], emit: Emitter) -> Elements:
    return np.broadcast_to(operands[0], _static(node.outputs[0]))


@scalarize.register
def _(op: Full, node: FrozenApply, operands: Sequence[Elements], emit: Emitter) -> Elements:
    return np.broadcast_to(operands[0], _static(node.outputs[0]))


@scalarize.register
def _(op: Subtensor, node: FrozenApply, operands: Sequence[Elements], emit: Emitter) -> Elements:
    try:
        return np.asarray(operands[0][_index(op, node.inputs[1:])], object)
    except IndexError:
        raise NotScalarizable("an index is out of bounds") from None


@scalarize.register
def _(op: IncSubtensor, node: FrozenApply, operands: Sequence[Elements], emit: Emitter) -> Elements:
    x, y = operands[:2]
    made = x.copy()
    index = _index(op, node.inputs[2:])
    try:
        part: Elements = np.asarray(made[index], object)
    except IndexError:
        raise NotScalarizable("an index is out of bounds") from None
    new: Elements = np.broadcast_to(y, part.shape)
    if not op.set:
        sums = np.empty(part.shape, object)
        for at in np.ndindex(*part.shape):
            sums[at] = emit.arithmetic("add", part.item(at), new.item(at))
        new = sums
    made[index] = new
    return made


@scalarize.register
def _(op: Join, node: FrozenApply, operands: Sequence[Elements], emit: Emitter) -> Elements:
    return np.concatenate(list(operands), op.axis)


@scalarize.register
def _(op: ExtractDiag, node: FrozenApply, operands: Sequence[Elements], emit: Emitter) -> Elements:
    return np.diagonal(operands[0], op.offset, -2, -1)


@scalarize.register
def _(op: AllocDiag, node: FrozenApply, operands: Sequence[Elements], emit: Emitter) -> Elements:
    made = _zeros(node, emit)
    x = operands[0]
    for k in range(x.shape[-1]):
        made[..., k + max(-op.offset, 0), k + max(op.offset, 0)] = x[..., k]
    return made


@scalarize.register
def _(op: Eye, node: FrozenApply, operands: Sequence[Elements], emit: Emitter) -> Elements:
    made = _zeros(node, emit)
    one = emit.literal(op.dtype, np.dtype(op.dtype).type(1).item())
    for i, j in product(*map(range, made.shape)):
        if j - i == op.offset:
            made[i, j] = one
    return made


@scalarize.register
def _(op: Shape_i, node: FrozenApply, operands: Sequence[Elements], emit: Emitter) -> Elements:
    return emit.constant(np.array(operands[0].shape[op.axis]))


# ---------------------------------------------------------------- cumulations


@scalarize.register
def _(op: CumOp, node: FrozenApply, operands: Sequence[Elements], emit: Emitter) -> Elements:
    made = operands[0].copy()
    rows = np.moveaxis(made, op.axis, 0)
    # Not by rows: a row of a vector would be a number, which cannot be written to.
    for before, after in pairwise(range(len(rows))):
        for at in np.ndindex(*rows.shape[1:]):
            own = (after, *at)
            rows[own] = emit.arithmetic(op.mode, rows[before, *at], rows[own])
    return made


def _filled(shape: tuple[int, ...], values: Sequence[int]) -> Elements:
    """Elements of these values, which are in C order."""
    made = np.empty(len(values), object)
    made[:] = values
    return made.reshape(shape)


def _aligned(x: Elements, shape: tuple[int, ...]) -> list[int]:
    """The values of an operand for each element of a result of that shape, in C order."""
    whole = x if x.shape == shape else np.broadcast_to(x, shape)
    values: list[int] = whole.ravel().tolist()
    return values


def _static(x: Variable) -> tuple[int, ...]:
    """The shape of ``x``.

    Raises
    ------
    NotScalarizable
        If its type does not say all of it.
    """
    shape = x.type.shape
    known = tuple(length for length in shape if length is not None)
    if len(known) != len(shape):
        raise NotScalarizable(f"{x.type} does not say all lengths")
    return known


def _zeros(node: FrozenApply, emit: Emitter) -> Elements:
    shape, dtype = _static(node.outputs[0]), node.output_types[0].dtype
    return np.full(shape, emit.literal(dtype, np.dtype(dtype).type(0).item()), object)


def _index(op: Subtensor | IncSubtensor, dynamic: Sequence[Variable]) -> NumpyIndex:
    if any(not isinstance(x, Constant) for x in dynamic):
        raise NotScalarizable("an index is computed")
    return numpy_index(op.template, [x.data for x in dynamic if isinstance(x, Constant)])
