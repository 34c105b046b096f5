"""Sixty leapfrog steps of a hundred dimensions with a full precision matrix."""

import numpy as np

from workloads.peers_of import peers_of

STEPS, SIZE, INTERVAL = 60, 100, 0.05


def arguments():
    rng = np.random.default_rng(33)
    root = rng.normal(size=(SIZE, SIZE)) / SIZE**0.5
    return rng.normal(size=SIZE), rng.normal(size=SIZE), root @ root.T + np.eye(SIZE)


def value(xp, place, momentum, precision):
    def step(place, momentum, precision):
        half = momentum - INTERVAL / 2 * (precision @ place)
        place = place + INTERVAL * half
        return (place, half - INTERVAL / 2 * (precision @ place)), ()

    (place, momentum), _ = xp.scan(step, [place, momentum], [], [precision], STEPS)
    return 0.5 * (xp.sum(place * (precision @ place)) + xp.sum(momentum**2))


numpy, frazil, pytensor, jax = peers_of(value, arguments, [0, 1])
