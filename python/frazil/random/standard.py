"""Distributions without location and scale, in float64 or float32."""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt

from frazil.random.docstrings import drawing
from frazil.random.draw import Drawn, Size, draw
from frazil.scalar.constants import TensorLike


def _float(dtype: npt.DTypeLike) -> str:
    name = np.dtype(dtype).name
    if name not in ("float32", "float64"):
        raise TypeError(f"numbers are drawn in float64 or float32, given dtype {name}; cast them")
    return name


@drawing
def random(rng: TensorLike, size: Size = None, dtype: npt.DTypeLike = "float64") -> Drawn:
    """Draw from the uniform distribution from 0 up to but without 1.

    example: 3
    """
    return draw("random", rng, [], size, _float(dtype))


@drawing
def standard_normal(rng: TensorLike, size: Size = None, dtype: npt.DTypeLike = "float64") -> Drawn:
    """Draw from the normal distribution of mean 0 and standard deviation 1.

    example: 3
    """
    return draw("standard_normal", rng, [], size, _float(dtype))


@drawing
def standard_exponential(
    rng: TensorLike,
    size: Size = None,
    dtype: npt.DTypeLike = "float64",
    method: Literal["zig", "inv"] = "zig",
) -> Drawn:
    """Draw from the exponential distribution of mean 1.

    method ({"zig", "inv"}): By the ziggurat, or by the inverse of the distribution function.
    example: 3
    """
    if method not in ("zig", "inv"):
        raise ValueError(f"method must be 'zig' or 'inv', given {method!r}")
    name = "standard_exponential" if method == "zig" else "standard_exponential_inv"
    return draw(name, rng, [], size, _float(dtype))


@drawing
def standard_gamma(
    rng: TensorLike, shape: TensorLike, size: Size = None, dtype: npt.DTypeLike = "float64"
) -> Drawn:
    """Draw from gamma distributions of scale 1.

    shape (tensor_like): The shape, not negative.
    example: [2.0, 3.0]
    """
    return draw("standard_gamma", rng, [shape], size, _float(dtype))


@drawing
def standard_cauchy(rng: TensorLike, size: Size = None) -> Drawn:
    """Draw from the Cauchy distribution of location 0 and scale 1.

    example: 3
    """
    return draw("standard_cauchy", rng, [], size)
