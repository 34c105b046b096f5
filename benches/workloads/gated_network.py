"""A gated recurrent network: a state of 32, a hundred steps, by all its weights."""

import numpy as np

from workloads.peers_of import peers_of

STEPS, WIDTH, STATE = 100, 16, 32


def arguments():
    rng = np.random.default_rng(26)
    weights = [rng.normal(size=(STATE, WIDTH + STATE)) / 6 for _ in range(3)]
    return rng.normal(size=(STEPS, WIDTH)), rng.normal(size=(STEPS, STATE)), *weights


def value(xp, inputs, target, *weights):
    def sigmoid(x):
        return 1 / (1 + xp.exp(-x))

    def step(x, state, update, reset, fresh):
        both = xp.concatenate([x, state])
        kept = sigmoid(update @ both)
        seen = xp.concatenate([x, sigmoid(reset @ both) * state])
        state = kept * state + (1 - kept) * xp.tanh(fresh @ seen)
        return (state,), (state,)

    _, (states,) = xp.scan(step, [np.zeros(STATE)], [inputs], weights)
    return xp.sum((states - target) ** 2)


numpy, frazil, pytensor, jax = peers_of(value, arguments, [2, 3, 4])
