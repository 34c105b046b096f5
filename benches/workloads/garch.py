"""Value and three gradients of a GARCH(1,1) likelihood: a thousand returns."""

import itertools

import numpy as np

STEPS = 1000


def arguments():
    returns = np.random.default_rng(11).normal(size=STEPS)
    return returns, np.array(0.1), np.array(0.1), np.array(0.8)


def numpy(returns, omega, alpha, beta):
    variance, slopes = 1.0, np.zeros(3)
    value, gradient = 0.0, np.zeros(3)
    for before, now in itertools.pairwise(returns):
        slopes = np.array([1.0, before**2, variance]) + beta * slopes
        variance = omega + alpha * before**2 + beta * variance
        value -= (np.log(2 * np.pi * variance) + now**2 / variance) / 2
        gradient -= slopes * (1 / variance - now**2 / variance**2) / 2
    return value, *gradient


def _value(xp, variances, returns):
    return (-0.5 * (xp.log(2 * np.pi * variances) + returns[1:] ** 2 / variances)).sum()


def _step(x, variance, omega, alpha, beta):
    return omega + alpha * x**2 + beta * variance


def frazil():
    import frazil as fz
    import frazil.tensor as ft

    returns, parameters = ft.dvector("returns"), [*map(ft.dscalar, ("omega", "alpha", "beta"))]
    variances, _ = fz.scan(_step, returns[:-1], ft.constant(1.0), parameters)
    value = _value(ft, variances, returns)
    return [returns, *parameters], [value, *fz.grad(value, parameters)]


def pytensor():
    import pytensor
    import pytensor.tensor as pt

    returns, parameters = pt.dvector("returns"), [*map(pt.dscalar, ("omega", "alpha", "beta"))]
    variances = pytensor.scan(
        _step, returns[:-1], pt.constant(np.array(1.0)), parameters, return_updates=False
    )
    value = _value(pt, variances, returns)
    return [returns, *parameters], [value, *pytensor.grad(value, parameters)]


def jax():
    import jax
    import jax.numpy as jnp

    def work(returns, *parameters):
        def value(parameters):
            def step(variance, x):
                variance = _step(x, variance, *parameters)
                return variance, variance

            _, variances = jax.lax.scan(step, 1.0, returns[:-1])
            return _value(jnp, variances, returns)

        value, gradient = jax.value_and_grad(value)(parameters)
        return value, *gradient

    return work
