"""Distributions without location and scale, in float64 or float32."""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt

from frazil.random.docstrings import drawing
from frazil.random.draw import Drawn, Size, draw
from frazil.scalar.constants import TensorLike

_SIZE = "int, 0-d integer variable, or a sequence of them: Shape of the result."
_DTYPE = "dtype_like: float64 or float32, whose numbers are others."
_RESULT = "Of type ``dtype``."


def _float(dtype: npt.DTypeLike) -> str:
    name = np.dtype(dtype).name
    if name not in ("float32", "float64"):
        raise TypeError(f"numbers are drawn in float64 or float32, given dtype {name}; cast them")
    return name


@drawing(
    "Draw from the uniform distribution from 0 up to but without 1",
    _RESULT,
    "3",
    size=_SIZE,
    dtype=_DTYPE,
)
def random(rng: TensorLike, size: Size = None, dtype: npt.DTypeLike = "float64") -> Drawn:
    return draw("random", rng, [], size, _float(dtype))


@drawing(
    "Draw from the normal distribution of mean 0 and standard deviation 1",
    _RESULT,
    "3",
    size=_SIZE,
    dtype=_DTYPE,
)
def standard_normal(rng: TensorLike, size: Size = None, dtype: npt.DTypeLike = "float64") -> Drawn:
    return draw("standard_normal", rng, [], size, _float(dtype))


@drawing(
    "Draw from the exponential distribution of mean 1",
    _RESULT,
    "3",
    size=_SIZE,
    dtype=_DTYPE,
    method='{"zig", "inv"}: By the ziggurat, or by the inverse of the distribution function.',
)
def standard_exponential(
    rng: TensorLike,
    size: Size = None,
    dtype: npt.DTypeLike = "float64",
    method: Literal["zig", "inv"] = "zig",
) -> Drawn:
    if method not in ("zig", "inv"):
        raise ValueError(f"method must be 'zig' or 'inv', given {method!r}")
    name = "standard_exponential" if method == "zig" else "standard_exponential_inv"
    return draw(name, rng, [], size, _float(dtype))


@drawing(
    "Draw from gamma distributions of scale 1",
    _RESULT,
    "[2.0, 3.0]",
    shape="tensor_like: The shape, not negative.",
    dtype=_DTYPE,
)
def standard_gamma(
    rng: TensorLike, shape: TensorLike, size: Size = None, dtype: npt.DTypeLike = "float64"
) -> Drawn:
    return draw("standard_gamma", rng, [shape], size, _float(dtype))


@drawing(
    "Draw from the Cauchy distribution of location 0 and scale 1",
    "float64.",
    "3",
    size=_SIZE,
)
def standard_cauchy(rng: TensorLike, size: Size = None) -> Drawn:
    return draw("standard_cauchy", rng, [], size)
