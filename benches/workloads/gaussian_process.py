"""Marginal log-likelihood of a Gaussian process on 200 points, with its three gradients."""

import numpy as np

POINTS, DIMENSIONS = 200, 3


def arguments():
    rng = np.random.default_rng(8)
    points = rng.uniform(-2, 2, size=(POINTS, DIMENSIONS))
    observed = np.sin(points.sum(axis=1)) + rng.normal(size=POINTS) / 10
    return points, observed, np.array(0.1), np.array(-0.2), np.array(-1.5)


def numpy(points, observed, log_scale, log_length, log_noise):
    from scipy.linalg import cholesky, solve_triangular

    distances = ((points[:, None, :] - points[None, :, :]) ** 2).sum(axis=2)
    distances = distances * np.exp(-2 * log_length)
    kernel = np.exp(2 * log_scale - distances / 2)
    noise = np.exp(2 * log_noise)
    factor = cholesky(kernel + noise * np.eye(POINTS), lower=True)
    white = solve_triangular(factor, observed, lower=True)
    value = -white @ white / 2 - np.log(np.diag(factor)).sum() - POINTS * np.log(2 * np.pi) / 2
    inverse = solve_triangular(factor, np.eye(POINTS), lower=True)
    weights = solve_triangular(factor, white, lower=True, trans="T")
    pull = (np.outer(weights, weights) - inverse.T @ inverse) / 2
    return (
        value,
        2 * (pull * kernel).sum(),
        (pull * kernel * distances).sum(),
        2 * noise * np.trace(pull),
    )


def frazil():
    import frazil as fz
    import frazil.tensor as ft

    points = ft.tensor("points", shape=(None, DIMENSIONS))
    observed = ft.vector("observed")
    parameters = [ft.scalar(name) for name in ("log_scale", "log_length", "log_noise")]
    value = _value(
        ft, ft.linalg.cholesky, ft.linalg.solve_triangular, points, observed, *parameters
    )
    return [points, observed, *parameters], [value, *fz.grad(value, parameters)]


def pytensor():
    import pytensor
    import pytensor.tensor as pt
    from pytensor.tensor.slinalg import cholesky, solve_triangular

    points = pt.tensor("points", dtype="float64", shape=(None, DIMENSIONS))
    observed = pt.vector("observed")
    parameters = [pt.scalar(name) for name in ("log_scale", "log_length", "log_noise")]
    value = _value(pt, cholesky, solve_triangular, points, observed, *parameters)
    return [points, observed, *parameters], [value, *pytensor.grad(value, parameters)]


def jax():
    import jax
    import jax.numpy as jnp
    from jax.scipy.linalg import solve_triangular

    def work(points, observed, *parameters):
        value_and_grad = jax.value_and_grad(
            lambda *given: _value(
                jnp, jnp.linalg.cholesky, solve_triangular, points, observed, *given
            ),
            argnums=(0, 1, 2),
        )
        value, gradient = value_and_grad(*parameters)
        return value, *gradient

    return work


def limit():
    """The factorisation and the inverse of the factor by LAPACK, and the product of its square."""
    from scipy.linalg.blas import dsyrk
    from scipy.linalg.lapack import dpotrf, dtrtri

    points, *_ = arguments()
    distances = ((points[:, None, :] - points[None, :, :]) ** 2).sum(axis=2)
    kernel = np.asfortranarray(np.exp(-distances / 2) + np.eye(POINTS))

    def work():
        factor, _ = dpotrf(kernel, lower=1)
        inverse, _ = dtrtri(factor, lower=1)
        return dsyrk(1.0, inverse, trans=1)

    return work


def _value(xp, cholesky, solve_triangular, points, observed, log_scale, log_length, log_noise):
    distances = ((points[:, None, :] - points[None, :, :]) ** 2).sum(axis=2)
    kernel = xp.exp(2 * log_scale - distances * xp.exp(-2 * log_length) / 2)
    factor = cholesky(kernel + xp.exp(2 * log_noise) * xp.eye(POINTS))
    white = solve_triangular(factor, observed, lower=True)
    log_determinant = xp.log(xp.diag(factor)).sum()
    return -(white**2).sum() / 2 - log_determinant - POINTS * np.log(2 * np.pi) / 2
