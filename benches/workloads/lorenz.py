"""A thousand of Lorenz's systems side by side, a hundred steps of Runge and Kutta."""

import numpy as np

from workloads.peers_of import peers_of

SYSTEMS, STEPS, INTERVAL = 1_000, 100, 0.01


def arguments():
    rng = np.random.default_rng(25)
    return rng.normal(size=(3, SYSTEMS)), np.array(10.0), np.array(28.0), np.array(8 / 3)


def speed(x, y, z, sigma, rho, beta):
    return sigma * (y - x), x * (rho - z) - y, x * y - beta * z


def value(xp, start, *parameters):
    def step(x, y, z, *parameters):
        state = (x, y, z)

        def moved(by, slope):
            return tuple(a + by * s for a, s in zip(state, slope, strict=True))

        k1 = speed(*state, *parameters)
        k2 = speed(*moved(INTERVAL / 2, k1), *parameters)
        k3 = speed(*moved(INTERVAL / 2, k2), *parameters)
        k4 = speed(*moved(INTERVAL, k3), *parameters)
        slopes = zip(state, k1, k2, k3, k4, strict=True)
        return tuple(a + INTERVAL / 6 * (p + 2 * q + 2 * r + s) for a, p, q, r, s in slopes), ()

    (x, y, z), _ = xp.scan(step, [start[0], start[1], start[2]], [], parameters, STEPS)
    return xp.sum(x**2 + y**2 + z**2)


numpy, frazil, pytensor, jax = peers_of(value, arguments, [0, 1, 2, 3])
