"""``a*exp(-x**2/2) + log1p(y)`` on a million float64: memory and transcendental functions."""

import os
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np

LENGTH = 1_000_000


def arguments():
    rng = np.random.default_rng(1)
    return rng.normal(size=LENGTH), rng.normal(size=LENGTH), rng.exponential(size=LENGTH)


def numpy(a, x, y):
    return (a * np.exp(-(x**2) / 2) + np.log1p(y),)


def limit():
    """Read three vectors once and write one, each thread its part."""
    a, x, y = arguments()
    total = np.empty_like(a)
    threads = int(os.environ.get("OMP_NUM_THREADS", "1"))
    bounds = [LENGTH * k // threads for k in range(threads + 1)]
    parts = [slice(*pair) for pair in pairwise(bounds)]
    pool = ThreadPoolExecutor(threads)

    def move(part):
        half = slice(part.start, (part.start + part.stop) // 2)
        np.add(a[part], x[part], out=total[part])
        np.copyto(total[half], y[half])

    def work():
        if threads == 1:
            move(parts[0])
        else:
            list(pool.map(move, parts))

    return work


def frazil():
    import frazil.tensor as ft

    a, x, y = ft.vector("a"), ft.vector("x"), ft.vector("y")
    return [a, x, y], [a * ft.exp(-(x**2) / 2) + ft.log1p(y)]


def pytensor():
    import pytensor.tensor as pt

    a, x, y = pt.vector("a"), pt.vector("x"), pt.vector("y")
    return [a, x, y], [a * pt.exp(-(x**2) / 2) + pt.log1p(y)]


def jax():
    import jax.numpy as jnp

    def work(a, x, y):
        return (a * jnp.exp(-(x**2) / 2) + jnp.log1p(y),)

    return work
