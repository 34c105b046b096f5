"""Mean cross-entropy of softmax over 10000 rows of 100 logits with integer labels, and gradient."""

import numpy as np

ROWS, CLASSES = 10_000, 100


def arguments():
    rng = np.random.default_rng(5)
    return rng.normal(size=(ROWS, CLASSES)) * 2, rng.integers(0, CLASSES, size=ROWS)


def numpy(logits, labels):
    shifted = logits - logits.max(axis=1, keepdims=True)
    weights = np.exp(shifted)
    totals = weights.sum(axis=1, keepdims=True)
    rows = np.arange(ROWS)
    value = (np.log(totals[:, 0]) - shifted[rows, labels]).mean()
    gradient = weights / totals
    gradient[rows, labels] -= 1
    return value, gradient / ROWS


def frazil():
    import frazil as fz
    import frazil.tensor as ft

    logits, labels = ft.matrix("logits"), ft.lvector("labels")
    rows = ft.arange(logits.shape[0])
    value = -ft.log_softmax(logits, axis=1)[rows, labels].mean()
    return [logits, labels], [value, fz.grad(value, logits)]


def pytensor():
    import pytensor
    import pytensor.tensor as pt
    from pytensor.tensor.special import log_softmax

    logits, labels = pt.matrix("logits"), pt.lvector("labels")
    rows = pt.arange(logits.shape[0])
    value = -log_softmax(logits, axis=1)[rows, labels].mean()
    return [logits, labels], [value, pytensor.grad(value, logits)]


def jax():
    import jax
    import jax.numpy as jnp

    def loss(logits, labels):
        chosen = jnp.take_along_axis(jax.nn.log_softmax(logits, axis=1), labels[:, None], axis=1)
        return -chosen.mean()

    return jax.value_and_grad(loss)


def limit():
    """Read the logits once and write as much; an ``exp`` of each."""
    logits, _ = arguments()
    gradient = np.empty_like(logits)
    return lambda: np.copyto(gradient, logits)
