"""What mypy is told of derivatives and compiled functions is what they are."""

import annotated_calls
import numpy as np


def test_calls_that_mypy_checks_run():
    params, x = {"w": np.array([1.0, 2.0])}, np.array([3.0, 4.0])
    assert len(annotated_calls.symbolic()) == 3
    found = annotated_calls.of_functions(params, x)
    np.testing.assert_allclose(found[0]["w"], 2 * params["w"] * x**2)
    (value, gradient), chosen, each, misses = annotated_calls.compiled(params, x)
    np.testing.assert_allclose([value, *gradient["w"]], [found[1], *found[0]["w"]])
    np.testing.assert_allclose([chosen, each / 2], [x, x])
    assert misses == 1
