"""Rows gathered from a table of 5,000, and the gradient scattered back to them."""

import numpy as np

from workloads.peers_of import peers_of

WORDS, WIDTH, TEXT = 5_000, 32, 20_000


def arguments():
    rng = np.random.default_rng(23)
    return rng.integers(0, WORDS, TEXT), rng.normal(size=(WORDS, WIDTH)), rng.normal(size=WIDTH)


def value(xp, text, table, weights):
    return xp.sum(xp.tanh(xp.take(table, text)) @ weights)


numpy, frazil, pytensor, jax = peers_of(value, arguments, [1, 2])
