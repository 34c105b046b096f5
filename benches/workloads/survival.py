"""Weibull survival of 4,000 people, half of them censored, by ten coefficients and the shape."""

import numpy as np

from workloads.peers_of import peers_of

COUNT, COLUMNS = 4_000, 10


def arguments():
    rng = np.random.default_rng(35)
    return (
        rng.normal(size=(COUNT, COLUMNS)),
        rng.exponential(size=COUNT),
        rng.integers(0, 2, COUNT).astype(float),
        rng.normal(size=COLUMNS) / 10,
        np.array(0.2),
    )


def value(xp, data, times, seen, coefficients, shape):
    power = xp.exp(shape)
    scaled = xp.log(times) - data @ coefficients
    hazard = shape + (power - 1) * scaled - data @ coefficients
    return xp.sum(seen * hazard - xp.exp(power * scaled))


numpy, frazil, pytensor, jax = peers_of(value, arguments, [3, 4])
