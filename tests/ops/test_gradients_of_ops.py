"""The gradient of each op on arrays is that of finite differences."""

import pytest
from points import points
from topics import TOPICS

import frazil.tensor as ft
from frazil.testing import verify_grad

WITHOUT = {
    "a check that fails": "it raises for all values",
    "solve_continuous_are": "tests/tensor/test_matrix_functions.py moves symmetric matrices alone",
}
"""Cases that have no finite differences."""


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
        arrays = points(case, "float64")
        for at, output in enumerate(case.outputs(case.inputs("float64"))):
            if output.dtype == "float64":
                function, moved = _of_output(case, arrays, at)
                try:
                    verify_grad(function, moved, n_tests=1, mode="py")
                except Exception as error:
                    error.add_note(f"in the case {case.name!r}")
                    raise
