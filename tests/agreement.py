"""What an expression gives: by the reference evaluator and by a function compiled for a linker."""

import importlib.util

import numpy as np
import pytest
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from reference import evaluate, evaluate_all

import frazil as fz
import frazil.tensor as ft

#: Not every Python that tests run on has Numba.
MODES = ["py", "c", "cranelift", *(["numba"] if importlib.util.find_spec("numba") else [])]
modes = st.sampled_from(MODES)


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


def like(draw, array, name=None, known=st.booleans()):  # noqa: B008
    """Draw an input for ``array``, some of whose lengths its type knows; lengths 1 are declared."""
    shape = [n if n == 1 or draw(known) else None for n in array.shape]
    return ft.tensor(name, dtype=array.dtype, shape=shape)


def follow(ours, theirs, arrays, draw, tolerance=1e-12, known=False):
    """Check that a function gives what NumPy's gives of arrays, or raises what that raises.

    Results may be sequences. Values are of the reference evaluator, or of a function compiled for a
    linker that is drawn; types know some lengths, or all of them.
    """
    lengths = st.just(True) if known else st.booleans()
    inputs = [like(draw, array, known=lengths) for array in arrays]
    given = dict(zip(inputs, arrays, strict=True))
    linker = draw(st.sampled_from(_LINKERS))
    try:
        with np.errstate(all="ignore"):
            expected = several(theirs(*arrays))
    except Exception as error:
        with pytest.raises(type(error)):
            _evaluated(ours, given, linker)
        return
    for found, array in zip(_evaluated(ours, given, linker), expected, strict=True):
        agree(found, array, tolerance)


#: The first is what hypothesis comes down to when an example fails. A C compiler takes its time.
_LINKERS = [*["reference"] * 4, *["cranelift"] * 3, "c"]


def _evaluated(function, given, linker):
    variables = several(function(*given))
    if linker == "reference":
        return evaluate_all(variables, given)
    return compiled(variables, given, linker)


def several(results):
    """A result as a list of results."""
    return list(results) if isinstance(results, list | tuple) else [results]


def agree(found, expected, tolerance=1e-12):
    """Check the dtype, the shape and the values of an array."""
    expected = np.asarray(expected)
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    if expected.dtype == "float32":
        tolerance = max(tolerance, 2e-5)
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


def follow_compiled(table, arrays, mode):
    """Check pairs of functions on arrays, all compiled as one function for a linker."""
    shapes = [[1 if n == 1 else None for n in x.shape] for x in arrays]
    inputs = [ft.tensor(dtype=x.dtype, shape=n) for x, n in zip(arrays, shapes, strict=True)]
    variables, expected = [], []
    for ours, theirs in table:
        variables += several(ours(*inputs))
        expected += several(theirs(*arrays))
    values = compiled(variables, dict(zip(inputs, arrays, strict=True)), mode)
    for found, array in zip(values, expected, strict=True):
        agree(found, array)


def drawn_arrays(min_dims=0, max_dims=3, dtypes=("float64", "float32", "int64", "int8")):
    """Arrays with lengths 0 and 1, NaN, infinities, and any strides."""

    @st.composite
    def array(draw):
        shape = draw(hnp.array_shapes(min_dims=min_dims, max_dims=max_dims, min_side=0, max_side=4))
        dtype = np.dtype(draw(st.sampled_from(dtypes)))
        whole = st.integers(-4, 4) if dtype.kind != "u" else st.integers(0, 4)
        special = st.sampled_from([np.nan, np.inf, -np.inf, -0.0, 0.5])
        elements = whole | special if dtype.kind == "f" else whole if dtype != "bool" else None
        made = draw(hnp.arrays(dtype, shape, elements=elements))
        backwards = tuple(slice(None, None, draw(st.sampled_from([1, -1]))) for _ in shape)
        return made[backwards] if shape else made

    return array()
