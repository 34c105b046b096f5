"""Special functions: SciPy's values in every linker, and derivatives in all parameters."""

import subprocess
import sys

import numpy as np
import pytest
from agreement import drawn_arrays, follow, modes
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special

import frazil as fz
import frazil.tensor as ft
from frazil.link.toolchain.symbols import scipy_function
from frazil.scalar import gammainc
from frazil.scalar.digamma import NEAR, RESTS, ROOTS
from frazil.scalar.scipy_functions import ARITIES
from frazil.testing import verify_grad

SHARE = {"betainc", "betaincinv", "gammaincinv", "gammainccinv", "hyp2f1"}
"""What takes a number between 0 and 1 last."""

X = ft.vector("x")
PRECISE = ("py", "c", "numba", "cranelift")
"""The modes that do not call SciPy where its digits are few: all of them."""

DIGAMMA = {mode: fz.function([X], ft.psi(X), mode=mode) for mode in PRECISE}
INTEGERS = ("int8", "uint16", "int32", "bool")


def arguments(draw, name, dtype):
    """Operands in the domain of a function, and now and then outside it."""
    low, high = (0, 5) if dtype in INTEGERS else (-1.0, 6.0)
    values = []
    for position in range(ARITIES[name]):
        share = name in SHARE and position == ARITIES[name] - 1
        ends = (0, 1) if share or dtype == "bool" else (low, high)
        drawn = st.integers(*ends) if dtype in INTEGERS else st.floats(*ends, width=32)
        values.append(np.array(draw(st.lists(drawn, min_size=3, max_size=3)), dtype))
    return values


@given(modes, st.data())
@settings(max_examples=6)
def test_values_are_scipys(mode, data):
    dtype = data.draw(st.sampled_from(["float64", "float32", *INTEGERS]))
    for_all = [(name, arguments(data.draw, name, dtype)) for name in sorted(ARITIES)]
    inputs, results, given_values, wanted = [], [], [], []
    for name, values in for_all:
        own = [ft.vector(dtype=dtype) for _ in values]
        inputs += own
        results.append(getattr(ft, name)(*own))
        given_values += values
        with np.errstate(all="ignore"):
            wanted.append(getattr(special, name)(*(x.astype("float64") for x in values)))
    found = fz.function(inputs, results, mode=mode)(*given_values)
    for (name, values), one, right in zip(for_all, found, wanted, strict=True):
        expected = "float32" if dtype in ("float32", "int8", "uint16", "bool") else "float64"
        assert one.dtype == expected, name
        right = right.astype(expected)
        rtol = 1e-12 if expected == "float64" else 1e-6
        np.testing.assert_allclose(one, right, rtol, 1e-300, err_msg=f"{name}{values}")


def test_dtypes_are_scipys():
    for name, nin in ARITIES.items():
        ufunc = getattr(special, name)
        for dtype in ("float64", "float32", "int8", "uint16", "int32", "int64", "bool"):
            made = getattr(ft, name)(*(ft.vector(dtype=dtype) for _ in range(nin)))
            if dtype in ("bool", "int8", "uint16") and "f" * nin != ufunc.types[0][:nin]:
                continue  # SciPy takes the first of its own types, which is wide by chance
            assert made.dtype == ufunc(*(np.ones(1, dtype) for _ in range(nin))).dtype, name


@pytest.mark.parametrize("name", ["factorial", "gammal", "gammau", "chi2sf"])
@given(drawn_arrays(dtypes=["float64", "int64", "float32"]), st.data())
def test_compositions(name, array, data):
    theirs = {
        "factorial": special.factorial,
        "gammal": lambda x: special.gammainc(2.5, abs(x)) * special.gamma(2.5),
        "gammau": lambda x: special.gammaincc(2.5, abs(x)) * special.gamma(2.5),
        "chi2sf": lambda x: special.gammaincc(1.25, abs(x) / 2),
    }
    ours = {
        "factorial": ft.factorial,
        "gammal": lambda x: ft.gammal(2.5, abs(x)),
        "gammau": lambda x: ft.gammau(2.5, abs(x)),
        "chi2sf": lambda x: ft.chi2sf(abs(x), 2.5),
    }
    array = array[np.isfinite(array)] % 20
    follow(ours[name], lambda x: theirs[name](x).astype(ours[name](x).dtype), [array], data.draw)


@given(st.lists(st.integers(-3, 40), min_size=2, max_size=4))
def test_combinations_of_integers(numbers):
    n, k = np.array(numbers)[:, None], np.array(numbers)
    found = ft.comb(n, k).eval()
    np.testing.assert_allclose(found, special.comb(n, k), rtol=1e-14)
    assert ft.multigammaln(50.5, 3).eval() == pytest.approx(special.multigammaln(50.5, 3), 1e-14)


@pytest.mark.parametrize("mode", PRECISE)
def test_psi_near_its_zeros(mode):
    """At the number next to a zero it is the distance to the zero, times the slope there."""
    roots = np.array(ROOTS)
    x = ft.vector("x")
    f = fz.function([x], [ft.psi(x), ft.tri_gamma(x)], mode=mode)
    found, slope = f(roots)
    np.testing.assert_allclose(found, -np.array(RESTS) * slope, rtol=1e-13)
    near = roots + NEAR * (1 - 1e-9)
    np.testing.assert_allclose(f(near)[0], special.psi(near), rtol=1e-13)


@pytest.mark.parametrize("mode", PRECISE)
@given(st.integers(1, 40), st.floats(1e-300, 0.4), st.sampled_from([-1, 1]))
def test_psi_beside_its_poles(mode, pole, distance, side):
    """The recurrence from a number beside 0, whose digits are all there."""
    x = -pole + side * distance
    off = x + pole  # what the rounding of x leaves of the distance, which is exact
    if off == 0:
        return
    steps = sum(1 / (off - k) for k in range(pole, 0, -1))
    expected = ft.psi(1 + off).eval() - 1 / off - steps
    found = DIGAMMA[mode](np.array([x]))[0]
    assert found == pytest.approx(expected, rel=1e-13, abs=1e-13 * (1 / abs(off)))


@pytest.mark.parametrize("mode", PRECISE)
def test_psi_where_it_has_no_digits_to_keep(mode):
    at = np.array([0.0, -0.0, -1.0, -2.0, -40.0, -(2.0**53), -np.inf, np.inf, np.nan, -1e-310])
    np.testing.assert_array_equal(DIGAMMA[mode](at), special.psi(at))


@pytest.mark.parametrize("mode", PRECISE)
def test_zeta_of_infinities(mode):
    q = np.array([-np.inf, -2.5, -2.0, -0.5, 0.0, 0.5, 1.0, np.inf, np.nan])
    s, x = ft.vector("s"), ft.vector("x")
    f = fz.function([s, x], ft.zeta(s, x), mode=mode)
    np.testing.assert_array_equal(f(np.full(9, np.inf), q), special.zeta(np.inf, q))
    assert f(np.array([np.inf]), np.array([2.0])) == 0  # where SciPy has NaN
    np.testing.assert_array_equal(f(np.full(9, 3.0), q)[[0, 7]], special.zeta(3.0, q[[0, 7]]))


@pytest.mark.parametrize("mode", PRECISE)
def test_ndtr_far_below_zero(mode):
    """Against the continued fraction of Mills' ratio, in proportion to the density."""
    at = np.array([-12.3, -20.7, -30.1, -37.0])
    x = ft.vector("x")
    found, logarithm = fz.function([x], [ft.ndtr(x), ft.log_ndtr(x)], mode=mode)(at)
    ratio = -at
    for k in range(60, 0, -1):
        ratio = -at + k / ratio
    # The square in two parts, so that its rounding does not count.
    high = at.astype("float32").astype("float64")
    decay = np.exp(-high * high / 2) * np.exp(-(at - high) * (at + high) / 2)
    right = decay / np.sqrt(2 * np.pi) / ratio
    np.testing.assert_allclose(found, right, rtol=2e-15 if mode in ("c", "cranelift") else 1e-13)
    np.testing.assert_allclose(logarithm, np.log(right), rtol=1e-15)


def test_what_must_be_integers():
    for order in (0.5, ft.vector()):
        with pytest.raises(TypeError, match="must be of integers"):
            ft.yn(order, 1.0)
    with pytest.raises(TypeError, match="integer"):
        ft.multigammaln(3.0, 0.5)
    with pytest.raises(ValueError, match="at least 1"):
        ft.multigammaln(3.0, 0)


BY_SHAPE = [
    # k, x, the derivative of gammainc in k: by differences in forty digits.
    (1e-8, 1e-16, -36.26413998265396),
    (1e-3, 0.5, -0.5609029468741633),
    (0.5, 0.05, -0.5803104806474886),
    (3.0, 30.0, -5.3279e-11),
    (1000.0, 500.0, -2.2911095748452634e-86),
    (1000.0, 1000.0, -0.012616713994069625),
    (100000.0, 101000.0, -8.742674516500273e-06),
]


def test_gammainc_by_shape(mode):
    k, x = ft.vector("k"), ft.vector("x")
    slope = fz.grad(ft.gammainc(k, x).sum(), k)
    shapes, points, wanted = np.array(BY_SHAPE).T
    found = fz.function([k, x], slope, mode=mode)(shapes, points)
    np.testing.assert_allclose(found[4:], wanted[4:], rtol=2e-11)
    # Where SciPy's values have digits to spare.
    step = 1e-5
    ends = [special.gammainc(shapes[:3] * (1 + s), points[:3]) for s in (step, -step)]
    np.testing.assert_allclose(
        found[:3], (ends[0] - ends[1]) / (2 * step * shapes[:3]), rtol=1e-3, atol=1e-3
    )


BY_FIRST = [
    # a, b, x, the derivative of betainc in a: by differences in forty digits.
    (75.10273745802726, 0.00041552386630133313, 0.9999944448835562, -5.550755329186088e-06),
    (2.5, 1e-6, 1 - 2**-30, -4.903480682999342e-07),
    (1e-3, 50.0, 1e-5, -6.98650908698762),
    (0.5, 0.5, 0.5, -0.5831218080616376),
    (1e4, 0.3, 0.99, -3.007725117399536e-48),
]


def test_betainc_by_parameters(mode):
    a, b, x = ft.vector("a"), ft.vector("b"), ft.vector("x")
    by_a, by_b = fz.grad(ft.betainc(a, b, x).sum(), [a, b])
    f = fz.function([a, b, x], [by_a, by_b], mode=mode)
    first, second, points, wanted = np.array(BY_FIRST).T
    np.testing.assert_allclose(f(first, second, points)[0], wanted, rtol=2e-9)
    mirrored = f(second[2:], first[2:], 1 - points[2:])[1]
    np.testing.assert_allclose(mirrored, -wanted[2:], rtol=1e-10)


def test_gradients_at_the_ends(mode):
    k, x = ft.vector("k"), ft.vector("x")
    slopes = fz.grad(ft.gammainc(k, x).sum(), [k, x])
    found = fz.function([k, x], slopes, mode=mode)(
        [0.5, 1.0, 2.0, 2.0, -1.0, np.nan], [0.0, 0.0, 0.0, np.inf, 1.0, 1.0]
    )
    np.testing.assert_array_equal(found[0], [0, 0, 0, 0, np.nan, np.nan])
    np.testing.assert_array_equal(found[1][:4], [np.inf, 1, 0, 0])
    share = fz.grad(ft.betainc(k, 2.0, x).sum(), [k, x])
    found = fz.function([k, x], share, mode=mode)([0.5, 1.0, 3.0, 3.0], [0.0, 0.0, 0.0, 1.0])
    np.testing.assert_array_equal(found[0], [0, 0, 0, 0])
    np.testing.assert_array_equal(found[1], [np.inf, 2, 0, 0])


def test_second_derivatives():
    k, x = np.array([0.4, 3.0, 8.0]), np.array([0.3, 5.0, 2.0])
    verify_grad(lambda k, x: _slope(lambda k: ft.gammainc(k, x), k), [k, x])
    share = np.array([0.3, 0.6, 0.1])
    verify_grad(lambda x: _slope(lambda k: ft.betainc(k, 2.5, x), ft.constant(k)), [share])


def _slope(function, at):
    return fz.grad(function(at).sum(), at)


@pytest.mark.parametrize("z", [0.6, -0.7, -4.0])
def test_hyp2f1_by_parameters(z, mode):
    point = [np.array([0.7, -2.0]), np.array([1.3, 0.4]), np.array([2.1, 3.3])]
    verify_grad(lambda a, b, c: ft.hyp2f1(a, b, c, z), point, mode=mode)


def test_where_the_series_of_hyp2f1_ends():
    a = ft.scalar("a")
    assert np.isnan(float(fz.grad(ft.hyp2f1(a, 1.0, 0.5, 1.5), a).eval({a: 2.0})))


def test_the_address_is_of_the_function_of_float64():
    from ctypes import CFUNCTYPE, c_double, c_int

    for name, operands in {"gammainc": (2.0, 3.0), "erfinv": (0.5,), "yv": (2.0, 3.0)}.items():
        call = CFUNCTYPE(c_double, *(c_double,) * len(operands), c_int)
        found = call(scipy_function(f"scipy_{name}"))(*operands, 0)
        assert found == getattr(special, name)(*operands)
    with pytest.raises(KeyError):
        scipy_function("scipy_no_such_function")


def test_scipy_is_imported_when_it_is_needed():
    code = "import sys, frazil.tensor; sys.exit('scipy.special' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_row_of_scipys_is_a_scalar_op():
    assert float(gammainc.impl(np.float64(1.0), np.float64(1.0))) == special.gammainc(1.0, 1.0)
