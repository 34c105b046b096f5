"""Heat in a rod of 200 cells: 500 steps by slices, by the conductivity of each cell."""

import numpy as np

from workloads.peers_of import peers_of

STEPS, CELLS = 500, 200


def arguments():
    rng = np.random.default_rng(32)
    return rng.uniform(0, 1, CELLS), rng.uniform(0.1, 0.3, CELLS - 1)


def value(xp, start, conductivity):
    def step(heat, conductivity):
        flow = conductivity * (heat[1:] - heat[:-1])
        gained = xp.concatenate([flow, np.zeros(1)])
        lost = xp.concatenate([np.zeros(1), flow])
        return (heat + gained - lost,), ()

    (heat,), _ = xp.scan(step, [start], [], [conductivity], STEPS)
    return xp.sum(heat**2)


numpy, frazil, pytensor, jax = peers_of(value, arguments, [0, 1])
