"""Sums of products as calls of BLAS. The terms stay; the order in which they are added changes.

A product is worth a call where its operands lie in memory. If they come from elementwise work, the
product is left to the loop that makes them; but products of matrices go to BLAS, which blocks them.
"""

from __future__ import annotations

from typing import Annotated, TypeAlias

import numpy as np

import frazil.scalar as scalar
from frazil._core import Constant, FrozenApply, Variable
from frazil.graph.dataclass import dataclass
from frazil.rewrite.definition import Law, rule
from frazil.rewrite.guard import same_dtype
from frazil.rewrite.sort import FLOATS, Float, Sort
from frazil.rewrite.wildcard import any_kind
from frazil.scalar.constants import constant
from frazil.scalar.elemwise import Elemwise
from frazil.tensor.blas import Gemm, Gemv
from frazil.tensor.dims import DropDims, ExpandDims
from frazil.tensor.products import Dot
from frazil.tensor.reductions import Sum
from frazil.tensor.transposition import permute_dims

FloatMatrix: TypeAlias = Annotated[
    Variable, Sort("float matrix", FLOATS, "float64", ndim=2, any_rank=True)
]
"""A float with the dimensions of an operand of a product."""

total = any_kind(Sum)


# ------------------------------------------------------------------ products that are added


def _added(
    node: FrozenApply, z: Variable, product: Variable, alpha: float | Variable
) -> Variable | None:
    """``z + alpha * product`` in one call; None where a product and a loop are as good."""
    x, y = product.owner.inputs if product.owner is not None else ()
    beta, z = _factor(z)
    if any(term.type != node.output_types[0] for term in (product, z)) or not _accumulates(z):
        return None
    numbers = [x if isinstance(x, Variable) else constant(x, z.dtype) for x in (alpha, beta)]
    if any(number.ndim or number.dtype != z.dtype for number in numbers):
        return None
    scale, keep = numbers
    result: Variable | None = None
    if x.ndim == y.ndim == 2:
        result = Gemm()(z, scale, x, y, keep)
    elif x.ndim == 2:
        result = Gemv()(z, scale, x, y, keep)
    elif y.ndim == 2:
        result = Gemv()(z, scale, permute_dims(y), x, keep)
    return result


def _factor(z: Variable) -> tuple[float, Variable]:
    """A finite number that is not zero, and a variable, whose product is ``z``."""
    node = z.owner
    if node is not None and isinstance(node.op, Elemwise) and node.op.scalar_op is scalar.mul:
        for known, other in (node.inputs, node.inputs[::-1]):
            if isinstance(known, Constant) and known.ndim == 0:
                number = float(known.data)
                if number and np.isfinite(number):
                    return number, other
    return 1.0, z


def _accumulates(z: Variable) -> bool:
    """Whether adding to ``z`` in place saves a pass; an elementwise ``z`` better fuses with it."""
    return z.owner is None or isinstance(z.owner.op, Dot | Gemm | Gemv)


def _add(node: FrozenApply, z: Variable, x: Variable, y: Variable) -> Variable | None:
    return _added(node, z, Dot()(x, y), 1.0)


@rule
def add_dot(z: Float, x: FloatMatrix, y: FloatMatrix) -> Law:
    """z + dot(x, y) is one call, which adds to a copy of z."""
    return z + Dot()(x, y), _add, same_dtype(z, x, y)


def _subtract(node: FrozenApply, z: Variable, x: Variable, y: Variable) -> Variable | None:
    return _added(node, z, Dot()(x, y), -1.0)


@rule
def sub_dot(z: Float, x: FloatMatrix, y: FloatMatrix) -> Law:
    """z - dot(x, y) == z + -1 * dot(x, y)."""
    return z - Dot()(x, y), _subtract, same_dtype(z, x, y)


def _add_scaled(
    node: FrozenApply, z: Variable, a: Variable, x: Variable, y: Variable
) -> Variable | None:
    return _added(node, z, Dot()(x, y), a) if a.ndim == 0 else None


@rule
def add_scaled_dot(z: Float, a: Float, x: FloatMatrix, y: FloatMatrix) -> Law:
    """z + a * dot(x, y) is one call where a is a number."""
    return z + a * Dot()(x, y), _add_scaled, same_dtype(z, a, x, y)


def _subtract_scaled(
    node: FrozenApply, z: Variable, a: Variable, x: Variable, y: Variable
) -> Variable | None:
    return _added(node, z, Dot()(x, y), -a) if a.ndim == 0 else None


@rule
def sub_scaled_dot(z: Float, a: Float, x: FloatMatrix, y: FloatMatrix) -> Law:
    """z - a * dot(x, y) == z + -a * dot(x, y)."""
    return z - a * Dot()(x, y), _subtract_scaled, same_dtype(z, a, x, y)


# ------------------------------------------------------------------ products that are sums


@dataclass(frozen=True, slots=True)
class _Factor:
    """An operand of a product: the variable, and the product's dimension for each of its own."""

    variable: Variable
    axes: tuple[int, ...]

    def in_order(self, axes: tuple[int, ...]) -> Variable:
        """The variable with its dimensions as ``axes`` lists them."""
        order = tuple(self.axes.index(axis) for axis in axes)
        ordered = order == tuple(range(len(order)))
        return self.variable if ordered else permute_dims(self.variable, order)


def _factor_of(x: Variable, ndim: int) -> _Factor:
    """``x`` without dimensions of length 1, aligned to ``ndim`` dimensions."""
    missing = ndim - x.ndim
    axes = tuple(missing + axis for axis, one in enumerate(x.broadcastable) if not one)
    ones = tuple(axis for axis, one in enumerate(x.broadcastable) if one)
    if x.owner is not None and isinstance(x.owner.op, ExpandDims) and x.owner.op.axes == ones:
        return _Factor(x.owner.inputs[0], axes)
    return _Factor(DropDims(ones)(x) if ones else x, axes)


def _made_in_a_loop(x: Variable) -> bool:
    while x.owner is not None and isinstance(x.owner.op, ExpandDims | DropDims):
        x = x.owner.inputs[0]
    return x.owner is not None and isinstance(x.owner.op, Elemwise)


def _contraction(node: FrozenApply, x: Variable, y: Variable) -> Variable | None:
    (product,), (result,) = node.inputs, node.outputs
    if product.dtype != result.dtype:
        return None
    ndim = product.ndim
    left, right = _factor_of(x, ndim), _factor_of(y, ndim)
    summed, kept = set(node.op.axes), set(range(ndim)) - set(node.op.axes)
    mine, yours = set(left.axes), set(right.axes)
    shared = mine & yours
    if len(shared) != 1 or not shared <= summed or summed != shared:
        return None
    rows, columns = mine - shared, yours - shared
    if len(rows) > 1 or len(columns) > 1:
        return None
    if kept != rows | columns:
        return None  # dimensions of length 1 that neither has
    stored = [left, right] if not (rows or columns) else [left] if not columns else [right]
    if not (rows and columns) and any(_made_in_a_loop(x.variable) for x in stored):
        return None
    if rows and columns and min(rows) > min(columns):
        left, right, rows, columns = right, left, columns, rows
    (inner,) = shared
    made: Variable = Dot()(left.in_order((*rows, inner)), right.in_order((inner, *columns)))
    return made


@rule
def sum_of_products(x: Float, y: Float) -> Law:
    """sum(x * y) over the one dimension that both have is a product of matrices or vectors."""
    return total(x * y), _contraction, same_dtype(x, y)


RULES = (
    add_dot,
    sub_dot,
    add_scaled_dot,
    sub_scaled_dot,
    sum_of_products,
)
