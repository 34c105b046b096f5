"""Value and three gradients of the squared errors of an AR(2) process that is simulated on."""

import numpy as np

STEPS = 1000


def arguments():
    rng = np.random.default_rng(13)
    return rng.normal(size=STEPS), rng.normal(size=STEPS), *map(np.array, (0.1, 0.5, 0.3))


def numpy(noise, target, mean, first, second):
    y = np.zeros(STEPS + 2)
    slopes = np.zeros((STEPS + 2, 3))
    for t in range(STEPS):
        y[t + 2] = mean + first * y[t + 1] + second * y[t] + noise[t]
        slopes[t + 2] = first * slopes[t + 1] + second * slopes[t] + [1, y[t + 1], y[t]]
    error = y[2:] - target
    return (error**2).sum(), *(2 * error @ slopes[2:])


def _step(noise, before, last, mean, first, second):
    return mean + first * last + second * before + noise


def _loss(y, target):
    return ((y - target) ** 2).sum()


def frazil():
    import frazil as fz
    import frazil.tensor as ft

    noise, target = ft.dvector("noise"), ft.dvector("target")
    parameters = [*map(ft.dscalar, ("mean", "first", "second"))]
    start = {"initial": ft.constant(np.zeros(2)), "taps": [-2, -1]}
    y, _ = fz.scan(_step, noise, start, parameters)
    loss = _loss(y, target)
    return [noise, target, *parameters], [loss, *fz.grad(loss, parameters)]


def pytensor():
    import pytensor
    import pytensor.tensor as pt

    noise, target = pt.dvector("noise"), pt.dvector("target")
    parameters = [*map(pt.dscalar, ("mean", "first", "second"))]
    start = {"initial": pt.constant(np.zeros(2)), "taps": [-2, -1]}
    y = pytensor.scan(_step, noise, start, parameters, return_updates=False)
    loss = _loss(y, target)
    return [noise, target, *parameters], [loss, *pytensor.grad(loss, parameters)]


def jax():
    import jax

    def work(noise, target, *parameters):
        def loss(parameters):
            def step(state, noise):
                before, last = state
                new = _step(noise, before, last, *parameters)
                return (last, new), new

            _, y = jax.lax.scan(step, (0.0, 0.0), noise)
            return _loss(y, target)

        value, gradient = jax.value_and_grad(loss)(parameters)
        return value, *gradient

    return work
