"""An epidemic in 40 places that infect each other: 400 steps, by the rates and the contacts."""

import numpy as np

from workloads.peers_of import peers_of

STEPS, PLACES = 400, 40


def arguments():
    rng = np.random.default_rng(22)
    contacts = rng.uniform(0, 0.1, (PLACES, PLACES))
    return rng.uniform(0, 0.1, (STEPS, PLACES)), np.array(0.3), np.array(0.1), contacts


def value(xp, seen, infection, recovery, contacts):
    def step(susceptible, infected, infection, recovery, contacts):
        caught = infection * susceptible * (contacts @ infected) * 0.1
        healed = recovery * infected * 0.1
        infected = infected + caught - healed
        return (susceptible - caught, infected), (infected,)

    start = [np.full(PLACES, 0.99), np.full(PLACES, 0.01)]
    _, (curve,) = xp.scan(step, start, [], [infection, recovery, contacts], STEPS)
    return xp.sum((curve - seen) ** 2)


numpy, frazil, pytensor, jax = peers_of(value, arguments, [1, 2, 3])
