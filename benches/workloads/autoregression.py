"""A vector autoregression of order two that is rolled forward: five series, 300 steps."""

import numpy as np

from workloads.peers_of import peers_of

STEPS, SERIES = 300, 5


def arguments():
    rng = np.random.default_rng(27)
    first, second = (rng.normal(size=(SERIES, SERIES)) / 8 for _ in range(2))
    return rng.normal(size=(STEPS, SERIES)), first, second, rng.normal(size=SERIES) / 10


def value(xp, target, first, second, level):
    def step(before, last, first, second, level):
        new = level + first @ last + second @ before
        return (last, new), (new,)

    start = [np.ones(SERIES), np.ones(SERIES)]
    _, (path,) = xp.scan(step, start, [], [first, second, level], STEPS)
    return xp.sum((path - target) ** 2)


numpy, frazil, pytensor, jax = peers_of(value, arguments, [1, 2, 3])
