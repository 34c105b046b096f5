"""Value and three gradients of the eight schools model, non-centred: the cost of a small call."""

import numpy as np


def arguments():
    effect = np.array([28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0])
    error = np.array([15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0])
    theta = np.random.default_rng(3).normal(size=8)
    return effect, error, np.array(4.4), np.array(1.2), theta


def numpy(effect, error, mu, log_tau, theta):
    tau = np.exp(log_tau)
    residual = (effect - (mu + tau * theta)) / error
    value = (
        -((mu / 5) ** 2) / 2
        - np.log1p((tau / 5) ** 2)
        + log_tau
        - (theta**2).sum() / 2
        - (residual**2 / 2 + np.log(error)).sum()
    )
    pull = residual / error
    tau_pull = (pull * theta).sum() * tau - 2 * (tau / 5) ** 2 / (1 + (tau / 5) ** 2) + 1
    return value, pull.sum() - mu / 25, tau_pull, pull * tau - theta


def frazil():
    import frazil as fz
    import frazil.tensor as ft

    effect, error, theta = ft.vector("effect"), ft.vector("error"), ft.vector("theta")
    mu, log_tau = ft.scalar("mu"), ft.scalar("log_tau")
    value = _log_posterior(ft, effect, error, mu, log_tau, theta)
    return [effect, error, mu, log_tau, theta], [value, *fz.grad(value, [mu, log_tau, theta])]


def pytensor():
    import pytensor
    import pytensor.tensor as pt

    effect, error, theta = pt.vector("effect"), pt.vector("error"), pt.vector("theta")
    mu, log_tau = pt.scalar("mu"), pt.scalar("log_tau")
    value = _log_posterior(pt, effect, error, mu, log_tau, theta)
    gradient = pytensor.grad(value, [mu, log_tau, theta])
    return [effect, error, mu, log_tau, theta], [value, *gradient]


def jax():
    import jax
    import jax.numpy as jnp

    def work(effect, error, mu, log_tau, theta):
        def value(parameters):
            return _log_posterior(jnp, effect, error, *parameters)

        result, gradient = jax.value_and_grad(value)((mu, log_tau, theta))
        return result, *gradient

    return work


def _log_posterior(xp, effect, error, mu, log_tau, theta):
    tau = xp.exp(log_tau)
    residual = (effect - (mu + tau * theta)) / error
    return (
        -((mu / 5) ** 2) / 2
        - xp.log1p((tau / 5) ** 2)
        + log_tau
        - (theta**2).sum() / 2
        - (residual**2 / 2 + xp.log(error)).sum()
    )
