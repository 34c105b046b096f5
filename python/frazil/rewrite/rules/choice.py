"""Ops that choose between values, or pass a value on: where, fill, identity, casts, rounding."""

from __future__ import annotations

import numpy as np

import frazil.scalar as scalar
import frazil.tensor as ft
from frazil._core import FrozenApply, Variable, elemwise
from frazil.rewrite.definition import Law, rule
from frazil.rewrite.filling import fill
from frazil.rewrite.guard import same_dtype
from frazil.rewrite.sort import DTYPES, Bool, Discrete, Known, Tensor
from frazil.rewrite.wildcard import any_of

rounding = any_of("rounding", scalar.floor, scalar.ceil, scalar.trunc, scalar.rint)
rounded = any_of("rounded", scalar.floor, scalar.ceil, scalar.trunc, scalar.rint)
converted = any_of("cast", *(scalar.cast(dtype) for dtype in DTYPES))
recast = any_of("recast", *(scalar.cast(dtype) for dtype in DTYPES))
stopped = any_of("stopped", scalar.disconnected_grad, scalar.zero_grad)
binary = any_of(
    "binary",
    *(scalar.add, scalar.sub, scalar.mul, scalar.truediv, scalar.floordiv, scalar.mod, scalar.pow),
    *(scalar.maximum, scalar.minimum, scalar.eq, scalar.neq, scalar.lt, scalar.le),
    *(scalar.and_, scalar.or_, scalar.xor),
)


@rule
def where_same(c: Bool, x: Tensor) -> Law:
    """Both choices are x."""
    return ft.where(c, x, x), x


@rule
def where_true(x: Tensor, y: Tensor) -> Law:
    """The first is chosen everywhere."""
    return ft.where(True, x, y), x


@rule
def where_false(x: Tensor, y: Tensor) -> Law:
    """The second is chosen everywhere."""
    return ft.where(False, x, y), y


@rule
def where_not(c: Bool, x: Tensor, y: Tensor) -> Law:
    """Choosing by not c is choosing by c the other way round."""
    return ft.where(~c, x, y), ft.where(c, y, x)


@rule
def where_where(c: Bool, x: Tensor, y: Tensor, z: Tensor) -> Law:
    """If c holds, it holds in the first choice too."""
    return ft.where(c, ft.where(c, x, y), z), ft.where(c, x, z)


@rule
def where_else_where(c: Bool, x: Tensor, y: Tensor, z: Tensor) -> Law:
    """If c does not hold, it does not in the second choice either."""
    return ft.where(c, x, ft.where(c, y, z)), ft.where(c, x, z)


@rule
def where_true_false(c: Bool) -> Law:
    """Choosing true by c, else false, is c."""
    return ft.where(c, True, False), c


@rule
def where_false_true(c: Bool) -> Law:
    """Choosing false by c, else true, is not c."""
    return ft.where(c, False, True), ~c


@rule
def identity_of(x: Tensor) -> Law:
    """The identity is x."""
    return elemwise(scalar.identity, x), x


@rule
def gradient_stop_of(x: Tensor) -> Law:
    """disconnected_grad(x) == x and zero_grad(x) == x, once gradients have been taken."""
    return stopped(x), x


@rule
def fill_with_own_shape(x: Tensor, y: Tensor) -> Law:
    """y in the shape of x is y where y has that shape."""
    return fill(x, y), y


@rule
def fill_of_fill(x: Tensor, y: Tensor, z: Tensor) -> Law:
    """z in the shape of (y in the shape of x) is z in the shape of x where that is the same."""
    return fill(fill(x, y), z), fill(x, z)


@rule
def fill_on_the_left(x: Tensor, y: Tensor, z: Tensor) -> Law:
    """f(y in the shape of x, z) == f(y, z) where z has that shape."""
    return binary(fill(x, y), z), binary(y, z)


@rule
def fill_on_the_right(x: Tensor, y: Tensor, z: Tensor) -> Law:
    """f(z, y in the shape of x) == f(z, y) where z has that shape."""
    return binary(z, fill(x, y)), binary(z, y)


@rule
def constant_beside_fill(x: Tensor, c: Known, d: Known) -> Law:
    """f(c in the shape of x, d) == f(c, d) in the shape of x."""
    return binary(fill(x, c), d), fill(x, binary(c, d)), same_dtype(x, c)


@rule
def fill_beside_constant(x: Tensor, c: Known, d: Known) -> Law:
    """f(d, c in the shape of x) == f(d, c) in the shape of x."""
    return binary(d, fill(x, c)), fill(x, binary(d, c)), same_dtype(x, c)


@rule
def cast_to_own_dtype(x: Tensor) -> Law:
    """A cast to the dtype that x has is x."""
    return converted(x), x


def _is_lossless(source: str, through: str, target: str) -> bool:
    """Whether a cast from one dtype ``through`` another is the cast without it."""
    a, b, c = map(np.dtype, (source, through, target))
    if c.kind not in "bf" and "f" in (a.kind, b.kind):
        # The cast of a float that no integer dtype holds depends on the float's dtype.
        return False
    if a.kind in "iu" and b.kind == "f":
        return np.iinfo(a).bits <= np.finfo(b).nmant
    return np.can_cast(a, b, "safe")


def _cast_once(node: FrozenApply, x: Variable) -> Variable | None:
    between = node.inputs[0].dtype
    once: Variable | None = (
        node.op(x) if _is_lossless(x.dtype, between, node.output_types[0].dtype) else None
    )
    return once


@rule
def cast_of_cast(x: Tensor) -> Law:
    """A cast after one that loses nothing is a cast of x."""
    return recast(converted(x)), _cast_once


@rule
def rounding_of_rounded(x: Tensor) -> Law:
    """Rounding an integer changes nothing."""
    return rounding(rounded(x)), rounded(x)


@rule
def rounding_of_discrete(x: Discrete) -> Law:
    """An integer is rounded."""
    return rounding(x), x


RULES = (
    where_same,
    where_true,
    where_false,
    where_not,
    where_where,
    where_else_where,
    where_true_false,
    where_false_true,
    identity_of,
    gradient_stop_of,
    fill_with_own_shape,
    fill_of_fill,
    fill_on_the_left,
    fill_on_the_right,
    constant_beside_fill,
    fill_beside_constant,
    cast_to_own_dtype,
    cast_of_cast,
    rounding_of_rounded,
    rounding_of_discrete,
)
