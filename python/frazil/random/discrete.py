"""Discrete distributions of NumPy's Generator."""

from __future__ import annotations

from frazil.random.docstrings import drawing
from frazil.random.draw import Drawn, Size, draw
from frazil.scalar.constants import TensorLike


@drawing
def poisson(rng: TensorLike, lam: TensorLike = 1.0, size: Size = None) -> Drawn:
    """Draw from Poisson distributions.

    lam (tensor_like): The mean, not negative.
    returns: int64.
    example: [1.0, 20.0]
    """
    return draw("poisson", rng, [lam], size, "int64")


@drawing
def geometric(rng: TensorLike, p: TensorLike, size: Size = None) -> Drawn:
    """Draw from geometric distributions: how many trials until the first success.

    p (tensor_like): The probability of success, above 0 and up to 1.
    returns: int64.
    example: [0.1, 0.9]
    """
    return draw("geometric", rng, [p], size, "int64")


@drawing
def logseries(rng: TensorLike, p: TensorLike, size: Size = None) -> Drawn:
    """Draw from logarithmic series distributions.

    p (tensor_like): From 0 to below 1.
    returns: int64.
    example: [0.1, 0.9]
    """
    return draw("logseries", rng, [p], size, "int64")


@drawing
def zipf(rng: TensorLike, a: TensorLike, size: Size = None) -> Drawn:
    """Draw from Zipf distributions.

    a (tensor_like): The exponent, above 1.
    returns: int64.
    example: [2.0, 3.0]
    """
    return draw("zipf", rng, [a], size, "int64")


@drawing
def negative_binomial(rng: TensorLike, n: TensorLike, p: TensorLike, size: Size = None) -> Drawn:
    """Draw from negative binomial distributions: how many failures before ``n`` successes.

    n (tensor_like): How many successes, positive; any real number.
    p (tensor_like): The probability of success, above 0 and up to 1.
    returns: int64.
    example: [2.0, 3.5], 0.4
    """
    return draw("negative_binomial", rng, [n, p], size, "int64")


@drawing
def binomial(rng: TensorLike, n: TensorLike, p: TensorLike, size: Size = None) -> Drawn:
    """Draw from binomial distributions: how many of ``n`` trials succeed.

    n (tensor_like): How many trials: integers, not negative.
    p (tensor_like): The probability of success, from 0 to 1.
    returns: int64.
    example: [2, 100], 0.4
    """
    return draw("binomial", rng, [n, p], size, "int64")


@drawing
def hypergeometric(
    rng: TensorLike, ngood: TensorLike, nbad: TensorLike, nsample: TensorLike, size: Size = None
) -> Drawn:
    """Draw from hypergeometric distributions: how many good ones are in a sample.

    ngood (tensor_like): How many good ones there are: integers, not negative, below 10**9.
    nbad (tensor_like): How many bad ones there are: likewise.
    nsample (tensor_like): How many are taken: integers, at most ``ngood + nbad``.
    returns: int64.
    example: [5, 6], 7, 8
    """
    return draw("hypergeometric", rng, [ngood, nbad, nsample], size, "int64")
