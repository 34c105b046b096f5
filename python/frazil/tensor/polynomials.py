"""Polynomials, given by vectors of coefficients, the highest power first."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

import frazil._core as _core
from frazil._core import FrozenApply, Variable
from frazil.graph.dataclass import dataclass
from frazil.graph.op import Array, Gradients, Variables
from frazil.scalar.constants import TensorLike, as_tensor
from frazil.tensor.broadcasting import unbroadcast
from frazil.tensor.creation import zeros, zeros_like
from frazil.tensor.dims import expand_dims
from frazil.tensor.docstrings import described
from frazil.tensor.index_syntax import get_item
from frazil.tensor.joining import concatenate
from frazil.tensor.lengths import (
    Lengths,
    length,
    lengths,
    literal,
    maximum,
    static_length,
    subtract,
)
from frazil.tensor.ranges import arange
from frazil.tensor.ranks import atleast_1d
from frazil.tensor.rearranging import flip
from frazil.tensor.reshaping import reshape
from frazil.tensor.rounding import RoundedOp
from frazil.tensor.splitting import unstack


@dataclass(frozen=True, eq=False)
class PolynomialValues(RoundedOp):
    """The values of polynomials whose coefficients are the rows of a tensor, by Horner's rule.

    A row has the coefficients of one power and broadcasts to the shape of the second operand. Both
    have one dtype.
    """

    takes_complex = True

    def make_node(self, p: Variable, x: Variable) -> FrozenApply:
        if p.dtype != x.dtype or not 1 <= p.ndim <= x.ndim + 1:
            raise TypeError(f"{self} takes coefficients like its places; given {p.type}, {x.type}")
        return FrozenApply(self, [p, x], [x.type])

    def perform(self, node: FrozenApply, inputs: Sequence[Array]) -> tuple[Array, ...]:
        p, x = inputs
        values = np.zeros_like(x)
        with np.errstate(all="ignore"):
            for row in p:
                values = values * x + row
        return (np.asarray(values, x.dtype),)

    def infer_shape(self, node: FrozenApply, input_shapes: Sequence[Lengths]) -> tuple[Lengths]:
        return (input_shapes[1],)

    def L_op(self, inputs: Variables, outputs: Variables, output_gradients: Variables) -> Gradients:
        (p, x), (g,) = inputs, output_gradients
        falling = as_tensor(_falling(length(p, 0)), p.dtype)
        column = expand_dims(falling, tuple(range(1, p.ndim)))
        slope = self(get_item(p, slice(None, -1)) * get_item(column, slice(1, None)), x)
        powers = expand_dims(x, 0) ** expand_dims(falling - 1, tuple(range(1, x.ndim + 1)))
        weighted = powers * expand_dims(g, 0)
        own = expand_dims(p, tuple(range(1, x.ndim + 2 - p.ndim)))
        summed = unbroadcast(weighted, own, weighted.broadcastable, lengths(weighted).__getitem__)
        return [reshape(summed, lengths(p)), g * slope]


@described
def polyval(p: TensorLike, x: TensorLike) -> Variable:
    """Return the values of a polynomial.

    p (tensor_like): The coefficients, the highest power first.
    x (tensor_like): Where.
    returns: Of the shape of ``x``, as :func:`numpy.polyval` gives, by Horner's rule.
    example: [3.0, 0.0, 1.0], [0.0, 2.0] -> [ 1., 13.]
    """
    p, x = as_tensor(p), as_tensor(x)
    if p.ndim != 1:
        raise ValueError(f"coefficients are a vector; given {p.type}")
    if static_length(length(p, 0)) is None:
        dtype = _core.promote(p.dtype, x.dtype)
        values: Variable = PolynomialValues()(as_tensor(p, dtype), as_tensor(x, dtype))
        return values
    value = zeros_like(x)
    for coefficient in unstack(p):
        value = value * x + coefficient
    return value


@described
def polyadd(a1: TensorLike, a2: TensorLike) -> Variable:
    """Return the sum of two polynomials.

    a1, a2 (tensor_like): The coefficients, the highest power first.
    returns: As long as the longer one, as :func:`numpy.polyadd` gives.
    example: [1, 2], [9, 5, 4] -> [9, 6, 6]
    """
    a, b = _aligned(a1, a2)
    return a + b


@described
def polysub(a1: TensorLike, a2: TensorLike) -> Variable:
    """Return the difference of two polynomials.

    a1, a2 (tensor_like): The coefficients, the highest power first.
    returns: As long as the longer one, as :func:`numpy.polysub` gives.
    example: [2, 10, -2], [3, 10, -4] -> [-1,  0,  2]
    """
    a, b = _aligned(a1, a2)
    return a - b


def _aligned(a1: TensorLike, a2: TensorLike) -> tuple[Variable, Variable]:
    """Return coefficients with zeros in front of those that are fewer."""
    a, b = _vector(a1), _vector(a2)
    n, m = length(a, 0), length(b, 0)
    if n is m:
        return a, b
    none = literal(0)
    before_a, before_b = maximum(subtract(m, n), none), maximum(subtract(n, m), none)
    return (
        concatenate([zeros(before_a, a.dtype), a]),
        concatenate([zeros(before_b, b.dtype), b]),
    )


def _vector(coefficients: TensorLike) -> Variable:
    made = atleast_1d(as_tensor(coefficients))
    assert isinstance(made, Variable)
    if made.ndim != 1:
        raise ValueError(f"coefficients are a vector; given {made.type}")
    return made


@described
def polyder(p: TensorLike, m: int = 1) -> Variable:
    """Return the derivative of a polynomial.

    p (tensor_like): The coefficients, the highest power first.
    m (int): The number of times.
    returns: Shorter by ``m``, as :func:`numpy.polyder` gives.
    example: [1, 1, 1, 1] -> [3, 2, 1]
    """
    if m < 0:
        raise ValueError(f"m must not be negative; given {m}; see polyint")
    value = as_tensor(p)
    if value.ndim != 1:
        raise ValueError(f"coefficients are a vector; given {value.type}")
    for _ in range(m):
        exponents = _falling(subtract(length(value, 0), literal(1)))
        value = get_item(value, slice(None, -1)) * exponents
    return value


@described
def polyint(p: TensorLike, m: int = 1, k: TensorLike | None = None) -> Variable:
    """Return an antiderivative of a polynomial.

    p (tensor_like): The coefficients, the highest power first.
    m (int): The number of times.
    k (tensor_like): The constant of each step, the first one first, or one for all; default: 0.
    returns: Longer by ``m``, as :func:`numpy.polyint` gives.
    example: [3, 2, 1], k=5 -> [1., 1., 1., 5.]
    """
    if m < 0:
        raise ValueError(f"m must not be negative; given {m}; see polyder")
    value = as_tensor(p)
    if value.ndim != 1:
        raise ValueError(f"coefficients are a vector; given {value.type}")
    constants = zeros(m) if k is None else _vector(k)
    count = static_length(length(constants, 0))
    if count is None or (count < m and count != 1):
        raise ValueError(f"k is a number, or {m} of them; given {constants.type}")
    for step in range(m):
        at = 0 if count == 1 else step
        divided = value / _falling(length(value, 0))
        value = concatenate([divided, get_item(constants, slice(at, at + 1))])
    return value


def _falling(count: Variable) -> Variable:
    """Return the numbers from ``count`` down to 1."""
    return flip(arange(maximum(count, literal(0)))) + 1
