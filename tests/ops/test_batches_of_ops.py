"""The batch rule of each op gives what a loop over the elements of the batch gives."""

import numpy as np
import pytest
from points import moves, points
from topics import TOPICS

import frazil as fz
import frazil.tensor as ft

WITHOUT = {
    "a check that fails": "it raises for all values",
    "ifelse": "its branches have different lengths, which elements of a batch may not have",
}
"""Cases without a batch."""


def _elements(case, dtype):
    """Operands of three elements of a batch."""
    first = points(case, dtype)
    rng = np.random.default_rng(1)
    others = [
        [
            (x + rng.normal(size=x.shape) / 100).astype(x.dtype) if moves(one, x.dtype) else x
            for x, one in zip(first, case.operands, strict=True)
        ]
        for _ in range(2)
    ]
    return [first, *others]


@pytest.mark.parametrize("topic", TOPICS)
def test_a_batch_is_the_stack_of_its_elements(topic):
    for case in TOPICS[topic]:
        if case.name in WITHOUT:
            continue
        dtype = "float64" if "float64" in case.dtypes else case.dtypes[0]
        elements = _elements(case, dtype)
        inputs = case.inputs(dtype)
        outputs = case.outputs(inputs)
        batches = [ft.tensor(dtype=x.dtype, shape=(None, *x.type.shape)) for x in inputs]
        made = fz.vectorize(outputs, dict(zip(inputs, batches, strict=True)))
        given = [np.stack(arrays) for arrays in zip(*elements, strict=True)]
        options = {"mode": "py", "on_unused_input": "ignore"}
        found = fz.function(batches, made, **options)(*given)
        one = fz.function(inputs, outputs, **options)
        expected = [np.stack(ys) for ys in zip(*(one(*xs) for xs in elements), strict=True)]
        for y, wanted in zip(found, expected, strict=True):
            # What depends on no operand has no batch.
            np.testing.assert_allclose(
                np.broadcast_to(y, wanted.shape), wanted, rtol=1e-7, atol=1e-9, err_msg=case.name
            )
