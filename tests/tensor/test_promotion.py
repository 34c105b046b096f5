"""Dtypes in which operands meet, beside NumPy's."""

import itertools

import numpy as np
import pytest

import frazil as fz
import frazil.tensor as ft

DTYPES = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
DTYPES += ["bool", "float16", "float32", "float64"]


@pytest.mark.parametrize("casting", ["no", "equiv", "safe", "same_kind", "unsafe"])
def test_casts_are_allowed_as_numpy_allows_them(casting):
    for source, target in itertools.product(DTYPES, repeat=2):
        expected = np.can_cast(source, target, casting)
        assert ft.can_cast(source, target, casting) is expected
        assert ft.can_cast(ft.vector("x", dtype=source), target, casting) is expected
        assert np.can_cast(ft.vector("x", dtype=source), target, casting) is expected


def test_dtypes_meet_as_numpy_lets_them_and_as_operands_do():
    for one, other in itertools.product(DTYPES, repeat=2):
        expected = np.result_type(one, other)
        x, y = ft.vector("x", dtype=one), ft.vector("y", dtype=other)
        assert ft.result_type(x, other) == expected
        assert np.result_type(x, y) == expected
        assert ft.result_type(x, np.zeros(0, other)) == (x + y).type.numpy_dtype


@pytest.mark.parametrize("number", [True, 3, 2.5, np.float32(1), np.int64(1), np.float64(1)])
def test_numbers_meet_dtypes_as_arrays_of_them_do(number):
    for dtype in DTYPES:
        expected = np.result_type(np.zeros(1, dtype), number)
        assert ft.result_type(ft.vector("x", dtype=dtype), number) == expected


def test_what_has_no_dtype_is_refused_with_the_class_of_numpy():
    with pytest.raises(ValueError, match="at least one"):
        ft.result_type()
    with pytest.raises(TypeError, match="not understood"):
        ft.result_type(ft.vector("x"), "floot")
    with pytest.raises(TypeError, match="int"):
        ft.can_cast(3, "int8")
    with pytest.raises(TypeError, match="to must be a dtype"):
        ft.can_cast("int8", ft.vector("x"))
    with pytest.raises(ValueError, match="casting"):
        ft.can_cast(ft.vector("x"), "float32", "often")


@pytest.mark.parametrize("name", ["true_divide", "arctan2", "copysign"])
@pytest.mark.parametrize("number", [300, -1, 2**70])
@pytest.mark.parametrize("mode", ["py", "cranelift"])
def test_integers_beside_narrow_ones_may_be_large_where_results_are_floats(name, number, mode):
    """NumPy's loop takes float16 for integers of 8 bits, frazil's float32."""
    for dtype in ("uint8", "int16", "int64"):
        array, x = np.array([3, 100], dtype), ft.vector("x", dtype=dtype)
        outputs = [getattr(ft, name)(x, number), getattr(ft, name)(number, x)]
        if name != "true_divide" and array.itemsize < 4:
            assert {y.dtype for y in outputs} == {"float32"}
            array = array.astype("float32")
        run = fz.function([x], outputs, mode=mode)
        expected = [getattr(np, name)(array, number), getattr(np, name)(number, array)]
        for found, right in zip(run(array.astype(dtype)), expected, strict=True):
            assert found.dtype == right.dtype
            np.testing.assert_allclose(found, right, rtol=1e-6)
