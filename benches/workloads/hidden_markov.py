"""A hidden Markov model's likelihood, 400 observations, by transitions and emissions."""

import numpy as np

from workloads.peers_of import peers_of

STEPS, SYMBOLS = 400, 12


def of_states(states):
    """The workload with so many hidden states."""

    def arguments():
        rng = np.random.default_rng(21)
        return (
            rng.integers(0, SYMBOLS, STEPS),
            rng.normal(size=(states, states)),
            rng.normal(size=(states, SYMBOLS)),
        )

    def value(xp, observed, transitions, emissions):
        moves = transitions - xp.logsumexp(transitions, 1)[:, None]
        told = emissions - xp.logsumexp(emissions, 1)[:, None]

        def step(o, forward, moves, told):
            return (xp.logsumexp(forward[:, None] + moves, 0) + told[:, o],), ()

        (last,), _ = xp.scan(step, [np.zeros(states)], [observed], [moves, told])
        return xp.logsumexp(last, 0)

    return arguments, *peers_of(value, arguments, [1, 2])
