"""Value and gradient of a Gaussian process's log-likelihood, 200 points in 3 dimensions."""

import numpy as np

POINTS, DIMENSIONS = 200, 3


def arguments():
    rng = np.random.default_rng(4)
    points = rng.normal(size=(POINTS, DIMENSIONS))
    outcome = np.sin(points.sum(1)) + rng.normal(size=POINTS) / 10
    return points, outcome, np.array(0.3), np.array(-0.2), np.array(-1.5)


def numpy(points, outcome, log_scale, log_length, log_noise):
    scale, length, noise = np.exp(2 * log_scale), np.exp(2 * log_length), np.exp(2 * log_noise)
    distances = ((points[:, None] - points) ** 2).sum(-1)
    kernel = scale * np.exp(-distances / (2 * length))
    factor = np.linalg.cholesky(kernel + noise * np.eye(POINTS))
    whitened = np.linalg.solve(factor, outcome)
    value = -(whitened @ whitened) / 2 - np.log(np.diag(factor)).sum()
    value -= POINTS * np.log(2 * np.pi) / 2
    inverse = np.linalg.inv(factor)
    inverse = inverse.T @ inverse
    weights = inverse @ outcome
    pull = (np.outer(weights, weights) - inverse) / 2
    return (
        value,
        2 * (pull * kernel).sum(),
        (pull * kernel * distances / length).sum(),
        2 * noise * np.trace(pull),
    )


def frazil():
    import frazil as fz
    import frazil.tensor as ft

    points = ft.tensor("points", shape=(None, DIMENSIONS))
    outcome = ft.vector("outcome")
    parameters = [ft.scalar(name) for name in ("log_scale", "log_length", "log_noise")]
    scale, length, noise = (ft.exp(2 * x) for x in parameters)
    distances = ((points[:, None] - points) ** 2).sum(-1)
    kernel = scale * ft.exp(-distances / (2 * length))
    factor = ft.linalg.cholesky(kernel + noise * ft.eye(points.shape[0]))
    whitened = ft.linalg.solve_triangular(factor, outcome, lower=True)
    value = -(whitened**2).sum() / 2 - ft.log(ft.diag(factor)).sum()
    value -= points.shape[0] * np.log(2 * np.pi) / 2
    return [points, outcome, *parameters], [value, *fz.grad(value, parameters)]


def pytensor():
    import pytensor
    import pytensor.tensor as pt

    points = pt.tensor("points", dtype="float64", shape=(None, DIMENSIONS))
    outcome = pt.vector("outcome")
    parameters = [pt.scalar(name) for name in ("log_scale", "log_length", "log_noise")]
    scale, length, noise = (pt.exp(2 * x) for x in parameters)
    distances = ((points[:, None] - points) ** 2).sum(-1)
    kernel = scale * pt.exp(-distances / (2 * length))
    factor = pt.linalg.cholesky(kernel + noise * pt.eye(points.shape[0]))
    whitened = pt.linalg.solve_triangular(factor, outcome, lower=True)
    value = -(whitened**2).sum() / 2 - pt.log(pt.diag(factor)).sum()
    value -= points.shape[0] * np.log(2 * np.pi) / 2
    return [points, outcome, *parameters], [value, *pytensor.grad(value, parameters)]


def jax():
    import jax
    import jax.numpy as jnp
    from jax.scipy.linalg import solve_triangular

    def log_likelihood(parameters, points, outcome):
        scale, length, noise = (jnp.exp(2 * x) for x in parameters)
        distances = ((points[:, None] - points) ** 2).sum(-1)
        kernel = scale * jnp.exp(-distances / (2 * length))
        factor = jnp.linalg.cholesky(kernel + noise * jnp.eye(points.shape[0]))
        whitened = solve_triangular(factor, outcome, lower=True)
        value = -(whitened**2).sum() / 2 - jnp.log(jnp.diag(factor)).sum()
        return value - points.shape[0] * np.log(2 * np.pi) / 2

    def work(points, outcome, *parameters):
        value, gradient = jax.value_and_grad(log_likelihood)(parameters, points, outcome)
        return value, *gradient

    return work
