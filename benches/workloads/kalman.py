"""Value and two gradients of a Kalman filter's likelihood: a state of four, five hundred steps."""

import numpy as np

STEPS, STATE = 500, 4


def arguments():
    rng = np.random.default_rng(12)
    transition = np.eye(STATE) * 0.7 + 0.1 * rng.normal(size=(STATE, STATE))
    design = rng.normal(size=(1, STATE))
    return rng.normal(size=(STEPS, 1)), transition, design, np.array(0.5), np.array(0.3)


def _step(xp, y, mean, covariance, transition, design, noise, spread):
    """One step of the filter: what the next one starts from, and the likelihood of ``y``."""
    mean = transition @ mean
    covariance = transition @ covariance @ transition.T + spread * np.eye(STATE)
    residual = y - design @ mean
    variance = (design @ covariance @ design.T)[0, 0] + noise
    gain = (covariance @ design.T)[:, 0] / variance
    told = -0.5 * (xp.log(2 * np.pi * variance) + residual[0] ** 2 / variance)
    mean = mean + gain * residual[0]
    covariance = covariance - variance * gain[:, None] * gain[None, :]
    return mean, covariance, told


def numpy(y, transition, design, noise, spread):
    def value(noise, spread):
        mean, covariance, total = np.zeros(STATE), np.eye(STATE), 0.0
        for row in y:
            mean, covariance, told = _step(
                np, row, mean, covariance, transition, design, noise, spread
            )
            total = total + told
        return total

    # The derivatives of an analytic function by a small imaginary part, exact to the last digits.
    tiny = 1e-30
    noises = value(noise + tiny * 1j, spread).imag / tiny
    spreads = value(noise, spread + tiny * 1j).imag / tiny
    return value(noise, spread), noises, spreads


def frazil():
    import frazil as fz
    import frazil.tensor as ft

    y = ft.tensor("y", dtype="float64", shape=(None, 1))
    transition = ft.tensor("transition", dtype="float64", shape=(STATE, STATE))
    design = ft.tensor("design", dtype="float64", shape=(1, STATE))
    noise, spread = ft.dscalar("noise"), ft.dscalar("spread")
    (_, _, told), _ = fz.scan(
        lambda *given: _step(ft, *given),
        y,
        [ft.constant(np.zeros(STATE)), ft.constant(np.eye(STATE)), None],
        [transition, design, noise, spread],
    )
    value = told.sum()
    return [y, transition, design, noise, spread], [value, *fz.grad(value, [noise, spread])]


def pytensor():
    import pytensor
    import pytensor.tensor as pt

    y = pt.tensor("y", dtype="float64", shape=(None, 1))
    transition = pt.tensor("transition", dtype="float64", shape=(STATE, STATE))
    design = pt.tensor("design", dtype="float64", shape=(1, STATE))
    noise, spread = pt.dscalar("noise"), pt.dscalar("spread")
    _, _, told = pytensor.scan(
        lambda *given: _step(pt, *given),
        y,
        [pt.constant(np.zeros(STATE)), pt.constant(np.eye(STATE)), None],
        [transition, design, noise, spread],
        return_updates=False,
    )
    value = told.sum()
    return [y, transition, design, noise, spread], [value, *pytensor.grad(value, [noise, spread])]


def jax():
    import jax
    import jax.numpy as jnp

    def work(y, transition, design, noise, spread):
        def value(noise, spread):
            def step(state, y):
                mean, covariance, told = _step(jnp, y, *state, transition, design, noise, spread)
                return (mean, covariance), told

            _, told = jax.lax.scan(step, (jnp.zeros(STATE), jnp.eye(STATE)), y)
            return told.sum()

        value, gradient = jax.value_and_grad(value, argnums=(0, 1))(noise, spread)
        return value, *gradient

    return work
