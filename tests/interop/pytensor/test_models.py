"""PyMC's models: their densities and gradients are those of PyTensor's own modes."""

import numpy as np
import pymc as pm
import pytest

EFFECTS = np.array([28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0])
ERRORS = np.array([15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0])


def eight_schools():
    """Effects of coaching at eight schools, as Rubin told them in 1981."""
    with pm.Model() as model:
        mean = pm.Normal("mean", 0, 5)
        spread = pm.HalfCauchy("spread", 5)
        each = pm.Normal("each", 0, 1, shape=8)
        pm.Normal("effect", mean + spread * each, ERRORS, observed=EFFECTS)
    return model


@pytest.mark.parametrize("make", [eight_schools])
def test_density_and_gradient(make):
    model = make()
    ours = [model.compile_logp(mode="FRAZIL"), model.compile_dlogp(mode="FRAZIL")]
    theirs = [model.compile_logp(mode="FAST_COMPILE"), model.compile_dlogp(mode="FAST_COMPILE")]
    random = np.random.default_rng(0)
    for scale in (0.0, 0.3, 1.0):
        point = {
            name: value + scale * random.normal(size=np.shape(value))
            for name, value in model.initial_point().items()
        }
        for own, wanted in zip(ours, theirs, strict=True):
            np.testing.assert_allclose(own(point), wanted(point), rtol=1e-10, atol=1e-12)
