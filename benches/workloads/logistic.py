"""Value and gradient of a logistic regression's log-posterior, 10000 rows and 50 columns."""

import numpy as np

ROWS, COLUMNS = 10_000, 50


def arguments():
    rng = np.random.default_rng(2)
    design = rng.normal(size=(ROWS, COLUMNS))
    weights = rng.normal(size=COLUMNS) / 4
    outcome = (rng.uniform(size=ROWS) < 1 / (1 + np.exp(-design @ weights))).astype("float64")
    return design, outcome, weights, np.array(0.1)


def numpy(design, outcome, weights, bias):
    logits = design @ weights + bias
    value = (outcome * logits - np.logaddexp(0, logits)).sum() - (weights**2).sum() / 2
    residual = outcome - 1 / (1 + np.exp(-logits))
    return value, design.T @ residual - weights, residual.sum()


def limit():
    """The two products with the design matrix, by BLAS."""
    from scipy.linalg.blas import dgemv

    design, outcome, weights, _ = arguments()
    columns = design.T  # as Fortran has it, without a copy
    return lambda: (dgemv(1.0, columns, weights, trans=1), dgemv(1.0, columns, outcome))


def frazil():
    import frazil as fz
    import frazil.tensor as ft

    design, outcome = ft.matrix("design"), ft.vector("outcome")
    weights, bias = ft.vector("weights"), ft.scalar("bias")
    logits = design @ weights + bias
    value = (outcome * logits - ft.softplus(logits)).sum() - (weights**2).sum() / 2
    inputs = [design, outcome, weights, bias]
    return inputs, [value, *fz.grad(value, [weights, bias])]


def pytensor():
    import pytensor
    import pytensor.tensor as pt

    design, outcome = pt.matrix("design"), pt.vector("outcome")
    weights, bias = pt.vector("weights"), pt.scalar("bias")
    logits = design @ weights + bias
    value = (outcome * logits - pt.softplus(logits)).sum() - (weights**2).sum() / 2
    inputs = [design, outcome, weights, bias]
    return inputs, [value, *pytensor.grad(value, [weights, bias])]


def jax():
    import jax
    import jax.numpy as jnp

    def log_posterior(parameters, design, outcome):
        weights, bias = parameters
        logits = design @ weights + bias
        likelihood = (outcome * logits - jax.nn.softplus(logits)).sum()
        return likelihood - jnp.sum(weights**2) / 2

    def work(design, outcome, weights, bias):
        value_and_grad = jax.value_and_grad(log_posterior)
        value, gradient = value_and_grad((weights, bias), design, outcome)
        return value, *gradient

    return work
