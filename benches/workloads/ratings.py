"""Ratings of films by people: 50,000 products of gathered rows, by both tables."""

import numpy as np

from workloads.peers_of import peers_of

PEOPLE, FILMS, FACTORS, COUNT = 2_000, 800, 8, 50_000


def arguments():
    rng = np.random.default_rng(34)
    return (
        rng.integers(0, PEOPLE, COUNT),
        rng.integers(0, FILMS, COUNT),
        rng.normal(size=COUNT),
        rng.normal(size=(PEOPLE, FACTORS)) / 3,
        rng.normal(size=(FILMS, FACTORS)) / 3,
    )


def value(xp, person, film, rating, people, films):
    told = xp.sum(xp.take(people, person) * xp.take(films, film), 1)
    penalty = xp.sum(people**2) + xp.sum(films**2)
    return xp.sum((rating - told) ** 2) + 0.1 * penalty


numpy, frazil, pytensor, jax = peers_of(value, arguments, [3, 4])
