"""``h = h + 0.01*sin(1.0001**i * h)``, 300 times, with its gradient: a graph that is long."""

import numpy as np

LENGTH = 1000
FACTORS = [1.0001**i for i in range(300)]


def arguments():
    return (np.random.default_rng(4).normal(size=LENGTH),)


def numpy(x):
    steps = [x]
    for factor in FACTORS:
        steps.append(steps[-1] + 0.01 * np.sin(factor * steps[-1]))
    gradient = np.ones_like(x)
    for factor, h in zip(reversed(FACTORS), reversed(steps[:-1]), strict=True):
        gradient = gradient + gradient * (0.01 * factor) * np.cos(factor * h)
    return steps[-1].sum(), gradient


def frazil():
    import frazil as fz
    import frazil.tensor as ft

    x = ft.vector("x")
    value = _chain(ft, x).sum()
    return [x], [value, fz.grad(value, x)]


def pytensor():
    import pytensor
    import pytensor.tensor as pt

    x = pt.vector("x")
    value = _chain(pt, x).sum()
    return [x], [value, pytensor.grad(value, x)]


def jax():
    import jax
    import jax.numpy as jnp

    return jax.value_and_grad(lambda x: _chain(jnp, x).sum())


def _chain(xp, h):
    for factor in FACTORS:
        h = h + 0.01 * xp.sin(factor * h)
    return h
