"""Each op on arrays gives in every linker what NumPy or SciPy gives, or raises what these raise.

A case is compiled once for a linker and a dtype, with lengths that are not known; then arrays are
drawn.
"""

import matrix_cases
import product_cases
import pytest
import reduction_cases
import shape_cases
from agreement import MODES, agree
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from op_case import bits_differ, compile_together

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

EXAMPLES = settings(
    max_examples=settings.default.max_examples // 2,
    suppress_health_check=[HealthCheck.too_slow],  # where other tests keep the processors busy
)

TOPICS = {
    "reductions": reduction_cases.REDUCTIONS,
    "moments": reduction_cases.MOMENTS,
    "orders": reduction_cases.ORDERS,
    "cumulations": reduction_cases.CUMULATIONS,
    "shapes": shape_cases.SHAPES,
    "creation": shape_cases.CREATION,
    "parts": shape_cases.PARTS,
    "indices": shape_cases.INDICES,
    "joined arrays": shape_cases.JOINED,
    "products": product_cases.PRODUCTS,
    "matrices": matrix_cases.MATRICES,
}
GROUPS = [
    pytest.param([one for one in cases if dtype in one.dtypes], dtype, id=f"{topic} of {dtype}")
    for topic, cases in TOPICS.items()
    for dtype in dict.fromkeys(dtype for one in cases for dtype in one.dtypes)
]


@pytest.mark.parametrize(("cases", "dtype"), GROUPS)
def test_values_and_errors_are_those_of_numpy(cases, dtype):
    kept = compile_together(cases, dtype, MODES)
    for one in cases:
        try:
            check(one, dtype)
        except BaseException as error:
            error.add_note(f"in the case {one.name!r} of {dtype}")
            raise
    del kept


def check(case, dtype):
    functions = {mode: case.compiled(dtype, mode) for mode in MODES}

    @EXAMPLES
    @given(st.data())
    def agrees(data):
        arrays = case.drawn(data.draw, dtype)
        try:
            compare(case, functions, arrays)
        except BaseException as error:
            error.add_note("\n".join(f"{x.shape} {x.strides}\n{x!r}" for x in arrays))
            raise

    agrees()


def compare(case, functions, arrays):
    expected = case.expected(arrays)
    results = {}
    for mode, function in functions.items():
        try:
            if isinstance(expected, Exception):
                with pytest.raises(type(expected)):
                    function(*arrays)
                continue
            results[mode] = function(*arrays)
            for one, array in zip(results[mode], expected, strict=True):
                agree(one, array, case.tolerance)
        except BaseException as error:
            error.add_note(f"in mode {mode}")
            raise
    chosen = [results[mode] for mode in case.same_bits if mode in results]
    for found in chosen[1:]:
        for one, other in zip(chosen[0], found, strict=True):
            assert not bits_differ(one, other), (one, other)
