"""Averages, quantiles, covariances and reductions that pass over NaN agree with NumPy."""

from functools import partial

import numpy as np
import pytest
from agreement import drawn_arrays, follow, follow_compiled
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import frazil.tensor as ft
from frazil.testing import verify_grad

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

NAN = ["nansum", "nanprod", "nanmax", "nanmin", "nanmean", "nanvar", "nanstd", "nanmedian"]
METHODS = [
    "linear", "lower", "higher", "nearest", "midpoint", "hazen", "weibull", "median_unbiased",
    "normal_unbiased", "inverted_cdf", "averaged_inverted_cdf", "closest_observation",
    "interpolated_inverted_cdf",
]  # fmt: skip
dtypes = ["float64", "float32", "int64"]


def axes_of(array):
    """Axes of an array, and some that it has not."""
    one = st.integers(-array.ndim - 1, array.ndim)
    return st.none() | one | st.tuples(one, one)


@pytest.mark.parametrize("name", [*NAN, "median", "ptp", "count_nonzero"])
@settings(max_examples=40)  # for each of the functions
@given(drawn_arrays(min_dims=1, dtypes=dtypes), st.booleans(), st.data())
def test_reductions_agree_with_numpy(name, array, keepdims, data):
    axis = data.draw(axes_of(array))
    ours, theirs = getattr(ft, name), getattr(np, name)
    if "median" in name:
        assume(array.size)  # NumPy's means of nothing differ in their dtypes
    follow(
        lambda x: ours(x, axis=axis, keepdims=keepdims),
        lambda x: theirs(x, axis=axis, keepdims=keepdims),
        [array],
        data.draw,
    )


@pytest.mark.parametrize("name", ["nancumsum", "nancumprod"])
@given(drawn_arrays(min_dims=1, dtypes=dtypes), st.none() | st.integers(-2, 2), st.data())
def test_cumulations_agree_with_numpy(name, array, axis, data):
    ours, theirs = getattr(ft, name), getattr(np, name)
    follow(lambda x: ours(x, axis), lambda x: theirs(x, axis), [array], data.draw)


@given(drawn_arrays(dtypes=["float64", "float32"]), st.sampled_from([0, 1, 2.5]), st.data())
def test_degrees_of_freedom_agree_with_numpy(array, ddof, data):
    follow(lambda x: ft.nanvar(x, ddof=ddof), lambda x: np.nanvar(x, ddof=ddof), [array], data.draw)


finite = hnp.arrays(
    st.sampled_from(dtypes),
    hnp.array_shapes(max_dims=3, max_side=5),
    elements=st.integers(-4, 4),
)


@pytest.mark.parametrize("method", METHODS)
@settings(max_examples=25)  # for each of the methods
@given(finite, st.booleans(), st.booleans(), st.data())
def test_quantiles_agree_with_numpy(method, array, keepdims, nan, data):
    if nan and array.dtype.kind == "f":
        array.flat[-1] = np.nan
    axis = data.draw(axes_of(array))
    # By other methods NumPy's dtype for integers as shares depends on the method and the elements.
    ends = (0, 1) if method == "linear" else (0.0, 1.0)
    share = st.sampled_from([*ends, 0.5, 0.25, 0.1, 0.75])
    q = data.draw(share | st.lists(share, min_size=1, max_size=3))
    options = {"axis": axis, "method": method, "keepdims": keepdims}
    follow(
        lambda x: ft.quantile(x, q, **options),
        lambda x: np.quantile(x, q, **options),
        [array],
        data.draw,
    )
    hundred = [100 * one for one in q] if isinstance(q, list) else 100 * q
    follow(
        lambda x: ft.percentile(x, hundred, **options),
        lambda x: np.percentile(x, hundred, **options),
        [array],
        data.draw,
    )


def test_a_quantile_beside_an_infinity_is_the_element():
    assert ft.quantile([0.0, 1.0, np.inf], 0.5).eval() == 1
    assert ft.quantile([np.inf, np.inf], 0.3).eval() == np.inf


def test_symbolic_shares():
    x, q = ft.vector("x"), ft.vector("q")
    values, shares = np.array([3.0, 1.0, 4.0, 1.0, 5.0]), np.array([0.1, 0.9])
    found = ft.quantile(x, q).eval({x: values, q: shares})
    np.testing.assert_allclose(found, np.quantile(values, shares))


@given(finite, st.booleans(), st.booleans(), st.data())
def test_averages_agree_with_numpy(array, keepdims, full, data):
    axis = data.draw(axes_of(array))
    shape = array.shape
    if not full and isinstance(axis, int) and -array.ndim <= axis < array.ndim:
        shape = (shape[axis],)
    weights = np.arange(1, np.prod(shape) + 1).reshape(shape).astype("float32")
    for weighting in ({}, {"weights": weights}):
        options = {**weighting, "axis": axis, "keepdims": keepdims, "returned": True}
        follow(
            lambda x, o=options: ft.average(x, **o),
            lambda x, o=options: np.average(x, **o),
            [array],
            data.draw,
        )


rows = hnp.arrays(
    st.sampled_from(dtypes),
    hnp.array_shapes(min_dims=0, max_dims=3, min_side=1, max_side=4),
    elements=st.integers(-3, 3),
)


@given(
    rows,
    st.booleans(),
    st.booleans(),
    st.sampled_from([None, 0, 2, 1.5]),
    st.booleans(),
    st.data(),
)
def test_covariances_agree_with_numpy(array, rowvar, bias, ddof, weighted, data):
    options = {"rowvar": rowvar, "bias": bias, "ddof": ddof}
    if weighted and array.ndim == 2:
        observations = array.shape[1 if rowvar else 0]
        options["fweights"] = np.arange(1, observations + 1)
        options["aweights"] = np.linspace(0.5, 2, observations)
    compare(lambda x, m: m.cov(x, **options), array, data.draw)
    if rowvar or array.ndim != 2 or array.shape[0] > 1:  # NumPy takes one row of y for a quantity
        compare(lambda x, m: m.cov(x, x + 1, rowvar=rowvar), array, data.draw)


@given(rows, st.booleans(), st.data())
def test_correlations_agree_with_numpy(array, rowvar, data):
    compare(lambda x, m: m.corrcoef(x, rowvar=rowvar), array, data.draw)


def compare(function, array, draw):
    """Compare where all lengths are known, as these decide the rank of a covariance."""
    follow(lambda x: function(x, ft), lambda x: function(x, np), [array], draw, known=True)


X, Y = np.array([[1.0, 2.0, -0.5], [3.0, 0.25, 6.0]]), np.array([[0.5, -1.0, 2.0], [1.0, 3.0, 0.1]])
HOLES = np.array([[1.0, np.nan, -0.5], [3.0, 0.25, 6.0]])
TABLE = [
    (lambda x: ft.median(x, 1), lambda x: np.median(x, 1)),
    (lambda x: ft.quantile(x, [0.2, 0.6], 0), lambda x: np.quantile(x, [0.2, 0.6], 0)),
    (lambda x: ft.percentile(x, 30, 0), lambda x: np.percentile(x, 30, 0)),
    (lambda x: ft.quantile(x, 0.4, method="lower"), lambda x: np.quantile(x, 0.4, method="lower")),
    (ft.cov, np.cov),
    (ft.corrcoef, np.corrcoef),
    (ft.ptp, np.ptp),
    (lambda x: ft.average(x, 1, weights=[1, 2, 3]), lambda x: np.average(x, 1, weights=[1, 2, 3])),
    (ft.count_nonzero, np.count_nonzero),
]  # fmt: skip


def test_compiled(mode):
    follow_compiled(TABLE, [X], mode)
    pairs = [(getattr(ft, name), getattr(np, name)) for name in NAN]
    table = [(partial(ours, axis=1), partial(theirs, axis=1)) for ours, theirs in pairs]
    follow_compiled(table, [HOLES], mode)


def test_gradients(mode):
    def total(x):
        results = [ours(x) for ours, _ in TABLE[:-1]]
        holed = ft.where(np.isnan(HOLES), np.nan, x)
        results += [getattr(ft, name)(holed, 1) for name in NAN]
        return sum(((k + 1) / 10 * result**2).sum() for k, result in enumerate(results))

    verify_grad(total, [X], mode=mode)


def test_errors():
    x = ft.vector("x")
    with pytest.raises(ValueError, match="from 0 to 1"):
        ft.quantile(x, 1.5)
    with pytest.raises(ValueError, match="from 0 to 100"):
        ft.percentile(x, -1)
    with pytest.raises(ValueError, match="method"):
        ft.quantile(x, 0.5, method="best")
    with pytest.raises(TypeError, match="numbers"):
        ft.quantile(ft.vector("b", dtype="bool"), 0.5)
    with pytest.raises(TypeError, match="axis must be given"):
        ft.average(ft.matrix("m"), weights=x)
    with pytest.raises(RuntimeError, match="as many"):
        ft.cov(np.ones((2, 3)), fweights=[1, 2])


def test_shapes_together():
    n = ft.lscalar("n")
    assert [k is n or int(k.data) for k in ft.broadcast_shapes((3, 1), n)] == [3, True]
    assert [int(k.data) for k in ft.broadcast_shapes(2, (4, 1, 1))] == [4, 1, 2]
    assert ft.broadcast_shapes() == ()
    with pytest.raises(ValueError, match="do not broadcast"):
        ft.broadcast_shapes((3,), (2,))
    assert (
        ft.empty_like(ft.tensor(shape=(2, 3)), "int8").type
        == ft.tensor(dtype="int8", shape=(2, 3)).type
    )
