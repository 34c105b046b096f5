"""Reductions agree with NumPy's in value, shape and dtype."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from reference import evaluate

import frazil as fz
import frazil.tensor as ft
from frazil.tensor import reductions

DTYPES = ["bool", "int8", "int32", "int64", "uint8", "uint64", "float16", "float32", "float64"]
NAMES = ["sum", "prod", "max", "min", "mean", "any", "all", "var", "std"]


@st.composite
def reducible(draw, min_side):
    dtype = draw(st.sampled_from(DTYPES))
    shape = draw(hnp.array_shapes(min_dims=0, max_dims=3, min_side=min_side, max_side=3))
    elements = st.integers(0, 1) if dtype == "bool" else st.integers(0, 3)
    array = draw(hnp.arrays(dtype, shape, elements=elements))
    every = list(range(-len(shape), len(shape)))
    axes = (
        []
        if not every
        else draw(st.lists(st.sampled_from(every), unique_by=lambda axis: axis % len(shape)))
    )
    axis = draw(st.sampled_from([None, tuple(axes), *axes[:1]]))
    known = [n if n == 1 or draw(st.booleans()) else None for n in shape]
    return array, axis, known


def check(name, array, axis, known, keepdims):
    x = ft.tensor("x", dtype=array.dtype, shape=known)
    found = evaluate(getattr(ft, name)(x, axis=axis, keepdims=keepdims), {x: array})
    with np.errstate(all="ignore"):
        expected = getattr(np, name)(array, axis=axis, keepdims=keepdims)
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, rtol=2e-3 if found.dtype == "float16" else 1e-5)


@pytest.mark.parametrize("name", NAMES)
@given(reducible(min_side=1), st.booleans())
def test_agrees_with_numpy(name, drawn, keepdims):
    check(name, *drawn, keepdims)


@pytest.mark.parametrize("name", ["sum", "prod", "any", "all"])
@given(reducible(min_side=0), st.booleans())
def test_agrees_with_numpy_where_there_are_no_elements(name, drawn, keepdims):
    check(name, *drawn, keepdims)


@pytest.mark.parametrize("name", ["max", "min"])
def test_extremum_of_no_elements_is_an_error(name):
    with pytest.raises(ValueError, match="no elements"):
        getattr(ft, name)(ft.tensor(shape=(0, 3)), axis=0)
    x = ft.vector("x")
    with pytest.raises(ValueError, match="no identity"):
        evaluate(getattr(ft, name)(x), {x: []})


@pytest.mark.parametrize("name", ["max", "min", "sum", "mean"])
def test_nan_wins(name):
    assert np.isnan(evaluate(getattr(ft, name)([1.0, np.nan, 2.0])))


def test_dtype_argument():
    x = ft.vector("x", dtype="float32")
    assert ft.sum(x, dtype="float64").dtype == "float64"
    assert ft.mean(ft.ivector(), dtype="float32").dtype == "float32"


def test_var_with_fewer_degrees_of_freedom():
    x, values = ft.vector("x"), [1.0, 2.0, 4.0]
    np.testing.assert_allclose(evaluate(ft.var(x, ddof=1), {x: values}), np.var(values, ddof=1))
    assert ft.std(ft.fvector(), ddof=1).dtype == "float32"


@pytest.mark.parametrize("reduction", [reductions.Sum, reductions.Max, reductions.All])
def test_ops_refuse_axes_that_are_not_sorted_positions(reduction):
    x = ft.matrix("x", dtype="bool")
    for axes in [(), (1, 0), (-1,)]:
        with pytest.raises(ValueError, match="sorted positions"):
            reduction(axes)(x)


def test_truth_reductions_take_bool():
    with pytest.raises(TypeError, match="takes bool"):
        reductions.All((0,))(ft.vector())


@pytest.mark.parametrize(
    "reduction", [reductions.Sum, reductions.Prod, reductions.Max, reductions.Min]
)
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float32"])
def test_identity_changes_nothing(reduction, dtype):
    if dtype == "bool" and reduction in (reductions.Sum, reductions.Prod):
        return  # the functions accumulate bool as int64
    limits = [0, 1] if dtype[0] in "bf" else [np.iinfo(dtype).min, np.iinfo(dtype).max]
    identity = np.array(reduction.identity(dtype), dtype=dtype)
    for limit in np.array(limits, dtype=dtype):
        assert reduction.ufunc(identity, limit) == limit


def test_axis_errors():
    with pytest.raises(np.exceptions.AxisError):
        ft.sum(ft.vector(), axis=1)
    with pytest.raises(ValueError, match="twice"):
        ft.sum(ft.matrix(), axis=(0, -2))


@pytest.mark.parametrize("name", ["sum", "prod", "max", "min", "all", "any", "mean", "var", "std"])
def test_an_axis_that_is_not_there_is_refused_in_the_functions_name(name):
    with pytest.raises(np.exceptions.AxisError, match=f"^{name} takes axes from -1 to 0 here"):
        getattr(ft, name)(ft.vector("x"), axis=1)


OF_NUMPY = {"sum": np.sum, "prod": np.prod, "cumsum": np.cumsum, "cumprod": np.cumprod}


@pytest.mark.parametrize("name", [*OF_NUMPY, "dot"])
def test_infinities_warn_of_nothing(name, mode):
    """Warnings are errors here, as in all tests."""
    x, values = ft.vector("x"), np.array([np.inf, 0.0, -np.inf, 1e308, 1e308])
    own = [x, x] if name == "dot" else [x]
    found = fz.function([x], getattr(ft, name)(*own), mode=mode)(values)
    with np.errstate(all="ignore"):
        wanted = np.dot(values, values) if name == "dot" else OF_NUMPY[name](values)
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize(
    "repeat", [lambda x, n: ft.broadcast_to(x, (n,)), lambda x, n: ft.full((n,), x)]
)
@pytest.mark.parametrize("count", [0, 1, 2, 300, "n"])
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int64", "uint64", "float32"])
def test_sums_of_one_number_that_repeats(dtype, count, repeat):
    x, n = ft.scalar("x", dtype=dtype), ft.lscalar("n")
    repeated = repeat(x, n if count == "n" else count)
    sums = [repeated.sum(), repeated.sum(dtype=dtype)]
    f = fz.function([x, n], sums, mode="cranelift", on_unused_input="ignore")
    array = np.full(4 if count == "n" else count, 1, dtype)
    for found, expected in zip(f(1, 4), [array.sum(), array.sum(dtype=dtype)], strict=True):
        np.testing.assert_array_equal(found, np.asarray(expected), strict=True)
