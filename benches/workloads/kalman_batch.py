"""Two hundred local-level filters side by side, 250 steps, by both variances."""

import numpy as np

from workloads.peers_of import peers_of

STEPS, SERIES = 250, 200


def arguments():
    rng = np.random.default_rng(28)
    return rng.normal(size=(STEPS, SERIES)), np.full(SERIES, 0.5), np.full(SERIES, 0.2)


def value(xp, seen, noise, spread):
    def step(y, level, variance, noise, spread):
        variance = variance + spread
        total = variance + noise
        residual, gain = y - level, variance / total
        told = -0.5 * (xp.log(2 * np.pi * total) + residual**2 / total)
        return (level + gain * residual, variance * (1 - gain)), (told,)

    start = [np.zeros(SERIES), np.ones(SERIES)]
    _, (told,) = xp.scan(step, start, [seen], [noise, spread])
    return xp.sum(told)


numpy, frazil, pytensor, jax = peers_of(value, arguments, [1, 2])
