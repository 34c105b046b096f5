"""Whole models run without Python, as the text of their programs says."""

import numpy as np
import pytest

import frazil as fz
import frazil.tensor as ft


def calls(function):
    """The instructions that call Python."""
    return [line for line in function.program.instructions if " = call " in line]


def logistic():
    design, outcome, weights = ft.matrix("design"), ft.vector("outcome"), ft.vector("weights")
    logits = design @ weights
    value = (outcome * logits - ft.softplus(logits)).sum() - (weights**2).sum() / 2
    return [design, outcome, weights], [value, fz.grad(value, weights)]


def eight_schools():
    effect, error, mean, log_scale, z = (
        ft.vector("effect"),
        ft.vector("error"),
        ft.scalar("mean"),
        ft.scalar("log_scale"),
        ft.vector("z"),
    )
    residual = (effect - mean - ft.exp(log_scale) * z) / error
    value = -((residual**2).sum() + (z**2).sum() + mean**2) / 2
    return [effect, error, mean, log_scale, z], [value, *fz.grad(value, [mean, log_scale, z])]


def gaussian_process():
    points, outcome = ft.tensor("points", shape=(None, 3)), ft.vector("outcome")
    log_length, log_noise = ft.scalar("log_length"), ft.scalar("log_noise")
    distances = ((points[:, None] - points) ** 2).sum(-1)
    kernel = ft.exp(-distances * ft.exp(-log_length))
    factor = ft.linalg.cholesky(kernel + ft.exp(log_noise) * ft.eye(points.shape[0]))
    whitened = ft.linalg.solve_triangular(factor, outcome, lower=True)
    value = -(whitened**2).sum() / 2 - ft.log(ft.diag(factor)).sum()
    return [points, outcome, log_length, log_noise], [
        value,
        *fz.grad(value, [points, log_length, log_noise]),
    ]


@pytest.mark.parametrize("model", [logistic, eight_schools, gaussian_process])
@pytest.mark.parametrize("mode", ["c", "cranelift", "numba"])
def test_no_calls_and_the_values_of_the_reference(model, mode):
    inputs, outputs = model()
    function = fz.function(inputs, outputs, mode=mode)
    assert calls(function) == []
    rng = np.random.default_rng(0)
    values = [rng.normal(size=[3 if n == 3 else 5 for n in x.type.shape]) for x in inputs]
    reference = fz.function(inputs, outputs, mode="py")
    for found, expected in zip(function(*values), reference(*values), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


def test_a_call_is_named_after_its_op():
    x = ft.vector("x")
    (line,) = calls(fz.function([x], ft.sqrt(x), mode="py"))
    assert "call Elemwise{sqrt}" in line or "call sqrt" in line
