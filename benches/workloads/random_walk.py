"""Value and gradients of a stochastic volatility model: a random walk of a thousand steps."""

import numpy as np

STEPS = 1000


def arguments():
    rng = np.random.default_rng(14)
    return rng.normal(size=STEPS), rng.normal(size=STEPS), np.array(0.2), np.array(0.95)


def numpy(returns, shocks, size, decay):
    level, levels = 0.0, np.zeros(STEPS)
    for t in range(STEPS):
        level = levels[t] = decay * level + size * shocks[t]
    pull = -0.5 + returns**2 * np.exp(-levels) / 2
    value = -(levels + returns**2 * np.exp(-levels)).sum() / 2 - (shocks**2).sum() / 2
    adjoint, by_shock, by_size, by_decay = 0.0, np.zeros(STEPS), 0.0, 0.0
    for t in reversed(range(STEPS)):
        adjoint = decay * adjoint + pull[t]
        by_shock[t] = adjoint * size - shocks[t]
        by_size += adjoint * shocks[t]
        by_decay += adjoint * (levels[t - 1] if t else 0.0)
    return value, by_shock, by_size, by_decay


def _step(shock, level, size, decay):
    return decay * level + size * shock


def _value(xp, levels, returns, shocks):
    return -(levels + returns**2 * xp.exp(-levels)).sum() / 2 - (shocks**2).sum() / 2


def frazil():
    import frazil as fz
    import frazil.tensor as ft

    returns, shocks = ft.dvector("returns"), ft.dvector("shocks")
    size, decay = ft.dscalar("size"), ft.dscalar("decay")
    levels, _ = fz.scan(_step, shocks, ft.constant(0.0), [size, decay])
    value = _value(ft, levels, returns, shocks)
    wrt = [shocks, size, decay]
    return [returns, *wrt], [value, *fz.grad(value, wrt)]


def pytensor():
    import pytensor
    import pytensor.tensor as pt

    returns, shocks = pt.dvector("returns"), pt.dvector("shocks")
    size, decay = pt.dscalar("size"), pt.dscalar("decay")
    levels = pytensor.scan(
        _step, shocks, pt.constant(np.array(0.0)), [size, decay], return_updates=False
    )
    value = _value(pt, levels, returns, shocks)
    wrt = [shocks, size, decay]
    return [returns, *wrt], [value, *pytensor.grad(value, wrt)]


def jax():
    import jax
    import jax.numpy as jnp

    def work(returns, *parameters):
        def value(parameters):
            shocks, size, decay = parameters

            def step(level, shock):
                level = _step(shock, level, size, decay)
                return level, level

            _, levels = jax.lax.scan(step, 0.0, shocks)
            return _value(jnp, levels, returns, shocks)

        value, gradient = jax.value_and_grad(value)(parameters)
        return value, *gradient

    return work
