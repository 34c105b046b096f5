"""Arguments that NumPy's functions have: which elements count, what they start from, the order."""

import warnings
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose, assert_array_equal

import frazil as fz
import frazil.tensor as ft
from frazil.testing import verify_grad

MODES = ("py", "c", "cranelift", "numba")
A = np.array([[3.0, -1.0, 2.0], [np.nan, 5.0, -4.0]])


def reduced(namespace, x, mask):
    """Reductions of a matrix, as NumPy spells them."""
    kinds = {"initial": 2, "where": mask}
    parts = [
        getattr(namespace, name)(x, axis=axis, **kinds)
        for name in ("sum", "prod", "max", "min")
        for axis in (None, 0, 1)
    ]
    parts += [getattr(namespace, name)(x, axis=1, where=mask) for name in ("all", "any", "sum")]
    parts += [getattr(namespace, name)(x, axis=0, initial=-7) for name in ("max", "min", "sum")]
    if np.dtype(x.dtype).kind == "f":
        parts += [namespace.mean(x, axis=0, keepdims=True, where=mask)]
        parts += [namespace.var(x, axis=1, correction=1, where=mask)]
        parts += [namespace.std(x, correction=0.5), namespace.std(x, axis=0, dtype="float64")]
    return parts


@cache
def compiled(dtype):
    x, mask = ft.tensor("x", dtype=dtype, shape=(None, None)), ft.vector("mask", dtype="bool")
    return {mode: fz.function([x, mask], reduced(ft, x, mask), mode=mode) for mode in MODES}


@settings(max_examples=25)
@given(st.data(), st.sampled_from(["float64", "int8"]), st.integers(0, 3), st.integers(1, 3))
def test_reductions_of_some_elements_are_numpys(data, dtype, rows, columns):
    elements = st.integers(-3, 3) if dtype == "int8" else st.sampled_from([0.5, -2.0, 3.0, np.inf])
    x = data.draw(hnp.arrays(dtype, (rows, columns), elements=elements))
    mask = data.draw(hnp.arrays("bool", columns))
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = reduced(np, x, mask)
    for f in compiled(dtype).values():
        for one, other in zip(f(x, mask), expected, strict=True):
            assert one.dtype == np.asarray(other).dtype
            assert_allclose(one, other, rtol=1e-12)


def test_gradients_of_reductions_of_some_elements():
    mask = np.array([True, False, True])
    x = np.array([[3.0, -1.0, 2.0], [1.0, 5.0, -4.0]])
    for reduce in (
        lambda x: ft.sum(x, axis=1, where=mask, initial=3.0),
        lambda x: ft.prod(x, axis=1, where=mask),
        lambda x: ft.max(x, axis=0, where=mask, initial=-9.0),
        lambda x: ft.min(x, axis=1, where=mask, initial=9.0),
        lambda x: ft.var(x, where=mask, correction=1),
    ):
        verify_grad(reduce, [x])


def test_what_a_reduction_refuses():
    x = ft.matrix("x")
    with pytest.raises(ValueError, match="needs initial="):
        ft.max(x, where=x > 0)
    with pytest.raises(ValueError, match="say the same"):
        ft.var(x, ddof=1, correction=1)
    with pytest.raises(ValueError, match="must broadcast"):
        ft.sum(x, where=ft.tensor3() > 0)
    assert ft.max(ft.zeros((0, 3)), axis=0, initial=1).eval().tolist() == [1, 1, 1]
    small = ft.tensor(dtype="uint8", shape=(3,))
    for build in (
        lambda: ft.max(small, initial=-3),
        lambda: ft.pad(small, 1, constant_values=300),
        lambda: ft.insert(small, 0, -1),
    ):
        with pytest.raises(OverflowError, match="out of bounds for uint8"):
            build()
    with pytest.raises(ValueError, match="nothing to repeat along axis 0"):
        ft.pad(ft.zeros((0, 2)), 1, mode="edge")
    assert x.sum(where=x > 0) is ft.sum(x, where=x > 0)
    assert x.max(initial=1.0, where=x > 0) is ft.max(x, initial=1.0, where=x > 0)
    assert x.var(correction=1) is ft.var(x, correction=1)
    assert x.any(where=x > 0) is ft.any(x, where=x > 0)


@pytest.mark.parametrize("mode", MODES)
def test_sorting_downwards(mode):
    x = ft.matrix("x")
    f = fz.function(
        [x],
        [
            ft.sort(x, descending=True),
            ft.argsort(x, 0, descending=True),
            ft.sort(x, axis=None, descending=True, stable=False),
            x.argsort(descending=True),
        ],
        mode=mode,
    )
    value = np.array([[1.0, 2.0, 1.0, 3.0], [5.0, 2.0, 2.0, np.nan]])
    found = f(value)
    assert_array_equal(found[0], np.sort(value)[:, ::-1])
    assert_array_equal(found[1], [[1, 0, 1, 1], [0, 1, 0, 0]])
    assert_array_equal(found[2], np.sort(value, axis=None)[::-1])
    assert_array_equal(found[3], [[3, 1, 0, 2], [3, 0, 1, 2]])  # equal ones in their order
    verify_grad(lambda x: ft.sort(x, descending=True) * np.arange(3.0), [np.array([2.0, 3.0, 1.0])])


def test_differences_with_ends():
    for ends in ({"prepend": 0.0}, {"append": [[7.0], [8.0]]}, {"prepend": A, "append": 1.0}):
        assert_array_equal(ft.diff(A, **ends).eval(), np.diff(A, **ends))
        assert_array_equal(ft.diff(A, 2, **ends).eval(), np.diff(A, 2, **ends))
    assert_array_equal(ft.diff(A, axis=0, prepend=1).eval(), np.diff(A, axis=0, prepend=1))
    assert ft.diff(A, 0, prepend=1.0).type.shape == (2, 3)


@pytest.mark.parametrize("mode", MODES)
def test_positions_beyond_the_ends(mode):
    x, k = ft.matrix("x"), ft.lmatrix("k")
    how = ["wrap", "clip"]
    outputs = [ft.take(x, k, axis, mode=one) for axis in (None, 1) for one in how]
    f = fz.function([x, k], outputs, mode=mode)
    positions = np.array([[-9, -1, 0], [2, 3, 14]])
    expected = [np.take(A, positions, axis, mode=one) for axis in (None, 1) for one in how]
    for one, other in zip(f(A, positions), expected, strict=True):
        assert_array_equal(one, other)
    with pytest.raises(ValueError, match="wrap"):
        ft.take(x, k, mode="wrapped")


def test_joining_in_a_dtype():
    for join in (ft.concatenate, ft.stack, ft.hstack, ft.vstack):
        assert join([[1, 2], [3, 4]], dtype="float32").dtype == "float32"
    joined = np.concatenate([ft.constant([1.5]), [2]], dtype="int8", casting="unsafe")
    assert_array_equal(joined.eval(), [1, 2])


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dtype", ["float64", "float32", "int8"])
def test_reductions_without_nan_of_some_elements(mode, dtype):
    x, mask = (
        ft.tensor("x", dtype=dtype, shape=(None, None)),
        ft.tensor("mask", dtype="bool", shape=(None, None)),
    )
    value = np.array([[3.0, -1.0, 2.0], [np.nan, 5.0, -4.0], [np.nan, 7.0, 1.0]])
    value = np.nan_to_num(value).astype(dtype) if dtype == "int8" else value.astype(dtype)
    chosen = np.array([[True, False, True], [True, True, False], [False, True, True]])
    calls = [
        lambda lib, x, mask: lib.nansum(x, axis=0, where=mask),
        lambda lib, x, mask: lib.nansum(x, axis=1, initial=2),
        lambda lib, x, mask: lib.nanprod(x, axis=1, keepdims=True, initial=2, where=mask),
        lambda lib, x, mask: lib.nanmax(x, axis=1, initial=2, where=mask),
        lambda lib, x, mask: lib.nanmin(x, axis=0, initial=1),
        lambda lib, x, mask: lib.nanmean(x, axis=1, where=mask),
        lambda lib, x, mask: lib.nanvar(x, axis=1, where=mask),
        lambda lib, x, mask: lib.nanstd(x, axis=1, where=mask, keepdims=True),
        lambda lib, x, mask: lib.nanvar(x, axis=1, correction=0.5),
        lambda lib, x, mask: lib.nanstd(x, axis=0, dtype="float32", where=mask),
    ]
    f = fz.function([x, mask], [call(ft, x, mask) for call in calls], mode=mode)
    for call, found in zip(calls, f(value, chosen), strict=True):
        wanted = call(np, value, chosen)
        assert found.dtype == wanted.dtype
        assert_allclose(found, wanted, rtol=1e-6)
    with pytest.raises(ValueError, match="needs initial="):
        ft.nanmax(x, where=mask)
