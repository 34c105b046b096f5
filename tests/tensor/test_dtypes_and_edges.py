"""Functions have NumPy's dtypes for all pairs of dtypes, and NumPy's values at the edges."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import frazil as fz
import frazil.tensor as ft

MODES = ("py", "c", "cranelift", "numba")
INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
DTYPES = ("bool", *INTEGERS, "float16", "float32", "float64")
KNOWN = {"reciprocal"}
"""What docs/differences.md says is otherwise for integers."""
NUMBERS_FIRST = {"ldexp"}
"""What docs/differences.md says is otherwise for a Python integer as the first operand."""

ALIASES = {
    "neq": "not_equal",
    "eq": "equal",
    "lt": "less",
    "le": "less_equal",
    "gt": "greater",
    "ge": "greater_equal",
    "neg": "negative",
    "and_": "bitwise_and",
    "or_": "bitwise_or",
    "xor": "bitwise_xor",
    "sub": "subtract",
    "mul": "multiply",
    "true_div": "true_divide",
    "floor_div": "floor_divide",
}


def numpy_of(name: str) -> np.ufunc | None:
    found = getattr(np, ALIASES.get(name, name), None)
    return found if isinstance(found, np.ufunc) else None


UFUNCS = [
    name for name in dir(ft) if numpy_of(name) is not None and name not in ("matvec", "vecmat")
]
"""Functions that take vectors."""


def dtype_of(function: Callable[..., Any], *arguments: Any) -> str | None:
    """The dtype of a result; frazil makes float16 of no other dtype."""
    given = [str(x.dtype) for x in arguments if hasattr(x, "dtype")]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            result = function(*arguments)
        except (TypeError, OverflowError):
            return None
    results = result if isinstance(result, tuple) else (result,)
    names = [str(one.dtype) for one in results]
    if "float16" not in given:
        names = [name.replace("float16", "float32") for name in names]
    return " ".join(names)


@pytest.mark.parametrize("name", UFUNCS)
def test_dtypes_of_elementwise_functions(name: str) -> None:
    ufunc, ours = numpy_of(name), getattr(ft, name)
    assert ufunc is not None
    for dtypes in itertools.product(DTYPES, repeat=ufunc.nin):
        if name in KNOWN and not dtypes[0].startswith("f"):
            continue
        arrays = [np.ones(3, dtype) for dtype in dtypes]
        assert dtype_of(ours, *map(ft.constant, arrays)) == dtype_of(ufunc, *arrays), dtypes


def test_dtypes_of_elementwise_functions_with_numbers_of_python() -> None:
    assert len(UFUNCS) > 60
    for name in UFUNCS:
        ufunc, ours = numpy_of(name), getattr(ft, name)
        if ufunc is None or ufunc.nin != 2 or ufunc.signature is not None:
            continue
        for dtype, number in itertools.product(DTYPES, (True, 2, 2.5)):
            array = np.ones(3, dtype)
            own = ft.constant(array)
            assert dtype_of(ours, own, number) == dtype_of(ufunc, array, number), (name, dtype)
            if name in NUMBERS_FIRST and type(number) is int:
                continue
            assert dtype_of(ours, number, own) == dtype_of(ufunc, number, array), (name, dtype)


def test_dtypes_of_linear_algebra() -> None:
    taken = [dtype for dtype in DTYPES if dtype != "float16"]
    for first, second in itertools.product(taken, repeat=2):
        a, b = np.eye(2).astype(first), np.eye(2).astype(second)
        expected = np.linalg.solve(a, b).dtype
        assert ft.linalg.solve(ft.constant(a), ft.constant(b)).dtype == expected, (first, second)
    for name in ("inv", "det"):
        for dtype in taken:
            a = np.eye(2).astype(dtype)
            expected = getattr(np.linalg, name)(a).dtype
            assert getattr(ft.linalg, name)(ft.constant(a)).dtype == expected


def test_dtypes_of_new_arrays() -> None:
    dtypes = (None, "int8", float, int, bool, np.float32, np.dtype("u2"))
    for name, dtype in itertools.product(("zeros", "ones", "empty", "eye", "tri"), dtypes):
        made = getattr(ft, name)(3, dtype=dtype)
        assert made.dtype == getattr(np, name)(3, dtype=dtype).dtype, (name, dtype)
    x = ft.constant(np.ones(3, "int8"))
    assert ft.round(x).dtype == "int8"
    assert x.round().dtype == "int8"
    assert ft.rint(x).dtype == "float32"
    assert ft.round(ft.constant([True])).dtype == "float32"


@given(
    st.lists(st.floats(-9, 9), max_size=5),
    st.sampled_from([0, 1, 2, 3, 7, 0.5, 2.5, -1]),
    st.sampled_from(["float32", "float64", "int8"]),
)
def test_variances_that_have_nothing_left_to_divide_by(
    values: list[float], ddof: float, dtype: str
) -> None:
    array = np.array(values).astype(dtype)
    for x in (ft.tensor("x", dtype=dtype, shape=(None,)), ft.constant(array)):
        outputs = [ft.var(x, ddof=ddof), ft.std(x, ddof=ddof)]
        inputs = [] if isinstance(x, fz.Constant) else [x]
        found = fz.function(inputs, outputs, mode="py")(*[array][: len(inputs)])
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            expected = [np.var(array, ddof=ddof), np.std(array, ddof=ddof)]
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("mode", MODES)
def test_values_at_the_edges(mode: str) -> None:
    from scipy import special

    for dtype in ("float64", "float32"):
        x = ft.tensor("x", dtype=dtype, shape=(None,))
        values = np.array([-np.inf, np.inf, 0.0, -0.0, -1.0, -1e30, -2.5, np.nan, 3.0], dtype)
        found = fz.function([x], [ft.gammaln(x), ft.loggamma(x)], mode=mode)(values)
        np.testing.assert_allclose(found[0], special.gammaln(values), rtol=1e-5)
        np.testing.assert_allclose(found[1], special.loggamma(values), rtol=1e-5)
    for dtype in DTYPES:
        p = ft.tensor("p", dtype=dtype, shape=(None,))
        values = np.array([0, 1]).astype(dtype)
        found = fz.function([p], [ft.logit(p), ft.logit(ft.constant(values))], mode=mode)(values)
        assert [y.tolist() for y in found] == [[-np.inf, np.inf]] * 2
        beyond = np.array([2, 3]).astype(dtype)
        if dtype != "bool":
            assert np.isnan(fz.function([p], ft.logit(p), mode=mode)(beyond)).all()
    u = ft.tensor("u", dtype="uint16", shape=(None,))
    i = ft.tensor("i", dtype="int8", shape=(None,))
    given_u, given_i = np.array([0, 65535, 7], "uint16"), np.array([-128, 127, -7], "int8")
    f = fz.function([i, u], [ft.arctan2(i, u), ft.logaddexp(i, u), ft.rint(i)], mode=mode)
    expected = (np.arctan2(given_i, given_u), np.logaddexp(given_i, given_u), np.rint(given_i))
    for one, other in zip(f(given_i, given_u), expected, strict=True):
        assert one.dtype == "float32"
        np.testing.assert_allclose(one, other, rtol=1e-3)


NUMBERS = st.one_of(
    st.integers(-20, 20),
    st.floats(-20, 20).map(lambda x: round(x, 1)),
    st.integers(-20, 20).map(np.int8),
    st.floats(-20, 20).map(np.float32),
)
STEPS = st.sampled_from([1, 2, -1, 5, 0.5, 0.1, -1.5, 2.5, np.int16(3), np.float32(0.3)])


@given(NUMBERS, NUMBERS, STEPS, st.sampled_from(DTYPES[1:]))
def test_ranges_count_before_they_cast(start: Any, stop: Any, step: Any, dtype: Any) -> None:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            expected = np.arange(start, stop, step, dtype)
        except OverflowError:
            return
        wraps = np.dtype(dtype).kind == "u" and (start < 0 or stop < 0 or step < 0)
        made = ft.arange(start, stop, step, dtype)
        variables = [ft.as_tensor(x).type() for x in (start, stop, step)]
        symbolic = ft.arange(*variables, dtype=dtype)
        values = [np.asarray(x) for x in (start, stop, step)]
        f = fz.function(variables, symbolic, mode="py", on_unused_input="ignore")
        for found in (made.eval(), f(*values)):
            assert found.dtype == expected.dtype
            assert len(found) == len(expected)
            if not wraps:
                # NumPy's step is the difference of the first two terms, as float32 rounds them.
                near = 1e-5 + 2e-6 * len(found)
                np.testing.assert_allclose(found, expected, rtol=1e-5, atol=near)


@pytest.mark.parametrize("mode", MODES)
def test_ranges_of_another_dtype(mode: str) -> None:
    for arguments, dtype in [
        ((2.5,), "int64"),
        ((0.3, 11, 0.1), "int32"),
        ((0.5, 3.5, 1), "uint8"),
        ((0.3, 11, 0.1), "float32"),
        ((0, 9, 2), "float32"),
        ((5.0,), "float32"),
        ((4,), "float64"),
    ]:
        variables = [ft.as_tensor(x).type() for x in arguments]
        f = fz.function(variables, ft.arange(*variables, dtype=dtype), mode=mode)
        expected = np.arange(*arguments, dtype=dtype)
        for found in (f(*arguments), ft.arange(*arguments, dtype=dtype).eval()):
            assert found.dtype == expected.dtype
            np.testing.assert_array_equal(found, expected)


def test_ranges_of_numbers_that_do_not_fit() -> None:
    for arguments in ((-8, -2, 5), (255, 300, 10)):
        with pytest.raises(OverflowError):
            np.arange(*arguments, dtype="uint8")
        with pytest.raises(OverflowError):
            ft.arange(*arguments, dtype="uint8")
    assert ft.arange(-8, -9, 5, dtype="uint8").eval().size == 0
