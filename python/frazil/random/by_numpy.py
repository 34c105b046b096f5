"""Draws of each distribution by NumPy's Generator: the reference for every linker."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np

from frazil.graph.op import Array

Shape: TypeAlias = tuple[int, ...]


class Distribution(Protocol):
    """A distribution to draw from."""

    @property
    def distribution(self) -> str: ...

    @property
    def dtype(self) -> str: ...


def by_name(
    generator: np.random.Generator, op: Distribution, parameters: Sequence[Array], shape: Shape
) -> Array:
    """Return what the generator's method of that name draws."""
    drawn: Array = getattr(generator, op.distribution)(*parameters, size=shape)
    return drawn


def _typed(
    generator: np.random.Generator, op: Distribution, parameters: Sequence[Array], shape: Shape
) -> Array:
    dtype = np.dtype(op.dtype)
    drawn: Array = getattr(generator, op.distribution)(*parameters, size=shape, dtype=dtype)
    return drawn


def _exponential_by_inversion(
    generator: np.random.Generator, op: Distribution, parameters: Sequence[Array], shape: Shape
) -> Array:
    # The types of NumPy's stubs are types of constants.
    dtype: Any = np.dtype(op.dtype)
    return generator.standard_exponential(shape, dtype=dtype, method="inv")


def _integers(
    generator: np.random.Generator, op: Distribution, parameters: Sequence[Array], shape: Shape
) -> Array:
    low, high, endpoint = parameters
    dtype: Any = np.dtype(op.dtype)
    return generator.integers(low, high, size=shape, dtype=dtype, endpoint=bool(endpoint))


def _permutation(
    generator: np.random.Generator, op: Distribution, parameters: Sequence[Array], shape: Shape
) -> Array:
    return _rows(shape, op.dtype, lambda _: generator.permutation(shape[-1]))


def _sample(
    generator: np.random.Generator, op: Distribution, parameters: Sequence[Array], shape: Shape
) -> Array:
    population, shuffle = parameters
    return generator.choice(int(population), size=shape, replace=False, shuffle=bool(shuffle))


def _multinomial(
    generator: np.random.Generator, op: Distribution, parameters: Sequence[Array], shape: Shape
) -> Array:
    n, pvals = parameters
    return generator.multinomial(n, pvals, size=shape[:-1])


def _dirichlet(
    generator: np.random.Generator, op: Distribution, parameters: Sequence[Array], shape: Shape
) -> Array:
    (alpha,) = parameters
    if alpha.ndim == 1:
        return generator.dirichlet(alpha, size=shape[:-1])
    alphas = np.broadcast_to(alpha, shape)
    return _rows(shape, op.dtype, lambda at: generator.dirichlet(alphas[at]))


def _colors(
    generator: np.random.Generator, op: Distribution, parameters: Sequence[Array], shape: Shape
) -> Array:
    colors, sample = parameters
    method: Any = "count" if op.distribution.endswith("count") else "marginals"
    draw = generator.multivariate_hypergeometric
    if colors.ndim == 1 and sample.ndim == 0:
        return draw(colors, int(sample), size=shape[:-1], method=method)
    all_colors, samples = np.broadcast_to(colors, shape), np.broadcast_to(sample, shape[:-1])
    return _rows(shape, op.dtype, lambda at: draw(all_colors[at], int(samples[at]), method=method))


def _rows(shape: Shape, dtype: str, draw: Callable[[Shape], Array]) -> Array:
    """Return rows that are drawn one after the other."""
    made = np.empty(shape, dtype)
    for at in np.ndindex(shape[:-1]):
        made[at] = draw(at)
    return made


NUMPY: dict[str, Callable[..., Any]] = {
    "random": _typed,
    "standard_normal": _typed,
    "standard_exponential": _typed,
    "standard_exponential_inv": _exponential_by_inversion,
    "standard_gamma": _typed,
    "integers": _integers,
    "permutation": _permutation,
    "sample": _sample,
    "multinomial": _multinomial,
    "dirichlet": _dirichlet,
    "multivariate_hypergeometric": _colors,
    "multivariate_hypergeometric_count": _colors,
}
"""NumPy's draws that are no call with the parameters and a size."""
