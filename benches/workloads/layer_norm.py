"""A weighted sum of layer norm over 10000 rows of 100, with three gradients."""

import numpy as np

ROWS, FEATURES = 10_000, 100
EPSILON = 1e-5


def arguments():
    rng = np.random.default_rng(7)
    x, weights = rng.normal(size=(2, ROWS, FEATURES))
    scale, shift = rng.normal(size=(2, FEATURES))
    return x, scale, shift, weights


def numpy(x, scale, shift, weights):
    centred = x - x.mean(axis=1, keepdims=True)
    deviation = np.sqrt((centred**2).mean(axis=1, keepdims=True) + EPSILON)
    normal = centred / deviation
    value = ((normal * scale + shift) * weights).sum()
    pull = weights * scale
    inner = pull - pull.mean(axis=1, keepdims=True)
    inner -= normal * (pull * normal).mean(axis=1, keepdims=True)
    return value, inner / deviation, (weights * normal).sum(axis=0), weights.sum(axis=0)


def frazil():
    import frazil as fz
    import frazil.tensor as ft

    x, weights = ft.matrix("x"), ft.matrix("weights")
    scale, shift = ft.vector("scale"), ft.vector("shift")
    value = _value(ft, x, scale, shift, weights)
    return [x, scale, shift, weights], [value, *fz.grad(value, [x, scale, shift])]


def pytensor():
    import pytensor
    import pytensor.tensor as pt

    x, weights = pt.matrix("x"), pt.matrix("weights")
    scale, shift = pt.vector("scale"), pt.vector("shift")
    value = _value(pt, x, scale, shift, weights)
    return [x, scale, shift, weights], [value, *pytensor.grad(value, [x, scale, shift])]


def jax():
    import jax
    import jax.numpy as jnp

    def work(x, scale, shift, weights):
        value_and_grad = jax.value_and_grad(
            lambda x, scale, shift: _value(jnp, x, scale, shift, weights), argnums=(0, 1, 2)
        )
        value, gradient = value_and_grad(x, scale, shift)
        return value, *gradient

    return work


def limit():
    """Read the matrix and the weights once and write one as large."""
    x, _, _, weights = arguments()
    gradient = np.empty_like(x)
    return lambda: np.add(x, weights, out=gradient)


def _value(xp, x, scale, shift, weights):
    centred = x - x.mean(axis=1, keepdims=True)
    variance = (centred**2).mean(axis=1, keepdims=True)
    return ((centred / xp.sqrt(variance + EPSILON) * scale + shift) * weights).sum()
