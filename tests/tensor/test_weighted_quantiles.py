"""Quantiles of elements that count differently agree with NumPy's."""

import numpy as np
import pytest
from agreement import MODES, compiled, follow
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import frazil.tensor as ft
from frazil.testing import verify_grad

BY = {"method": "inverted_cdf"}
elements = st.sampled_from([-2.0, 0.5, 1.0, 3.0, np.inf, np.nan])
numbers = hnp.arrays(
    st.sampled_from(["float64", "float32"]), hnp.array_shapes(max_dims=3), elements=elements
)
integers = hnp.arrays("int64", hnp.array_shapes(max_dims=3), elements=st.integers(-3, 3))


@pytest.mark.parametrize("name", ["quantile", "nanquantile", "percentile", "nanpercentile"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@settings(max_examples=60)
@given(numbers | integers, st.booleans(), st.data())
def test_they_are_numpys(name, array, keepdims, data):
    if np.isnan(array).all():
        array = np.nan_to_num(array)
    axes = range(-array.ndim, array.ndim)
    axis = data.draw(st.none() | st.sampled_from(axes) | st.permutations(range(array.ndim)))
    axis = tuple(axis[: max(1, array.ndim - 1)]) if isinstance(axis, list) else axis
    named = axis if isinstance(axis, tuple) else (axis,)
    # NumPy's functions that pass over NaN fail if weights have fewer dimensions.
    full = axis is None or "nan" in name or data.draw(st.booleans())
    shape = array.shape if full else tuple(array.shape[k] for k in named)
    counts = hnp.arrays("float64", shape, elements=st.sampled_from([0.0, 0.1, 1.0, 2.5]))
    weights = data.draw(counts)
    whole = 100 if "percentile" in name else 1
    share = st.sampled_from([0, 0.1, 0.25, 0.5, 0.9, 1]).map(lambda q: q * whole)
    q = data.draw(share | st.lists(share, min_size=1, max_size=3))
    options = {"axis": axis, "keepdims": keepdims, **BY}
    follow(
        lambda x, w: getattr(ft, name)(x, q, weights=w, **options),
        lambda x, w: getattr(np, name)(x, q, weights=w, **options),
        [array, weights],
        data.draw,
    )


@pytest.mark.parametrize("mode", MODES)
def test_they_are_compiled(mode):
    x, w = ft.matrix("x"), ft.vector("w")
    array, weights = np.array([[3.0, 1.0, 2.0], [np.nan, 5.0, 4.0]]), np.array([0.0, 1.0, 3.0])
    for name in ("quantile", "nanquantile"):
        made = getattr(ft, name)(x, [0.0, 0.25, 0.26, 1.0], 1, weights=w, **BY)
        full = np.broadcast_to(weights, array.shape)
        expected = getattr(np, name)(array, [0.0, 0.25, 0.26, 1.0], 1, weights=full, **BY)
        np.testing.assert_array_equal(compiled(made, {x: array, w: weights}, mode), expected)
        with pytest.raises(ValueError, match="negative"):
            compiled(made, {x: array, w: -weights}, mode)
        for bad in (0.0, np.inf, np.nan):
            with pytest.raises(ValueError, match="finite, and not all of them 0"):
                compiled(made, {x: array, w: bad * np.ones(3)}, mode)


def test_their_gradients_go_to_the_element_that_was_chosen():
    weights = np.array([0.5, 1.0, 3.0])
    verify_grad(
        lambda x: ft.quantile(x, [0.2, 0.8], 1, weights=weights, **BY),
        [np.array([[3.0, 1.0, 2.0], [7.0, 5.0, 4.0]])],
    )


def test_what_they_refuse():
    x = ft.matrix("x")
    with pytest.raises(ValueError, match="inverted_cdf"):
        ft.quantile(x, 0.5, weights=x)
    with pytest.raises(TypeError, match="axis must be given"):
        ft.quantile(x, 0.5, weights=x[0], **BY)
    with pytest.raises(TypeError, match="real"):
        ft.quantile(x, 0.5, weights=x + 1j, **BY)


def test_axes_of_averages_have_their_order():
    array, weights = np.arange(12.0).reshape(2, 2, 3) ** 2, np.array([[1.0, 2.0], [3.0, 5.0]])
    expected = np.average(array, axis=(1, 0), weights=weights)
    np.testing.assert_allclose(ft.average(array, (1, 0), weights).eval(), expected)
