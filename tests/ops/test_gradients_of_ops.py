"""The gradient of each op on arrays is that of finite differences."""

import numpy as np
import pytest
from drawn_operands import finite, values
from test_arrays_in_linkers import TOPICS

import frazil.tensor as ft
from frazil.testing import verify_grad

WITHOUT = {
    "a check that fails": "it raises for all values",
    "solve_continuous_are": "tests/tensor/test_matrix_functions.py moves symmetric matrices alone",
}
"""Cases that have no finite differences."""

LENGTHS = (2, 3, 4, 5)


def _points(case):
    """Arrays on which NumPy's function is defined: real numbers where any will do.

    A length is 1 where no other is taken: a standard deviation of one number has no gradient.
    """
    for seed in range(100):
        rng = np.random.default_rng(seed)
        lengths = LENGTHS if seed < 50 else (1, *LENGTHS)
        known = {letter: rng.choice(lengths) for one in case.operands for letter in one.dims}
        arrays = []
        for one in case.operands:
            shape = tuple(int(c) if c.isdigit() else known[c] for c in one.dims)
            dtype = one.dtype or "float64"
            any_number = one.fill in (values, finite) and dtype == "float64"
            made = rng.normal(size=shape) if any_number else one.fill(rng, shape, dtype)
            arrays.append(np.asarray(made, dtype))
        expected = case.expected(arrays)
        if not isinstance(expected, Exception) and all(np.isfinite(y).all() for y in expected):
            return arrays
    raise AssertionError(f"nothing drawn is in the domain of {case.name!r}")


def _of_output(case, arrays, at):
    """Output ``at`` as a function of the operands of float64; the others are constants."""
    moving = [k for k, array in enumerate(arrays) if array.dtype == "float64"]

    def function(*given):
        operands = [ft.constant(array) for array in arrays]
        for k, x in zip(moving, given, strict=True):
            operands[k] = x
        return case.outputs(operands)[at]

    return function, [arrays[k] for k in moving]


@pytest.mark.parametrize("topic", TOPICS)
def test_gradients_are_those_of_finite_differences(topic):
    for case in TOPICS[topic]:
        if "float64" not in case.dtypes or case.name in WITHOUT:
            continue
        arrays = _points(case)
        for at, output in enumerate(case.outputs(case.inputs("float64"))):
            if output.dtype == "float64":
                function, points = _of_output(case, arrays, at)
                try:
                    verify_grad(function, points, n_tests=1, mode="py")
                except Exception as error:
                    error.add_note(f"in the case {case.name!r}")
                    raise
