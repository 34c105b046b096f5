"""Value and two gradients of a recurrent network: a state of a hundred, two hundred steps."""

import numpy as np

STEPS, STATE = 200, 100


def arguments():
    rng = np.random.default_rng(16)
    weights = rng.normal(size=(STATE, STATE)) / 10
    return (
        rng.normal(size=(STEPS, STATE)),
        rng.normal(size=(STEPS, STATE)),
        weights,
        np.zeros(STATE),
    )


def numpy(inputs, target, weights, bias):
    states = np.zeros((STEPS + 1, STATE))
    for t in range(STEPS):
        states[t + 1] = np.tanh(weights @ states[t] + inputs[t] + bias)
    error = states[1:] - target
    by_weights, by_bias, adjoint = np.zeros((STATE, STATE)), np.zeros(STATE), np.zeros(STATE)
    for t in reversed(range(STEPS)):
        pull = (2 * error[t] + adjoint) * (1 - states[t + 1] ** 2)
        by_weights += np.outer(pull, states[t])
        by_bias += pull
        adjoint = weights.T @ pull
    return (error**2).sum(), by_weights, by_bias


def _loss(states, target):
    return ((states - target) ** 2).sum()


def frazil():
    import frazil as fz
    import frazil.tensor as ft

    inputs, target = ft.dmatrix("inputs"), ft.dmatrix("target")
    weights, bias = ft.dmatrix("weights"), ft.dvector("bias")
    states, _ = fz.scan(
        lambda x, h, w, b: ft.tanh(w @ h + x + b),
        inputs,
        ft.constant(np.zeros(STATE)),
        [weights, bias],
    )
    loss = _loss(states, target)
    return [inputs, target, weights, bias], [loss, *fz.grad(loss, [weights, bias])]


def pytensor():
    import pytensor
    import pytensor.tensor as pt

    inputs, target = pt.dmatrix("inputs"), pt.dmatrix("target")
    weights, bias = pt.dmatrix("weights"), pt.dvector("bias")
    states = pytensor.scan(
        lambda x, h, w, b: pt.tanh(w @ h + x + b),
        inputs,
        pt.constant(np.zeros(STATE)),
        [weights, bias],
        return_updates=False,
    )
    loss = _loss(states, target)
    return [inputs, target, weights, bias], [loss, *pytensor.grad(loss, [weights, bias])]


def jax():
    import jax
    import jax.numpy as jnp

    def work(inputs, target, weights, bias):
        def loss(weights, bias):
            def step(state, x):
                state = jnp.tanh(weights @ state + x + bias)
                return state, state

            _, states = jax.lax.scan(step, jnp.zeros(STATE), inputs)
            return _loss(states, target)

        value, gradient = jax.value_and_grad(loss, argnums=(0, 1))(weights, bias)
        return value, *gradient

    return work
