"""Where a length is zero, a size is divided by zero or an index repeats: one answer, NumPy's."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import frazil as fz
import frazil.tensor as ft
from frazil._core import elemwise
from frazil.scalar import TABLE, Elementary

x, m, n = ft.vector("x"), ft.matrix("m"), ft.lscalar("n")

SIZES = {
    "rest by a length": (lambda: x[: n % x.shape[0]], lambda x, n: x[: n % max(len(x), 1)]),
    "quotient": (lambda: ft.zeros(6 // n) + x.sum(), lambda x, n: np.zeros(6 // n if n else 0)),
    "rest": (lambda: ft.zeros(7 % n) + x.sum(), lambda x, n: np.zeros(7 % n if n else 0)),
    "of a length": (
        lambda: ft.zeros(6 // x.shape[0]) * n,
        lambda x, n: np.zeros(6 // len(x) if len(x) else 0),
    ),
    "in an index": (lambda: x[6 // n :], lambda x, n: x[6 // n if n else 0 :]),
}


@pytest.mark.parametrize("name", SIZES)
def test_sizes_divided_by_zero_are_zero(name, mode):
    build, expected = SIZES[name]
    f = fz.function([x, n], build(), mode=mode, on_unused_input="ignore")
    with np.errstate(divide="ignore"):
        for length in (0, 1, 4):
            for number in (0, 2, 5):
                values = np.zeros(length), number
                np.testing.assert_array_equal(f(*values), expected(*values))


def put_in_order(x, k, y):
    """What is put row by row: of what goes to one place the last stays."""
    result = x.copy()
    for at in np.ndindex(*k.shape):
        result[k[at]] = y[at]
    return result


def lay(array, how):
    """The same array, lying otherwise."""
    if how == "columns":
        return np.asfortranarray(array)
    if how == "backwards":
        return np.ascontiguousarray(array[..., ::-1])[..., ::-1]
    return array


@given(
    st.integers(0, 5),
    st.integers(0, 5),
    st.lists(st.sampled_from(["rows", "columns", "backwards"]), min_size=3, max_size=3),
    st.integers(0, 2**32 - 1),
)
def test_of_what_is_put_to_one_place_the_last_stays(rows, columns, lies, seed):
    rng = np.random.default_rng(seed)
    target, k, y = (
        lay(array, how)
        for array, how in zip(
            (
                rng.standard_normal((3, 2)),
                rng.integers(0, 3, (rows, columns)),
                rng.standard_normal((rows, columns, 2)),
            ),
            lies,
            strict=True,
        )
    )
    index, values = ft.lmatrix("k"), ft.tensor3("y")
    updated = ft.set_subtensor(m[index], values)
    for mode in ("py", "c"):
        f = fz.function([m, values, index], updated, mode=mode)
        np.testing.assert_array_equal(f(target, y, k), put_in_order(target, k, y))


def test_an_index_in_columns_that_repeats(mode):
    # NumPy goes along the columns, and leaves the value of another row.
    k = np.asfortranarray([[0, 0], [0, 2]])
    y = np.asfortranarray([[1.0, 2.0], [3.0, 4.0]])
    index = ft.lmatrix("k")
    f = fz.function([x, m, index], ft.set_subtensor(x[index], m), mode=mode)
    np.testing.assert_array_equal(f(np.zeros(4), y, k), [3, 0, 4, 0])


EXTREMES = {
    "float64": [
        *(5e-324, 2e-310, 2.3e-308, 1e-300, 1e-160, 1e-17, 1 - 1e-16, 1 + 3e-16, 26.6, 27, 171),
        *(709, 709.5, 710, 720, 745, 746, 1e16, 1e17, 1e154, 1e155, 1e300, 1.7976931348623157e308),
    ],
    "float32": [
        *(1e-45, 1e-40, 1.2e-38, 1e-30, 1e-20, 1e-8, 1 - 1e-7, 1 + 2e-7, 9.5, 10, 34, 87, 88),
        *(88.5, 89, 95, 103, 104, 1e7, 2e7, 1e19, 2e19, 1e38, 3.4028235e38),
    ],
}
USUAL = [0, 0.1, 0.5, 0.7, 1, 1.5, 2, 3, 20, 100, np.inf, np.nan]


@pytest.mark.parametrize("nin", [1, 2])
@pytest.mark.parametrize("dtype", EXTREMES)
@pytest.mark.parametrize("linker", ["c", "cranelift", "numba"])
def test_scalar_ops_agree_at_extremes(linker, dtype, nin):
    values = np.array([*USUAL, *EXTREMES[dtype]], dtype)
    values = np.concatenate([values, -values])
    row, column = ft.row("x", dtype=dtype), ft.col("y", dtype=dtype)
    operands = [row, column][:nin]
    arguments = [values[None], values[:, None]][:nin]
    others = ("bitwise", "shift", "cast")
    names = [k for k, own in TABLE.items() if own.nin == nin and own.rule not in others]
    results = [elemwise(Elementary(name), *operands) for name in names]
    expected = fz.function(operands, results, mode="py")(*arguments)
    given = fz.function(operands, results, mode=linker)(*arguments)
    for name, right, found in zip(names, expected, given, strict=True):
        if right.dtype.kind != "f":
            np.testing.assert_array_equal(found, right, err_msg=name)
            continue
        # SciPy's gammaln keeps no digits near its zeros.
        near_zero = 1e-15 if name == "gammaln" else 0
        info = np.finfo(right.dtype)
        tolerance = 1e-11 if info.bits == 64 else 1e-5
        atol = 8 * float(info.smallest_subnormal) + near_zero
        np.testing.assert_allclose(found, right, tolerance, atol, err_msg=name)
        signs = np.signbit(found) == np.signbit(right)
        assert signs[(found == 0) & (right == 0)].all(), name


def of_all_sizes(dtype, count):
    """So many floats of either sign, evenly spread over their bits."""
    of = np.dtype(dtype)
    integer = f"u{of.itemsize}"
    largest = np.array(np.inf, dtype).view(integer)
    values = np.linspace(0, float(largest), count, endpoint=False).astype(integer).view(dtype)
    return np.concatenate([values, -values])


def functions_of_one_float(x):
    names = [k for k, own in TABLE.items() if own.nin == 1 and own.rule not in ("bitwise", "cast")]
    return {
        name: made for name in names if (made := elemwise(Elementary(name), x)).dtype == x.dtype
    }


@pytest.mark.parametrize("linker", ["c", "cranelift"])
def test_the_sign_of_every_float32(linker):
    values, built = of_all_sizes("float32", 200_000), ft.vector("x", dtype="float32")
    results = functions_of_one_float(built)
    expected = fz.function([built], list(results.values()), mode="py")(values)
    found = fz.function([built], list(results.values()), mode=linker)(values)
    for name, right, own in zip(results, expected, found, strict=True):
        known = ~np.isnan(right) & ((own == 0) | (right == 0))
        wrong = values[known & (np.signbit(own) != np.signbit(right))]
        assert not wrong.size, (name, wrong)


@given(st.sampled_from(["float64", "float32"]), st.integers(0, 2**32 - 1))
@settings(max_examples=4, deadline=None)
def test_functions_of_one_float_have_the_same_bits(dtype, seed):
    rng = np.random.default_rng(seed)
    scale = 10.0 ** rng.uniform(-3, 3, 4000)
    whole = -rng.integers(0, 40, 500) + rng.normal(0, 1e-6, 500)
    values = np.concatenate([rng.normal(size=4000) * scale, whole, of_all_sizes(dtype, 500)])
    built = ft.vector("x", dtype=dtype)
    results = functions_of_one_float(built)
    for order in range(4):
        results[f"polygamma {order}"] = ft.polygamma(order, built)
    outputs = list(results.values())
    first, second = (
        fz.function([built], outputs, mode=linker)(values.astype(dtype))
        for linker in ("cranelift", "numba")
    )
    for name, left, right in zip(results, first, second, strict=True):
        np.testing.assert_array_equal(left, right, err_msg=name)
        signs = np.signbit(left) == np.signbit(right)
        assert signs[~np.isnan(left)].all(), name


@pytest.mark.parametrize("linker", ["py", "c", "cranelift", "numba"])
def test_special_functions_of_subnormal_numbers_and_results(linker):
    f = fz.function([x], [ft.sigmoid(x), ft.erfc(-x / 27), ft.gammaln(ft.exp(x))], mode=linker)
    at = np.array([-709.0, -715.0, -735.0])
    sigmoid, erfc, gammaln = f(at)
    np.testing.assert_allclose(sigmoid, np.exp(at), rtol=1e-9, atol=2e-323)
    assert ((erfc > 0) & (erfc < 1e-290)).all()
    np.testing.assert_allclose(gammaln, -np.log(np.exp(at)), rtol=1e-12)
