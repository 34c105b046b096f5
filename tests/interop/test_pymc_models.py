"""PyMC's models: their densities and gradients are those of PyTensor's own modes."""

import numpy as np
import pytensor
import pytest

from pymc_models import MODELS

POINTS = (0.0, 0.3, 1.0)


@pytest.mark.filterwarnings("ignore:frazil has no rule", "ignore:Scan return signature")
@pytest.mark.parametrize("name", MODELS)
def test_density_and_gradient(name):
    model = MODELS[name]()
    density = model.logp()
    outputs = [density, *pytensor.grad(density, model.continuous_value_vars)]
    ours, theirs = (
        pytensor.function(model.value_vars, outputs, mode=mode, on_unused_input="ignore")
        for mode in ("FRAZIL", "FAST_COMPILE")
    )
    start, random = model.initial_point(), np.random.default_rng(0)
    for scale in POINTS:
        point = [
            (start[x.name] + scale * random.normal(size=np.shape(start[x.name]))).astype(x.dtype)
            for x in model.value_vars
        ]
        for own, wanted in zip(ours(*point), theirs(*point), strict=True):
            # What is 0 but for rounding has no relative accuracy.
            np.testing.assert_allclose(own, wanted, rtol=1e-10, atol=1e-11)
