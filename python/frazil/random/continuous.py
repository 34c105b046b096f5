"""Continuous distributions of NumPy's Generator."""

from __future__ import annotations

from frazil.random.docstrings import drawing
from frazil.random.draw import Drawn, Size, draw
from frazil.scalar.constants import TensorLike


@drawing(
    "Draw from uniform distributions, from ``low`` up to but without ``high``",
    "float64.",
    "-1.0, [1.0, 5.0]",
    low="tensor_like: The lower end.",
    high="tensor_like: The upper end.",
)
def uniform(
    rng: TensorLike, low: TensorLike = 0.0, high: TensorLike = 1.0, size: Size = None
) -> Drawn:
    return draw("uniform", rng, [low, high], size)


@drawing(
    "Draw from normal distributions",
    "float64.",
    "[0.0, 5.0], 2.0",
    loc="tensor_like: The mean.",
    scale="tensor_like: The standard deviation, not negative.",
)
def normal(
    rng: TensorLike, loc: TensorLike = 0.0, scale: TensorLike = 1.0, size: Size = None
) -> Drawn:
    return draw("normal", rng, [loc, scale], size)


@drawing(
    "Draw from log-normal distributions",
    "float64.",
    "0.0, [0.5, 1.0]",
    mean="tensor_like: The mean of the logarithm.",
    sigma="tensor_like: The standard deviation of the logarithm, not negative.",
)
def lognormal(
    rng: TensorLike, mean: TensorLike = 0.0, sigma: TensorLike = 1.0, size: Size = None
) -> Drawn:
    return draw("lognormal", rng, [mean, sigma], size)


@drawing(
    "Draw from exponential distributions",
    "float64.",
    "[1.0, 3.0]",
    scale="tensor_like: The mean, not negative.",
)
def exponential(rng: TensorLike, scale: TensorLike = 1.0, size: Size = None) -> Drawn:
    return draw("exponential", rng, [scale], size)


@drawing(
    "Draw from gamma distributions",
    "float64.",
    "[2.0, 3.0], 0.5",
    shape="tensor_like: The shape, not negative.",
    scale="tensor_like: The scale, not negative.",
)
def gamma(rng: TensorLike, shape: TensorLike, scale: TensorLike = 1.0, size: Size = None) -> Drawn:
    return draw("gamma", rng, [shape, scale], size)


@drawing(
    "Draw from beta distributions",
    "float64.",
    "[2.0, 3.0], 0.5",
    a="tensor_like: Positive.",
    b="tensor_like: Positive.",
)
def beta(rng: TensorLike, a: TensorLike, b: TensorLike, size: Size = None) -> Drawn:
    return draw("beta", rng, [a, b], size)


@drawing(
    "Draw from chi-squared distributions",
    "float64.",
    "[2.0, 3.0]",
    df="tensor_like: The degrees of freedom, positive.",
)
def chisquare(rng: TensorLike, df: TensorLike, size: Size = None) -> Drawn:
    return draw("chisquare", rng, [df], size)


@drawing(
    "Draw from noncentral chi-squared distributions",
    "float64.",
    "[2.0, 3.0], 1.0",
    df="tensor_like: The degrees of freedom, positive.",
    nonc="tensor_like: The non-centrality, not negative.",
)
def noncentral_chisquare(
    rng: TensorLike, df: TensorLike, nonc: TensorLike, size: Size = None
) -> Drawn:
    return draw("noncentral_chisquare", rng, [df, nonc], size)


@drawing(
    "Draw from F distributions",
    "float64.",
    "[2.0, 3.0], 5.0",
    dfnum="tensor_like: The degrees of freedom of the numerator, positive.",
    dfden="tensor_like: Those of the denominator, positive.",
)
def f(rng: TensorLike, dfnum: TensorLike, dfden: TensorLike, size: Size = None) -> Drawn:
    return draw("f", rng, [dfnum, dfden], size)


@drawing(
    "Draw from noncentral F distributions",
    "float64.",
    "[2.0, 3.0], 5.0, 1.0",
    dfnum="tensor_like: The degrees of freedom of the numerator, positive.",
    dfden="tensor_like: Those of the denominator, positive.",
    nonc="tensor_like: The non-centrality, not negative.",
)
def noncentral_f(
    rng: TensorLike, dfnum: TensorLike, dfden: TensorLike, nonc: TensorLike, size: Size = None
) -> Drawn:
    return draw("noncentral_f", rng, [dfnum, dfden, nonc], size)


@drawing(
    "Draw from Student's t distributions",
    "float64.",
    "[2.0, 3.0]",
    df="tensor_like: The degrees of freedom, positive.",
)
def standard_t(rng: TensorLike, df: TensorLike, size: Size = None) -> Drawn:
    return draw("standard_t", rng, [df], size)


@drawing(
    "Draw from Pareto II (Lomax) distributions",
    "float64.",
    "[2.0, 3.0]",
    a="tensor_like: The shape, positive.",
)
def pareto(rng: TensorLike, a: TensorLike, size: Size = None) -> Drawn:
    return draw("pareto", rng, [a], size)


@drawing(
    "Draw from Weibull distributions of scale 1",
    "float64.",
    "[2.0, 3.0]",
    a="tensor_like: The shape, not negative.",
)
def weibull(rng: TensorLike, a: TensorLike, size: Size = None) -> Drawn:
    return draw("weibull", rng, [a], size)


@drawing(
    "Draw from power distributions",
    "float64.",
    "[2.0, 3.0]",
    a="tensor_like: The exponent plus one, positive.",
)
def power(rng: TensorLike, a: TensorLike, size: Size = None) -> Drawn:
    return draw("power", rng, [a], size)


@drawing(
    "Draw from Laplace distributions",
    "float64.",
    "[0.0, 5.0], 2.0",
    loc="tensor_like: The mean.",
    scale="tensor_like: The decay, not negative.",
)
def laplace(
    rng: TensorLike, loc: TensorLike = 0.0, scale: TensorLike = 1.0, size: Size = None
) -> Drawn:
    return draw("laplace", rng, [loc, scale], size)


@drawing(
    "Draw from Gumbel distributions",
    "float64.",
    "[0.0, 5.0], 2.0",
    loc="tensor_like: The mode.",
    scale="tensor_like: The scale, not negative.",
)
def gumbel(
    rng: TensorLike, loc: TensorLike = 0.0, scale: TensorLike = 1.0, size: Size = None
) -> Drawn:
    return draw("gumbel", rng, [loc, scale], size)


@drawing(
    "Draw from logistic distributions",
    "float64.",
    "[0.0, 5.0], 2.0",
    loc="tensor_like: The mean.",
    scale="tensor_like: The scale, not negative.",
)
def logistic(
    rng: TensorLike, loc: TensorLike = 0.0, scale: TensorLike = 1.0, size: Size = None
) -> Drawn:
    return draw("logistic", rng, [loc, scale], size)


@drawing(
    "Draw from Rayleigh distributions",
    "float64.",
    "[1.0, 2.0]",
    scale="tensor_like: The mode, not negative.",
)
def rayleigh(rng: TensorLike, scale: TensorLike = 1.0, size: Size = None) -> Drawn:
    return draw("rayleigh", rng, [scale], size)


@drawing(
    "Draw from Wald (inverse Gaussian) distributions",
    "float64.",
    "[1.0, 2.0], 3.0",
    mean="tensor_like: The mean, positive.",
    scale="tensor_like: The scale, positive.",
)
def wald(rng: TensorLike, mean: TensorLike, scale: TensorLike, size: Size = None) -> Drawn:
    return draw("wald", rng, [mean, scale], size)


@drawing(
    "Draw from von Mises distributions, from -pi to pi",
    "float64.",
    "[1.0, 2.0], 3.0",
    mu="tensor_like: The mode.",
    kappa="tensor_like: The concentration, not negative.",
)
def vonmises(rng: TensorLike, mu: TensorLike, kappa: TensorLike, size: Size = None) -> Drawn:
    return draw("vonmises", rng, [mu, kappa], size)


@drawing(
    "Draw from triangular distributions",
    "float64.",
    "[0.0, 1.0], 1.5, 2.0",
    left="tensor_like: The lower end.",
    mode="tensor_like: The peak, not below ``left``.",
    right="tensor_like: The upper end, not below ``mode`` and above ``left``.",
)
def triangular(
    rng: TensorLike, left: TensorLike, mode: TensorLike, right: TensorLike, size: Size = None
) -> Drawn:
    return draw("triangular", rng, [left, mode, right], size)
