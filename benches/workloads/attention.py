"""Attention of 128 positions to each other, 32 features, by the three projections."""

import numpy as np

from workloads.peers_of import peers_of

POSITIONS, FEATURES = 128, 32


def arguments():
    rng = np.random.default_rng(30)
    weights = [rng.normal(size=(FEATURES, FEATURES)) / 6 for _ in range(3)]
    return rng.normal(size=(POSITIONS, FEATURES)), *weights


def value(xp, x, query, key, content):
    scores = (x @ query) @ (x @ key).T / FEATURES**0.5
    weights = xp.exp(scores - xp.logsumexp(scores, 1)[:, None])
    return xp.sum(xp.tanh(weights @ (x @ content)))


numpy, frazil, pytensor, jax = peers_of(value, arguments, [1, 2, 3])
