"""Continuous distributions of NumPy's Generator."""

from __future__ import annotations

from frazil.random.docstrings import drawing
from frazil.random.draw import Drawn, Size, draw
from frazil.scalar.constants import TensorLike


@drawing
def uniform(
    rng: TensorLike, low: TensorLike = 0.0, high: TensorLike = 1.0, size: Size = None
) -> Drawn:
    """Draw from uniform distributions, from ``low`` up to but without ``high``.

    low (tensor_like): The lower end.
    high (tensor_like): The upper end.
    example: -1.0, [1.0, 5.0]
    """
    return draw("uniform", rng, [low, high], size)


@drawing
def normal(
    rng: TensorLike, loc: TensorLike = 0.0, scale: TensorLike = 1.0, size: Size = None
) -> Drawn:
    """Draw from normal distributions.

    loc (tensor_like): The mean.
    scale (tensor_like): The standard deviation, not negative.
    example: [0.0, 5.0], 2.0
    """
    return draw("normal", rng, [loc, scale], size)


@drawing
def lognormal(
    rng: TensorLike, mean: TensorLike = 0.0, sigma: TensorLike = 1.0, size: Size = None
) -> Drawn:
    """Draw from log-normal distributions.

    mean (tensor_like): The mean of the logarithm.
    sigma (tensor_like): The standard deviation of the logarithm, not negative.
    example: 0.0, [0.5, 1.0]
    """
    return draw("lognormal", rng, [mean, sigma], size)


@drawing
def exponential(rng: TensorLike, scale: TensorLike = 1.0, size: Size = None) -> Drawn:
    """Draw from exponential distributions.

    scale (tensor_like): The mean, not negative.
    example: [1.0, 3.0]
    """
    return draw("exponential", rng, [scale], size)


@drawing
def gamma(rng: TensorLike, shape: TensorLike, scale: TensorLike = 1.0, size: Size = None) -> Drawn:
    """Draw from gamma distributions.

    shape (tensor_like): The shape, not negative.
    scale (tensor_like): The scale, not negative.
    example: [2.0, 3.0], 0.5
    """
    return draw("gamma", rng, [shape, scale], size)


@drawing
def beta(rng: TensorLike, a: TensorLike, b: TensorLike, size: Size = None) -> Drawn:
    """Draw from beta distributions.

    a, b (tensor_like): Positive.
    example: [2.0, 3.0], 0.5
    """
    return draw("beta", rng, [a, b], size)


@drawing
def chisquare(rng: TensorLike, df: TensorLike, size: Size = None) -> Drawn:
    """Draw from chi-squared distributions.

    df (tensor_like): The degrees of freedom, positive.
    example: [2.0, 3.0]
    """
    return draw("chisquare", rng, [df], size)


@drawing
def noncentral_chisquare(
    rng: TensorLike, df: TensorLike, nonc: TensorLike, size: Size = None
) -> Drawn:
    """Draw from noncentral chi-squared distributions.

    df (tensor_like): The degrees of freedom, positive.
    nonc (tensor_like): The non-centrality, not negative.
    example: [2.0, 3.0], 1.0
    """
    return draw("noncentral_chisquare", rng, [df, nonc], size)


@drawing
def f(rng: TensorLike, dfnum: TensorLike, dfden: TensorLike, size: Size = None) -> Drawn:
    """Draw from F distributions.

    dfnum (tensor_like): The degrees of freedom of the numerator, positive.
    dfden (tensor_like): Those of the denominator, positive.
    example: [2.0, 3.0], 5.0
    """
    return draw("f", rng, [dfnum, dfden], size)


@drawing
def noncentral_f(
    rng: TensorLike, dfnum: TensorLike, dfden: TensorLike, nonc: TensorLike, size: Size = None
) -> Drawn:
    """Draw from noncentral F distributions.

    dfnum (tensor_like): The degrees of freedom of the numerator, positive.
    dfden (tensor_like): Those of the denominator, positive.
    nonc (tensor_like): The non-centrality, not negative.
    example: [2.0, 3.0], 5.0, 1.0
    """
    return draw("noncentral_f", rng, [dfnum, dfden, nonc], size)


@drawing
def standard_t(rng: TensorLike, df: TensorLike, size: Size = None) -> Drawn:
    """Draw from Student's t distributions.

    df (tensor_like): The degrees of freedom, positive.
    example: [2.0, 3.0]
    """
    return draw("standard_t", rng, [df], size)


@drawing
def pareto(rng: TensorLike, a: TensorLike, size: Size = None) -> Drawn:
    """Draw from Pareto II (Lomax) distributions.

    a (tensor_like): The shape, positive.
    example: [2.0, 3.0]
    """
    return draw("pareto", rng, [a], size)


@drawing
def weibull(rng: TensorLike, a: TensorLike, size: Size = None) -> Drawn:
    """Draw from Weibull distributions of scale 1.

    a (tensor_like): The shape, not negative.
    example: [2.0, 3.0]
    """
    return draw("weibull", rng, [a], size)


@drawing
def power(rng: TensorLike, a: TensorLike, size: Size = None) -> Drawn:
    """Draw from power distributions.

    a (tensor_like): The exponent plus one, positive.
    example: [2.0, 3.0]
    """
    return draw("power", rng, [a], size)


@drawing
def laplace(
    rng: TensorLike, loc: TensorLike = 0.0, scale: TensorLike = 1.0, size: Size = None
) -> Drawn:
    """Draw from Laplace distributions.

    loc (tensor_like): The mean.
    scale (tensor_like): The decay, not negative.
    example: [0.0, 5.0], 2.0
    """
    return draw("laplace", rng, [loc, scale], size)


@drawing
def gumbel(
    rng: TensorLike, loc: TensorLike = 0.0, scale: TensorLike = 1.0, size: Size = None
) -> Drawn:
    """Draw from Gumbel distributions.

    loc (tensor_like): The mode.
    scale (tensor_like): The scale, not negative.
    example: [0.0, 5.0], 2.0
    """
    return draw("gumbel", rng, [loc, scale], size)


@drawing
def logistic(
    rng: TensorLike, loc: TensorLike = 0.0, scale: TensorLike = 1.0, size: Size = None
) -> Drawn:
    """Draw from logistic distributions.

    loc (tensor_like): The mean.
    scale (tensor_like): The scale, not negative.
    example: [0.0, 5.0], 2.0
    """
    return draw("logistic", rng, [loc, scale], size)


@drawing
def rayleigh(rng: TensorLike, scale: TensorLike = 1.0, size: Size = None) -> Drawn:
    """Draw from Rayleigh distributions.

    scale (tensor_like): The mode, not negative.
    example: [1.0, 2.0]
    """
    return draw("rayleigh", rng, [scale], size)


@drawing
def wald(rng: TensorLike, mean: TensorLike, scale: TensorLike, size: Size = None) -> Drawn:
    """Draw from Wald (inverse Gaussian) distributions.

    mean (tensor_like): The mean, positive.
    scale (tensor_like): The scale, positive.
    example: [1.0, 2.0], 3.0
    """
    return draw("wald", rng, [mean, scale], size)


@drawing
def vonmises(rng: TensorLike, mu: TensorLike, kappa: TensorLike, size: Size = None) -> Drawn:
    """Draw from von Mises distributions, from -pi to pi.

    mu (tensor_like): The mode.
    kappa (tensor_like): The concentration, not negative.
    example: [1.0, 2.0], 3.0
    """
    return draw("vonmises", rng, [mu, kappa], size)


@drawing
def triangular(
    rng: TensorLike, left: TensorLike, mode: TensorLike, right: TensorLike, size: Size = None
) -> Drawn:
    """Draw from triangular distributions.

    left (tensor_like): The lower end.
    mode (tensor_like): The peak, not below ``left``.
    right (tensor_like): The upper end, not below ``mode`` and above ``left``.
    example: [0.0, 1.0], 1.5, 2.0
    """
    return draw("triangular", rng, [left, mode, right], size)
