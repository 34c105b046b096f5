"""A small network of two layers on 256 rows, by its weights."""

import numpy as np

from workloads.peers_of import peers_of

ROWS, WIDTH, HIDDEN, CLASSES = 256, 20, 64, 10


def arguments():
    rng = np.random.default_rng(29)
    return (
        rng.normal(size=(ROWS, WIDTH)),
        rng.integers(0, CLASSES, ROWS),
        rng.normal(size=(WIDTH, HIDDEN)) / 4,
        np.zeros(HIDDEN),
        rng.normal(size=(HIDDEN, CLASSES)) / 8,
        np.zeros(CLASSES),
    )


def value(xp, inputs, labels, first, shift, second, offset):
    hidden = xp.maximum(inputs @ first + shift, 0.0)
    scores = hidden @ second + offset
    chosen = scores[np.arange(ROWS), labels]
    return xp.sum(xp.logsumexp(scores, 1) - chosen)


numpy, frazil, pytensor, jax = peers_of(value, arguments, [2, 3, 4, 5])
