"""Distributions computed from others: those of PyTensor that NumPy's Generator lacks.

The numbers are those that PyTensor's variables of these names draw from the same generator. If a
formula computes them, its rounding may differ.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from frazil._core import Variable
from frazil.random.continuous import beta, gamma, normal, standard_t
from frazil.random.discrete import binomial, negative_binomial
from frazil.random.docstrings import drawing
from frazil.random.draw import Drawn, Size, as_parameter, broadcast_lengths
from frazil.random.standard import random, standard_gamma
from frazil.scalar.constants import TensorLike
from frazil.tensor.broadcasting import broadcast_to
from frazil.tensor.checks import check_parameters
from frazil.tensor.cumulation import cumsum
from frazil.tensor.dims import expand_dims
from frazil.tensor.elementwise.table import expm1, log1p, reciprocal, tan
from frazil.tensor.lengths import Lengths, as_lengths, lengths


def _spread(name: str, size: Size, *parameters: TensorLike) -> tuple[Lengths, Sequence[Variable]]:
    """Return the shape of the result, and the parameters in that shape."""
    operands = [as_parameter(name, x, "float64") for x in parameters]
    shape = broadcast_lengths([lengths(x) for x in operands]) if size is None else as_lengths(size)
    return shape, [broadcast_to(x, shape) if x.ndim else x for x in operands]


@drawing
def halfnormal(
    rng: TensorLike, loc: TensorLike = 0.0, scale: TensorLike = 1.0, size: Size = None
) -> Drawn:
    """Draw from half-normal distributions: ``loc``, and how far normal numbers are from zero.

    loc (tensor_like): The location.
    scale (tensor_like): The scale, not negative.
    example: 1.0, [2.0, 3.0] -> 1.0 + np.abs(rng.normal(0.0, [2.0, 3.0]))
    """
    shape, (start, width) = _spread("halfnormal", size, loc, scale)
    state, drawn = normal(rng, 0.0, width, shape)
    return state, abs(drawn) + start


@drawing
def invgamma(
    rng: TensorLike, shape: TensorLike, scale: TensorLike = 1.0, size: Size = None
) -> Drawn:
    """Draw from inverse gamma distributions.

    shape (tensor_like): The shape, not negative.
    scale (tensor_like): The scale, positive.
    example: [2.0, 3.0], 0.5 -> 1 / rng.gamma([2.0, 3.0], 1 / 0.5)
    """
    made, (concentration, width) = _spread("invgamma", size, shape, scale)
    state, drawn = gamma(rng, concentration, reciprocal(width), made)
    return state, reciprocal(drawn)


def _positive(name: str, scale: Variable) -> Variable:
    return check_parameters(scale, scale >= 0, msg=f"{name}: scale < 0")


@drawing
def cauchy(
    rng: TensorLike, loc: TensorLike = 0.0, scale: TensorLike = 1.0, size: Size = None
) -> Drawn:
    """Draw from Cauchy distributions.

    loc (tensor_like): The location.
    scale (tensor_like): The scale, not negative.
    example: 1.0, 0.0, 2 -> [1.0, 1.0]
    """
    shape, (start, width) = _spread("cauchy", size, loc, scale)
    state, drawn = random(rng, shape)
    return state, tan(math.pi * drawn - math.pi / 2) * _positive("cauchy", width) + start


@drawing
def halfcauchy(
    rng: TensorLike, loc: TensorLike = 0.0, scale: TensorLike = 1.0, size: Size = None
) -> Drawn:
    """Draw from half-Cauchy distributions.

    loc (tensor_like): The location.
    scale (tensor_like): The scale, not negative.
    example: 1.0, 0.0, 2 -> [1.0, 1.0]
    """
    shape, (start, width) = _spread("halfcauchy", size, loc, scale)
    state, drawn = random(rng, shape)
    return state, tan(math.pi / 2 * drawn) * _positive("halfcauchy", width) + start


@drawing
def t(
    rng: TensorLike,
    df: TensorLike,
    loc: TensorLike = 0.0,
    scale: TensorLike = 1.0,
    size: Size = None,
) -> Drawn:
    """Draw from Student's t distributions with location and scale.

    df (tensor_like): The degrees of freedom, positive.
    loc (tensor_like): The location.
    scale (tensor_like): The scale, not negative.
    example: [2.0, 3.0], 1.0, 2.0 -> 1.0 + 2.0 * rng.standard_t([2.0, 3.0])
    """
    shape, (freedom, start, width) = _spread("t", size, df, loc, scale)
    state, drawn = standard_t(rng, freedom, shape)
    return state, drawn * _positive("t", width) + start


@drawing
def truncexpon(
    rng: TensorLike,
    b: TensorLike,
    loc: TensorLike = 0.0,
    scale: TensorLike = 1.0,
    size: Size = None,
) -> Drawn:
    """Draw from exponential distributions that end at ``loc + b * scale``.

    b (tensor_like): Where they end, in scales; positive.
    loc (tensor_like): The location.
    scale (tensor_like): The scale, not negative.
    example: 1.0, 2.0, 0.0, 2 -> [2.0, 2.0]
    """
    shape, (end, start, width) = _spread("truncexpon", size, b, loc, scale)
    state, drawn = random(rng, shape)
    end = check_parameters(end, end > 0, msg="truncexpon: b <= 0")
    return state, -log1p(drawn * expm1(-end)) * _positive("truncexpon", width) + start


@drawing
def gengamma(
    rng: TensorLike,
    alpha: TensorLike = 1.0,
    p: TensorLike = 1.0,
    lambd: TensorLike = 1.0,
    size: Size = None,
) -> Drawn:
    """Draw from generalized gamma distributions.

    alpha (tensor_like): The shape, positive.
    p (tensor_like): The power, positive.
    lambd (tensor_like): The scale, not negative.
    example: [2.0, 3.0], 1.0, 3.0 -> 3.0 * rng.standard_gamma([2.0, 3.0])
    """
    shape, (concentration, power, width) = _spread("gengamma", size, alpha, p, lambd)
    state, drawn = standard_gamma(rng, concentration / power, shape)
    return state, drawn ** reciprocal(power) * _positive("gengamma", width)


@drawing
def bernoulli(rng: TensorLike, p: TensorLike, size: Size = None) -> Drawn:
    """Draw from Bernoulli distributions: 1 with probability ``p``, else 0.

    p (tensor_like): From 0 to 1.
    returns: int64.
    example: [0.2, 0.9] -> rng.binomial(1, [0.2, 0.9])
    """
    return binomial(rng, 1, p, size)


@drawing
def betabinom(
    rng: TensorLike, n: TensorLike, a: TensorLike, b: TensorLike, size: Size = None
) -> Drawn:
    """Draw from beta-binomial distributions: binomial ones whose probability is drawn, too.

    n (tensor_like): How many trials: integers, not negative.
    a, b (tensor_like): Positive.
    returns: int64.
    example: 10, 1e9, 1e-9, 2 -> [10, 10]
    """
    trials = as_parameter("betabinom", n, "int64")
    shape, (_, first, second) = _spread("betabinom", size, trials, a, b)
    state, shares = beta(rng, first, second, shape)
    return binomial(state, trials, shares, shape)


@drawing
def nbinom(rng: TensorLike, n: TensorLike, p: TensorLike, size: Size = None) -> Drawn:
    """Draw from negative binomial distributions: another name of :func:`negative_binomial`.

    n (tensor_like): How many successes, positive.
    p (tensor_like): The probability of success, above 0 and up to 1.
    returns: int64.
    example: [2.0, 3.5], 0.4 -> rng.negative_binomial([2.0, 3.5], 0.4)
    """
    return negative_binomial(rng, n, p, size)


@drawing
def categorical(rng: TensorLike, p: TensorLike, size: Size = None) -> Drawn:
    """Draw positions with the probabilities that stand there.

    p (tensor_like): The probability of each position, along the last dimension; they sum to one.
    size (int, 0-d integer variable, or a sequence of them): Shape of the result; default: that of
        ``p`` without its last dimension.
    returns: int64.
    example: [[0.1, 0.9, 0.0], [0.0, 0.0, 1.0]] -> np.array([int(rng.random() > 0.1), 2])
    """
    shares = as_parameter("categorical", p, "float64")
    if shares.ndim == 0:
        raise ValueError(f"categorical takes probabilities with dimensions, given {shares.type}")
    batch = lengths(shares)[:-1]
    shape = batch if size is None else as_lengths(size)
    state, drawn = random(rng, shape)
    shares = check_parameters(shares, shares >= 0, msg="categorical: p < 0")
    sums = broadcast_to(cumsum(shares, -1), (*shape, lengths(shares)[-1]))
    return state, (sums < expand_dims(drawn, drawn.ndim)).sum(-1)
