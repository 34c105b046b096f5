"""What an expression gives: by the reference evaluator and by a function compiled for a linker."""

import numpy as np
from hypothesis import strategies as st
from reference import evaluate

import frazil as fz
import frazil.tensor as ft

modes = st.sampled_from(["py", "c", "numba"])


def compiled(variables, given, mode):
    """Return the values of variables, computed by a compiled function."""
    function = fz.function(list(given), variables, mode=mode, on_unused_input="ignore")
    return function(*given.values())


def check(variable, given, expected, mode, rtol=1e-12):
    """Check an expression's dtype, shape and values, by evaluation and in a compiled function."""
    expected = np.asarray(expected)
    given = {x: np.asarray(value, dtype=x.dtype) for x, value in given.items()}
    for found in (evaluate(variable, given), compiled(variable, given, mode)):
        assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
        tolerance = 1e-5 if expected.dtype == "float32" else rtol
        np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


def like(draw, array, name=None):
    """Draw an input for ``array``, some of whose lengths its type knows; lengths 1 are declared."""
    shape = [n if n == 1 or draw(st.booleans()) else None for n in array.shape]
    return ft.tensor(name, dtype=array.dtype, shape=shape)
