"""Value and four gradients of a fit of Lotka's and Volterra's equations by Runge-Kutta."""

import numpy as np

STEPS, INTERVAL = 1000, 0.01


def arguments():
    target = np.abs(np.random.default_rng(15).normal(size=(STEPS, 2)))
    return target, *map(np.array, (1.1, 0.4, 0.1, 0.4))


def _speed(state, a, b, c, d):
    prey, predators = state
    return a * prey - b * prey * predators, c * prey * predators - d * predators


def _step(prey, predators, *parameters):
    """One step of the classical method of fourth order."""
    state, h = (prey, predators), INTERVAL

    def moved(by, slope):
        return tuple(x + by * s for x, s in zip(state, slope, strict=True))

    k1 = _speed(state, *parameters)
    k2 = _speed(moved(h / 2, k1), *parameters)
    k3 = _speed(moved(h / 2, k2), *parameters)
    k4 = _speed(moved(h, k3), *parameters)
    return tuple(
        x + h / 6 * (p + 2 * q + 2 * r + s)
        for x, p, q, r, s in zip(state, k1, k2, k3, k4, strict=True)
    )


def numpy(target, *parameters):
    def loss(parameters):
        state, total = (1.0, 1.0), 0.0
        for row in target:
            state = _step(*state, *parameters)
            total = total + sum((x - y) ** 2 for x, y in zip(state, row, strict=True))
        return total

    tiny = 1e-30
    slopes = []
    for position in range(len(parameters)):
        moved = [p + tiny * 1j * (k == position) for k, p in enumerate(parameters)]
        slopes.append(loss(moved).imag / tiny)
    return loss(parameters), *slopes


def _loss(prey, predators, target):
    return ((prey - target[:, 0]) ** 2).sum() + ((predators - target[:, 1]) ** 2).sum()


def frazil():
    import frazil as fz
    import frazil.tensor as ft

    target, parameters = ft.dmatrix("target"), [*map(ft.dscalar, "abcd")]
    one = ft.constant(1.0)
    (prey, predators), _ = fz.scan(
        _step, outputs_info=[one, one], non_sequences=parameters, n_steps=STEPS
    )
    loss = _loss(prey, predators, target)
    return [target, *parameters], [loss, *fz.grad(loss, parameters)]


def pytensor():
    import pytensor
    import pytensor.tensor as pt

    target, parameters = pt.dmatrix("target"), [*map(pt.dscalar, "abcd")]
    one = pt.constant(np.array(1.0))
    prey, predators = pytensor.scan(
        _step,
        outputs_info=[one, one],
        non_sequences=parameters,
        n_steps=STEPS,
        return_updates=False,
    )
    loss = _loss(prey, predators, target)
    return [target, *parameters], [loss, *pytensor.grad(loss, parameters)]


def jax():
    import jax

    def work(target, *parameters):
        def loss(parameters):
            def step(state, _):
                state = _step(*state, *parameters)
                return state, state

            _, (prey, predators) = jax.lax.scan(step, (1.0, 1.0), None, STEPS)
            return _loss(prey, predators, target)

        value, gradient = jax.value_and_grad(loss)(parameters)
        return value, *gradient

    return work
